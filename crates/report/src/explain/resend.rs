//! Whether to send a call again, in a sentence that names the key.

use super::others::{named, other_arguments, times, with_effects};
use super::steps;
use super::words::{ReasonWords, lower_first, no};
use crate::findings::if_one_intent;
use crate::text;
use playproof_analysis::explain::{
    Advice, Basis, EffectState, InputGaps, OtherCall, OwnEffect, Relation, ResendReason, Surplus, UpstreamState,
};
use playproof_engine::event::{IntentDoubt, PlaybookNames, StopReason};
use playproof_engine::evidence::Against;

/// The sentence. If a person decides first, it tells what they must know.
pub fn resend(advice: &Advice, key: Option<&str>, names: &PlaybookNames) -> String {
    let key = key.map(|key| format!("`{}`", text::fitted(key, 60)));
    let ReasonWords { answer, to_a_person } = reason(advice.resend.reason, &advice.state, key.as_deref());
    let not_now = advice.resend.not_now.filter(|_| advice.resend.reason.is_yes()).and_then(not_now);
    match advice.resend.person {
        None => not_now.map_or_else(|| answer.clone(), |not_now| format!("{not_now} {}", lower_first(&answer))),
        Some(queue) => {
            format!("No, because a person decides first, in the queue `{}`; {to_a_person}.", names.queue(queue))
        }
    }
}

/// That what calls share lets no other call help, and when one would.
const fn not_now(stop: StopReason) -> Option<&'static str> {
    match stop {
        StopReason::CircuitOpen => {
            Some("Not now, because the circuit breaker refuses it while it is open. When it lets a call pass:")
        }
        StopReason::RetryBudget => {
            Some("Not now: the retry budget is there to spare the server, and is spent. When it allows retries again:")
        }
        StopReason::Budget => Some("Not in this run, because it has no tool calls left. With more of them:"),
        _ => None,
    }
}

fn reason(reason: ResendReason, state: &UpstreamState, key: Option<&str>) -> ReasonWords {
    let a_key = key.unwrap_or_default();
    match reason {
        ResendReason::Read => ReasonWords {
            answer: "Yes, because the tool only reads. It needs no key.".to_owned(),
            to_a_person: "the tool only reads, so another call changes nothing".to_owned(),
        },
        ResendReason::Idempotent => idempotent(state),
        ResendReason::NotDone => not_done(key),
        ResendReason::SameKey => ReasonWords {
            answer: format!(
                "Yes, but only with the same key {a_key} and the same arguments: an attempt with this intent may have \
                 acted, and an upstream that honours keys then acts once. With another key, no."
            ),
            to_a_person: format!("if they want it sent, with the same key {a_key} and no other"),
        },
        ResendReason::Overwrites => overwrites(state),
        ResendReason::Repeatable => repeatable(state),
        ResendReason::NeverRetried => no("the tool is declared never to be sent a request again (`retry: never`)", ""),
        ResendReason::TakenBack => taken_back(state, key),
        ResendReason::Done => done(state, key),
        ResendReason::MayHaveActed => may_have_acted(state, key),
        ResendReason::ReadActed => {
            no("the tool facts say that the tool only reads, and it changed the upstream", ". Correct them first")
        }
        ResendReason::KeyOfAnother => key_of_another(state, a_key),
        ResendReason::KeyShared => {
            let by = named(&state.other_arguments);
            let then = ". Look upstream, and never send this one under a new key: it may have acted under its own";
            no(
                format!("the key {a_key} is this request's own, and another request was sent under it later, by {by}"),
                then,
            )
        }
        ResendReason::Unclaimed => no(unclaimed(state.gaps), ". Look upstream first"),
        ResendReason::Unread => no(UNREAD, ". Mend it first"),
        ResendReason::Skipped => no(skipped(state.gaps.skipped_lines), ". Mend what was skipped first"),
        ResendReason::Refused => no("the playbook refuses this call as it stands", ""),
        ResendReason::Stuck(after) => {
            no(format!("the playbook refuses this call, and the same one came {after} times in a row or more"), "")
        }
        ResendReason::RefusedForNow => {
            no("the playbook refuses this call now, and may let it pass later", ". Nothing was sent: send it then")
        }
        ResendReason::Denied => denied(state),
        ResendReason::ToldNotTo => no("the upstream says not to send the call again", ""),
        ResendReason::SaysDone => no("the answer says that something was done", ". Look upstream first"),
        ResendReason::SaysMore => no(SAYS_MORE, ": look upstream first"),
        ResendReason::Resent => no(RESENT, ": look upstream first"),
        ResendReason::GivenUp => {
            let said = "according to the playbook, no attempt with this intent has acted, so it does no harm, but the \
                        playbook gives the request up, because the same request would be refused again";
            ReasonWords { answer: format!("Not as it stands: {said}."), to_a_person: said.to_owned() }
        }
        ResendReason::StepsRead
        | ResendReason::StepsSafe
        | ResendReason::StepsAct
        | ResendReason::StepsMade
        | ResendReason::StepsBefore
        | ResendReason::StepsUnknown
        | ResendReason::Steps => steps::reason(reason, state),
        ResendReason::Withheld => {
            no("an attempt may still be at work, so that the graph withholds the action after the call", "")
        }
        ResendReason::Known(why) => no(known(why), ". Look upstream first"),
        ResendReason::SkippedStep => no(
            "it is a step, and its action ended before its turn",
            ". Whether to make the action again stands with its call",
        ),
        ResendReason::Processed => processed(state, a_key),
        ResendReason::Contradicted => no("the outcome claims something else than the ledger", ". Look upstream first"),
        ResendReason::OtherKey => other_key(&state.other_keys),
        ResendReason::MaybeSame => {
            let others = with_effects(&state.maybe_same);
            no(format!("this may be a request that was sent before: {others}"), ". Look upstream first")
        }
    }
}

