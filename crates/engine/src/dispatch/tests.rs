//! The machine alone, driven by hand: guards, limits, the order of events, and equality by state.

use std::hash::{BuildHasher, Hash};

use super::{
    CallFacts, ClassifiedFailure, GateFacts, Input, Machine, Output, OutputBuffer, RequestCheck, Response,
    ResponseMeta, retry_guard,
};
use crate::event::{
    AdmissionRefusal, Decision, DeprecationReason, Draw, EffectClaim, KeyHistory, Outcome, OutcomeKind, Provenance,
    RequestKind, ReversalRefusal, StopReason, SuppressionReason,
};
use crate::ids::{
    ArgsId, AttemptNo, CallId, ErrorId, EvidenceId, KeyId, QueueId, ReasonId, RunId, ServerId, TokenId, ToolId,
    VerdictId,
};
use crate::playbook::sample::{DENIED, HUMAN, STALE, TAKE_BACK, TIMEOUT, playbook};
use crate::playbook::{
    Access, AfterRefresh, Compensation, GuardMode, Limits, Playbook, Refresh, Study, UnsafePolicy, Verdict,
};
use crate::time::{Duration, Instant};

const CALL: CallId = CallId(0);
pub(super) const META: ResponseMeta =
    ResponseMeta { latency: Some(Duration::from_millis(10)), provenance: Provenance::Scripted, over_timeout: false };

pub(super) fn keyed_write() -> CallFacts {
    CallFacts {
        transaction: None,
        once: None,
        act: None,
        tool: ToolId(0),
        server: ServerId(0),
        breaker: None,
        run: RunId(0),
        ignores_keys: false,
        never_retried: false,
        access: Access::Write,
        idempotent: false,
        repeatable: false,
        key_is_reused: false,
        key_history: KeyHistory::Unknown,
        key: Some(KeyId(0)),
        args: ArgsId(0),
        token: None,
        evidence: EvidenceId(0),
        at: Instant::ZERO,
        timeout: Duration::from_millis(30_000),
        answer_within: None,
        gate: GateFacts::Free,
        steps: 0,
        step: None,
        was_refused: false,
        request: RequestCheck::Fine,
    }
}

fn unkeyed_write() -> CallFacts {
    CallFacts { key: None, ..keyed_write() }
}

pub(super) fn failed(verdict: u16) -> Response {
    let error = Some(ErrorId(u32::from(verdict)));
    Response::Failed(ClassifiedFailure {
        verdict: VerdictId(verdict),
        rule: None,
        error,
        says: Default::default(),
        draw: Draw::ZERO,
        unanswered: verdict == TIMEOUT,
    })
}

/// Drives a machine with a list of responses: each answers the next request, 10 ms later.
fn drive(playbook: &Playbook, facts: CallFacts, responses: &[Response]) -> (Vec<Decision>, Outcome) {
    let mut machine = Machine::default();
    let (mut now, mut out, mut responses) = (Instant::ZERO, OutputBuffer::default(), responses.iter());
    machine.handle_input(playbook, now, Input::Call(CALL, facts), &mut out);
    while let Some(output) = out.outputs.pop() {
        let input = match output {
            Output::Wake { at, .. } => {
                now = at;
                Input::Woken(CALL)
            }
            Output::Step { action, .. } => Input::NoStep(action),
            Output::Ask { asked, .. } => {
                now = now.plus(Duration::from_millis(10));
                let response = responses.next().copied().unwrap_or(Response::Unanswered);
                Input::Answered { call: CALL, asked, response, meta: META }
            }
        };
        machine.handle_input(playbook, now, input, &mut out);
    }
    assert_eq!(responses.len(), 0, "the machine made fewer requests than the test answers");
    let decisions = out.events.iter().map(|event| event.what).collect();
    (decisions, machine.outcome(CALL).expect("the call ended"))
}

fn outcome(facts: CallFacts, responses: &[Response]) -> Outcome {
    drive(&playbook(), facts, responses).1
}

