//! A line of an audit log: a call that failed, and what its agent is told.

use super::calls::with_envelope;
use crate::view::CallView;
use playproof_analysis::envelope::{Detail, Envelope, EnvelopeKind, FailureEnvelope};
use playproof_engine::call::RecordedCall;
use playproof_engine::event::Transcript;
use playproof_engine::ids::CallId;
use playproof_engine::time::Instant;
use playproof_protocol::fragment::{number, raw, span, text, text_if, word};

/// How each line begins.
pub const AUDIT_LINE: &str = "{\"type\":\"failed_call\"";

/// Appends the line of a call, if its agent is told a failure. Its message is what the envelope has: redacted.
pub fn write_audit_line(out: &mut Vec<u8>, view: &CallView<'_>, transcript: &Transcript<'_>, call: CallId) {
    with_envelope(EnvelopeKind::Failure, view, transcript, call, |envelope| {
        let Some(Envelope::Failure(FailureEnvelope { error })) = envelope else { return };
        let ended = transcript.events.iter().filter(|event| event.call == call).map(|event| event.at).next_back();
        let retried = error.details.0.iter().find_map(|(name, detail)| match detail {
            Detail::Number(retried) if *name == "retried" => Some(*retried),
            Detail::Number(_) | Detail::Text(_) | Detail::Texts(_) => None,
        });
        raw(out, AUDIT_LINE);
        text(out, ",\"playbook\":", &transcript.names.playbook);
        text_if(out, ",\"actor\":", view.recorded.and_then(RecordedCall::dispatcher));
        text_if(out, ",\"run\":", view.run);
        text(out, ",\"call\":", view.reference);
        text(out, ",\"tool\":", view.tool);
        if let Some(ended) = ended.filter(|_| view.timed) {
            span(out, ",\"at_ms\":", ended.since(Instant::ZERO));
        }
        word(out, ",\"class\":\"", error.class);
        text(out, ",\"message\":", &error.message);
        word(out, ",\"boundary\":\"", error.boundary);
        raw(out, if error.retriable { ",\"retriable\":true" } else { ",\"retriable\":false" });
        number(out, ",\"retried\":", retried.unwrap_or_default());
        text(out, ",\"audit_id\":", &error.audit_id);
        raw(out, "}\n");
    });
}
