//! A failure in prose, as the tool message or the tool result of a chat.

use serde::Serialize;

use super::audit_id::audit_id;
use super::call::ToldFailure;
use playproof_engine::event::{AdmissionRefusal, NoRetry, OutcomeKind};

/// A message with the role `tool`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolMessage {
    /// The call that it answers.
    pub tool_call_id: String,
    /// `tool`.
    pub role: &'static str,
    /// The prose.
    pub content: String,
}

/// A tool result that is an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolResult {
    /// `tool_result`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The call that it answers.
    pub tool_use_id: String,
    /// Always true.
    pub is_error: bool,
    /// The prose.
    pub content: String,
}

impl ToldFailure<'_> {
    pub(super) fn tool_message(&self) -> ToolMessage {
        ToolMessage { tool_call_id: self.id(), role: "tool", content: self.prose() }
    }

    pub(super) fn tool_result(&self) -> ToolResult {
        ToolResult { kind: "tool_result", tool_use_id: self.id(), is_error: true, content: self.prose() }
    }

    fn id(&self) -> String {
        self.call.id.unwrap_or(self.call.reference).to_owned()
    }

    /// What failed, which steps are done, what to do next, and where to find it, each on a line of its own. The author's
    /// `suggestion` comes before the computed one; it takes its place only where the same call may be made again.
    fn prose(&self) -> String {
        let one_line =
            |text: &str| text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
        let (class, message) = (self.told.class.as_str(), one_line(&self.message()));
        let details = self.details();
        let forbids = !self.told.retriable;
        let next = match details.text("suggestion").map(one_line) {
            Some(suggestion) if forbids => format!("{suggestion}\n{}", self.suggestion()),
            Some(suggestion) => suggestion,
            None => self.suggestion(),
        };
        let id = audit_id(self.call.run, self.call.reference);
        let steps = match self.call.completed_steps {
            [] => String::new(),
            steps => format!("Steps that are done and stay done: {}.\n", steps.join(", ")),
        };
        format!("Action '{}' failed: {class} ({message}).\n{steps}{next}\naudit_id: {id}", self.call.name)
    }

    /// Whether to make the call again, in words.
    fn suggestion(&self) -> String {
        let again = match (self.told.retriable, self.told.retry) {
            (true, _) => match self.told.retry_after {
                Some(wait) => return format!("The same call may be made again after {} ms.", wait.as_millis()),
                None => "The same call may be made again.",
            },
            (false, Some(NoRetry::Suppressed)) => "Do not make the same call again: it may act twice.",
            (false, Some(NoRetry::Exhausted)) => {
                "Do not make the same call again: it was retried as often as it may be."
            }
            (false, None) => {
                return self.refused_for_now().unwrap_or_else(|| "Do not make the same call again.".to_owned());
            }
        };
        again.to_owned()
    }

    /// When a call that was refused only for now may be made; none: it was not, or people have it since.
    fn refused_for_now(&self) -> Option<String> {
        use AdmissionRefusal::{
            BudgetExceeded, CircuitOpen, InvalidTransition, KeyInFlight, KeyLength, KeyMissing, KeyReused, NotFound,
            QueueFull, RolledBack, Schema, UnknownAction, Unsettled, ValidationFailed,
        };
        let OutcomeKind::Refused(why) = self.transcript.outcomes.get(self.told.call.index())?.kind else { return None };
        let when = match why {
            InvalidTransition if self.is_withheld() && self.is_offered() => {
                let until = "until the call with that key is done or has failed";
                return Some(format!("Do not make the same call without the key of that earlier call {until}."));
            }
            InvalidTransition if self.is_withheld() => "before that earlier call is known to have failed".to_owned(),
            InvalidTransition => format!("before '{}' is one of the valid actions", self.call.name),
            CircuitOpen | QueueFull | KeyInFlight => match self.told.retry_after {
                Some(wait) => format!("before {} ms have passed", wait.as_millis()),
                None => "now: it may be let through later".to_owned(),
            },
            RolledBack => {
                "before the failed call of the transaction is done, or the transaction has begun again".to_owned()
            }
            UnknownAction | ValidationFailed | NotFound | Schema | KeyMissing | KeyLength | Unsettled | KeyReused
            | BudgetExceeded => return None,
        };
        Some(format!("Do not make the same call again {when}."))
    }
}