#[test]
fn a_call_without_failures_succeeds_and_is_not_compensated() {
    let outcome = outcome(unkeyed_write(), &[Response::Ok]);
    assert_eq!((outcome.kind, outcome.claim), (OutcomeKind::Succeeded, EffectClaim::Applied));
}

#[test]
fn an_unkeyed_write_that_timed_out_is_not_sent_again() {
    let (decisions, outcome) = drive(&playbook(), unkeyed_write(), &[failed(TIMEOUT)]);
    assert!(decisions.contains(&Decision::RetrySuppressed { why: SuppressionReason::MayHaveActed }));
    assert_eq!((outcome.kind, outcome.attempts), (OutcomeKind::Escalated(QueueId(0)), 1));
    assert_eq!(outcome.claim, EffectClaim::Unknown);
}

#[test]
fn a_request_that_is_never_sent_again_is_stopped_even_if_nothing_was_done() {
    for claim in EffectClaim::ALL {
        assert_eq!(retry_guard(GuardMode::Checked, None, claim), Some(SuppressionReason::Never), "{claim:?}");
    }
    assert_eq!(retry_guard(GuardMode::Checked, Some(false), EffectClaim::NotApplied), None);
}

#[test]
fn reads_idempotent_tools_and_keyed_calls_pass_the_retry_guard() {
    let read = CallFacts { access: Access::Read, ..unkeyed_write() };
    let idempotent = CallFacts { idempotent: true, ..unkeyed_write() };
    for facts in [read, idempotent, keyed_write()] {
        let outcome = outcome(facts, &[failed(TIMEOUT), Response::Ok]);
        assert_eq!((outcome.kind, outcome.attempts), (OutcomeKind::SucceededAfterCompensation, 2));
    }
}

#[test]
fn a_call_that_was_not_applied_is_sent_again_even_unkeyed() {
    let outcome = outcome(unkeyed_write(), &[failed(STALE), Response::Ok, Response::Ok]);
    assert_eq!((outcome.kind, outcome.attempts), (OutcomeKind::SucceededAfterCompensation, 2));
}

#[test]
fn the_guard_remembers_that_an_earlier_attempt_may_have_acted() {
    let outcome = outcome(unkeyed_write(), &[failed(STALE), Response::Ok, failed(TIMEOUT)]);
    assert_eq!((outcome.kind, outcome.claim), (OutcomeKind::Escalated(QueueId(0)), EffectClaim::Unknown));
}

#[test]
fn a_retry_that_is_denied_escalates() {
    let (decisions, outcome) = drive(&playbook(), keyed_write(), &[failed(TIMEOUT), failed(DENIED)]);
    assert_eq!(outcome.kind, OutcomeKind::Escalated(QueueId(0)));
    let classified = decisions.iter().filter(|d| matches!(d, Decision::FailureClassified { .. })).count();
    assert_eq!(classified, 2);
    assert_eq!(outcome.claim, EffectClaim::Unknown, "the first attempt may have acted");
    assert_eq!((outcome.last_error, outcome.first_error), (Some(ErrorId(2)), Some(ErrorId(0))));
}

#[test]
fn a_failure_is_classified_before_its_compensation() {
    let (decisions, _) = drive(&playbook(), keyed_write(), &[failed(TIMEOUT), Response::Ok]);
    let names: Vec<&str> = decisions
        .iter()
        .map(|decision| match decision {
            Decision::AttemptStarted { .. } => "start",
            Decision::AttemptFinished { .. } => "finish",
            Decision::FailureClassified { .. } => "classify",
            Decision::RetryScheduled { .. } => "schedule",
            Decision::Outcome(_) => "outcome",
            _ => "other",
        })
        .collect();
    assert_eq!(names, ["start", "finish", "classify", "schedule", "start", "finish", "outcome"]);
}

