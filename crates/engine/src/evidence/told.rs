//! What the agent is told of each failed call. A pure function of how the call ended: a playbook gives class and details,
//! and never whether the agent may try again.

use crate::classify::{reads_as_unanswered, server_says};
use crate::dispatch::retry_guard;
use crate::event::{
    AdmissionRefusal, Boundary, Decision, DecisionEvent, EffectClaim, ErrorFacts, FailureClass, NoRetry, Outcome,
    OutcomeKind, OutcomeWord, Status, StopReason, Told,
};
use crate::ids::{AttemptNo, CallId, ErrorId, VerdictId};
use crate::plan::{DrivenCall, Plan};
use crate::playbook::{GuardMode, Tell};
use crate::time::Duration;
use crate::upstream::AnswerSource;

use super::book::Against;
use super::meaning::FailureMeaning;

/// How a failed call ended, as far as what is told depends on it.
#[derive(Clone, Copy, Debug)]
struct FailedEnd<'a> {
    /// The call.
    call: CallId,
    /// How it ended.
    outcome: Outcome,
    /// Why admission refused the call, if it did; people may have it since.
    refused: Option<AdmissionRefusal>,
    /// The verdict that decided, if one did, and what it tells.
    verdict: Option<(VerdictId, Option<&'a Tell>)>,
    /// The error that is told, if there is one.
    error: Option<&'a ErrorFacts>,
    /// Whether the retry guard lets the call pass once more.
    may_resend: bool,
    /// Whether the guard has stopped a retry of it.
    suppressed: bool,
    /// Whether making it again would do a completed step again that is not safe to repeat.
    repeats_a_step: bool,
    /// How long the upstream or the breaker asks to wait.
    retry_after: Option<Duration>,
}

/// Whether the agent is told of a failure. It gets the result of a success; a caller that went away gets nothing; and where
/// an answer is missing, it is unknown what it would get.
pub(crate) const fn is_told(kind: OutcomeKind) -> bool {
    match kind {
        OutcomeKind::Succeeded
        | OutcomeKind::SucceededAfterCompensation
        | OutcomeKind::Cached { .. }
        | OutcomeKind::Skipped
        | OutcomeKind::Cancelled
        | OutcomeKind::Undetermined(_)
        | OutcomeKind::Suspected(_)
        | OutcomeKind::Unfinished(_) => false,
        OutcomeKind::Deprecated(_)
        | OutcomeKind::Escalated(_)
        | OutcomeKind::Reversed(_)
        | OutcomeKind::Exhausted(_)
        | OutcomeKind::Refused(_) => true,
        OutcomeKind::Joined { ended, .. } => match ended {
            OutcomeWord::Deprecated | OutcomeWord::Escalated | OutcomeWord::Reversed | OutcomeWord::Exhausted => true,
            OutcomeWord::Succeeded
            | OutcomeWord::SucceededAfterCompensation
            | OutcomeWord::Refused
            | OutcomeWord::Joined
            | OutcomeWord::Cached
            | OutcomeWord::Skipped
            | OutcomeWord::Cancelled
            | OutcomeWord::Undetermined => false,
        },
    }
}

/// What speaks against making a call once more, beside its own events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AgainstOneMore {
    /// What is known of its request, or of that of a step of it.
    pub request: Option<Against>,
    /// Of an action: a step that its events do not have would act again.
    pub step_beside: bool,
    /// The graph withholds its action after it, whatever the key of a call.
    pub withheld: bool,
}

