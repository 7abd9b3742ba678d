//! Why a line is answered with an error: it changes nothing.

use playproof_engine::drive::InputFault;
use playproof_engine::words;

words! {
    /// What is wrong with a line.
    pub enum ErrorCode {
        /// It is no JSON object, or a field is missing or wrong.
        BadLine = "bad_line",
        /// It is too long.
        LineTooLong = "line_too_long",
        /// There is no such type, question or protocol.
        UnknownType = "unknown_type",
        /// No call has the id.
        UnknownCall = "unknown_call",
        /// A call has the id.
        IdTaken = "id_taken",
        /// The request is not out.
        NotOut = "not_out",
        /// The call did not ask to be woken by now.
        TooEarly = "too_early",
        /// The call is not escalated, or is resolved.
        NotEscalated = "not_escalated",
        /// The run has open calls.
        OpenCalls = "open_calls",
        /// The journal could not be written.
        Journal = "journal",
    }
}

/// The answer to a line that changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineError {
    /// What is wrong.
    pub code: ErrorCode,
    /// The same in words.
    pub text: String,
}

impl LineError {
    /// An error of a code.
    pub fn new(code: ErrorCode, text: impl Into<String>) -> LineError {
        LineError { code, text: text.into() }
    }

    /// The answer, without its line end.
    pub fn answer(&self) -> String {
        format!("{{\"error\":{},\"code\":\"{}\"}}", serde_json::Value::from(self.text.as_str()), self.code.as_str())
    }

    /// What the dispatcher says of an input about a call.
    pub fn of_input(fault: InputFault, id: &str) -> LineError {
        match fault {
            InputFault::NameTaken => LineError::new(ErrorCode::IdTaken, format!("a call has the id `{id}`")),
            InputFault::UnknownCall => LineError::new(ErrorCode::UnknownCall, format!("no call has the id `{id}`")),
            InputFault::NotAsked => LineError::new(ErrorCode::NotOut, format!("the request of `{id}` is not out")),
            InputFault::NotSent => {
                LineError::new(ErrorCode::NotOut, format!("the attempt of `{id}` has not timed out, or was answered"))
            }
            InputFault::NotEnded => LineError::new(ErrorCode::OpenCalls, format!("`{id}` has not ended")),
            InputFault::TooEarly => {
                LineError::new(ErrorCode::TooEarly, format!("`{id}` did not ask to be woken by now"))
            }
        }
    }
}
