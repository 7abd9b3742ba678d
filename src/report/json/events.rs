//! Every decision event of a simulation, one object a line.

use super::write::Object;
use crate::event::{Decision, DecisionEvent, ErrorFacts, Outcome, OutcomeKind, Status, Transcript};
use crate::ids::ErrorId;

/// Appends a line for each event to `out`.
pub fn write_events(out: &mut Vec<u8>, transcript: &Transcript<'_>) {
    for event in transcript.events {
        let mut line = Object::open(out);
        line.text("type", "event")
            .text("playbook", &transcript.names.playbook)
            .text("ref", transcript.call(event.call));
        fill(&mut line, transcript, event);
        line.end();
        out.push(b'\n');
    }
}

/// What an event says, without the call that it is about.
pub(super) fn fill(line: &mut Object<'_>, transcript: &Transcript<'_>, event: &DecisionEvent) {
    let names = transcript.names;
    line.moment("at_ms", event.at);
    match event.what {
        Decision::AttemptStarted { attempt, evidence } => {
            line.text("event", "attempt_started").number("attempt", attempt.get().into());
            line.number("evidence", evidence.0.into());
        }
        Decision::AttemptFinished { attempt, status, latency, provenance, over_timeout } => {
            line.text("event", "attempt_finished").number("attempt", attempt.get().into());
            said(line, transcript, status);
            line.millis_or_null("latency_ms", latency).text("from", provenance.as_str());
            line.flag("over_timeout", over_timeout);
        }
        Decision::LateAnswer { attempt, status } => {
            line.text("event", "late_answer").number("attempt", attempt.get().into());
            said(line, transcript, status);
        }
        Decision::FailureClassified { verdict, rule, ignored } => {
            line.text("event", "failure_classified").text("verdict", names.verdict(verdict));
            line.text("rule", names.rule(rule)).flag("ignored", ignored);
        }
        Decision::RetryScheduled { attempt, delay, due } => {
            line.text("event", "retry_scheduled").number("attempt", attempt.get().into());
            line.millis("delay_ms", delay).moment("due_ms", due);
        }
        Decision::RetrySuppressed { why } => {
            line.text("event", "retry_suppressed").text("why", why.as_str());
        }
        Decision::EvidenceRefreshed { evidence, status, provenance } => {
            line.text("event", "evidence_refreshed").number("evidence", evidence.0.into());
            said(line, transcript, status);
            line.text("from", provenance.as_str());
        }
        Decision::Escalated { queue } => {
            line.text("event", "escalated").text("queue", names.queue(queue));
        }
        Decision::ReversalRefused { why } => {
            line.text("event", "reversal_refused").text("why", why.as_str());
        }
        Decision::ReversalRedeemed { reason, provenance } => {
            line.text("event", "reversal_redeemed").text("reason", names.reason(reason));
            line.text("from", provenance.as_str());
        }
        Decision::Deprecated { why } => {
            line.text("event", "deprecated").text("reason", names.deprecated_why(why));
        }
        Decision::Outcome(outcome) => {
            line.text("event", "outcome");
            ended(line, transcript, &outcome);
        }
    }
}

/// How a call ended.
pub(super) fn ended(line: &mut Object<'_>, transcript: &Transcript<'_>, outcome: &Outcome) {
    let names = transcript.names;
    line.text("outcome", outcome.kind.as_str());
    match outcome.kind {
        OutcomeKind::Escalated(queue) => line.text("queue", names.queue(queue)),
        OutcomeKind::Exhausted(stop) => line.text("stop", stop.as_str()),
        OutcomeKind::Undetermined(asked) => line.text("lacks", &asked.to_string()),
        OutcomeKind::Reversed(reason) => line.text("reason", names.reason(reason)),
        OutcomeKind::Deprecated(why) => line.text("reason", names.deprecated_why(why)),
        OutcomeKind::Succeeded | OutcomeKind::SucceededAfterCompensation => line,
    };
    line.text("effect", outcome.claim.as_str()).number("attempts", outcome.attempts.into());
    for (key, error) in [("last_error", outcome.last_error), ("first_error", outcome.first_error)] {
        if let Some(error) = facts(transcript, error) {
            line.object(key, |object| failure(object, error));
        }
    }
}

fn said(line: &mut Object<'_>, transcript: &Transcript<'_>, status: Status) {
    match status {
        Status::Ok => {
            line.text("status", "ok");
        }
        Status::Unanswered => {
            line.text("status", "unanswered");
        }
        Status::Failed(error) => {
            line.text("status", "error");
            match facts(transcript, error) {
                Some(error) => line.object("error", |object| failure(object, error)),
                None => line.null("error"),
            };
        }
    }
}

fn facts<'a>(transcript: &Transcript<'a>, id: Option<ErrorId>) -> Option<&'a ErrorFacts> {
    id.and_then(|id| transcript.errors.get(id.index()))
}

fn failure(object: &mut Object<'_>, error: &ErrorFacts) {
    object.text_if("kind", error.kind.as_deref()).text_if("message", error.message.as_deref());
    object.number_if("status", error.status.map(u64::from)).text_if("code", error.code.as_deref());
    if let Some(wait) = error.retry_after {
        object.millis("retry_after_ms", wait);
    }
}