/// What is told of a call, by its events; none unless it failed.
pub(crate) fn told_by_events<'e>(
    plan: &Plan,
    call: &DrivenCall<'_>,
    id: CallId,
    outcome: Outcome,
    errors: impl Fn(ErrorId) -> Option<&'e ErrorFacts>,
    against: impl FnOnce() -> AgainstOneMore,
    events: impl IntoIterator<Item = &'e DecisionEvent>,
) -> Option<Told> {
    if !is_told(outcome.kind) {
        return None;
    }
    let against = against();
    let (mut verdict, mut suppressed, mut refused_until, mut last) = (None, false, None, AttemptNo::FIRST);
    let (mut refused, mut failed, mut is_refusal) = (None, None, false);
    let error = outcome.last_error.and_then(&errors);
    let mut refuses = |verdict, failed: Option<&ErrorFacts>| {
        let meaning = FailureMeaning::under(plan, verdict, failed, call.keyed_for(failed) == Some(true));
        is_refusal |= meaning.denied || meaning.processed;
    };
    let (mut failed_step, mut repeats_a_step, mut ended) = (None, against.step_beside, outcome);
    for event in events {
        refused = refused.or(event.what.refusal());
        match event.what {
            Decision::AttemptStarted { attempt, .. } => last = attempt,
            Decision::AttemptFinished { status: Status::Failed(error), .. } => failed = error.and_then(&errors),
            Decision::FailureClassified { verdict: given, ignored, .. } => {
                refuses(given, failed);
                verdict = if ignored { verdict } else { Some(given) };
            }
            Decision::RetrySuppressed { .. } => suppressed = true,
            Decision::Refused { retry_after, .. } => refused_until = retry_after,
            Decision::StepEnded { ended, acts_again, .. } if ended.completes_step() => repeats_a_step |= acts_again,
            Decision::StepEnded { verdict: given, attempts, claim, acts_again, .. } => {
                (failed_step, verdict) = (Some(acts_again), given);
                ended = Outcome { attempts, claim, ..outcome }; // what is told is what the step says
            }
            _ => {}
        }
    }
    let sources = &plan.playbook.server_delay_sources;
    let asked = error.and_then(|error| server_says(error, sources, call.answered_at(last)).wait);
    // The error of a failed refresh has no verdict.
    let verdict = verdict.filter(|_| outcome.kind != OutcomeKind::Exhausted(StopReason::RefreshFailed));
    // A study playbook may send anything again; what it tells an agent outside rests on the facts alone.
    let guard = retry_guard(GuardMode::Checked, call.dispatched().may_be_resent(), outcome.claim);
    // Each step of an action has been asked for itself.
    let is_safe = guard.is_none() && !is_in_doubt(call, outcome);
    let is_refused = matches!(against.request, Some(Against::Denied | Against::Processed));
    let acts_twice = against.request.is_some() && !is_refused;
    let may_resend = !acts_twice && !against.withheld && failed_step.map_or(is_safe, |acts_again| !acts_again);
    let told = told(&FailedEnd {
        call: id,
        outcome: ended,
        refused,
        verdict: verdict.map(|verdict| (verdict, plan.playbook.verdict(verdict).tell.as_ref())),
        error,
        may_resend,
        suppressed,
        repeats_a_step,
        retry_after: refused_until.or(asked),
    });
    // A denial, and a key that was processed, stay what they are, however often they are asked again.
    Some(Told { retriable: told.retriable && !is_refusal && !is_refused, ..told })
}

/// What a follower is told: what its leader is told. Where a step of an action followed another one, what speaks against
/// making the action once more counts besides.
pub(crate) fn told_as_follower(own: Told, leader: Told, has_steps: bool) -> Told {
    let is_held = has_steps && !own.retriable;
    Told {
        call: own.call,
        error: own.error,
        retried: own.retried,
        retriable: leader.retriable && !is_held,
        retry: if is_held { own.retry.or(leader.retry) } else { leader.retry },
        ..leader
    }
}

/// Whether more than the call's own answers and its request speaks against making it once more: its key, which belongs to
/// another request or to an effect that was reversed, or a client that sends requests again by itself.
fn is_in_doubt(call: &DrivenCall<'_>, outcome: Outcome) -> bool {
    let by_tape = match call.source {
        AnswerSource::Script(..) => false, // the record knows
        AnswerSource::Tape(tape) => (tape.call.key_is_reused || tape.call.key_is_reversed) && !call.facts.ignores_keys,
    };
    let resends = call.facts.resends && outcome.attempts > 0 && !call.dispatched().is_safe_to_resend();
    by_tape || resends
}

