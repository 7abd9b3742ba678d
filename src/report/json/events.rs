//! Every decision event of a simulation, one object a line. Written in whole fragments rather than key by key:
//! a trace has millions of them.

use std::ops::Range;

use super::fragment::{flag, number, raw, span, text, word};
use super::write::{Object, millis};
use crate::event::{Decision, DecisionEvent, ErrorFacts, Outcome, OutcomeKind, Status, Transcript};
use crate::ids::ErrorId;

/// Where lines of events say what the call's own line says again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Under which playbook, and of which call.
    pub(super) head: Range<usize>,
    /// How the call ended.
    pub(super) outcome: Range<usize>,
}

/// Appends a line for each event to `out`, and says where there the last call's lines say what can be copied.
pub fn write_events(out: &mut Vec<u8>, transcript: &Transcript<'_>) -> Said {
    let (mut said, mut dated, mut last) = (Said::default(), 0..0, None);
    for event in transcript.events {
        raw(out, "{\"type\":\"event\"");
        let start = out.len();
        match last {
            Some((call, at)) if (call, at) == (event.call, event.at) => out.extend_from_within(dated.clone()),
            _ => {
                match last {
                    Some((call, _)) if call == event.call => out.extend_from_within(said.head.clone()),
                    _ => {
                        text(out, ",\"playbook\":", &transcript.names.playbook);
                        text(out, ",\"ref\":", transcript.call(event.call));
                    }
                }
                said.head = start..out.len();
                raw(out, ",\"at_ms\":");
                millis(out, event.at.as_micros());
                dated = start..out.len();
            }
        }
        last = Some((event.call, event.at));
        fields(out, transcript, event);
        if let Decision::Outcome(outcome) = event.what {
            let start = out.len();
            ended(out, transcript, &outcome);
            said.outcome = start..out.len();
        }
        raw(out, "}\n");
    }
    said
}

/// An event as an object without the call that it is about.
pub(super) fn write_event(out: &mut Vec<u8>, transcript: &Transcript<'_>, event: &DecisionEvent) {
    raw(out, "{\"at_ms\":");
    millis(out, event.at.as_micros());
    fields(out, transcript, event);
    if let Decision::Outcome(outcome) = event.what {
        ended(out, transcript, &outcome);
    }
    out.push(b'}');
}

/// What follows the time, but for how the call ended.
fn fields(out: &mut Vec<u8>, transcript: &Transcript<'_>, event: &DecisionEvent) {
    let names = transcript.names;
    match event.what {
        Decision::AttemptStarted { attempt, evidence } => {
            number(out, ",\"event\":\"attempt_started\",\"attempt\":", attempt.get());
            number(out, ",\"evidence\":", evidence.0);
        }
        Decision::AttemptFinished { attempt, status, latency, provenance, over_timeout } => {
            number(out, ",\"event\":\"attempt_finished\",\"attempt\":", attempt.get());
            how(out, transcript, status);
            match latency {
                Some(latency) => span(out, ",\"latency_ms\":", latency),
                None => raw(out, ",\"latency_ms\":null"),
            }
            word(out, ",\"from\":\"", provenance.as_str());
            flag(out, ",\"over_timeout\":true", over_timeout);
        }
        Decision::LateAnswer { attempt, status } => {
            number(out, ",\"event\":\"late_answer\",\"attempt\":", attempt.get());
            how(out, transcript, status);
        }
        Decision::FailureClassified { verdict, rule, ignored } => {
            text(out, ",\"event\":\"failure_classified\",\"verdict\":", names.verdict(verdict));
            text(out, ",\"rule\":", names.rule(rule));
            flag(out, ",\"ignored\":true", ignored);
        }
        Decision::RetryScheduled { attempt, delay, due } => {
            number(out, ",\"event\":\"retry_scheduled\",\"attempt\":", attempt.get());
            span(out, ",\"delay_ms\":", delay);
            raw(out, ",\"due_ms\":");
            millis(out, due.as_micros());
        }
        Decision::Refused { why } => word(out, ",\"event\":\"refused\",\"why\":\"", why.as_str()),
        Decision::RetrySuppressed { why } => word(out, ",\"event\":\"retry_suppressed\",\"why\":\"", why.as_str()),
        Decision::EvidenceRefreshed { evidence, status, provenance } => {
            number(out, ",\"event\":\"evidence_refreshed\",\"evidence\":", evidence.0);
            how(out, transcript, status);
            word(out, ",\"from\":\"", provenance.as_str());
        }
        Decision::Escalated { queue } => text(out, ",\"event\":\"escalated\",\"queue\":", names.queue(queue)),
        Decision::ReversalRefused { why } => word(out, ",\"event\":\"reversal_refused\",\"why\":\"", why.as_str()),
        Decision::ReversalRedeemed { reason, provenance } => {
            text(out, ",\"event\":\"reversal_redeemed\",\"reason\":", names.reason(reason));
            word(out, ",\"from\":\"", provenance.as_str());
        }
        Decision::Deprecated { why } => {
            text(out, ",\"event\":\"deprecated\",\"reason\":", names.deprecated_why(why));
        }
        Decision::Outcome(_) => raw(out, ",\"event\":\"outcome\""),
    }
}