#[test]
fn retries_are_bounded_by_the_verdict_and_attempts_by_the_call() {
    let exhausted = outcome(keyed_write(), &[failed(TIMEOUT); 3]);
    assert_eq!(exhausted.kind, OutcomeKind::Exhausted(StopReason::MaxRetries));
    let mut tight = playbook();
    tight.limits.max_attempts = 2;
    let (_, exhausted) = drive(&tight, keyed_write(), &[failed(TIMEOUT); 2]);
    assert_eq!(exhausted.kind, OutcomeKind::Exhausted(StopReason::MaxAttempts));
}

#[test]
fn no_wait_begins_if_no_attempt_can_follow() {
    let mut tight = playbook();
    tight.limits.deadline = Some(Duration::from_millis(209));
    let (decisions, outcome) = drive(&tight, keyed_write(), &[failed(TIMEOUT)]);
    assert_eq!(outcome.kind, OutcomeKind::Exhausted(StopReason::Deadline));
    assert!(!decisions.iter().any(|decision| matches!(decision, Decision::RetryScheduled { .. })));
}

#[test]
fn the_retry_after_a_refresh_carries_the_new_evidence() {
    let (decisions, _) = drive(&playbook(), unkeyed_write(), &[failed(STALE), Response::Ok, Response::Ok]);
    let second = AttemptNo::new(2);
    assert!(decisions.contains(&Decision::AttemptStarted { attempt: second, evidence: EvidenceId(1) }));
}

#[test]
fn refreshes_are_bounded_and_their_failure_ends_the_call() {
    let again = outcome(unkeyed_write(), &[failed(STALE), Response::Ok, failed(STALE)]);
    assert_eq!(again.kind, OutcomeKind::Exhausted(StopReason::MaxRefreshes));
    let refused = outcome(unkeyed_write(), &[failed(STALE), Response::Refused(None)]);
    assert_eq!(refused.kind, OutcomeKind::Exhausted(StopReason::RefreshFailed));
    let silent = outcome(unkeyed_write(), &[failed(STALE), Response::Unanswered]);
    assert_eq!(silent.kind, OutcomeKind::Undetermined(RequestKind::Refresh(EvidenceId(1))));
}

#[test]
fn the_deadline_bounds_a_refresh_and_the_attempt_after_it() {
    let ends = |deadline, responses: &[Response]| {
        let mut tight = playbook();
        tight.limits.deadline = Some(Duration::from_millis(deadline));
        let outcome = drive(&tight, unkeyed_write(), responses).1;
        (outcome.kind, outcome.attempts)
    };
    let late = OutcomeKind::Exhausted(StopReason::Deadline);
    assert_eq!(ends(9, &[failed(STALE)]), (late, 1), "it fails at 10 ms, and no refresh is requested");
    assert_eq!(ends(19, &[failed(STALE), Response::Ok]), (late, 1), "the evidence arrives at 20 ms");
    let responses = [failed(STALE), Response::Ok, Response::Ok];
    assert_eq!(ends(20, &responses), (OutcomeKind::SucceededAfterCompensation, 2));
}

#[test]
fn neither_a_retry_nor_a_refresh_resends_a_call_that_may_have_acted() {
    for (verdict, effect, why) in [
        (STALE, EffectClaim::Unknown, SuppressionReason::MayHaveActed),
        (STALE, EffectClaim::Applied, SuppressionReason::HasActed),
        (TIMEOUT, EffectClaim::Unknown, SuppressionReason::MayHaveActed),
        (TIMEOUT, EffectClaim::Applied, SuppressionReason::HasActed),
    ] {
        let mut book = playbook();
        book.verdicts[usize::from(verdict)].effect = effect;
        let (decisions, outcome) = drive(&book, unkeyed_write(), &[failed(verdict)]);
        assert!(decisions.contains(&Decision::RetrySuppressed { why }), "{verdict} {effect:?}: {decisions:?}");
        assert_eq!((outcome.kind, outcome.claim), (OutcomeKind::Escalated(QueueId(0)), effect));
    }
}