/// What the agent is told of a failed call.
fn told(end: &FailedEnd<'_>) -> Told {
    let tell = end.verdict.and_then(|(_, tell)| tell);
    let status = end.error.and_then(|error| error.status);
    let (class, boundary) = match (end.refused, tell) {
        (Some(why), _) => refusal(why),
        (_, Some(tell)) => (tell.class, tell.boundary),
        (_, None) => by_error(end.error),
    };
    let passes = class.passes(status, tell.and_then(|tell| tell.transient));
    let is_limited = is_limited(end);
    let is_safe = end.may_resend && !end.repeats_a_step;
    let retry = if end.suppressed || (passes && !is_safe) {
        Some(NoRetry::Suppressed)
    } else if is_limited && matches!(end.outcome.kind, OutcomeKind::Exhausted(_)) {
        Some(NoRetry::Exhausted)
    } else {
        None
    };
    Told {
        call: end.call,
        class,
        boundary,
        retriable: passes && is_safe && !is_limited && !somebody_else_decides(end.outcome),
        retry,
        retried: end.outcome.attempts.saturating_sub(1),
        status,
        retry_after: end.retry_after,
        verdict: end.verdict.map(|(verdict, _)| verdict),
        error: end.outcome.last_error,
    }
}

/// Whether a limit other than the longest wait was hit: the retries of the dispatcher are used up, the dispatcher lets no
/// call pass, or the upstream says that the call must not be sent again.
fn is_limited(end: &FailedEnd<'_>) -> bool {
    let is_hit = match end.outcome.kind {
        OutcomeKind::Exhausted(stop) => stop != StopReason::MaxWait,
        OutcomeKind::Refused(_) => true,
        _ => false,
    };
    is_hit || end.error.and_then(ErrorFacts::says_to_retry) == Some(false)
}

/// Whether the call is not the agent's any more: people have it, it was taken back, or its effect is there.
const fn somebody_else_decides(outcome: Outcome) -> bool {
    match outcome.kind {
        OutcomeKind::Escalated(_) | OutcomeKind::Reversed(_) => true,
        OutcomeKind::Deprecated(_) => matches!(outcome.claim, EffectClaim::Applied),
        _ => false,
    }
}

/// The class and the boundary of an error that no verdict gives a class.
fn by_error(error: Option<&ErrorFacts>) -> (FailureClass, Boundary) {
    match error {
        Some(error) if error.status.is_some() => (FailureClass::ExternalApiError, Boundary::External),
        Some(error) if reads_as_unanswered(error) => (FailureClass::NetworkError, Boundary::External),
        _ => (FailureClass::ConnectorRuntimeError, Boundary::Sandbox),
    }
}

