//! Kept feedback as JSON documents.

use serde::Serialize;

use crate::json::document;
use playproof_analysis::feedback::{Ending, JudgedFeedback};
use playproof_formats::shell::Command;

#[derive(Serialize)]
struct ListJson<'a> {
    format: &'static str,
    feedback: Vec<FeedbackJson<'a>>,
}

#[derive(Serialize)]
struct ShownJson<'a> {
    format: &'static str,
    #[serde(flatten)]
    feedback: FeedbackJson<'a>,
    slice: &'a str,
    call: &'a str,
    before: EndingJson<'a>,
    now: EndingJson<'a>,
    next: String,
}

#[derive(Serialize)]
struct FeedbackJson<'a> {
    id: &'a str,
    state: &'static str,
    tool: &'a str,
    playbook: &'a str,
    note: &'a str,
    verdict: Option<&'a str>,
    rule: Option<&'a str>,
    expected: Option<&'a str>,
    closed: Option<&'a str>,
    came_from: CameFromJson<'a>,
}

#[derive(Serialize)]
struct CameFromJson<'a> {
    trace: &'a str,
    call: &'a str,
    line: u64,
}

#[derive(Serialize)]
struct EndingJson<'a> {
    #[serde(flatten)]
    failed: Option<FailedJson<'a>>,
    outcome: &'a str,
    effect: &'a str,
    attempts: u32,
}

#[derive(Serialize)]
struct FailedJson<'a> {
    attempt: u32,
    verdict: &'a str,
    rule: &'a str,
    compensation: &'a str,
}

/// The list, without a line break at its end.
pub fn json(all: &[JudgedFeedback]) -> String {
    document(&ListJson { format: "feedback-list/1", feedback: all.iter().map(feedback).collect() })
}

/// One in full, with what its playbook makes of the call now.
pub fn json_of(shown: &JudgedFeedback, now: &Ending, slice: &str, next: &Command) -> String {
    document(&ShownJson {
        format: "feedback-shown/1",
        feedback: feedback(shown),
        slice,
        call: &shown.kept.feedback.call,
        before: ending(&shown.kept.feedback.before),
        now: ending(now),
        next: next.to_string(),
    })
}

fn feedback(shown: &JudgedFeedback) -> FeedbackJson<'_> {
    let feedback = &shown.kept.feedback;
    let from = &feedback.came_from;
    FeedbackJson {
        id: &shown.kept.id,
        state: shown.state.as_str(),
        tool: shown.tool(),
        playbook: &feedback.playbook,
        note: &feedback.note,
        verdict: shown.verdict(),
        rule: shown.rule(),
        expected: feedback.expected.as_deref(),
        closed: feedback.closed.as_deref(),
        came_from: CameFromJson { trace: &from.trace, call: &from.call, line: from.line },
    }
}

fn ending(ending: &Ending) -> EndingJson<'_> {
    let failed = ending.failed.as_ref().map(|failed| FailedJson {
        attempt: failed.attempt,
        verdict: &failed.verdict,
        rule: &failed.rule,
        compensation: &failed.compensation,
    });
    EndingJson { failed, outcome: &ending.outcome, effect: &ending.effect, attempts: ending.attempts }
}