/// The declaration is the reason, whatever the answers say.
fn idempotent(state: &UpstreamState) -> ReasonWords {
    let declared =
        "the tool is declared idempotent: a second call changes nothing more, unless the same object was written since";
    let done = ". This rests on the declaration alone: an answer says that something was done";
    let said = format!("{declared}{}", if state.said.done { done } else { "" });
    ReasonWords { answer: format!("Yes, because {said}."), to_a_person: said }
}

/// What is known of the request, or of a step of an action.
const fn known(why: Against) -> &'static str {
    match why {
        Against::Denied => "the same request was denied",
        Against::Processed => "the upstream said that it has processed the same request",
        Against::KeyOfAnother => "its key belongs to a request with other arguments",
        Against::KeyReversed => "what was made under its key was reversed, or may have been",
        Against::Done => "another call has done the same, or a step of it",
        Against::MayBeDone => "another call may have done the same, or a step of it",
    }
}

/// Each call makes an effect of its own: a later one may have made that of a refused one.
fn repeatable(state: &UpstreamState) -> ReasonWords {
    let made = if state.made_since.iter().any(|other| other.effects > 0) { "made" } else { "may have made" };
    let said = match (state.known, state.made_since.as_slice()) {
        (EffectState::NotDone, [_, ..]) => {
            format!("{} {made} one with the same arguments afterwards", named(&state.made_since))
        }
        _ => "each call of the tool is declared to make an effect of its own (`repeatable`)".to_owned(),
    };
    ReasonWords { answer: format!("Only if one more effect is wanted: {said}."), to_a_person: said }
}

fn overwrites(state: &UpstreamState) -> ReasonWords {
    let said = format!(
        "{} called the tool later with other arguments; if that was a write to the same object, sending this \
         again would undo it",
        named(&state.later_writes)
    );
    ReasonWords {
        answer: format!("Only if no later write is lost: the tool is idempotent, but {said}."),
        to_a_person: said,
    }
}

fn key_of_another(state: &UpstreamState, key: &str) -> ReasonWords {
    let others = &state.other_arguments;
    let by = if others.is_empty() { String::new() } else { format!(", sent by {}", named(others)) };
    let then =
        ". Find out upstream first what both did; if none of it was this change, this one needs a key of its own";
    if state.key_order_unknown {
        let other = other_arguments(others);
        let why = "and nothing shows which request it belongs to";
        return no(format!("the key {key} was also sent {other}, by {}, {why}", named(others)), then);
    }
    no(format!("the key {key} belongs to a request {}{by}", other_arguments(others)), then)
}

