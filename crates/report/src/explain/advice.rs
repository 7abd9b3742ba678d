//! The advice on a call, in sentences: the state of the upstream, who acts next, and whether to send again.

use crate::text;
use playproof_analysis::explain::{
    Actor, Advice, Basis, EffectState, ManualCheck, OnceMore, OtherCall, OtherName, OwnEffect, PlannerStart,
    ResendAdvice, Subject, Surplus, UpstreamState,
};
use playproof_engine::event::{EffectClaim, IntentBalance, PlaybookNames, RequestKind};

/// The most other calls that are named.
const NAMED: usize = 5;

/// The advice.
pub struct Sentences {
    /// The state of the upstream.
    pub state: String,
    /// Who acts next.
    pub next: String,
    /// Whether it is safe to send again, why, and with which key.
    pub resend: String,
}

/// The advice in sentences.
pub fn sentences(advice: &Advice, subject: &Subject, names: &PlaybookNames) -> Sentences {
    Sentences {
        state: state(&advice.state, subject.key().is_some()),
        next: next(advice, subject.tool(), names),
        resend: resend(advice, subject.key(), names),
    }
}

fn state(state: &UpstreamState, is_keyed: bool) -> String {
    let mut said = match &state.basis {
        Basis::ReadOnly => return "Nothing has changed: the tool only reads.".to_owned(),
        Basis::Ledger(truth, claim) => ledger(*truth, *claim),
        Basis::SeveralOk { surplus, own, others } => several_ok(*surplus, *own, others, is_keyed),
        Basis::Ok => "The effect is there: an attempt was answered with ok.".to_owned(),
        Basis::OthersOk { others, own } => {
            format!("The effect is there: {} made it; {}.", named(others), this_one(*own))
        }
        Basis::Said => "The effect is there: the upstream's answer says so.".to_owned(),
        Basis::SaidToOthers { others, own } => {
            format!("The effect is there: the upstream's answer to {} says so; {}.", named(others), this_one(*own))
        }
        Basis::TakenBack => "The effect is not there: it was taken back.".to_owned(),
        Basis::NoneActed => "The effect is not there: according to the playbook, no attempt with this intent can have \
                             acted."
            .to_owned(),
        Basis::Unknown(others, own) => format!("Unknown: {}. Look upstream.", unknown(others, *own)),
    };
    if state.unused > 0 {
        let answers = text::counted(state.unused.into(), "recorded answer", "recorded answers");
        let sent = if state.unused == 1 { "that attempt" } else { "those attempts" };
        said += &format!(" This counts {answers} that the playbook does not use: it would not send {sent}.");
    }
    if let Some(OnceMore { own, others }) = &state.once_more {
        let who = match (own, others.is_empty()) {
            (true, true) => "A failed attempt".to_owned(),
            (true, false) => format!("A failed attempt, and {} with the same intent,", named(others)),
            (false, _) => format!("With the same intent, {}", named(others)),
        };
        said += &format!(" {who} may have made it again: look upstream.");
    }
    if state.claims_less {
        said += " The outcome still claims unknown, because the recording does not answer one of the playbook's \
                 requests.";
    }
    if state.modelled {
        said += " Modelled answers prove nothing and are not counted.";
    }
    said
}

fn ledger(truth: IntentBalance, claim: EffectClaim) -> String {
    let claims = match claim {
        EffectClaim::Applied => "the outcome claims that it is there",
        EffectClaim::NotApplied => "the outcome claims that it is not there",
        EffectClaim::Unknown => "the outcome claims unknown",
    };
    let taken_back = if truth.reversed > 0 { " (one was made and taken back)" } else { "" };
    let existed = if truth.existing > 0 { ", made before this call" } else { "" };
    match truth.effects {
        0 => format!("The effect is not there{taken_back}; {claims}."),
        1 => format!("The effect is there, once{existed}; {claims}."),
        many => format!("The effect is there {}{existed}; {claims}.", times(many)),
    }
}

/// An intent with more than one effect: how many, and by which calls.
fn several_ok(surplus: Surplus, own: u32, others: &[OtherCall], is_keyed: bool) -> String {
    let Surplus { effects, certain } = surplus;
    let listed = |later: bool| others.iter().filter(move |other| other.later == later);
    let mut by: Vec<String> = listed(false).take(NAMED).map(|other| made_by(&name(other), other.effects)).collect();
    if own > 0 {
        by.push(made_by("this call", own));
    }
    by.extend(listed(true).take(NAMED).map(|other| made_by(&name(other), other.effects)));
    let hidden: usize = [false, true].into_iter().map(|later| listed(later).count().saturating_sub(NAMED)).sum();
    if hidden > 0 {
        by.push(format!("{hidden} more"));
    }
    let (effects, by) = (times(effects), by.join(", "));
    match (certain, is_keyed) {
        (true, _) => format!("The effect is there {effects}, made by {by}."),
        (false, true) => format!(
            "The effect is there {effects} if the upstream ignores the key, and once if it honours it. Answered \
             with ok: {by}."
        ),
        (false, false) => {
            format!("The effect is there {effects} if this tool writes, which is not declared. Answered with ok: {by}.")
        }
    }
}

