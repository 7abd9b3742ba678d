//! What a timeline says, and which line it marks.

use super::{TimelineLine, of_recording, of_run};
use crate::view::{CallView, RunView};
use playproof_engine::call::{AnswerTo, CallTexts, Place, RecordedAnswer, RecordedCall, Reply};
use playproof_engine::event::{
    Decision, DecisionEvent, EffectClaim, ErrorFacts, Outcome, OutcomeKind, PlaybookNames, Provenance, Status,
    StatusFrom, Transcript,
};
use playproof_engine::ids::{AttemptNo, CallId, ErrorId, EvidenceId, QueueId, RuleId, VerdictId};
use playproof_engine::sim::{CallTally, OffTape};
use playproof_engine::time::{Duration, Instant};

const MS: fn(u64) -> Instant = Instant::from_millis;

fn view(timed: bool, recorded: Option<&RecordedCall>) -> CallView<'_> {
    CallView {
        reference: "#1",
        id: None,
        run: None,
        input: None,
        input_from_root: None,
        line: None,
        path: None,
        tool: "pay",
        args: None,
        key: None,
        token: None,
        facts: "",
        declared: false,
        at: MS(1_000),
        timed,
        recorded,
        prevented: None,
        sources: None,
    }
}

/// An attempt that fails after `latency`, a retry in 200 ms, an attempt that answer missing.
fn lines(timed: bool, latency: Option<Duration>, off_tape: Option<OffTape>) -> Vec<TimelineLine> {
    let names =
        PlaybookNames { verdicts: vec!["slow".into()], rules: vec!["timeout".into()], ..PlaybookNames::default() };
    let failed_at = MS(1_000).plus(latency.unwrap_or_default());
    let due = failed_at.plus(Duration::from_millis(200));
    let sent = |attempt| Decision::AttemptStarted { attempt, evidence: EvidenceId(0) };
    let ended = |attempt, status, latency, provenance| Decision::AttemptFinished {
        attempt,
        status,
        latency,
        provenance,
        over_timeout: false,
    };
    let second = AttemptNo::new(2);
    let all = [
        (MS(1_000), sent(AttemptNo::FIRST)),
        (failed_at, ended(AttemptNo::FIRST, Status::Failed(Some(ErrorId(0))), latency, Provenance::Recorded)),
        (failed_at, Decision::FailureClassified { verdict: VerdictId(0), rule: Some(RuleId(0)), ignored: false }),
        (
            failed_at,
            Decision::RetryScheduled {
                attempt: second,
                delay: Duration::from_millis(200),
                due,
                draw: None,
                told: None,
                left: None,
            },
        ),
        (due, sent(second)),
        (due, ended(second, Status::Unanswered, Some(Duration::ZERO), Provenance::Unanswered)),
    ];
    let events = all.map(|(at, what)| DecisionEvent { at, call: CallId(0), what });
    let errors = [ErrorFacts { kind: Some("timeout".into()), ..ErrorFacts::default() }.into()];
    let kind = OutcomeKind::Escalated(QueueId(0));
    let claim = EffectClaim::Unknown;
    let outcome = Outcome { kind, claim, attempts: 2, last_error: None, first_error: None, stopped_by: None };
    let transcript = Transcript {
        names: &names,
        calls: &["#1".to_owned()],
        others: &[],
        servers: &[],
        intent_name: &|_| String::new(),
        events: &events,
        outcomes: &[outcome],
        valid_next: &[],
        ledger: &[],
        errors: &errors,
        findings: &[],
        told: &[],
        death: None,
    };
    let tally = CallTally { off_tape, ..CallTally::default() };
    let run = RunView { transcript, call: CallId(0), tally, findings: Vec::new(), intent: None };
    of_run(&view(timed, None), &run)
}

fn said(lines: &[TimelineLine]) -> Vec<(Option<u64>, &str, bool)> {
    lines.iter().map(|line| (line.at.map(Duration::as_millis), line.text.as_str(), line.departs)).collect()
}

#[test]
fn times_count_from_the_call_and_stand_once_a_moment() {
    let departure = Some(OffTape::Attempts { recorded: 1, now: 2 });
    let expected = [
        (Some(0), "attempt 1 sent", false),
        (Some(5_000), "attempt 1: timeout", false),
        (None, "verdict slow (rule timeout)", false),
        (None, "→ send again in 200 ms", true),
        (Some(5_200), "attempt 2: answer missing", false),
    ];
    assert_eq!(said(&lines(true, Some(Duration::from_millis(5_000)), departure)), expected);
}

#[test]
fn without_times_only_the_added_delay_is_shown() {
    let lines = lines(false, None, None);
    assert!(lines.iter().all(|line| line.added));
    let expected = [
        (None, "attempt 1: timeout", false),
        (None, "verdict slow (rule timeout)", false),
        (None, "→ send again in 200 ms", false),
        (Some(200), "attempt 2: answer missing", false),
    ];
    assert_eq!(said(&lines), expected);
}

#[test]
fn an_unknown_latency_is_a_question_mark() {
    assert_eq!(lines(true, None, None)[0].text, "attempt 1: timeout (after ? ms)");
}

#[test]
fn the_first_attempt_that_the_playbook_does_not_make_is_marked_in_the_recording() {
    let mut call = RecordedCall::new(CallTexts { tool: "pay", ..CallTexts::default() }, Place::default());
    for at in [1_100, 1_200] {
        call.answers.push(RecordedAnswer {
            to: AnswerTo::Attempt,
            attempt: None,
            started: None,
            at: Some(MS(at)),
            reply: Reply::Failed(None),
            inferred: at == 1_200,
            status_from: StatusFrom::Flag,
            draw: None,
            line_hash: 0,
            place: Place::default(),
        });
    }
    let lines = of_recording(&view(true, Some(&call)), Some(OffTape::Attempts { recorded: 2, now: 1 }));
    let expected = [
        (Some(100), "attempt 1: failed, without an error", false),
        (Some(200), "attempt 2: failed, without an error (an identical later call)", true),
    ];
    assert_eq!(said(&lines), expected);
}

#[test]
fn a_span_has_its_thousands_apart_with_and_without_a_fraction() {
    let said = [1_000, 1_000_000, 1_102_431, 999_500].map(|micros| super::millis(Duration::from_micros(micros)));
    assert_eq!(said, ["1", "1,000", "1,102.431", "999.5"]);
}
