//! The advice on a call: the state of the upstream, who acts next, and whether to send again. All three rest on one
//! `UpstreamState`; `ResendReason::of` alone decides whether the answer is yes.

use super::action_steps::StepsShown;
use super::distrust::Distrust;
use super::effect_state::EffectState;
use super::other_call::OtherCall;
use super::subject::{Simulation, Subject};
use super::upstream_state::{Basis, Surplus, SurplusDoubt, UpstreamState};
use playproof_engine::event::{
    AdmissionRefusal, Decision, EffectClaim, IntentDoubt, Outcome, OutcomeKind, OutcomeWord, RequestKind, StepsEnd,
    StopReason,
};
use playproof_engine::evidence::Against;
use playproof_engine::ids::{QueueId, StepId};
use playproof_engine::playbook::{Access, ToolFacts};
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
    /// Whether the calls are one request.
    Intent(IntentDoubt),
    /// The upstream's state: the outcome contradicts it.
    Claim,
    /// Which of the requests with the key has acted.
    KeyOwner,
    /// Whether the effect was made under another key too.
    OtherKey,
    /// Whether calls that may be the same request are.
    MaybeSame,
    /// The tool facts say that the tool only reads, and it acted.
    ReadActed,
    /// What was done: an answer says that something was, and the playbook takes it for nothing.
    SaysDone,
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
    /// The caller went away: whoever follows it, if the call may have acted.
    Successor {
        /// Whether the call may have acted.
        may_have_acted: bool,
    },
    /// An answer that the playbook needs is missing.
    Undetermined(RequestKind),
    /// The answer to this suggests a failure and does not prove one.
    Suspected(RequestKind),
    /// The answer to this says that the work is not done yet.
    Unfinished(RequestKind),
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
pub struct ResendAdvice {
    /// The queue of the person who decides first.
    pub person: Option<QueueId>,
    /// What calls share and has stopped this one: while it does, another call is of no use.
    pub not_now: Option<StopReason>,
    /// The reason.
    pub reason: ResendReason,
}

/// Why it is safe to send a call again, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResendReason {
    /// Yes: the tool only reads.
    Read,
    /// Yes: the tool is idempotent.
    Idempotent,
    /// Yes: no attempt has acted.
    NotDone,
    /// Only with the same key: an attempt may have acted.
    SameKey,
    /// No: the tool is declared a read, and it acted.
    ReadActed,
    /// No: the tool is declared never to be sent a request again.
    NeverRetried,
    /// No: the key belongs to a request with other arguments.
    KeyOfAnother,
    /// No: the key is the request's own, and another one was sent under it later.
    KeyShared,
    /// No: the call was denied.
    Denied,
    /// No: an answer says that something was done, whatever the playbook takes it for.
    SaysDone,
    /// Not as it stands: no attempt has acted, and the playbook gave the request up.
    GivenUp,
    /// No: the upstream said that it has processed the key.
    Processed,
    /// No: the effect is there.
    Done,
    /// No: the outcome contradicts what is known.
    Contradicted,
    /// No: the same request under another key may have acted.
    OtherKey,
    /// No: another call, which may be the same request, may have acted.
    MaybeSame,
    /// Only if another effect is wanted: each call of the tool acts, and this one has, or a later one.
    Repeatable,
    /// Only if the effect is wanted again: it was taken back, or a reversal may still land.
    TakenBack,
    /// No: an answer belongs to no call, and may be one to this.
    Unclaimed,
    /// No: an input could not be read, and may show that the request acted.
    Unread,
    /// No: lines of the inputs were skipped, and may show that the request acted.
    Skipped,
    /// No: the playbook refuses the call as it stands.
    Refused,
    /// No: the playbook refuses the call, and handed it to people after so many equal refusals in a row, or more.
    Stuck(u32),
    /// Not now: the playbook refuses the call until others have ended, or time has passed.
    RefusedForNow,
    /// No: an attempt may have acted, and no key would make a second one harmless.
    MayHaveActed,
    /// No: no attempt has acted according to the playbook, but an error says more than a refusal, and there is no key, or
    /// the playbook gives the request up.
    SaysMore,
    /// No: an earlier request of the tool's client may have acted, and there is no key, or the playbook gives the request up.
    Resent,
    /// No: the upstream said that the call is not to be sent again.
    ToldNotTo,
    /// Only if a later write of the tool need not stay: the tool is idempotent, and would overwrite it.
    Overwrites,
    /// Yes: the steps that had their turn only read.
    StepsRead,
    /// Yes, as the agent was told: no step that has acted, or may have, would act again.
    StepsSafe,
    /// No: a step that has acted, or may have, would be done again.
    StepsAct,
    /// No: the same of a step that is recorded, and that the playbook does not have made.
    StepsMade,
    /// No: a step of an identical action before it has acted, or may have.
    StepsBefore,
    /// No: a step that is not recorded may have acted.
    StepsUnknown,
    /// Perhaps: what became of each step decides.
    Steps,
    /// No: the graph withholds the action after the call.
    Withheld,
    /// No: this is known of its request, or of a step of it.
    Known(Against),
    /// No: it is a step, and its action ended before its turn.
    SkippedStep,
}

