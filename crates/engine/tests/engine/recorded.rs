//! Recorded calls under a playbook: which answer belongs to which attempt, unused answers, and what is not invented.

use playproof_engine::call::{AnswerTo, CallTexts, Place, RecordedAnswer, RecordedCall, Reply};
use playproof_engine::event::{
    Decision, EffectClaim, ErrorFacts, FindingBy, FindingId, Headers, LedgerKind, OutcomeKind, Provenance, RequestKind,
    StatusFrom, StopReason,
};
use playproof_engine::ids::{AttemptNo, EvidenceId};
use playproof_engine::playbook::{Access, ToolFacts, Tools};
use playproof_engine::sim::{OffTape, Plan, SimulationRecord, Simulator};
use playproof_engine::time::Instant;
use playproof_engine::upstream::MissingAnswerPolicy;
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook;

const DECLARED: ToolFacts = ToolFacts { declared: true, ..ToolFacts::ASSUMED };
const READ: ToolFacts = ToolFacts { access: Access::Read, ..DECLARED };

fn plan(name: &str) -> Plan {
    let text = playbook::embedded(name).expect("an embedded playbook");
    Plan::new(playbook::parse(Source::whole(name, text)).expect("a valid playbook").playbook, &Tools::default())
}

fn answer(at_ms: u64, reply: Reply) -> RecordedAnswer {
    RecordedAnswer {
        to: AnswerTo::Attempt,
        attempt: None,
        started: None,
        at: Some(Instant::from_millis(at_ms)),
        reply,
        inferred: false,
        status_from: StatusFrom::Flag,
        draw: None,
        line_hash: 0,
        place: Place::default(),
    }
}

fn failed(kind: &str, message: &str, status: Option<u16>) -> Reply {
    let (kind, message) = (Some(kind.into()), Some(message.into()));
    Reply::Failed(Some(std::sync::Arc::new(ErrorFacts { kind, message, status, ..ErrorFacts::default() })))
}

fn timeout() -> Reply {
    failed("timeout", "no answer", None)
}

fn call(key: Option<&str>, replies: Vec<Reply>) -> RecordedCall {
    let texts = CallTexts { tool: "pay", key, ..CallTexts::default() };
    let mut call = RecordedCall::new(texts, Place::default());
    call.at = Some(Instant::ZERO);
    call.answers = replies.into_iter().zip(1..).map(|(reply, n)| answer(n * 100, reply)).collect();
    call
}

fn replay(playbook: &str, call: &RecordedCall, facts: ToolFacts, beyond: &MissingAnswerPolicy) -> SimulationRecord {
    Simulator::new().replay(&plan(playbook), call, facts, beyond).clone()
}

fn standard(call: &RecordedCall) -> SimulationRecord {
    replay("standard", call, DECLARED, &MissingAnswerPolicy::Unanswered)
}

fn ids(record: &SimulationRecord) -> Vec<FindingId> {
    record.findings.iter().map(|finding| finding.id).collect()
}

#[test]
fn a_recorded_answer_answers_the_attempt_of_its_number() {
    let record = standard(&call(Some("k"), vec![timeout(), Reply::Ok]));
    assert_eq!(record.outcomes[0].kind, OutcomeKind::SucceededAfterCompensation);
    assert_eq!(record.tallies[0].off_tape, None);
    assert_eq!(record.tallies[0].added_delay.as_millis(), 200);
}