#[test]
fn retries_are_counted_by_verdict_for_any_number_of_verdicts() {
    let mut book = playbook();
    let once = |verdict: &mut Verdict| {
        if let Compensation::RetryWithBackoff(retry) = &mut verdict.then {
            retry.max_retries = 1;
        }
    };
    once(&mut book.verdicts[usize::from(TIMEOUT)]);
    let (second, third) = (4, 5);
    book.verdicts.extend(vec![book.verdicts[usize::from(TIMEOUT)].clone(); 2]);
    let (_, outcome) = drive(&book, keyed_write(), &[TIMEOUT, second, third, third].map(failed));
    assert_eq!((outcome.kind, outcome.attempts), (OutcomeKind::Exhausted(StopReason::MaxRetries), 4));
}

#[test]
fn an_unanswered_attempt_leaves_the_effect_unknown() {
    let outcome = outcome(unkeyed_write(), &[Response::Unanswered]);
    let undetermined = OutcomeKind::Undetermined(RequestKind::Attempt(AttemptNo::FIRST));
    assert_eq!((outcome.kind, outcome.claim), (undetermined, EffectClaim::Unknown));
}

#[test]
fn evidence_that_was_not_requested_starts_no_attempt() {
    let (book, mut machine, mut out) = (playbook(), Machine::default(), OutputBuffer::default());
    machine.handle_input(&book, Instant::ZERO, Input::Call(CALL, unkeyed_write()), &mut out);
    let answer = |asked, response| Input::Answered { call: CALL, asked, response, meta: META };
    let attempt = RequestKind::Attempt(AttemptNo::FIRST);
    machine.handle_input(&book, Instant::ZERO, answer(attempt, failed(STALE)), &mut out);
    let before = (machine.clone(), out.clone());
    for other in [0, 2] {
        let stray = answer(RequestKind::Refresh(EvidenceId(other)), Response::Ok);
        machine.handle_input(&book, Instant::ZERO, stray, &mut out);
        assert_eq!((&machine, &out), (&before.0, &before.1));
    }
}

#[test]
fn a_refresh_before_an_abort_ignores_the_limits_of_attempts() {
    let mut spent = playbook();
    spent.limits = Limits { deadline: Some(Duration::from_millis(1)), ..Limits::NONE };
    let refresh = Refresh { then: AfterRefresh::Abort, max_refreshes: 1, on_unsafe: UnsafePolicy::End(HUMAN) };
    spent.verdicts[usize::from(STALE)].then = Compensation::RefreshEvidence(refresh.clone());
    let (_, aborted) = drive(&spent, unkeyed_write(), &[failed(STALE), Response::Ok]);
    assert_eq!(aborted.kind, OutcomeKind::Deprecated(DeprecationReason::RefreshAbort));
    spent.verdicts[usize::from(STALE)].then =
        Compensation::RefreshEvidence(Refresh { then: AfterRefresh::Retry, ..refresh });
    let (_, retried) = drive(&spent, unkeyed_write(), &[failed(STALE)]);
    assert_eq!(retried.kind, OutcomeKind::Exhausted(StopReason::MaxAttempts));
}

/// How long each request of a call may take that times out, is sent again after 200 ms, and is taken back.
fn within(call_timeout: Option<Duration>) -> Vec<(RequestKind, u64)> {
    let mut book = playbook();
    book.limits.call_timeout = call_timeout;
    let (mut machine, mut out, mut now) = (Machine::default(), OutputBuffer::default(), Instant::ZERO);
    let facts = CallFacts { timeout: Duration::from_millis(500), token: Some(TokenId(0)), ..keyed_write() };
    machine.handle_input(&book, now, Input::Call(CALL, facts), &mut out);
    let mut asked = Vec::new();
    for response in [failed(TIMEOUT), failed(TAKE_BACK), Response::Ok] {
        if let Some(Output::Wake { call, at }) = out.outputs.pop_if(|output| matches!(output, Output::Wake { .. })) {
            now = at;
            machine.handle_input(&book, now, Input::Woken(call), &mut out);
        }
        let Some(Output::Ask { asked: request, within, .. }) = out.outputs.pop() else { break };
        asked.push((request, within.as_millis()));
        now = now.plus(within);
        machine.handle_input(
            &book,
            now,
            Input::Answered { call: CALL, asked: request, response, meta: META },
            &mut out,
        );
    }
    asked
}