impl Advice {
    /// The advice on how a subject ended.
    pub fn of(subject: &Subject, plan: &Plan, simulation: &Simulation, outcome: &Outcome) -> Advice {
        // Whatever the call itself leaves open, the gate refuses the next one.
        let is_withheld = simulation.transcript(plan).withholds(simulation.call, subject.tool());
        let unless_withheld = |reason: ResendReason| match reason {
            reason if is_withheld && (reason.is_yes() || reason == ResendReason::GivenUp) => ResendReason::Withheld,
            reason => reason,
        };
        let unless_known = |reason: ResendReason| match simulation.against {
            Some(why) if reason.is_yes() => ResendReason::Known(why),
            _ => reason,
        };
        let advised = |state: UpstreamState, check: Option<ManualCheck>, reason: ResendReason| Advice {
            check,
            next: next(outcome, simulation.facts, &state),
            resend: ResendAdvice { person: queue(outcome), not_now: outcome.kind.shared_stop(), reason },
            state,
        };
        if let Some(steps) = simulation.steps() {
            let (state, reason) = advise_on_steps(plan, simulation, outcome, &steps);
            return advised(state, None, unless_known(unless_withheld(reason)));
        }
        let state = UpstreamState::of(subject, plan, simulation, outcome);
        let is_keyed = subject.key().is_some() && !simulation.facts.ignores_keys;
        // What the agent is told and what a person reads rest on the same: the playbook gave the call up, and it passes.
        let may_pass = simulation.record.told_of(simulation.call).is_some_and(|told| told.retriable);
        let is_given_up = matches!(outcome.kind, OutcomeKind::Deprecated(_)) && !may_pass;
        let refused = refused(plan, outcome, simulation.facts, &state);
        let reason = match ResendReason::of(&state, simulation.facts, (is_keyed, is_given_up), (outcome.kind, refused))
        {
            reason if reason.is_yes() && is_told_not_to(outcome) => ResendReason::ToldNotTo,
            // What is harmless in any case needs no leave.
            ResendReason::NotDone | ResendReason::SameKey if state.said.told_not_to => ResendReason::ToldNotTo,
            reason => unless_known(unless_withheld(reason)),
        };
        let check = check(simulation.facts, outcome, &state);
        advised(state, check, reason)
    }
}

impl ResendAdvice {
    /// Whether the answer is yes.
    pub const fn is_yes(&self) -> bool {
        self.person.is_none() && self.not_now.is_none() && self.reason.is_yes()
    }
}