/// How a call ended, behind what was written before.
pub(super) fn ended(out: &mut Vec<u8>, transcript: &Transcript<'_>, outcome: &Outcome) {
    let names = transcript.names;
    word(out, ",\"outcome\":\"", outcome.kind.as_str());
    match outcome.kind {
        OutcomeKind::Escalated(queue) => text(out, ",\"queue\":", names.queue(queue)),
        OutcomeKind::Refused(why) => word(out, ",\"why\":\"", why.as_str()),
        OutcomeKind::Exhausted(stop) => word(out, ",\"stop\":\"", stop.as_str()),
        OutcomeKind::Undetermined(asked) => text(out, ",\"lacks\":", &asked.to_string()),
        OutcomeKind::Reversed(reason) => text(out, ",\"reason\":", names.reason(reason)),
        OutcomeKind::Deprecated(why) => text(out, ",\"reason\":", names.deprecated_why(why)),
        OutcomeKind::Succeeded | OutcomeKind::SucceededAfterCompensation => {}
    }
    word(out, ",\"effect\":\"", outcome.claim.as_str());
    number(out, ",\"attempts\":", outcome.attempts);
    for (key, error) in [(",\"last_error\":", outcome.last_error), (",\"first_error\":", outcome.first_error)] {
        if let Some(error) = facts(transcript, error) {
            raw(out, key);
            failure(out, error);
        }
    }
}

/// How an attempt or a refresh ended.
fn how(out: &mut Vec<u8>, transcript: &Transcript<'_>, status: Status) {
    match status {
        Status::Ok => raw(out, ",\"status\":\"ok\""),
        Status::Unanswered => raw(out, ",\"status\":\"unanswered\""),
        Status::Failed(error) => {
            raw(out, ",\"status\":\"error\",\"error\":");
            match facts(transcript, error) {
                Some(error) => failure(out, error),
                None => raw(out, "null"),
            }
        }
    }
}

fn facts<'a>(transcript: &Transcript<'a>, id: Option<ErrorId>) -> Option<&'a ErrorFacts> {
    id.and_then(|id| transcript.error(id))
}

fn failure(out: &mut Vec<u8>, error: &ErrorFacts) {
    let mut object = Object::open(out);
    object.text_if("kind", error.kind.as_deref()).text_if("message", error.message.as_deref());
    object.number_if("status", error.status.map(u64::from)).text_if("code", error.code.as_deref());
    if let Some(wait) = error.retry_after {
        object.millis("retry_after_ms", wait);
    }
    object.end();
}