#[test]
fn the_end_of_a_call_cuts_the_timeout_of_its_attempts_and_of_no_reversal() {
    let [first, second] = [1, 2].map(|attempt| RequestKind::Attempt(AttemptNo::new(attempt)));
    assert_eq!(within(None), [(first, 500), (second, 500), (RequestKind::Reversal, 500)]);
    let end = Some(Duration::from_millis(900));
    assert_eq!(within(end), [(first, 500), (second, 200), (RequestKind::Reversal, 500)]);
    // The wait of 200 ms would end with the call.
    assert_eq!(within(Some(Duration::from_millis(700))), [(first, 500)]);
    assert_eq!(within(Some(Duration::from_millis(701))).len(), 3);
}

#[test]
fn a_reversal_without_a_token_is_refused_and_redeems_nothing() {
    let (decisions, outcome) = drive(&playbook(), unkeyed_write(), &[failed(TAKE_BACK)]);
    assert!(decisions.contains(&Decision::ReversalRefused { why: ReversalRefusal::NoToken }));
    assert_eq!(outcome.kind, OutcomeKind::Escalated(QueueId(0)));
}

#[test]
fn a_redeemed_reversal_leaves_no_net_effect() {
    let facts = CallFacts { token: Some(TokenId(0)), ..unkeyed_write() };
    let outcome = outcome(facts, &[failed(TAKE_BACK), Response::Ok]);
    assert_eq!((outcome.kind, outcome.claim), (OutcomeKind::Reversed(ReasonId(0)), EffectClaim::NotApplied));
}

#[test]
fn an_unanswered_reversal_leaves_the_effect_unknown() {
    let facts = CallFacts { token: Some(TokenId(0)), ..unkeyed_write() };
    let lost = outcome(facts, &[failed(TAKE_BACK), Response::Unclear(None)]);
    assert_eq!((lost.kind, lost.claim), (OutcomeKind::Escalated(QueueId(0)), EffectClaim::Unknown));
}

#[test]
fn a_token_is_redeemed_once_even_by_two_calls() {
    let (book, mut machine, mut out) = (playbook(), Machine::default(), OutputBuffer::default());
    let facts = CallFacts { token: Some(TokenId(0)), ..unkeyed_write() };
    for call in [CallId(0), CallId(1)] {
        machine.handle_input(&book, Instant::ZERO, Input::Call(call, facts), &mut out);
        let attempt = RequestKind::Attempt(AttemptNo::FIRST);
        let answer = Input::Answered { call, asked: attempt, response: failed(TAKE_BACK), meta: META };
        machine.handle_input(&book, Instant::ZERO, answer, &mut out);
    }
    let reversals = out.outputs.iter().filter_map(|output| match *output {
        Output::Ask { asked: RequestKind::Reversal, call, .. } => Some(call),
        _ => None,
    });
    assert_eq!(reversals.collect::<Vec<_>>(), [CallId(0)]);
}

#[test]
fn first_failure_only_shows_later_verdicts_and_does_not_obey_them() {
    let mut literal = playbook();
    literal.study = Some(Study { first_failure_only: true, ..Study::safe("test") });
    let (decisions, outcome) = drive(&literal, keyed_write(), &[failed(TIMEOUT), failed(DENIED), failed(DENIED)]);
    assert_eq!(outcome.kind, OutcomeKind::Exhausted(StopReason::MaxRetries));
    let ignored = Decision::FailureClassified { verdict: VerdictId(DENIED), rule: None, ignored: true };
    assert_eq!(decisions.iter().filter(|&&decision| decision == ignored).count(), 2);
}