fn this_one(may_have_made_it: bool) -> &'static str {
    if may_have_made_it { "this call may have made it too" } else { "this call did not make it" }
}

/// Why it is unknown whether the effect of an intent was made.
fn unknown(others: &[OtherCall], own: OwnEffect) -> String {
    match (others.is_empty(), own) {
        (true, OwnEffect::Unanswered) => "the call was sent, and no answer is recorded".to_owned(),
        (true, _) => "an attempt may have acted, and the recording does not show it".to_owned(),
        (false, OwnEffect::Maybe | OwnEffect::Unanswered) => {
            format!("this call may have acted, and so may {} with the same intent", named(others))
        }
        (false, OwnEffect::No | OwnEffect::TakenBack) => {
            let this = match own {
                OwnEffect::TakenBack => "what this call made was taken back",
                _ => "according to the playbook, this call has not",
            };
            let others = named(others);
            format!("{others} may have acted with the same intent, and the recording does not show it; {this}")
        }
    }
}

/// How many times, from two on.
fn times(count: u32) -> String {
    if count == 2 { "twice".to_owned() } else { format!("{count} times") }
}

fn made_by(name: &str, effects: u32) -> String {
    let name = text::fitted(name, 60);
    if effects == 1 { name.into_owned() } else { format!("{name} ({})", times(effects)) }
}

/// Other calls by name.
fn named(others: &[OtherCall]) -> String {
    let shown = others.iter().take(NAMED);
    let mut names: Vec<String> = shown.map(|other| text::fitted(&name(other), 60).into_owned()).collect();
    if others.len() > NAMED {
        names.push(format!("{} more", others.len() - NAMED));
    }
    let last = names.pop().unwrap_or_default();
    if names.is_empty() { last } else { format!("{} and {last}", names.join(", ")) }
}

fn name(other: &OtherCall) -> String {
    match &other.name {
        OtherName::Reference(reference) => reference.clone(),
        OtherName::Place { line, path: None } => format!("the call in line {line}"),
        OtherName::Place { line, path: Some(path) } => format!("the call in line {line} ({path})"),
    }
}

fn next(advice: &Advice, tool: &str, names: &PlaybookNames) -> String {
    let by_playbook = by_playbook(advice.next, names);
    let person = match advice.check {
        None => return by_playbook,
        Some(ManualCheck::OnceMore) => "check upstream whether the effect was made again".to_owned(),
        Some(ManualCheck::Surplus(1)) => "the surplus effect must be found upstream and taken back".to_owned(),
        Some(ManualCheck::Surplus(many)) => format!("the {many} surplus effects must be found upstream and taken back"),
        Some(ManualCheck::Key) => "check upstream whether the key was honoured".to_owned(),
        Some(ManualCheck::ToolFacts) => format!(
            "declare in a tools file whether `{}` writes (`playproof tools` drafts one); if it does, the surplus must \
             be taken back",
            text::fitted(tool, 60)
        ),
    };
    let mut chars = by_playbook.chars();
    let alone: String = chars.next().into_iter().flat_map(char::to_lowercase).chain(chars).collect();
    format!("A person: {person}. By the playbook alone, {alone}")
}

fn by_playbook(next: Actor, names: &PlaybookNames) -> String {
    let said = match next {
        Actor::Nobody => "Nobody: the agent continues with the result.",
        Actor::Person(queue) => {
            let queue = names.queue(queue);
            return format!("A person, from the queue `{queue}`. The agent must not act on this call.");
        }
        Actor::Planner(PlannerStart::Effect) => {
            "The planner: it treats the effect as made and continues from the upstream's state."
        }
        Actor::Planner(PlannerStart::State) => {
            "The planner: it reads the upstream's state first, and plans from there."
        }
        Actor::Planner(PlannerStart::Reversal) => "The planner: the effect was taken back, and it plans from there.",
        Actor::Planner(PlannerStart::Refusal) => "The planner: nothing was sent, and it plans without this call.",
        Actor::Caller => "The caller: it got the last error and must decide what follows.",
        Actor::Undetermined(asked) => {
            let repeat = if matches!(asked, RequestKind::Attempt(_)) { "|repeat" } else { "" };
            return format!(
                "Unknown: the playbook would have continued, but the answer to {asked} is missing. \
                 `--beyond-tape ok{repeat}|fail:KIND` supplies one."
            );
        }
    };
    said.to_owned()
}