impl ResendReason {
    /// The one function that decides whether one more identical call could do harm. It says yes only if that call would
    /// cause no `unsafe` finding.
    fn of(
        state: &UpstreamState,
        facts: ToolFacts,
        (is_keyed, is_given_up): (bool, bool),
        (ended, refused): (OutcomeKind, Option<ResendReason>),
    ) -> ResendReason {
        let is_read = facts.access == Access::Read;
        let is_reversed = state.reversed || matches!(ended, OutcomeKind::Reversed(_));
        match state.known {
            _ if state.read_acted || is_read && state.known == EffectState::Done => ResendReason::ReadActed,
            _ if state.takes_key => ResendReason::KeyOfAnother,
            EffectState::Done if !facts.idempotent && !facts.repeatable => ResendReason::Done,
            _ if state.said.denied => ResendReason::Denied,
            _ if state.shares_key => ResendReason::KeyShared,
            _ if state.contradicted => ResendReason::Contradicted,
            _ if state.said.processed => ResendReason::Processed,
            _ if (is_read || facts.idempotent)
                && let Some(refused) = refused =>
            {
                refused
            }
            _ if is_read => ResendReason::Read,
            _ if facts.never_retried => ResendReason::NeverRetried,
            // Another call would make what was taken back, or may have been.
            EffectState::NotDone | EffectState::MaybeDone if facts.idempotent && is_reversed => ResendReason::TakenBack,
            _ if facts.idempotent && !state.later_writes.is_empty() => ResendReason::Overwrites,
            _ if facts.idempotent => ResendReason::Idempotent,
            _ if state.other_keys.iter().any(OtherCall::may_have_acted) => ResendReason::OtherKey,
            _ if state.maybe_same.iter().any(OtherCall::may_have_acted) => ResendReason::MaybeSame,
            _ if !facts.repeatable
                && let Some(refused) = refused =>
            {
                refused
            }
            _ if let Some(reason) = distrusted(state, is_keyed, is_given_up, ended) => reason,
            EffectState::NotDone if is_reversed => ResendReason::TakenBack,
            EffectState::NotDone if state.said.done => ResendReason::SaysDone,
            EffectState::NotDone if is_given_up => ResendReason::GivenUp,
            EffectState::NotDone if state.said.more && !is_keyed => ResendReason::SaysMore,
            EffectState::NotDone if state.said.resent && !is_keyed => ResendReason::Resent,
            EffectState::NotDone if !state.made_since.is_empty() => ResendReason::Repeatable,
            EffectState::NotDone => ResendReason::NotDone,
            _ if facts.repeatable => ResendReason::Repeatable,
            _ if is_keyed && !state.keys_forgotten && !is_reversed => match state.said.done {
                true => ResendReason::SaysDone,
                false => ResendReason::SameKey,
            },
            _ => ResendReason::MayHaveActed,
        }
    }

    /// Whether the answer is yes, if no person decides first.
    pub const fn is_yes(self) -> bool {
        matches!(
            self,
            ResendReason::Read
                | ResendReason::Idempotent
                | ResendReason::NotDone
                | ResendReason::SameKey
                | ResendReason::StepsRead
                | ResendReason::StepsSafe
        )
    }
}

/// Why a call that was never sent would not be sent now either; none: it was sent.
fn refused(plan: &Plan, outcome: &Outcome, facts: ToolFacts, state: &UpstreamState) -> Option<ResendReason> {
    use AdmissionRefusal::{CircuitOpen, KeyInFlight, QueueFull};
    let stuck = plan.playbook.graph.as_ref().and_then(|graph| graph.stuck);
    match outcome.kind {
        OutcomeKind::Refused(CircuitOpen | QueueFull | KeyInFlight) => Some(ResendReason::RefusedForNow),
        OutcomeKind::Refused(_) => Some(ResendReason::Refused),
        OutcomeKind::Escalated(_) if outcome.attempts == 0 => stuck.map(|stuck| ResendReason::Stuck(stuck.after)),
        // One that may have acted, as recorded, is like any other write.
        OutcomeKind::Skipped if facts.access == Access::Read || state.known == EffectState::NotDone => {
            Some(ResendReason::SkippedStep)
        }
        _ => None,
    }
}