#[test]
fn a_retry_guard_that_is_off_lets_an_unsafe_retry_pass() {
    let mut unguarded = playbook();
    unguarded.study = Some(Study { retry_guard: GuardMode::Off, ..Study::safe("test") });
    let (_, outcome) = drive(&unguarded, unkeyed_write(), &[failed(TIMEOUT), Response::Ok]);
    assert_eq!(outcome.attempts, 2);
}

#[test]
fn a_refresh_that_fails_is_ignored_under_study_only() {
    let mut literal = playbook();
    let answers = [failed(STALE), failed(TIMEOUT), Response::Ok];
    let (_, outcome) = drive(&literal, keyed_write(), &answers[..2]);
    assert_eq!((outcome.kind, outcome.attempts), (OutcomeKind::Exhausted(StopReason::RefreshFailed), 1));
    literal.study = Some(Study { resends_after_failed_refresh: true, ..Study::safe("test") });
    let (_, outcome) = drive(&literal, keyed_write(), &answers);
    assert_eq!((outcome.kind, outcome.attempts), (OutcomeKind::SucceededAfterCompensation, 2));
}

#[test]
fn an_unexpected_answer_decides_nothing() {
    let (book, mut machine, mut out) = (playbook(), Machine::default(), OutputBuffer::default());
    machine.handle_input(&book, Instant::ZERO, Input::Call(CALL, unkeyed_write()), &mut out);
    let before = (machine.clone(), out.clone());
    let stray = |asked| Input::Answered { call: CALL, asked, response: Response::Ok, meta: META };
    for input in [
        stray(RequestKind::Attempt(AttemptNo::new(2))),
        stray(RequestKind::Reversal),
        Input::Woken(CALL),
        Input::Woken(CallId(9)),
        Input::Call(CALL, unkeyed_write()),
        Input::Cancelled(CallId(9)),
    ] {
        machine.handle_input(&book, Instant::ZERO, input, &mut out);
        assert_eq!((&machine, &out), (&before.0, &before.1));
    }
}

#[test]
fn a_late_answer_is_told_and_decides_nothing() {
    let (book, mut machine, mut out) = (playbook(), Machine::default(), OutputBuffer::default());
    machine.handle_input(&book, Instant::ZERO, Input::Call(CALL, keyed_write()), &mut out);
    let (before, told) = (machine.clone(), out.events.len());
    let attempt = AttemptNo::FIRST;
    for (n, failed) in (1..).zip([None, Some(None)]) {
        let late = Input::Late { call: CALL, attempt, failed, proves_end: true };
        machine.handle_input(&book, Instant::ZERO, late, &mut out);
        assert_eq!((&machine, out.events.len()), (&before, told + n), "{failed:?}");
        assert!(matches!(out.events.last().map(|event| event.what), Some(Decision::LateAnswer { .. })));
    }
}

#[test]
fn equal_machines_have_equal_hashes_and_a_clone_is_independent() {
    let (book, mut machine, mut out) = (playbook(), Machine::default(), OutputBuffer::default());
    machine.handle_input(&book, Instant::ZERO, Input::Call(CALL, keyed_write()), &mut out);
    let twin = machine.clone();
    let hasher = foldhash::fast::FixedState::default();
    let hash = |machine: &Machine| hasher.hash_one(machine);
    assert_eq!(hash(&machine), hash(&twin));
    let asked = RequestKind::Attempt(AttemptNo::FIRST);
    let answer = Input::Answered { call: CALL, asked, response: Response::Ok, meta: META };
    machine.handle_input(&book, Instant::ZERO, answer, &mut out);
    assert_ne!(machine, twin);
    assert_ne!(hash(&machine), hash(&twin));
    fn is_hash<T: Hash + Eq + Clone>(_: &T) {}
    is_hash(&twin);
}

