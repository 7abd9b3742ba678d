//! The advice on a call: the state of the upstream, who acts next, and whether to send again.

use super::subject::{Simulation, Subject};
use super::upstream_state::{EffectState, Surplus, UpstreamState};
use playproof_engine::event::{Outcome, OutcomeKind, RequestKind};
use playproof_engine::ids::QueueId;
use playproof_engine::playbook::Access;
use playproof_engine::sim::Plan;

/// The three answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// The state of the upstream.
    pub state: UpstreamState,
    /// What a person must check first. No playbook sees it, because each call alone went well.
    pub check: Option<ManualCheck>,
    /// Who acts next, by the playbook alone.
    pub next: Actor,
    /// Whether it is safe to send again.
    pub resend: ResendAdvice,
}

/// What a person must check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManualCheck {
    /// Whether the effect was made again.
    OnceMore,
    /// So many surplus effects must be reversed.
    Surplus(u32),
    /// Whether the upstream honoured the key.
    Key,
    /// Whether the tool writes.
    ToolFacts,
}

/// Who acts next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// No one has to act.
    Nobody,
    /// A person, from a queue.
    Person(QueueId),
    /// The planner, after this.
    Planner(PlannerStart),
    /// The caller: it got the last error.
    Caller,
    /// An answer that the playbook needs is missing.
    Undetermined(RequestKind),
}

/// What the planner starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlannerStart {
    /// The effect, as made.
    Effect,
    /// The upstream's state, which it reads first.
    State,
    /// A reversal.
    Reversal,
    /// A refusal: nothing was sent.
    Refusal,
}

/// Whether it is safe to send the call again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResendAdvice {
    /// Yes: the tool only reads. With a queue, a person decides first.
    Read(Option<QueueId>),
    /// No: a person decides first.
    Person(QueueId),
    /// Yes: the tool is idempotent.
    Idempotent,
    /// No: the effect is there.
    Done,
    /// Only if the effect is wanted again: it was taken back.
    TakenBack,
    /// Yes: no attempt has acted.
    NotDone,
    /// Only with the same key: an attempt may have acted.
    MaybeDone,
}

impl Advice {
    /// The advice on how a subject ended.
    pub fn of(subject: &Subject, plan: &Plan, simulation: &Simulation, outcome: &Outcome) -> Advice {
        let state = UpstreamState::of(subject, plan, simulation, outcome);
        Advice {
            check: check(subject, outcome, &state),
            next: next(outcome, state.known),
            resend: resend(simulation, outcome, &state),
            state,
        }
    }
}

fn check(subject: &Subject, outcome: &Outcome, state: &UpstreamState) -> Option<ManualCheck> {
    match state.surplus {
        None => {
            let is_escalated = matches!(outcome.kind, OutcomeKind::Escalated(_));
            (state.once_more.is_some() && !is_escalated).then_some(ManualCheck::OnceMore)
        }
        Some(Surplus { effects, certain: true }) => Some(ManualCheck::Surplus(effects - 1)),
        Some(_) if subject.key().is_some() => Some(ManualCheck::Key),
        Some(_) => Some(ManualCheck::ToolFacts),
    }
}

fn next(outcome: &Outcome, known: EffectState) -> Actor {
    match outcome.kind {
        OutcomeKind::Succeeded | OutcomeKind::SucceededAfterCompensation => Actor::Nobody,
        OutcomeKind::Escalated(queue) => Actor::Person(queue),
        OutcomeKind::Deprecated(_) if known == EffectState::Done => Actor::Planner(PlannerStart::Effect),
        OutcomeKind::Deprecated(_) => Actor::Planner(PlannerStart::State),
        OutcomeKind::Reversed(_) => Actor::Planner(PlannerStart::Reversal),
        OutcomeKind::Refused(_) => Actor::Planner(PlannerStart::Refusal),
        OutcomeKind::Exhausted(_) => Actor::Caller,
        OutcomeKind::Undetermined(asked) => Actor::Undetermined(asked),
    }
}

fn resend(simulation: &Simulation, outcome: &Outcome, state: &UpstreamState) -> ResendAdvice {
    match (outcome.kind, state.known) {
        (OutcomeKind::Escalated(queue), _) if simulation.facts.access == Access::Read => {
            ResendAdvice::Read(Some(queue))
        }
        _ if simulation.facts.access == Access::Read => ResendAdvice::Read(None),
        (OutcomeKind::Escalated(queue), _) => ResendAdvice::Person(queue),
        _ if simulation.facts.idempotent => ResendAdvice::Idempotent,
        (_, EffectState::Done) => ResendAdvice::Done,
        (_, EffectState::NotDone) if state.taken_back => ResendAdvice::TakenBack,
        (_, EffectState::NotDone) => ResendAdvice::NotDone,
        (_, EffectState::MaybeDone) => ResendAdvice::MaybeDone,
    }
}