/// Whose key was processed.
fn processed(state: &UpstreamState, key: &str) -> ReasonWords {
    let said = match state.processed.as_slice() {
        [] => format!("the upstream answered that it has processed the key {key}"),
        others => {
            format!("the upstream answered that it has processed the same request under the key of {}", named(others))
        }
    };
    no(said, ". Look upstream for what it did")
}

fn other_key(others: &[OtherCall]) -> ReasonWords {
    let others = with_effects(others);
    let then = ". To an upstream, each key is a request of its own";
    no(format!("this would ask for the same change under another key: {others}"), then)
}

/// That a refusal is no plain one.
pub(super) const SAYS_MORE: &str = "the words of the failure are not those of a plain refusal";

/// That a refusal is the answer to the last of several requests.
pub(super) const RESENT: &str = "the client of the tool sends requests again by itself, and the answer to the last one says nothing of those before it";

/// That inputs are incomplete.
pub(super) const UNREAD: &str = "an input could not be read to its end, and may show that this request acted";

/// That lines were skipped.
pub(super) fn skipped(lines: u64) -> String {
    let skipped = if lines == 1 { "was skipped" } else { "were skipped" };
    let lines = text::counted(lines, "line of these inputs", "lines of these inputs");
    format!("{lines} {skipped}, and may show that this request acted")
}

/// The results that belong to no call.
pub(super) fn unclaimed(gaps: InputGaps) -> String {
    match (gaps.unclaimed_oks, gaps.unclaimed_doubts) {
        (1, 0) => "an ok of these inputs belongs to no call, and may be the answer to this one".to_owned(),
        (oks, 0) => {
            format!("{} oks of these inputs belong to no call, and one may be the answer to this one", text::count(oks))
        }
        (0, 1) => {
            "an answer of these inputs belongs to no call, and may be to an attempt of this one that acted".to_owned()
        }
        (oks, doubts) => {
            let answers = text::count(oks.saturating_add(doubts));
            format!(
                "{answers} answers of these inputs belong to no call, and one may be to an attempt of this one that acted"
            )
        }
    }
}

fn not_done(key: Option<&str>) -> ReasonWords {
    match key {
        Some(key) => ReasonWords {
            answer: format!(
                "Yes, with the same key {key}: according to the playbook, no attempt with this intent has acted."
            ),
            to_a_person: format!("if they allow it, with the same key {key}"),
        },
        None => ReasonWords {
            answer:
                "Yes: according to the playbook, no attempt with this intent has acted. Add an idempotency key, so \
                     that the next failure is not ambiguous."
                    .to_owned(),
            to_a_person: "if they allow it, with an idempotency key".to_owned(),
        },
    }
}

/// Whose denial it is, and what may have been done all the same.
fn denied(state: &UpstreamState) -> ReasonWords {
    let hides_args = |other: &OtherCall| other.relation == Relation::MaybeSame(IntentDoubt::NoArguments);
    let whose = match state.denied.as_slice() {
        [] => "the call was denied".to_owned(),
        others if others.iter().all(hides_args) => {
            format!("a call that may be the same request was denied ({})", named(others))
        }
        others => format!("an identical call was denied ({})", named(others)),
    };
    let said = format!("{whose}, and sending it again does not change a denial");
    match &state.basis {
        Basis::Unknown(others, OwnEffect::No | OwnEffect::TakenBack) if !others.is_empty() => {
            no(format!("{said}; {} may have acted all the same", named(others)), ". Look upstream first")
        }
        Basis::Unknown(..) => no(format!("{said}; this call may have acted all the same"), ". Look upstream first"),
        _ => no(said, ""),
    }
}