/// Why a call is not sent again of which only a failure that proves little says that it has not acted.
const fn distrusted(
    state: &UpstreamState,
    is_keyed: bool,
    is_given_up: bool,
    ended: OutcomeKind,
) -> Option<ResendReason> {
    let Basis::Distrusted(why, _) = state.basis else { return None };
    let is_over = is_given_up || state.reversed || matches!(ended, OutcomeKind::Reversed(_));
    match why {
        Distrust::SaysDone => Some(ResendReason::SaysDone),
        Distrust::Unclaimed if state.gaps.unclaimed_conflicts > 0 => Some(ResendReason::Unclaimed),
        _ if is_keyed && !is_over => None, // the same key makes it harmless
        Distrust::SaysMore => Some(ResendReason::SaysMore),
        Distrust::Resent => Some(ResendReason::Resent),
        Distrust::Unclaimed => Some(ResendReason::Unclaimed),
        Distrust::Unread => Some(ResendReason::Unread),
        Distrust::Skipped => Some(ResendReason::Skipped),
    }
}

/// Whether the upstream said that the call is not to be sent again.
fn is_told_not_to(outcome: &Outcome) -> bool {
    outcome.kind == OutcomeKind::Exhausted(StopReason::ToldNotTo)
}

fn queue(outcome: &Outcome) -> Option<QueueId> {
    match outcome.kind {
        OutcomeKind::Escalated(queue) => Some(queue),
        _ => None,
    }
}

fn check(facts: ToolFacts, outcome: &Outcome, state: &UpstreamState) -> Option<ManualCheck> {
    let maybe_same = state.maybe_same.iter().any(OtherCall::may_have_acted);
    let other_key = state.other_keys.iter().any(OtherCall::may_have_acted) && !facts.idempotent;
    let is_doubted = state.known == EffectState::NotDone || matches!(state.basis, Basis::Distrusted(..));
    let says_done = state.said.done && is_doubted && !state.reversed && !facts.idempotent;
    match state.surplus {
        _ if facts.access == Access::Read => {
            (state.read_acted || state.known == EffectState::Done).then_some(ManualCheck::ReadActed)
        }
        Some(Surplus { effects, doubt }) => Some(match doubt {
            None => ManualCheck::Surplus(effects - 1),
            Some(SurplusDoubt::Key) => ManualCheck::Key,
            Some(SurplusDoubt::ToolFacts) => ManualCheck::ToolFacts,
            Some(SurplusDoubt::Intent(doubt)) => ManualCheck::Intent(doubt),
        }),
        None if queue(outcome).is_some() => None, // a person decides already
        None if state.contradicted => Some(ManualCheck::Claim),
        None if matches!(state.basis, Basis::OkAfterProcessed(_)) => Some(ManualCheck::Key),
        None if state.once_more.is_some() => Some(ManualCheck::OnceMore),
        None if matches!(state.basis, Basis::KeyOfAnother(_)) => Some(ManualCheck::KeyOwner),
        None if state.shares_key && state.known != EffectState::Done => Some(ManualCheck::KeyOwner),
        None if other_key && state.known != EffectState::NotDone => Some(ManualCheck::OtherKey),
        None if says_done => Some(ManualCheck::SaysDone),
        None if maybe_same && state.known != EffectState::NotDone => Some(ManualCheck::MaybeSame),
        None => None,
    }
}

const SUCCEEDED: OutcomeWord = OutcomeWord::Succeeded;
const COMPENSATED: OutcomeWord = OutcomeWord::SucceededAfterCompensation;

