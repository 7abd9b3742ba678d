//! The advice on a call, in sentences: the state of the upstream, who acts next, and whether to send again.

use super::others::{NAMED, doubt, joined, made_by, name, named, other_arguments, times, with_effects};
use super::resend::{RESENT, SAYS_MORE, UNREAD, resend, skipped, unclaimed};
use super::steps;
use super::words::lower_first;
use crate::findings::if_one_intent;
use crate::text;
use playproof_analysis::explain::{
    Actor, Advice, Basis, Distrust, EffectState, InputGaps, ManualCheck, OnceMore, OtherCall, OwnEffect, PlannerStart,
    Subject, Surplus, SurplusDoubt, UpstreamState,
};
use playproof_engine::event::{EffectClaim, IntentBalance, IntentDoubt, PlaybookNames, RequestKind};

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
        state: state(&advice.state, subject.key()),
        next: next(advice, subject.tool(), matches!(subject, Subject::Fixture { .. }), names),
        resend: resend(advice, subject.key(), names),
    }
}

fn state(state: &UpstreamState, key: Option<&str>) -> String {
    let mut said = match (&state.basis, may_be_there(state)) {
        (Basis::NoneActed, true) => {
            "This call did not make the effect: according to the playbook, no attempt with this \
                                     intent can have acted."
                .to_owned()
        }
        _ => by_basis(state),
    };
    if state.basis == Basis::ReadOnly {
        return said;
    }
    if let Some(doubt) = state.if_same {
        said += &format!(" All this holds only {}, which is not recorded.", if_one_intent(doubt));
    }
    if !state.token_shared.is_empty() {
        let others = joined(
            state.token_shared.iter().take(NAMED).map(|other| text::fitted(&name(other), 60).into_owned()).collect(),
        );
        said +=
            &format!(" Its reversal token was redeemed by {others} too: it is unknown whose effect was taken back.");
    }
    if let Basis::Distrusted(why, _) = state.basis {
        let more = gaps(state.gaps).filter(|(gap, _)| *gap != why);
        said.extend(more.map(|(_, gap)| format!(" Besides, {gap}.")));
    }
    if !matches!(state.basis, Basis::KeyOfAnother(_)) && !state.other_arguments.is_empty() {
        let others = &state.other_arguments;
        said += &format!(" Its key was also sent {}, by {}.", other_arguments(others), named(others));
    }
    if !state.other_keys.is_empty() {
        let under = if key.is_some() { "under another key or none" } else { "with a key" };
        said += &format!(" The same arguments were also sent {under}: {}.", with_effects(&state.other_keys));
    }
    if let Some(doubt) = doubt(&state.maybe_same) {
        let others = with_effects(&state.maybe_same);
        said += &format!(" The same request may have been sent elsewhere, because {doubt}: {others}.");
    }
    if !state.other_runs.is_empty() {
        let others = with_effects(&state.other_runs);
        said += &format!(" Other runs sent the same: {others}. That counts here only if the agent began again.");
    }
    if state.unused > 0 {
        let answers = text::counted(state.unused.into(), "recorded answer", "recorded answers");
        let sent = if state.unused == 1 { "that attempt" } else { "those attempts" };
        said += &format!(" This counts {answers} that the playbook does not use: it would not send {sent}.");
    }
    if let Some(OnceMore { own, others }) = &state.once_more {
        let who = match (own, others.is_empty()) {
            (true, true) => "An attempt of this call".to_owned(),
            (true, false) => format!("An attempt of this call, and {} with the same intent,", named(others)),
            (false, _) => format!("With the same intent, {}", named(others)),
        };
        said += &format!(" {who} may have made it again: look upstream.");
    }
    if state.reversal_may_land && state.known == EffectState::NotDone {
        said += " A reversal was sent and not confirmed: it may still land.";
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

/// What the inputs leave open, in sentences without an end.
fn gaps(gaps: InputGaps) -> impl Iterator<Item = (Distrust, String)> {
    let is_unclaimed = gaps.unclaimed_oks + gaps.unclaimed_doubts > 0;
    let all = [
        is_unclaimed.then(|| (Distrust::Unclaimed, unclaimed(gaps))),
        (gaps.unread_inputs > 0).then(|| (Distrust::Unread, UNREAD.to_owned())),
        (gaps.skipped_lines > 0).then(|| (Distrust::Skipped, skipped(gaps.skipped_lines))),
    ];
    all.into_iter().flatten()
}

/// Whether calls that are not known to have the intent may have made the effect.
fn may_be_there(state: &UpstreamState) -> bool {
    state.other_keys.iter().chain(&state.maybe_same).any(OtherCall::may_have_acted)
}

/// What the state rests on.
fn by_basis(state: &UpstreamState) -> String {
    match &state.basis {
        Basis::ReadOnly => "Nothing has changed: the tool only reads.".to_owned(),
        Basis::Ledger(truth, EffectClaim::NotApplied) if truth.effects > 0 && !state.contradicted => {
            let there = there(*truth, state.taken_back);
            format!("{there}, and not by this call: the outcome claims that it did not act.")
        }
        Basis::Ledger(truth, claim) => ledger(*truth, *claim, state.taken_back),
        Basis::SeveralOk { surplus, own, others } => several_ok(*surplus, *own, others),
        Basis::OkAfterProcessed(call) => format!(
            "The effect is there: the upstream answered that it had processed the key. The later ok of {} may be its first \
             answer again, or a second effect if it forgot the key.",
            call.as_ref()
                .map_or_else(|| "this call".to_owned(), |call| text::fitted(&name(&call.name), 60).into_owned())
        ),
        Basis::Ok => "The effect is there: an attempt was answered with ok.".to_owned(),
        Basis::OthersOk { others, own } => {
            format!("The effect is there: {} made it; {}.", named(others), this_one(*own))
        }
        Basis::Said => "The effect is there: the upstream's answer says so.".to_owned(),
        Basis::SaidToOthers { others, own } => {
            format!("The effect is there: the upstream's answer to {} says so; {}.", named(others), this_one(*own))
        }
        Basis::TakenBack(others) if others.is_empty() => "The effect is not there: it was taken back.".to_owned(),
        Basis::TakenBack(others) => {
            format!("The effect is not there: {} made it, and it was taken back.", named(others))
        }
        Basis::NoneActed => "The effect is not there: according to the playbook, no attempt with this intent can have \
                             acted."
            .to_owned(),
        Basis::Distrusted(why, claim) => {
            let why = match why {
                Distrust::SaysDone => "an answer says that something was done".to_owned(),
                Distrust::SaysMore => SAYS_MORE.to_owned(),
                Distrust::Resent => RESENT.to_owned(),
                Distrust::Unclaimed => unclaimed(state.gaps),
                Distrust::Unread => UNREAD.to_owned(),
                Distrust::Skipped => skipped(state.gaps.skipped_lines),
            };
            let known = match claim {
                EffectClaim::NotApplied => "The outcome claims not_applied, which is not proved",
                EffectClaim::Applied | EffectClaim::Unknown => "Unknown",
            };
            format!(
                "{known}: according to the playbook, no attempt with this intent can have acted, but {why}. Look upstream."
            )
        }
        Basis::KeyOfAnother(owner) if state.key_order_unknown => format!(
            "Unknown: the key was also sent {}, by {}, and nothing shows which came first, so the answers to this call may \
             be about that request. Look upstream.",
            other_arguments(&state.other_arguments),
            text::fitted(&name(owner), 60)
        ),
        Basis::KeyOfAnother(owner) => format!(
            "Unknown: the key was sent {} before, by {}, so its answers may be about that request. Look upstream.",
            other_arguments(&state.other_arguments),
            text::fitted(&name(owner), 60)
        ),
        Basis::OfAnotherRequest(owner) => format!(
            "This request was not made: the effect under its key is that of another one, made by {}.",
            text::fitted(&name(owner), 60)
        ),
        Basis::Steps(shown) => steps::state(shown),
        Basis::RefusedBefore => {
            "Unknown: the upstream says that it has processed the key, under which it had only refused \
                                 requests before; it may mean a refusal. Look upstream."
                .to_owned()
        }
        Basis::KeyReversed => {
            "Unknown: a reversal under this key was confirmed, or may have been, and an upstream that honours \
                               keys goes on giving its first answer, whether the effect is there or not. Look upstream."
                .to_owned()
        }
        Basis::Unknown(others, own) => format!("Unknown: {}. Look upstream.", unknown(others, *own)),
    }
}

fn ledger(truth: IntentBalance, claim: EffectClaim, taken_back: bool) -> String {
    let claims = match claim {
        EffectClaim::Applied => "the outcome claims that it is there",
        EffectClaim::NotApplied => "the outcome claims that it is not there",
        EffectClaim::Unknown => "the outcome claims unknown",
    };
    let reversal = confirmed(truth, taken_back);
    match truth.effects {
        0 if claim == EffectClaim::Unknown => {
            format!("The ledger has no effect{reversal}, but the answers do not show that; {claims}.")
        }
        0 => format!("The effect is not there{reversal}; {claims}."),
        _ => format!("{}; {claims}.", there(truth, taken_back)),
    }
}

/// That the effect is there, without a full stop.
fn there(truth: IntentBalance, taken_back: bool) -> String {
    let often = match truth.effects {
        1 => ", once".to_owned(),
        many => format!(" {}", times(many)),
    };
    let existed = if truth.existing > 0 { ", made before this call" } else { "" };
    format!("The effect is there{often}{existed}{}", confirmed(truth, taken_back))
}

/// What a confirmed reversal found.
const fn confirmed(truth: IntentBalance, taken_back: bool) -> &'static str {
    match (truth.reversed, taken_back, truth.effects) {
        (0, ..) => "",
        (_, true, 0) => " (one was made and taken back)",
        (_, _, 0) => " (a reversal was confirmed, and there was nothing to take back)",
        _ => " (a reversal was confirmed too)",
    }
}

/// An intent with more than one effect: how many, and by which calls.
fn several_ok(surplus: Surplus, own: u32, others: &[OtherCall]) -> String {
    let Surplus { effects, doubt } = surplus;
    let listed = |later: bool| others.iter().filter(move |other| other.later == later);
    let mut by: Vec<String> =
        listed(false).take(NAMED).map(|other| made_by(&name(&other.name), other.effects)).collect();
    if own > 0 {
        by.push(made_by("this call", own));
    }
    by.extend(listed(true).take(NAMED).map(|other| made_by(&name(&other.name), other.effects)));
    let hidden: usize = [false, true].into_iter().map(|later| listed(later).count().saturating_sub(NAMED)).sum();
    if hidden > 0 {
        by.push(format!("{hidden} more"));
    }
    let (effects, by) = (times(effects), joined(by));
    match doubt {
        None => format!("The effect is there {effects}, made by {by}."),
        Some(SurplusDoubt::Key) => format!(
            "The effect is there {effects} if the upstream ignores the key, and once if it honours it. Answered \
             with ok: {by}."
        ),
        Some(SurplusDoubt::ToolFacts) => {
            format!("The effect is there {effects} if this tool writes, which is not declared. Answered with ok: {by}.")
        }
        Some(SurplusDoubt::Intent(doubt)) => format!(
            "The effect is there {effects} {}, which is not recorded. Answered with ok: {by}.",
            if_one_intent(doubt)
        ),
    }
}

fn this_one(own: OwnEffect) -> &'static str {
    match own {
        OwnEffect::Maybe | OwnEffect::Unanswered | OwnEffect::MayLand => "this call may have made it too",
        OwnEffect::TakenBack => "this call made one too, and it was taken back",
        OwnEffect::MayBeTakenBack => "this call made one too, and it may have been taken back",
        OwnEffect::No => "this call did not make it",
    }
}