#[test]
fn a_wait_until_a_date_is_counted_from_the_recorded_answer() {
    const MARCH: u64 = 1_772_442_900_000; // Mon, 02 Mar 2026 09:15:00 GMT
    let limited = |date: &str| {
        let headers = Headers::new([("retry-after", date)]);
        let error = ErrorFacts { status: Some(429), headers, ..ErrorFacts::default() };
        Reply::Failed(Some(std::sync::Arc::new(error)))
    };
    let date = |second: u32| limited(&format!("Mon, 02 Mar 2026 09:15:{second:02} GMT"));
    let mut read = call(None, vec![date(10), date(30), Reply::Ok]);
    // The agent did not wait: its second attempt failed at once, long before that of the simulation.
    for (zero, waits) in [(MARCH, [9_900, 29_800]), (0, [500, 1_000])] {
        read.at = Some(Instant::from_millis(zero));
        for (answer, n) in read.answers.iter_mut().zip(1..) {
            answer.at = Some(Instant::from_millis(zero + n * 100));
        }
        let record = replay("preset/llm-client", &read, READ, &MissingAnswerPolicy::Unanswered);
        let waited: Vec<u64> = record
            .events
            .iter()
            .filter_map(|event| match event.what {
                Decision::RetryScheduled { delay, told: Some(_), .. } => Some(delay.as_millis()),
                Decision::RetryScheduled { delay, draw: Some(_), .. } => Some(delay.as_millis().next_multiple_of(500)),
                _ => None,
            })
            .collect();
        assert_eq!(waited, waits, "without a date the wait is the client's own, less up to a quarter");
    }
}

#[test]
fn at_the_end_of_the_tape_the_outcome_is_undetermined_and_names_the_missing_answer() {
    let record = standard(&call(Some("k"), vec![timeout()]));
    assert_eq!(record.outcomes[0].kind, OutcomeKind::Undetermined(RequestKind::Attempt(AttemptNo::new(2))));
    assert_eq!(record.outcomes[0].claim, EffectClaim::Unknown);
    assert_eq!(record.tallies[0].off_tape, Some(OffTape::Attempts { recorded: 1, now: 2 }));
    assert_eq!(ids(&record), [FindingId::Undetermined]);
}

#[test]
fn a_suspected_failure_is_neither_classified_nor_retried_and_its_effect_is_unknown() {
    let suspected = || Reply::Suspected(failed("timeout", "perhaps", None).error().cloned());
    for key in [None, Some("k")] {
        let record = standard(&call(key, vec![suspected()]));
        assert_eq!(record.outcomes[0].kind, OutcomeKind::Suspected(RequestKind::Attempt(AttemptNo::FIRST)));
        assert_eq!(record.outcomes[0].kind.as_str(), "undetermined");
        assert_eq!((record.outcomes[0].claim, record.outcomes[0].attempts), (EffectClaim::Unknown, 1));
        assert_eq!(record.ledger.entries()[0].kind, LedgerKind::Unobserved);
        assert_eq!((ids(&record), record.tallies[0].off_tape), (vec![FindingId::SuspectedFailure], None));
        assert!(!record.events.iter().any(|event| matches!(event.what, Decision::FailureClassified { .. })));
    }
    let sure = standard(&call(Some("k"), vec![failed("timeout", "perhaps", None)]));
    assert!(sure.events.iter().any(|event| matches!(event.what, Decision::FailureClassified { .. })));
    let later = standard(&call(Some("k"), vec![timeout(), suspected()]));
    assert_eq!(later.outcomes[0].claim, EffectClaim::Unknown);
}

#[test]
fn a_result_that_says_that_the_work_goes_on_is_unfinished_and_its_effect_is_unknown() {
    let running = || Reply::Unfinished(failed("tool_error", "running", None).error().cloned());
    for key in [None, Some("k")] {
        let record = standard(&call(key, vec![running()]));
        assert_eq!(record.outcomes[0].kind, OutcomeKind::Unfinished(RequestKind::Attempt(AttemptNo::FIRST)));
        assert_eq!(record.outcomes[0].kind.as_str(), "undetermined");
        assert_eq!((record.outcomes[0].claim, record.outcomes[0].attempts), (EffectClaim::Unknown, 1));
        assert_eq!(record.ledger.entries()[0].kind, LedgerKind::Unobserved);
        assert_eq!(ids(&record), [FindingId::Unfinished]);
        assert!(!record.events.iter().any(|event| matches!(event.what, Decision::FailureClassified { .. })));
    }
}

#[test]
fn a_call_without_any_answer_is_undetermined_and_not_off_tape() {
    let record = standard(&call(None, vec![]));
    assert_eq!(record.outcomes[0].kind, OutcomeKind::Undetermined(RequestKind::Attempt(AttemptNo::FIRST)));
    assert_eq!(record.tallies[0].off_tape, None);
}

