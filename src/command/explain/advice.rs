//! What to know at three in the morning: what is true upstream, who acts next, and whether to send again.

use super::case::{Case, Ran};
use super::truth::{self, Known, State, Surplus};
use playproof_engine::event::{Asked, Outcome, OutcomeKind};
use playproof_engine::playbook::Access;
use playproof_engine::sim::Plan;
use playproof_report::text;

/// The three answers.
pub struct Advice {
    /// What is true upstream.
    pub truth: String,
    /// Who acts next.
    pub next: String,
    /// Whether it is safe to send again, why, and with which key.
    pub again: String,
}

/// The advice on how a case ended.
pub fn give(case: &Case, plan: &Plan, ran: &Ran, outcome: &Outcome) -> Advice {
    let state = truth::state(case, plan, ran, outcome);
    Advice {
        next: next(case, plan, outcome, &state),
        again: again(case, plan, ran, outcome, &state),
        truth: state.said,
    }
}

/// A surplus effect comes first: no playbook sees it, because each call went well by itself.
fn next(case: &Case, plan: &Plan, outcome: &Outcome, state: &State) -> String {
    let by_playbook = by_playbook(plan, outcome, state.known);
    let alone = lowered(&by_playbook);
    match (state.surplus, case.key()) {
        (None, _) if state.once_more && !matches!(outcome.kind, OutcomeKind::Escalated(_)) => {
            format!("A person: look upstream whether the effect was made once more. By the playbook alone, {alone}")
        }
        (None, _) => by_playbook,
        (Some(Surplus { effects, certain: true }), _) => {
            let surplus = match effects - 1 {
                1 => "the surplus effect".to_owned(),
                many => format!("the {many} surplus effects"),
            };
            format!("A person: {surplus} must be found upstream and taken back. By the playbook alone, {alone}")
        }
        (Some(Surplus { certain: false, .. }), Some(_)) => {
            format!("A person: look upstream whether the key was honoured. By the playbook alone, {alone}")
        }
        (Some(Surplus { certain: false, .. }), None) => {
            format!(
                "A person: say in a tools file whether `{}` writes (`playproof tools` begins one); if it does, the \
                 surplus must be taken back. By the playbook alone, {alone}",
                text::fitted(case.tool(), 60)
            )
        }
    }
}

/// A sentence as the end of another.
fn lowered(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

fn by_playbook(plan: &Plan, outcome: &Outcome, known: Known) -> String {
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
        OutcomeKind::Refused(_) => "The planner: nothing was sent, and it plans without this call.".to_owned(),
        OutcomeKind::Exhausted(_) => {
            "Nobody was told: the caller got the last error, and must decide what follows.".to_owned()
        }
        OutcomeKind::Undetermined(asked) => {
            let repeat = if matches!(asked, Asked::Attempt(_)) { "|repeat" } else { "" };
            format!(
                "It cannot be told: the playbook would have gone on, but nothing supplies the answer to {asked}. \
                 `--beyond-tape ok{repeat}|fail:KIND` supplies one."
            )
        }
    }
}

fn again(case: &Case, plan: &Plan, ran: &Ran, outcome: &Outcome, state: &State) -> String {
    let known = state.known;
    if ran.facts.access == Access::Read {
        return match outcome.kind {
            OutcomeKind::Escalated(queue) => format!(
                "Yes as far as effects go, because the tool only reads; but a person decides first, in the queue `{}`.",
                plan.names.queue(queue)
            ),
            _ => "Yes, because the tool only reads. It needs no key.".to_owned(),
        };
    }
    let there = match state.surplus {
        Some(Surplus { effects, certain: true }) => format!("the effect is there already, {}", truth::times(effects)),
        _ => "the effect is there already".to_owned(),
    };
    let key = case.key().map(|key| format!("`{}`", text::fitted(key, 60)));
    if let OutcomeKind::Escalated(queue) = outcome.kind {
        let queue = plan.names.queue(queue);
        let then = match (known, &key) {
            (Known::Done, _) => there,
            (Known::NotDone, Some(key)) => format!("if they allow it, with the same key {key}"),
            (Known::NotDone, None) => "if they allow it, with an idempotency key".to_owned(),
            (Known::MaybeDone, Some(key)) => format!("if they want it sent, with the same key {key} and no other"),
            (Known::MaybeDone, None) => {
                "an attempt with this intent may have acted and it has no key, so that a second one could act twice"
                    .to_owned()
            }
        };
        return format!("No, because a person decides first, in the queue `{queue}`; {then}.");
    }
    if ran.facts.idempotent {
        return "Yes, because the tool is declared idempotent: doing it twice is doing it once.".to_owned();
    }
    match (known, key) {
        (Known::Done, Some(key)) => format!(
            "No, because {there}. If it must be sent, only with the same key {key} and the same arguments: any other \
             key is another intent."
        ),
        (Known::Done, None) => {
            format!("No, because {there}, and without an idempotency key it would be made again.")
        }
        (Known::NotDone, _) if state.taken_back => {
            "Only if it is wanted again, because it was made and taken back on purpose; then with a new idempotency \
             key: a key that was used stands for what was taken back."
                .to_owned()
        }
        (Known::NotDone, Some(key)) => format!(
            "Yes, because no attempt with this intent has acted, by what the playbook says of its failures; with the \
             same key {key}."
        ),
        (Known::NotDone, None) => {
            "Yes, because no attempt with this intent has acted, by what the playbook says of its failures; but give it \
             an idempotency key, so that the next failure is no riddle."
                .to_owned()
        }
        (Known::MaybeDone, Some(key)) => format!(
            "Yes, but only with the same key {key} and the same arguments, because an attempt with this \
             intent may have acted: the upstream then does it once, if it honours keys. With another key, no."
        ),
        (Known::MaybeDone, None) => {
            "No, because an attempt with this intent may have acted and has no idempotency key: it could be done twice. \
             Look upstream first."
                .to_owned()
        }
    }
}
