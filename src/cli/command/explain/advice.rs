//! What to know at three in the morning: what is true upstream, who acts next, and whether to send again.

use super::case::{Case, Ran};
use crate::event::{EffectClaim, Outcome, OutcomeKind};
use crate::playbook::model::Access;
use crate::report::text;
use crate::report::view::Truth;
use crate::sim::Plan;

/// The three answers.
pub struct Advice {
    /// What is true upstream.
    pub truth: String,
    /// Who acts next.
    pub next: String,
    /// Whether it is safe to send again, why, and with which key.
    pub again: String,
}

/// What the upstream's state is, as far as anyone can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Done,
    NotDone,
    MaybeDone,
}

/// The advice on how a case ended.
pub fn give(case: &Case, plan: &Plan, ran: &Ran, outcome: &Outcome) -> Advice {
    let truth = ran.run(plan).truth();
    let known = known(case, outcome, truth);
    Advice {
        truth: upstream(case, ran, outcome, truth, known),
        next: next(plan, outcome, known),
        again: again(case, plan, ran, outcome, known),
    }
}

/// A script decides its effects; a recording proves what it proves, and the rest is what the verdicts say.
fn known(case: &Case, outcome: &Outcome, truth: Truth) -> Known {
    if truth.effects > 0 {
        return Known::Done;
    }
    if case.is_rehearsed() && truth.unobserved == 0 {
        return if outcome.claim == EffectClaim::Unknown { Known::MaybeDone } else { Known::NotDone };
    }
    match outcome.claim {
        EffectClaim::Applied => Known::Done,
        EffectClaim::NotApplied => Known::NotDone,
        EffectClaim::Unknown => Known::MaybeDone,
    }
}

fn upstream(case: &Case, ran: &Ran, outcome: &Outcome, truth: Truth, known: Known) -> String {
    if ran.facts.access == Access::Read {
        return "Nothing has changed: the tool only reads.".to_owned();
    }
    let claims = match outcome.claim {
        EffectClaim::Applied => "the outcome claims that it is there",
        EffectClaim::NotApplied => "the outcome claims that it is not there",
        EffectClaim::Unknown => "the outcome claims to know nothing of it",
    };
    let taken_back = if truth.reversed > 0 { " (one was made and taken back)" } else { "" };
    let existed = if truth.existing > 0 { ", made before this call" } else { "" };
    if case.is_rehearsed() {
        return match truth.effects {
            0 => format!("The effect is not there{taken_back}; {claims}."),
            1 => format!("The effect is there, once{existed}; {claims}."),
            many => format!("The effect is there {many} times{existed}; {claims}."),
        };
    }
    match (known, truth.effects) {
        (_, 1..) => "The effect is there: an attempt was answered with ok.".to_owned(),
        (Known::Done, _) => "The effect is there: the upstream's answer says so.".to_owned(),
        (Known::NotDone, _) => "The effect is not there: no attempt can have acted.".to_owned(),
        (Known::MaybeDone, _) => {
            "Nobody knows: an attempt may have acted, and the recording does not show it. Look upstream.".to_owned()
        }
    }
}

fn next(plan: &Plan, outcome: &Outcome, known: Known) -> String {
    match outcome.kind {
        OutcomeKind::Succeeded | OutcomeKind::SucceededAfterCompensation => {
            "Nobody has to: the agent goes on with the result.".to_owned()
        }
        OutcomeKind::Escalated(queue) => {
            format!("A person, from the queue `{}`. The agent must not act on this call.", plan.names.queue(queue))
        }
        OutcomeKind::Deprecated(_) if known == Known::Done => {
            "The planner: it takes the effect as made and goes on from the upstream's state.".to_owned()
        }
        OutcomeKind::Deprecated(_) => {
            "The planner: it reads the upstream's state first, and plans from there.".to_owned()
        }
        OutcomeKind::Reversed(_) => "The planner: the effect was taken back, and it plans from there.".to_owned(),
        OutcomeKind::Exhausted(_) => {
            "Nobody was told: the caller got the last error, and must decide what follows.".to_owned()
        }
        OutcomeKind::Undetermined(asked) => format!(
            "It cannot be told: the playbook would have gone on, but nothing supplies the answer to {asked}. \
             `--beyond-tape ok|repeat|fail:KIND` supplies one."
        ),
    }
}

fn again(case: &Case, plan: &Plan, ran: &Ran, outcome: &Outcome, known: Known) -> String {
    if ran.facts.access == Access::Read {
        return match outcome.kind {
            OutcomeKind::Escalated(queue) => format!(
                "Yes as far as effects go, because the tool only reads; but a person decides first, in the queue `{}`.",
                plan.names.queue(queue)
            ),
            _ => "Yes, because the tool only reads. It needs no key.".to_owned(),
        };
    }
    let key = case.key().map(|key| format!("`{}`", text::fitted(key, 60)));
    if let OutcomeKind::Escalated(queue) = outcome.kind {
        let queue = plan.names.queue(queue);
        let then = match (known, &key) {
            (Known::Done, _) => "the effect is there already".to_owned(),
            (Known::NotDone, Some(key)) => format!("if they allow it, with the same key {key}"),
            (Known::NotDone, None) => "if they allow it, with an idempotency key".to_owned(),
            (Known::MaybeDone, Some(key)) => format!("if they want it sent, with the same key {key} and no other"),
            (Known::MaybeDone, None) => {
                "an attempt may have acted and the call has no key, so that a second one could act twice".to_owned()
            }
        };
        return format!("No, because a person decides first, in the queue `{queue}`; {then}.");
    }
    if ran.facts.idempotent {
        return "Yes, because the tool is declared idempotent: doing it twice is doing it once.".to_owned();
    }
    match (known, key) {
        (Known::Done, Some(key)) => format!(
            "No, because the effect is there already. If it must be sent, only with the same key {key} and the same \
             arguments: any other key is another intent."
        ),
        (Known::Done, None) => {
            "No, because the effect is there already, and without an idempotency key it would be made again.".to_owned()
        }
        (Known::NotDone, Some(key)) => format!("Yes, because no attempt has acted; with the same key {key}."),
        (Known::NotDone, None) => {
            "Yes, because no attempt has acted; but give it an idempotency key, so that the next failure is no riddle."
                .to_owned()
        }
        (Known::MaybeDone, Some(key)) => format!(
            "Yes, but only with the same key {key} and the same arguments, because an attempt may have acted: the \
             upstream then does it once, if it honours keys. With another key, no."
        ),
        (Known::MaybeDone, None) => {
            "No, because an attempt may have acted and the call has no idempotency key: it could \
                                     be done twice. Look upstream first."
                .to_owned()
        }
    }
}