#[test]
fn unused_answers_are_counted_and_stay_out_of_the_ledger() {
    let record = standard(&call(None, vec![timeout(), Reply::Ok]));
    assert!(matches!(record.outcomes[0].kind, OutcomeKind::Escalated(_)));
    assert_eq!(record.tallies[0].tape_left, 1);
    assert_eq!(record.tallies[0].off_tape, Some(OffTape::Attempts { recorded: 2, now: 1 }));
    let kinds: Vec<LedgerKind> = record.ledger.entries().iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [LedgerKind::Unobserved], "only the first attempt was asked for");
}

#[test]
fn in_a_recording_only_an_ok_of_a_write_proves_an_effect() {
    let written = standard(&call(None, vec![Reply::Ok]));
    assert_eq!(written.ledger.entries()[0].kind, LedgerKind::Applied);
    let read = replay("standard", &call(None, vec![Reply::Ok]), READ, &MissingAnswerPolicy::Unanswered);
    assert!(read.ledger.entries().is_empty());
    assert_eq!(read.outcomes[0].claim, EffectClaim::NotApplied);
}

#[test]
fn a_missing_answer_is_modelled_on_request_and_marked_as_modelled() {
    let record = replay("standard", &call(Some("k"), vec![timeout()]), DECLARED, &MissingAnswerPolicy::Ok);
    assert_eq!(record.outcomes[0].kind, OutcomeKind::SucceededAfterCompensation);
    let last = record.ledger.entries().last().expect("an effect");
    assert_eq!((last.kind, last.provenance), (LedgerKind::Applied, Provenance::Modelled));
    let repeated = replay("standard", &call(Some("k"), vec![timeout()]), DECLARED, &MissingAnswerPolicy::Repeat);
    assert_eq!(repeated.outcomes[0].kind, OutcomeKind::Exhausted(StopReason::MaxRetries));
    let denied = replay(
        "standard",
        &call(Some("k"), vec![timeout()]),
        DECLARED,
        &MissingAnswerPolicy::Fail("403_forbidden".into()),
    );
    assert!(matches!(denied.outcomes[0].kind, OutcomeKind::Escalated(_)));
}

#[test]
fn the_tape_does_not_answer_after_a_refresh_that_was_not_recorded() {
    let stale = failed("412_precondition", "evidence is stale", Some(412));
    let recorded = call(Some("k"), vec![stale, Reply::Ok]);
    let silent = standard(&recorded);
    assert_eq!(silent.outcomes[0].kind, OutcomeKind::Undetermined(RequestKind::Refresh(EvidenceId(1))));
    let modelled = replay("standard", &recorded, DECLARED, &MissingAnswerPolicy::Ok);
    let last = modelled.events.iter().rev().find_map(|event| match event.what {
        Decision::AttemptFinished { provenance, .. } => Some(provenance),
        _ => None,
    });
    assert_eq!(last, Some(Provenance::Modelled));
}

#[test]
fn a_recorded_answer_is_never_cut_short_but_marked() {
    let mut slow = call(None, vec![Reply::Ok]);
    slow.answers[0].at = Some(Instant::from_millis(90_000));
    let record = standard(&slow);
    assert_eq!(record.outcomes[0].kind, OutcomeKind::Succeeded);
    assert_eq!((ids(&record)[0], record.findings[0].by), (FindingId::OverTimeout, FindingBy::Recorded));
}

#[test]
fn without_times_the_latency_is_unknown_and_not_zero() {
    let mut timeless = call(None, vec![Reply::Ok]);
    (timeless.at, timeless.answers[0].at) = (None, None);
    let finished = standard(&timeless).events.iter().find_map(|event| match event.what {
        Decision::AttemptFinished { latency, .. } => Some(latency),
        _ => None,
    });
    assert_eq!(finished, Some(None));
}