fn next(outcome: &Outcome, facts: ToolFacts, state: &UpstreamState) -> Actor {
    let is_made = state.known == EffectState::Done && !state.takes_key && state.if_same.is_none();
    let as_planned = is_made || facts.access == Access::Read || state.modelled || state.contradicted;
    match outcome.kind {
        OutcomeKind::Succeeded | OutcomeKind::SucceededAfterCompensation if as_planned => Actor::Nobody,
        OutcomeKind::Escalated(queue) => Actor::Person(queue),
        OutcomeKind::Deprecated(_) if is_made => Actor::Planner(PlannerStart::Effect),
        OutcomeKind::Reversed(_) | OutcomeKind::Succeeded | OutcomeKind::SucceededAfterCompensation
            if state.taken_back && state.known == EffectState::NotDone =>
        {
            Actor::Planner(PlannerStart::Reversal)
        }
        OutcomeKind::Deprecated(_)
        | OutcomeKind::Reversed(_)
        | OutcomeKind::Succeeded
        | OutcomeKind::SucceededAfterCompensation => Actor::Planner(PlannerStart::State),
        OutcomeKind::Refused(_) if state.known == EffectState::NotDone || facts.access == Access::Read => {
            Actor::Planner(PlannerStart::Refusal)
        }
        OutcomeKind::Refused(_) => Actor::Planner(PlannerStart::State),
        OutcomeKind::Skipped => Actor::Planner(PlannerStart::Refusal),
        OutcomeKind::Cached { .. } | OutcomeKind::Joined { ended: SUCCEEDED | COMPENSATED, .. }
            if as_planned || outcome.claim == EffectClaim::Applied =>
        {
            Actor::Nobody
        }
        OutcomeKind::Cached { .. } | OutcomeKind::Joined { ended: SUCCEEDED | COMPENSATED, .. } => {
            Actor::Planner(PlannerStart::State)
        }
        OutcomeKind::Exhausted(_) | OutcomeKind::Joined { .. } => Actor::Caller,
        OutcomeKind::Cancelled => {
            Actor::Successor { may_have_acted: facts.access == Access::Write && state.known != EffectState::NotDone }
        }
        OutcomeKind::Undetermined(asked) => Actor::Undetermined(asked),
        OutcomeKind::Suspected(asked) => Actor::Suspected(asked),
        OutcomeKind::Unfinished(asked) => Actor::Unfinished(asked),
    }
}

/// The state of the upstream after an action, and whether to make it again.
fn advise_on_steps(
    plan: &Plan,
    simulation: &Simulation,
    outcome: &Outcome,
    end: &StepsEnd,
) -> (UpstreamState, ResendReason) {
    let shown = StepsShown::of(plan, simulation, end);
    let action = plan.playbook.actions.get(end.action.index());
    let mut had_turn = end.completed.iter().chain(&end.failed);
    let reads = |id: &StepId| {
        let step = action.and_then(|action| action.steps.get(id.index()));
        step.is_some_and(|step| plan.facts(&step.tool).access == Access::Read)
    };
    let reason = if shown.acts.iter().any(|act| act.acts_again) {
        ResendReason::StepsMade
    } else if end.acts_again {
        ResendReason::StepsAct
    } else if shown.before.as_ref().is_some_and(|act| act.acts_again) {
        ResendReason::StepsBefore
    } else if !shown.unknown.is_empty() {
        ResendReason::StepsUnknown
    } else if shown.acts.is_empty() && had_turn.all(reads) {
        ResendReason::StepsRead
    } else if shown.acts.is_empty() && is_told_to(simulation) && !may_act_again(plan, simulation, end) {
        ResendReason::StepsSafe
    } else {
        ResendReason::Steps
    };
    (UpstreamState::new(shown.known(outcome), Basis::Steps(Box::new(shown))), reason)
}

/// Whether the agent is told that it may make the action again.
fn is_told_to(simulation: &Simulation) -> bool {
    simulation.record.told_of(simulation.call).is_some_and(|told| told.retriable)
}

/// Whether a step has acted, or may have, that is not idempotent: also one with a key, for its upstream may forget that.
fn may_act_again(plan: &Plan, simulation: &Simulation, end: &StepsEnd) -> bool {
    let action = plan.playbook.actions.get(end.action.index());
    simulation.record.events.iter().filter(|event| event.call == simulation.call).any(|event| match event.what {
        Decision::StepEnded { step, claim, .. } => {
            let step = action.and_then(|action| action.steps.get(step.index()));
            let facts = step.map_or(ToolFacts::ASSUMED, |step| step.facts(plan.facts(&step.tool)));
            claim != EffectClaim::NotApplied && facts.adds_effects()
        }
        _ => false,
    })
}
