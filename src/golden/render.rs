//! One simulation as the text of a golden: outcomes first, then ledger, findings and events with delta times,
//! so that one changed delay is one changed line. Holds no time of day, path, line number or version.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::event::{Decision, DecisionEvent, Intent, Outcome, OutcomeKind, Status, Transcript};
use crate::ids::CallId;
use crate::time::Instant;
use crate::yaml::scalar;

/// The golden's body.
pub fn render(transcript: &Transcript<'_>) -> String {
    let mut text = String::new();
    for (n, outcome) in transcript.outcomes.iter().enumerate() {
        let call = CallId(u32::try_from(n).unwrap_or(u32::MAX));
        line(
            &mut text,
            format_args!("{}: {{ {} }}", scalar(transcript.call(call)), outcome_fields(transcript, call, outcome)),
        );
    }
    ledger(&mut text, transcript);
    findings(&mut text, transcript);
    line(&mut text, format_args!("events:"));
    let mut before = Instant::ZERO;
    for event in transcript.events {
        let delta = format!("+{}:", event.at.since(before));
        before = event.at;
        let call = scalar(transcript.call(event.call));
        line(&mut text, format_args!("- {{ {delta:<6} {call}, {} }}", event_fields(transcript, event)));
    }
    text
}

fn line(text: &mut String, what: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{what}");
}

fn outcome_fields(transcript: &Transcript<'_>, call: CallId, outcome: &Outcome) -> String {
    let names = transcript.names;
    let mut text = format!("outcome: {}", outcome.kind.as_str());
    match outcome.kind {
        OutcomeKind::Escalated(queue) => text += &format!(", queue: {}", scalar(names.queue(queue))),
        OutcomeKind::Refused(why) => text += &format!(", why: {}", why.as_str()),
        OutcomeKind::Exhausted(stop) => text += &format!(", stop: {}", stop.as_str()),
        OutcomeKind::Undetermined(asked) => text += &format!(", lacks: answer to {asked}"),
        OutcomeKind::Reversed(reason) => text += &format!(", reason: {}", scalar(names.reason(reason))),
        OutcomeKind::Deprecated(why) => text += &format!(", reason: {}", scalar(names.deprecated_why(why))),
        OutcomeKind::Succeeded | OutcomeKind::SucceededAfterCompensation => {}
    }
    text += &format!(", effect: {}, attempts: {}", outcome.claim.as_str(), outcome.attempts);
    let verdicts: Vec<&str> = transcript.verdicts(call).collect();
    text += &format!(", verdicts: [{}]", verdicts.join(", "));
    if outcome.last_error.is_some() {
        text += &format!(", last_error: {}", scalar(transcript.error_kind(outcome.last_error)));
    }
    if outcome.first_error.is_some() {
        text += &format!(", first_error: {}", scalar(transcript.error_kind(outcome.first_error)));
    }
    text
}

fn ledger(text: &mut String, transcript: &Transcript<'_>) {
    let mut counts: BTreeMap<Intent, BTreeMap<&'static str, u32>> = BTreeMap::new();
    let mut order = Vec::new();
    for entry in transcript.ledger {
        if !counts.contains_key(&entry.intent) {
            order.push(entry.intent);
        }
        *counts.entry(entry.intent).or_default().entry(entry.kind.as_str()).or_default() += 1;
    }
    if order.is_empty() {
        return line(text, format_args!("ledger: {{}}"));
    }
    line(text, format_args!("ledger:"));
    for intent in order {
        let each: Vec<String> = counts[&intent].iter().map(|(kind, count)| format!("{kind} x{count}")).collect();
        line(text, format_args!("  {}: {}", scalar(&(transcript.intent_name)(intent)), each.join(", ")));
    }
}

fn findings(text: &mut String, transcript: &Transcript<'_>) {
    if transcript.findings.is_empty() {
        return line(text, format_args!("findings: []"));
    }
    line(text, format_args!("findings:"));
    for finding in transcript.findings {
        let (id, call, by) = (finding.id.as_str(), scalar(transcript.call(finding.call)), finding.by.as_str());
        line(text, format_args!("- {{ {id}: {call}, by: {by}, count: {} }}", finding.count));
    }
}

fn event_fields(transcript: &Transcript<'_>, event: &DecisionEvent) -> String {
    let names = transcript.names;
    match event.what {
        Decision::AttemptStarted { attempt, evidence } => {
            let evidence = if evidence.0 == 0 { String::new() } else { format!(", evidence: {}", evidence.0) };
            format!("attempt_started: {attempt}{evidence}")
        }
        Decision::AttemptFinished { attempt, status, latency, provenance, over_timeout } => {
            let status = status_word(transcript, status);
            let latency = if latency.is_none() { ", latency_ms: '?'" } else { "" }; // a known one is the delta time
            let over = if over_timeout { ", over_timeout: true" } else { "" };
            format!("attempt_finished: {attempt}, status: {status}{latency}, from: {}{over}", provenance.as_str())
        }
        Decision::LateAnswer { attempt, status } => {
            format!("late_answer: {attempt}, status: {}", status_word(transcript, status))
        }
        Decision::FailureClassified { verdict, rule, ignored } => {
            let ignored = if ignored { ", ignored: true" } else { "" };
            format!("failure_classified: {}, rule: {}{ignored}", names.verdict(verdict), names.rule(rule))
        }
        Decision::RetryScheduled { attempt, delay, .. } => format!("retry_scheduled: {attempt}, delay_ms: {delay}"),
        Decision::Refused { why } => format!("refused: {}", why.as_str()),
        Decision::RetrySuppressed { why } => format!("retry_suppressed: {}", why.as_str()),
        Decision::EvidenceRefreshed { evidence, status, provenance } => {
            let status = status_word(transcript, status);
            format!("evidence_refreshed: {}, status: {status}, from: {}", evidence.0, provenance.as_str())
        }
        Decision::Escalated { queue } => format!("escalated: {}", scalar(names.queue(queue))),
        Decision::ReversalRefused { why } => format!("reversal_refused: {}", why.as_str()),
        Decision::ReversalRedeemed { reason, provenance } => {
            format!("reversal_redeemed: {}, from: {}", scalar(names.reason(reason)), provenance.as_str())
        }
        Decision::Deprecated { why } => format!("deprecated: {}", scalar(names.deprecated_why(why))),
        Decision::Outcome(outcome) => format!("outcome: {}", outcome.kind.as_str()),
    }
}

fn status_word(transcript: &Transcript<'_>, status: Status) -> String {
    match status {
        Status::Ok => "ok".to_owned(),
        Status::Failed(error) => scalar(transcript.error_kind(error)).into_owned(),
        Status::Unanswered => "unanswered".to_owned(),
    }
}