#[test]
fn the_unsafe_retry_is_found_on_declared_facts_and_doubted_on_assumed_ones() {
    let twice = call(None, vec![timeout(), timeout(), timeout()]);
    let declared = replay("study/retry-everything", &twice, DECLARED, &MissingAnswerPolicy::Unanswered);
    assert!(ids(&declared).contains(&FindingId::UnsafeRetry));
    let assumed = replay("study/retry-everything", &twice, ToolFacts::ASSUMED, &MissingAnswerPolicy::Unanswered);
    assert!(ids(&assumed).contains(&FindingId::PossibleDuplicateEffect));
    assert!(!ids(&assumed).contains(&FindingId::UnsafeRetry));
    assert!(!ids(&standard(&twice)).contains(&FindingId::UnsafeRetry));
}

#[test]
fn a_recorded_failure_does_not_contradict_a_claim() {
    let denied = standard(&call(None, vec![failed("403_forbidden", "no", Some(403))]));
    assert_eq!(denied.outcomes[0].claim, EffectClaim::NotApplied);
    assert!(!ids(&denied).contains(&FindingId::UntruthfulOutcome));
}

#[test]
fn an_attempt_without_a_recorded_answer_is_unanswered_even_if_later_ones_have_one() {
    let mut call = call(Some("k"), vec![timeout(), Reply::Ok]);
    call.answers[1].attempt = Some(3);
    let record = standard(&call);
    assert_eq!(record.outcomes[0].kind, OutcomeKind::Undetermined(RequestKind::Attempt(AttemptNo::new(2))));
    assert_eq!(record.tallies[0].off_tape, Some(OffTape::Attempts { recorded: 3, now: 2 }));
    assert_eq!(record.tallies[0].tape_left, 1);
    let repeated = replay("standard", &call, DECLARED, &MissingAnswerPolicy::Repeat);
    assert_eq!(repeated.outcomes[0].kind, OutcomeKind::SucceededAfterCompensation);
    assert_eq!((repeated.outcomes[0].attempts, repeated.tallies[0].tape_left), (3, 0));
}

#[test]
fn recorded_answers_after_a_modelled_refresh_are_unused() {
    let stale = failed("412_precondition", "evidence is stale", None);
    let call = call(None, vec![stale, Reply::Ok]);
    let record = replay("standard", &call, DECLARED, &MissingAnswerPolicy::Ok);
    let finished = |event: &&playproof_engine::event::DecisionEvent| {
        matches!(event.what, Decision::AttemptFinished { provenance: Provenance::Modelled, .. })
    };
    assert_eq!(record.events.iter().filter(finished).count(), 1, "{:#?}", record.events);
    assert_eq!(record.tallies[0].tape_left, 1);
    assert_eq!(record.tallies[0].off_tape, Some(OffTape::Answers { recorded: 2, used: 1 }));
}

#[test]
fn a_modelled_failure_proves_no_more_than_a_recorded_one() {
    let record =
        replay("standard", &call(Some("k"), vec![timeout()]), DECLARED, &MissingAnswerPolicy::Fail("5xx".into()));
    let booked: Vec<(LedgerKind, Provenance)> =
        record.ledger.entries().iter().map(|entry| (entry.kind, entry.provenance)).collect();
    assert_eq!(
        booked[..2],
        [(LedgerKind::Unobserved, Provenance::Recorded), (LedgerKind::Unobserved, Provenance::Modelled),]
    );
}

#[test]
fn a_modelled_failure_does_not_contradict_a_claim() {
    let text = playbook::embedded("standard").expect("an embedded playbook");
    let unknown = "effect: unknown\n    then: { deprecate_tool_call: { reason: adapter";
    assert!(text.contains(unknown));
    let text = text.replace(unknown, "effect: applied\n    then: { deprecate_tool_call: { reason: adapter");
    let plan =
        Plan::new(playbook::parse(Source::whole("p", text)).expect("a valid playbook").playbook, &Tools::default());
    let beyond = MissingAnswerPolicy::Fail("schema_validation".into());
    let record = Simulator::new().replay(&plan, &call(None, Vec::new()), DECLARED, &beyond).clone();
    assert_eq!(record.outcomes[0].claim, EffectClaim::Applied);
    assert!(!ids(&record).contains(&FindingId::UntruthfulOutcome), "{:?}", record.findings);
}