/// Why it is unknown whether the effect of an intent was made.
fn unknown(others: &[OtherCall], own: OwnEffect) -> String {
    let maybe_reversed = "a reversal may have taken it back, and the recording does not show whether it did";
    match (others.is_empty(), own) {
        (true, OwnEffect::MayBeTakenBack) => format!("this call made the effect; {maybe_reversed}"),
        (false, OwnEffect::MayBeTakenBack) => {
            let others = named(others);
            format!("this call made the effect; {maybe_reversed}. With the same intent, {others} may have acted")
        }
        (false, OwnEffect::No | OwnEffect::TakenBack) if others.iter().all(|other| other.may_be_taken_back) => {
            format!("{} made the effect; {maybe_reversed}", named(others))
        }
        (true, OwnEffect::Unanswered) => "the call was sent, and no answer is recorded".to_owned(),
        (true, OwnEffect::MayLand) => {
            "a reversal was confirmed, and an attempt that was not answered may still take effect".to_owned()
        }
        (true, _) => "an attempt may have acted, and the recording does not show it".to_owned(),
        (false, OwnEffect::Maybe | OwnEffect::Unanswered | OwnEffect::MayLand) => {
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

fn next(advice: &Advice, tool: &str, in_fixture: bool, names: &PlaybookNames) -> String {
    let by_playbook = match (by_playbook(advice.next, in_fixture, names), advice.state.modelled) {
        (said, true) => format!("If the modelled answers came: {}", lower_first(&said)),
        (said, false) => said,
    };
    let person = match advice.check {
        None => return by_playbook,
        Some(ManualCheck::OnceMore) => "check upstream whether the effect was made again".to_owned(),
        Some(ManualCheck::Surplus(surplus)) => {
            let effects = if surplus == 1 { "surplus effect".to_owned() } else { format!("{surplus} surplus effects") };
            format!(
                "unless more than one was meant, the {effects} must be found upstream and taken back. Three equal \
                 partial refunds, one a call, can be correct: a tool of which each call is meant to act is declared \
                 `repeatable: true`"
            )
        }
        Some(ManualCheck::Intent(IntentDoubt::NoArguments)) => {
            "find out what each call asked for and whether each was meant; the recording has no arguments".to_owned()
        }
        Some(ManualCheck::Intent(IntentDoubt::SameId | IntentDoubt::BegunAgain)) => {
            "find out whether the calls of both runs are one and whether each was meant".to_owned()
        }
        Some(ManualCheck::Intent(IntentDoubt::NoRun | IntentDoubt::TwoInputs)) => {
            "find out whether the calls belong to one run and whether each was meant; the recording has no run ids"
                .to_owned()
        }
        Some(ManualCheck::Key) => "check upstream whether the key was honoured".to_owned(),
        Some(ManualCheck::ToolFacts) => format!(
            "declare in a tools file whether `{}` writes (`playproof confirm` asks); if it does, the surplus must \
             be taken back",
            text::fitted(tool, 60)
        ),
        Some(ManualCheck::Claim) => {
            "look upstream, because the outcome claims something else than the ledger".to_owned()
        }
        Some(ManualCheck::KeyOwner) => "check upstream which of the requests with this key has acted".to_owned(),
        Some(ManualCheck::OtherKey) => "check upstream whether the effect was made under the other key too".to_owned(),
        Some(ManualCheck::MaybeSame) => {
            "check upstream whether the effect was made more than once: the calls may be the same request".to_owned()
        }
        Some(ManualCheck::SaysDone) => {
            "check upstream what was done: an answer says that something was, and the playbook takes it for nothing"
                .to_owned()
        }
        Some(ManualCheck::ReadActed) => format!(
            "correct the tool facts of `{}`: they say that it only reads, and it changed the upstream",
            text::fitted(tool, 60)
        ),
    };
    format!("A person: {person}. By the playbook alone, {}", lower_first(&by_playbook))
}

fn by_playbook(next: Actor, in_fixture: bool, names: &PlaybookNames) -> String {
    let said = match next {
        Actor::Nobody => "The agent: it continues with the result.",
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
        Actor::Successor { may_have_acted: true } => {
            "Whoever follows the caller, which went away: it reads the upstream's state first, and plans from there."
        }
        Actor::Successor { may_have_acted: false } => "Nobody: the caller went away, and nothing has to be put right.",
        Actor::Unfinished(asked) => {
            return format!(
                "Whoever waits for the work: the answer to {asked} says that it is not done yet, and the recording does not show \
                 how it ended (`playproof help unfinished`)."
            );
        }
        Actor::Suspected(asked) => {
            return format!(
                "Unknown: the answer to {asked} suggests a failure and does not prove one. \
                 A mapping decides it: `failed` or `not_failed` (`playproof help suspected_failure`)."
            );
        }
        Actor::Undetermined(asked) if in_fixture => {
            return format!("Unknown: the playbook would have continued, but the fixture has no answer to {asked}.");
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_analysis::explain::{EffectState, OtherName, Relation, ResendAdvice, ResendReason, UpstreamSaid};
    use playproof_engine::ids::AttemptNo;

    fn other(number: u32, later: bool) -> OtherCall {
        let name = match number {
            0 => OtherName::Place { line: 9, path: Some("[2]".to_owned()) },
            number => OtherName::Reference(format!("r1#{number}")),
        };
        let (relation, said) = (Relation::Same, UpstreamSaid::default());
        OtherCall {
            name,
            relation,
            hides_args: false,
            later,
            order_unknown: false,
            effects: 1,
            taken_back: false,
            may_be_taken_back: false,
            reversed: false,
            maybe: false,
            claim: EffectClaim::Applied,
            said,
        }
    }

    fn upstream(known: EffectState, basis: Basis) -> UpstreamState {
        UpstreamState::new(known, basis)
    }

    #[test]
    fn each_basis_has_its_sentence() {
        let others = || vec![other(1, false), other(0, true)];
        let twice = Surplus { effects: 2, doubt: Some(SurplusDoubt::ToolFacts) };
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
                Basis::OthersOk { others: others(), own: OwnEffect::Maybe },
                "The effect is there: r1#1 and the call in line 9 ([2]) made it; this call may have made it too.",
            ),
            (Basis::Said, "The effect is there: the upstream's answer says so."),
            (
                Basis::SaidToOthers { others: vec![other(1, false)], own: OwnEffect::No },
                "The effect is there: the upstream's answer to r1#1 says so; this call did not make it.",
            ),
            (
                Basis::SeveralOk { surplus: twice, own: 1, others: others() },
                "The effect is there twice if this tool writes, which is not declared. Answered with ok: r1#1, this \
                 call and the call in line 9 ([2]).",
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
            let known = UpstreamState { taken_back: true, ..upstream(EffectState::Done, basis) };
            assert_eq!(state(&known, None), said);
        }
    }

    #[test]
    fn other_calls_are_named_up_to_a_number_on_each_side() {
        let others: Vec<OtherCall> = (1..=14).map(|number| other(number, number > 7)).collect();
        let surplus = Surplus { effects: 16, doubt: None };
        assert_eq!(
            state(&upstream(EffectState::Done, Basis::SeveralOk { surplus, own: 2, others: others.clone() }), None),
            "The effect is there 16 times, made by r1#1, r1#2, r1#3, r1#4, r1#5, this call (twice), r1#8, r1#9, r1#10, \
             r1#11, r1#12 and 4 more."
        );
        assert_eq!(named(&others), "r1#1, r1#2, r1#3, r1#4, r1#5 and 9 more");
    }

    #[test]
    fn further_facts_follow_the_basis() {
        let said = |change: fn(&mut UpstreamState)| {
            let mut known = upstream(EffectState::Done, Basis::Said);
            change(&mut known);
            state(&known, None).replace("The effect is there: the upstream's answer says so. ", "")
        };
        assert_eq!(
            said(|state| state.unused = 2),
            "This counts 2 recorded answers that the playbook does not use: it would not send those attempts."
        );
        assert_eq!(
            said(|state| state.once_more = Some(OnceMore { own: true, others: vec![other(3, true)] })),
            "An attempt of this call, and r1#3 with the same intent, may have made it again: look upstream."
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
            let resend = ResendAdvice { person: None, not_now: None, reason: ResendReason::Done };
            next(&Advice { state, check, next: next_is, resend }, "pay", false, &PlaybookNames::default())
        };
        assert_eq!(said(None, Actor::Nobody), "The agent: it continues with the result.");
        assert_eq!(
            said(Some(ManualCheck::Surplus(2)), Actor::Nobody),
            "A person: unless more than one was meant, the 2 surplus effects must be found upstream and taken back. \
             Three equal partial refunds, one a call, can be correct: a tool of which each call is meant to act is declared \
             `repeatable: true`. By the playbook alone, the agent: it continues with the result."
        );
        assert_eq!(
            said(Some(ManualCheck::ToolFacts), Actor::Caller),
            "A person: declare in a tools file whether `pay` writes (`playproof confirm` asks); if it does, the \
             surplus must be taken back. By the playbook alone, the caller: it got the last error and must decide what \
             follows."
        );
        assert_eq!(
            said(None, Actor::Undetermined(RequestKind::Attempt(AttemptNo::FIRST))),
            "Unknown: the playbook would have continued, but the answer to attempt 1 is missing. \
             `--beyond-tape ok|repeat|fail:KIND` supplies one."
        );
    }
}