/// The class and the boundary of a refusal.
const fn refusal(why: AdmissionRefusal) -> (FailureClass, Boundary) {
    match why {
        AdmissionRefusal::UnknownAction
        | AdmissionRefusal::InvalidTransition
        | AdmissionRefusal::ValidationFailed
        | AdmissionRefusal::KeyLength
        | AdmissionRefusal::KeyReused
        | AdmissionRefusal::KeyInFlight
        | AdmissionRefusal::Unsettled
        | AdmissionRefusal::RolledBack => (FailureClass::CapabilityDenied, Boundary::Action),
        AdmissionRefusal::NotFound | AdmissionRefusal::Schema | AdmissionRefusal::KeyMissing => {
            (FailureClass::CapabilityDenied, Boundary::ConnectorManifest)
        }
        AdmissionRefusal::BudgetExceeded | AdmissionRefusal::QueueFull => {
            (FailureClass::ResourceLimitExceeded, Boundary::Sandbox)
        }
        AdmissionRefusal::CircuitOpen => (FailureClass::NetworkError, Boundary::External),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::DeprecationReason;
    use crate::ids::{QueueId, ReasonId};

    const GIVEN_UP: OutcomeKind = OutcomeKind::Deprecated(DeprecationReason::Stated(ReasonId(0)));

    fn error(status: Option<u16>) -> ErrorFacts {
        ErrorFacts { status, ..ErrorFacts::default() }
    }

    fn end(kind: OutcomeKind, claim: EffectClaim, error: Option<&ErrorFacts>) -> FailedEnd<'_> {
        let outcome = Outcome { kind, claim, attempts: 3, last_error: None, first_error: None, stopped_by: None };
        FailedEnd {
            call: CallId(0),
            outcome,
            refused: if let OutcomeKind::Refused(why) = kind { Some(why) } else { None },
            verdict: None,
            error,
            may_resend: true,
            suppressed: false,
            repeats_a_step: false,
            retry_after: None,
        }
    }

    /// Statuses 400 to 599; reads and writes; with and without a key; each claim; each way to end: `retriable` is what the
    /// words of its documentation say, computed here in another way.
    #[test]
    fn a_call_is_retriable_exactly_if_nothing_speaks_against_it() {
        let ends = StopReason::ALL.map(OutcomeKind::Exhausted).into_iter().chain([
            GIVEN_UP,
            OutcomeKind::Escalated(QueueId(0)),
            OutcomeKind::Reversed(ReasonId(0)),
        ]);
        let ends: Vec<OutcomeKind> = ends.collect();
        let mut retriable = 0;
        for status in 400..=599_u16 {
            for bits in 0..4 {
                let (is_read, is_keyed) = (bits & 1 > 0, bits & 2 > 0);
                for claim in EffectClaim::ALL.into_iter().filter(|claim| !is_read || *claim == EffectClaim::NotApplied)
                {
                    let guard = retry_guard(GuardMode::Checked, Some(is_read || is_keyed), claim);
                    for &kind in &ends {
                        let facts = error(Some(status));
                        let said = told(&FailedEnd { may_resend: guard.is_none(), ..end(kind, claim, Some(&facts)) });
                        let passes = [429].into_iter().chain(500..=599).any(|passing| passing == status);
                        let is_safe = is_read || is_keyed || claim == EffectClaim::NotApplied;
                        let is_open = kind == OutcomeKind::Exhausted(StopReason::MaxWait)
                            || (kind == GIVEN_UP && claim != EffectClaim::Applied);
                        assert_eq!(said.retriable, passes && is_safe && is_open, "{status} {bits} {claim:?} {kind:?}");
                        let is_exhausted = matches!(kind, OutcomeKind::Exhausted(stop) if stop != StopReason::MaxWait);
                        let retry = match (passes && !is_safe, is_exhausted) {
                            (true, _) => Some(NoRetry::Suppressed),
                            (false, true) => Some(NoRetry::Exhausted), // 408 too: a playbook may retry what the class does not
                            (false, false) => None,
                        };
                        assert_eq!(said.retry, retry, "{status} {bits} {claim:?} {kind:?}");
                        let stopped =
                            FailedEnd { may_resend: is_safe, suppressed: true, ..end(kind, claim, Some(&facts)) };
                        assert_eq!(told(&stopped).retry, Some(NoRetry::Suppressed), "{status}: a retry was stopped");
                        assert_eq!((said.class, said.boundary), (FailureClass::ExternalApiError, Boundary::External));
                        assert_eq!((said.status, said.retried), (Some(status), 2));
                        retriable += u32::from(said.retriable);
                    }
                }
            }
        }
        assert!(retriable > 0, "the precondition can happen");
    }

    #[test]
    fn what_speaks_against_another_try_is_told() {
        let facts = error(Some(503));
        let of = |kind, claim| end(kind, claim, Some(&facts));
        let open = of(GIVEN_UP, EffectClaim::Unknown);
        assert!(told(&open).retriable);
        for (closed, why) in [
            (FailedEnd { may_resend: false, ..open }, Some(NoRetry::Suppressed)),
            (FailedEnd { suppressed: true, may_resend: false, ..open }, Some(NoRetry::Suppressed)),
            (FailedEnd { repeats_a_step: true, ..open }, Some(NoRetry::Suppressed)),
            (of(OutcomeKind::Exhausted(StopReason::MaxRetries), EffectClaim::Unknown), Some(NoRetry::Exhausted)),
            (of(OutcomeKind::Escalated(QueueId(0)), EffectClaim::Unknown), None),
            (of(OutcomeKind::Refused(AdmissionRefusal::CircuitOpen), EffectClaim::NotApplied), None),
        ] {
            let said = told(&closed);
            assert_eq!((said.retriable, said.retry), (false, why), "{closed:?}");
        }
        let told_not_to = ErrorFacts { should_retry: Some(false), ..facts.clone() };
        assert!(!told(&FailedEnd { error: Some(&told_not_to), ..open }).retriable);
        let longest = told(&of(OutcomeKind::Exhausted(StopReason::MaxWait), EffectClaim::NotApplied));
        assert_eq!((longest.retriable, longest.retry), (true, None));
    }

    #[test]
    fn an_error_without_a_verdict_that_tells_has_the_class_of_its_status_or_of_its_silence() {
        let class = |error: Option<&ErrorFacts>| told(&end(GIVEN_UP, EffectClaim::NotApplied, error)).class;
        assert_eq!(class(Some(&error(Some(404)))), FailureClass::ExternalApiError);
        assert_eq!(class(Some(&ErrorFacts::timeout(Duration::from_millis(5)))), FailureClass::NetworkError);
        let kind = |kind: &str| ErrorFacts { kind: Some(kind.into()), ..ErrorFacts::default() };
        assert_eq!(class(Some(&kind("tool_error"))), FailureClass::ConnectorRuntimeError);
        assert_eq!(class(None), FailureClass::ConnectorRuntimeError);
        let gateway = ErrorFacts { status: Some(504), ..kind("timeout") };
        assert_eq!(class(Some(&gateway)), FailureClass::ExternalApiError, "the gateway answered");
    }

    #[test]
    fn the_verdict_gives_class_and_cause_and_never_whether_to_try_again() {
        let tell = |class, transient| Tell { transient, ..Tell::of(class) };
        let facts = error(Some(401));
        let of = |tell: &Tell, kind| {
            told(&FailedEnd {
                verdict: Some((VerdictId(3), Some(tell))),
                ..end(kind, EffectClaim::NotApplied, Some(&facts))
            })
        };
        let rebound = tell(FailureClass::BindingFailed, Some(true));
        assert_eq!(of(&rebound, GIVEN_UP).boundary, Boundary::Runtime);
        assert!(of(&rebound, GIVEN_UP).retriable);
        assert!(!of(&rebound, OutcomeKind::Escalated(QueueId(0))).retriable);
        assert!(!of(&tell(FailureClass::BindingFailed, Some(false)), GIVEN_UP).retriable);
        assert!(!of(&tell(FailureClass::ApprovalTimeout, None), GIVEN_UP).retriable);
        assert_eq!(of(&rebound, GIVEN_UP).verdict, Some(VerdictId(3)));
    }

    #[test]
    fn a_refusal_has_a_class_of_its_own_and_is_not_to_be_made_again_as_it_is() {
        for why in AdmissionRefusal::ALL {
            let said = told(&end(OutcomeKind::Refused(why), EffectClaim::NotApplied, None));
            assert!(said.class.boundaries().contains(&said.boundary), "{why:?}");
            assert!(!said.retriable, "{why:?}");
        }
    }
}
