//! The forms of an envelope, and the one function that makes them.

use serde::Serialize;

use playproof_engine::event::{OutcomeKind, Transcript};
use playproof_engine::ids::CallId;
use playproof_engine::words;

use super::call::{EnvelopeCall, ToldFailure};
use super::dispatch::DispatchError;
use super::failure::FailureEnvelope;
use super::message::{ToolMessage, ToolResult};
use super::refusal::RefusalEnvelope;

words! {
    /// The forms in which an agent may get a failure.
    pub enum EnvelopeKind {
        /// An object with class, message, `retriable`, boundary and details.
        Failure = "failure",
        /// A refusal of a graph of actions, with what is valid now; also the answer to a success.
        Refusal = "refusal",
        /// A JSON-RPC error object of a dispatcher.
        Dispatch = "dispatch",
        /// A tool message of a chat, in prose.
        Openai = "openai",
        /// A tool result with `is_error`.
        Anthropic = "anthropic",
    }
}

/// An envelope, ready to be written.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Envelope<'a> {
    /// See [`EnvelopeKind::Failure`].
    Failure(FailureEnvelope<'a>),
    /// See [`EnvelopeKind::Refusal`].
    Refusal(Box<RefusalEnvelope>),
    /// See [`EnvelopeKind::Dispatch`].
    Dispatch(DispatchError),
    /// See [`EnvelopeKind::Openai`].
    Openai(ToolMessage),
    /// See [`EnvelopeKind::Anthropic`].
    Anthropic(ToolResult),
}

/// The envelope that the agent gets of a call. None where it gets none: the result of a success is not kept, so that only
/// [`EnvelopeKind::Refusal`] has a form for it; and a call without an answer has no end.
pub fn envelope<'a>(
    kind: EnvelopeKind,
    transcript: &'a Transcript<'a>,
    id: CallId,
    call: &'a EnvelopeCall<'a>,
) -> Option<Envelope<'a>> {
    let Some(told) = transcript.told(id) else {
        let has_result = |outcome: OutcomeKind| outcome.is_success() || matches!(outcome, OutcomeKind::Cached { .. });
        let succeeded = transcript.outcomes.get(id.index()).is_some_and(|outcome| has_result(outcome.kind));
        let is_wanted = succeeded && kind == EnvelopeKind::Refusal;
        return is_wanted.then(|| Envelope::Refusal(Box::new(RefusalEnvelope::of_success(call))));
    };
    let failure = ToldFailure { told, transcript, call };
    Some(match kind {
        EnvelopeKind::Failure => Envelope::Failure(failure.envelope()),
        EnvelopeKind::Refusal => Envelope::Refusal(Box::new(failure.refusal())),
        EnvelopeKind::Dispatch => Envelope::Dispatch(failure.dispatch_error()),
        EnvelopeKind::Openai => Envelope::Openai(failure.tool_message()),
        EnvelopeKind::Anthropic => Envelope::Anthropic(failure.tool_result()),
    })
}