fn resend(advice: &Advice, key: Option<&str>, names: &PlaybookNames) -> String {
    let there = match advice.state.surplus {
        Some(Surplus { effects, certain: true }) => format!("the effect is there already, {}", times(effects)),
        _ => "the effect is there already".to_owned(),
    };
    let key = key.map(|key| format!("`{}`", text::fitted(key, 60)));
    match (advice.resend, key) {
        (ResendAdvice::Read(Some(queue)), _) => format!(
            "Safe, because the tool only reads; but a person decides first, in the queue `{}`.",
            names.queue(queue)
        ),
        (ResendAdvice::Read(None), _) => "Yes, because the tool only reads. It needs no key.".to_owned(),
        (ResendAdvice::Person(queue), key) => {
            let then = match (advice.state.known, &key) {
                (EffectState::Done, _) => there,
                (EffectState::NotDone, Some(key)) => format!("if they allow it, with the same key {key}"),
                (EffectState::NotDone, None) => "if they allow it, with an idempotency key".to_owned(),
                (EffectState::MaybeDone, Some(key)) => {
                    format!("if they want it sent, with the same key {key} and no other")
                }
                (EffectState::MaybeDone, None) => {
                    "an attempt with this intent may have acted without a key, so a second one \
                                             could act twice"
                        .to_owned()
                }
            };
            format!("No, because a person decides first, in the queue `{}`; {then}.", names.queue(queue))
        }
        (ResendAdvice::Idempotent, _) => {
            "Yes, because the tool is declared idempotent: a second call changes nothing more.".to_owned()
        }
        (ResendAdvice::Done, Some(key)) => format!(
            "No, because {there}. If it must be sent, only with the same key {key} and the same arguments: any other \
             key is another intent."
        ),
        (ResendAdvice::Done, None) => {
            format!("No, because {there}, and without an idempotency key it would be made again.")
        }
        (ResendAdvice::TakenBack, _) => {
            "Only if the effect is wanted again: it was made and taken back on purpose. Use a new \
                                   idempotency key, because the old one belongs to the effect that was taken back."
                .to_owned()
        }
        (ResendAdvice::NotDone, Some(key)) => {
            format!("Yes, with the same key {key}: according to the playbook, no attempt with this intent has acted.")
        }
        (ResendAdvice::NotDone, None) => {
            "Yes: according to the playbook, no attempt with this intent has acted. Add an \
                                    idempotency key, so that the next failure is not ambiguous."
                .to_owned()
        }
        (ResendAdvice::MaybeDone, Some(key)) => format!(
            "Yes, but only with the same key {key} and the same arguments: an attempt with this intent may have acted, \
             and an upstream that honours keys then acts once. With another key, no."
        ),
        (ResendAdvice::MaybeDone, None) => {
            "No, because an attempt with this intent may have acted without an idempotency \
                                      key: a second one could act twice. Look upstream first."
                .to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_engine::ids::AttemptNo;

    fn other(number: u32, later: bool) -> OtherCall {
        let name = match number {
            0 => OtherName::Place { line: 9, path: Some("[2]".to_owned()) },
            number => OtherName::Reference(format!("r1#{number}")),
        };
        OtherCall { name, later, effects: 1, maybe: false, claim: EffectClaim::Applied }
    }

    fn upstream(known: EffectState, basis: Basis) -> UpstreamState {
        let (unused, claims_less, modelled) = (0, false, false);
        UpstreamState { known, surplus: None, taken_back: false, once_more: None, basis, unused, claims_less, modelled }
    }

    #[test]
    fn each_basis_has_its_sentence() {
        let others = || vec![other(1, false), other(0, true)];
        let twice = Surplus { effects: 2, certain: false };
        for (basis, said) in [
            (Basis::ReadOnly, "Nothing has changed: the tool only reads."),
            (
                Basis::Ledger(
                    IntentBalance { effects: 1, existing: 1, ..IntentBalance::default() },
                    EffectClaim::Unknown,
                ),
                "The effect is there, once, made before this call; the outcome claims unknown.",
            ),
            (
                Basis::Ledger(IntentBalance { reversed: 1, ..IntentBalance::default() }, EffectClaim::NotApplied),
                "The effect is not there (one was made and taken back); the outcome claims that it is not there.",
            ),
            (Basis::Ok, "The effect is there: an attempt was answered with ok."),
            (
                Basis::OthersOk { others: others(), own: true },
                "The effect is there: r1#1 and the call in line 9 ([2]) made it; this call may have made it too.",
            ),
            (Basis::Said, "The effect is there: the upstream's answer says so."),
            (
                Basis::SaidToOthers { others: vec![other(1, false)], own: false },
                "The effect is there: the upstream's answer to r1#1 says so; this call did not make it.",
            ),
            (
                Basis::SeveralOk { surplus: twice, own: 1, others: others() },
                "The effect is there twice if this tool writes, which is not declared. Answered with ok: r1#1, this \
                 call, the call in line 9 ([2]).",
            ),
            (
                Basis::Unknown(vec![other(1, false)], OwnEffect::No),
                "Unknown: r1#1 may have acted with the same intent, and the recording does not show it; according to \
                 the playbook, this call has not. Look upstream.",
            ),
            (
                Basis::Unknown(Vec::new(), OwnEffect::Unanswered),
                "Unknown: the call was sent, and no answer is recorded. Look upstream.",
            ),
        ] {
            assert_eq!(state(&upstream(EffectState::Done, basis), false), said);
        }
    }

    #[test]
    fn other_calls_are_named_up_to_a_number_on_each_side() {
        let others: Vec<OtherCall> = (1..=14).map(|number| other(number, number > 7)).collect();
        let surplus = Surplus { effects: 16, certain: true };
        assert_eq!(
            state(&upstream(EffectState::Done, Basis::SeveralOk { surplus, own: 2, others: others.clone() }), false),
            "The effect is there 16 times, made by r1#1, r1#2, r1#3, r1#4, r1#5, this call (twice), r1#8, r1#9, r1#10, \
             r1#11, r1#12, 4 more."
        );
        assert_eq!(named(&others), "r1#1, r1#2, r1#3, r1#4, r1#5 and 9 more");
    }

    #[test]
    fn further_facts_follow_the_basis() {
        let said = |change: fn(&mut UpstreamState)| {
            let mut known = upstream(EffectState::Done, Basis::Said);
            change(&mut known);
            state(&known, false).replace("The effect is there: the upstream's answer says so. ", "")
        };
        assert_eq!(
            said(|state| state.unused = 2),
            "This counts 2 recorded answers that the playbook does not use: it would not send those attempts."
        );
        assert_eq!(
            said(|state| state.once_more = Some(OnceMore { own: true, others: vec![other(3, true)] })),
            "A failed attempt, and r1#3 with the same intent, may have made it again: look upstream."
        );
        assert_eq!(
            said(|state| state.claims_less = true),
            "The outcome still claims unknown, because the recording does not answer one of the playbook's requests."
        );
        assert_eq!(said(|state| state.modelled = true), "Modelled answers prove nothing and are not counted.");
    }

    #[test]
    fn a_person_checks_first_and_then_the_playbook_tells_who_acts() {
        let said = |check, next_is| {
            let state = upstream(EffectState::Done, Basis::Ok);
            next(&Advice { state, check, next: next_is, resend: ResendAdvice::Done }, "pay", &PlaybookNames::default())
        };
        assert_eq!(said(None, Actor::Nobody), "Nobody: the agent continues with the result.");
        assert_eq!(
            said(Some(ManualCheck::Surplus(2)), Actor::Nobody),
            "A person: the 2 surplus effects must be found upstream and taken back. By the playbook alone, nobody: \
             the agent continues with the result."
        );
        assert_eq!(
            said(Some(ManualCheck::ToolFacts), Actor::Caller),
            "A person: declare in a tools file whether `pay` writes (`playproof tools` drafts one); if it does, the \
             surplus must be taken back. By the playbook alone, the caller: it got the last error and must decide what \
             follows."
        );
        assert_eq!(
            said(None, Actor::Undetermined(RequestKind::Attempt(AttemptNo::FIRST))),
            "Unknown: the playbook would have continued, but the answer to attempt 1 is missing. \
             `--beyond-tape ok|repeat|fail:KIND` supplies one."
        );
    }

    #[test]
    fn advice_on_a_resend_names_the_key() {
        let said = |known, resend_is, key| {
            let (check, next) = (None, Actor::Nobody);
            let state = upstream(known, Basis::Ok);
            resend(&Advice { state, check, next, resend: resend_is }, key, &PlaybookNames::default())
        };
        assert_eq!(
            said(EffectState::Done, ResendAdvice::Done, Some("k")),
            "No, because the effect is there already. If it must be sent, only with the same key `k` and the same \
             arguments: any other key is another intent."
        );
        assert_eq!(
            said(EffectState::NotDone, ResendAdvice::NotDone, Some("k")),
            "Yes, with the same key `k`: according to the playbook, no attempt with this intent has acted."
        );
        assert_eq!(
            said(EffectState::MaybeDone, ResendAdvice::MaybeDone, None),
            "No, because an attempt with this intent may have acted without an idempotency key: a second one could act \
             twice. Look upstream first."
        );
    }
}
