//! All that a rule can test on a failed attempt. Matches nothing itself.

use super::server::asked_wait;
use crate::event::{ErrorFacts, Headers};
use crate::ids::AttemptNo;
use crate::playbook::{Access, ConditionKind, ToolFacts};
use crate::time::Duration;

/// All that a rule may ask about a failed attempt.
#[derive(Clone, Copy, Debug)]
pub struct Signal<'a> {
    /// The adapter's name for what went wrong.
    pub kind: Option<&'a str>,
    /// The error's text.
    pub message: Option<&'a str>,
    /// The transport's status.
    pub status: Option<u16>,
    /// The upstream's own error name.
    pub code: Option<&'a str>,
    /// How long the upstream asks to wait.
    pub retry_after: Option<Duration>,
    /// Whether the upstream says that the call should be sent again.
    pub should_retry: Option<bool>,
    /// The headers of the answer; none without an error object.
    pub headers: Option<&'a Headers>,
    /// Whether the failure came with an error object.
    pub has_error: bool,
    /// The tool's name.
    pub tool: &'a str,
    /// Whether the tool changes the upstream.
    pub access: Access,
    /// Whether doing it twice has the effect of doing it once.
    pub idempotent: bool,
    /// Whether the call has an idempotency key; none: it has one, and the failure is about another key.
    pub keyed: Option<bool>,
    /// The attempt that failed.
    pub attempt: AttemptNo,
}

impl<'a> Signal<'a> {
    /// The signal of `attempt` of a call of `tool` that failed with `error`.
    pub fn new(
        error: Option<&'a ErrorFacts>,
        tool: &'a str,
        facts: ToolFacts,
        keyed: impl Into<Option<bool>>,
        attempt: AttemptNo,
    ) -> Signal<'a> {
        Signal {
            kind: error.and_then(|error| error.kind.as_deref()),
            message: error.and_then(|error| error.message.as_deref()),
            status: error.and_then(|error| error.status),
            code: error.and_then(|error| error.code.as_deref()),
            retry_after: error.and_then(|error| asked_wait(error, None)),
            should_retry: error.and_then(ErrorFacts::says_to_retry),
            headers: error.map(|error| &error.headers),
            has_error: error.is_some(),
            tool,
            access: facts.access,
            idempotent: facts.idempotent,
            keyed: keyed.into(),
            attempt,
        }
    }
}

/// The value of a signal that a condition tests.
#[derive(Clone, Copy, Debug)]
pub(super) enum SignalValue<'a> {
    Text(Option<&'a str>),
    Number(Option<u32>),
    Access(Access),
    Is(bool),
    /// What the error says.
    Said(Option<bool>),
    /// Whether there is a key that the failure can be about.
    Keyed(Option<bool>),
    Headers(Option<&'a Headers>),
    /// Whether it is present.
    There(bool),
}

impl<'a> Signal<'a> {
    pub(super) fn find(&self, ask: ConditionKind) -> SignalValue<'a> {
        match ask {
            ConditionKind::Kind => SignalValue::Text(self.kind),
            ConditionKind::Message => SignalValue::Text(self.message),
            ConditionKind::Status => SignalValue::Number(self.status.map(u32::from)),
            ConditionKind::Code => SignalValue::Text(self.code),
            ConditionKind::Tool => SignalValue::Text(Some(self.tool)),
            ConditionKind::Access => SignalValue::Access(self.access),
            ConditionKind::Idempotent => SignalValue::Is(self.idempotent),
            ConditionKind::Keyed => SignalValue::Keyed(self.keyed),
            ConditionKind::Attempt => SignalValue::Number(Some(self.attempt.get())),
            ConditionKind::RetryAfter => SignalValue::There(self.retry_after.is_some()),
            ConditionKind::ShouldRetry => SignalValue::Said(self.should_retry),
            ConditionKind::Header => SignalValue::Headers(self.headers),
            ConditionKind::Error => SignalValue::There(self.has_error),
        }
    }
}