#[test]
fn taking_the_outcome_frees_the_slot_and_the_lowest_free_slot_is_next() {
    let (book, mut machine, mut out) = (playbook(), Machine::default(), OutputBuffer::default());
    let attempt = RequestKind::Attempt(AttemptNo::FIRST);
    let ok = |call| Input::Answered { call, asked: attempt, response: Response::Ok, meta: META };
    for call in (0..4).map(CallId) {
        assert_eq!(machine.next_call(), call);
        machine.handle_input(&book, Instant::ZERO, Input::Call(call, keyed_write()), &mut out);
    }
    assert_eq!(machine.take_outcome(CallId(1)), None, "it has not ended");
    for call in [CallId(2), CallId(1)] {
        machine.handle_input(&book, Instant::ZERO, ok(call), &mut out);
        assert_eq!(machine.take_outcome(call).map(|outcome| outcome.kind), Some(OutcomeKind::Succeeded));
        assert_eq!(machine.take_outcome(call), None, "it is taken once");
    }
    for call in [CallId(1), CallId(2), CallId(4)] {
        assert_eq!(machine.next_call(), call);
        machine.handle_input(&book, Instant::ZERO, Input::Call(call, keyed_write()), &mut out);
    }
}

#[test]
fn a_machine_without_calls_equals_a_new_one() {
    let (book, mut machine, mut out) = (playbook(), Machine::default(), OutputBuffer::default());
    for call in (0..3).map(CallId) {
        machine.handle_input(&book, Instant::ZERO, Input::Call(call, keyed_write()), &mut out);
    }
    for call in [CallId(1), CallId(0), CallId(2)] {
        let asked = RequestKind::Attempt(AttemptNo::FIRST);
        let answer = Input::Answered { call, asked, response: Response::Ok, meta: META };
        machine.handle_input(&book, Instant::ZERO, answer, &mut out);
        machine.take_outcome(call);
    }
    assert_eq!(machine, Machine::default());
}

#[test]
fn the_registry_refuses_what_it_was_told_of_and_sends_nothing() {
    let error = ErrorId(3);
    for why in [AdmissionRefusal::NotFound, AdmissionRefusal::Schema] {
        let request = RequestCheck::Refused(why, error);
        let (decisions, outcome) = drive(&playbook(), CallFacts { request, ..unkeyed_write() }, &[]);
        assert_eq!(decisions[0], Decision::Refused { why, error: Some(error), by: None, retry_after: None });
        assert_eq!((decisions.len(), outcome.attempts, outcome.claim), (2, 0, EffectClaim::NotApplied));
        assert_eq!((outcome.kind, outcome.last_error), (OutcomeKind::Refused(why), Some(error)));
    }
}

#[test]
fn admission_refusals_have_distinct_words_in_their_order() {
    let words: std::collections::BTreeSet<&str> = AdmissionRefusal::ALL.iter().map(|why| why.as_str()).collect();
    assert_eq!(words.len(), AdmissionRefusal::ALL.len());
    assert!(AdmissionRefusal::ALL.is_sorted());
}

#[test]
fn a_reversal_proves_nothing_of_an_attempt_that_may_still_land() {
    let facts = CallFacts { token: Some(TokenId(0)), ..keyed_write() };
    for (first, claim) in [(TIMEOUT, EffectClaim::Unknown), (STALE, EffectClaim::NotApplied)] {
        let responses: &[Response] = match first {
            STALE => &[failed(STALE), Response::Ok, failed(TAKE_BACK), Response::Ok],
            _ => &[failed(first), failed(TAKE_BACK), Response::Ok],
        };
        let outcome = outcome(facts, responses);
        assert_eq!((outcome.kind, outcome.claim), (OutcomeKind::Reversed(ReasonId(0)), claim));
    }
}