fn taken_back(state: &UpstreamState, key: Option<&str>) -> ReasonWords {
    let said = match (state.taken_back, state.known) {
        (_, EffectState::MaybeDone) => "it was reversed on purpose, or may have been",
        (false, _) if state.reversal_may_land => "a reversal of it was sent and not confirmed, and may still land",
        (true, _) => "it was reversed on purpose",
        (false, _) => "the call was given up with a confirmed reversal",
    };
    let then = match key {
        Some(key) => format!("Use a new idempotency key, because {key} belongs to the reversed request."),
        None => "Add an idempotency key.".to_owned(),
    };
    ReasonWords {
        answer: format!("Only if the effect is wanted again: {said}. {then}"),
        to_a_person: match said.strip_prefix("it ") {
            Some(was) => format!("the effect {was}"),
            None => said.to_owned(),
        },
    }
}

fn done(state: &UpstreamState, key: Option<&str>) -> ReasonWords {
    let there = match state.surplus {
        Some(Surplus { effects, doubt: None }) => format!("the effect is there already, {}", times(effects)),
        _ => match state.if_same {
            Some(doubt) => format!("the effect is there already {}", if_one_intent(doubt)),
            None => "the effect is there already".to_owned(),
        },
    };
    match key {
        Some(_) if state.keys_forgotten => {
            no(there, ", and it would be made again: the upstream does not remember keys")
        }
        Some(key) => {
            let then = format!(
                ". If it must be sent, only with the same key {key} and the same arguments: any other key is another \
                 intent"
            );
            no(there, &then)
        }
        None => no(there, ", and without an idempotency key it would be made again"),
    }
}

fn may_have_acted(state: &UpstreamState, key: Option<&str>) -> ReasonWords {
    let may_be_taken_back = match &state.basis {
        Basis::Unknown(others, own) => {
            *own == OwnEffect::MayBeTakenBack || others.iter().any(|other| other.may_be_taken_back)
        }
        _ => false,
    };
    match key {
        _ if state.basis == Basis::KeyReversed => {
            let then = ". Look upstream first; if it is wanted and not there, it needs a new key";
            no(
                "a reversal under this key was confirmed, or may have been, and the key may bring the first answer again",
                then,
            )
        }
        _ if may_be_taken_back => {
            no("the effect was made, and it is unknown whether a reversal took it back", ". Look upstream first")
        }
        _ if state.reversed
            && let Basis::Unknown(others, OwnEffect::No | OwnEffect::TakenBack) = &state.basis
            && !others.is_empty()
            && !others.iter().any(|other| other.reversed) =>
        {
            no(format!("{} may have acted since the reversal", named(others)), ". Look upstream first")
        }
        _ if state.reversed => {
            no("an attempt that was not answered may still take effect after the reversal", ". Look upstream first")
        }
        Some(key) => no(
            format!("an attempt with this intent may have acted, and the upstream does not remember the key {key}"),
            ": a second one could act twice. Look upstream first",
        ),
        None => ReasonWords {
            answer: "No, because an attempt with this intent may have acted without an idempotency key: a second one \
                     could act twice. Look upstream first."
                .to_owned(),
            to_a_person: "an attempt with this intent may have acted without a key, so a second one could act twice"
                .to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_analysis::explain::{Actor, Basis, ResendAdvice};

    #[test]
    fn advice_on_a_resend_names_the_key() {
        let said = |known, reason, key| {
            let (check, next) = (None, Actor::Nobody);
            let state = UpstreamState::new(known, Basis::Ok);
            resend(
                &Advice { state, check, next, resend: ResendAdvice { person: None, not_now: None, reason } },
                key,
                &PlaybookNames::default(),
            )
        };
        assert_eq!(
            said(EffectState::Done, ResendReason::Done, Some("k")),
            "No, because the effect is there already. If it must be sent, only with the same key `k` and the same \
             arguments: any other key is another intent."
        );
        assert_eq!(
            said(EffectState::NotDone, ResendReason::NotDone, Some("k")),
            "Yes, with the same key `k`: according to the playbook, no attempt with this intent has acted."
        );
        assert_eq!(
            said(EffectState::MaybeDone, ResendReason::MayHaveActed, None),
            "No, because an attempt with this intent may have acted without an idempotency key: a second one could act \
             twice. Look upstream first."
        );
    }
}
