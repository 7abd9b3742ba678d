//! A call that no later line can change, with what its lines said in short. Judges nothing.

use crate::trace::marks::Marks;
use crate::trace::model::{AnswerTo, RecordedAnswer, RecordedCall, Reply};

/// A call on its way from its line to its simulation. It stays in its box all the way, for a trace has millions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedCall {
    /// The call with its answers.
    pub call: RecordedCall,
    /// Its hashes, taken before redaction.
    pub marks: Marks,
    /// What its lines said in short.
    pub story: Story,
}

/// A call that no later line can change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosedCall(pub(super) Box<TracedCall>);

/// What the lines of a call said in short: enough to compare it with others without looking at its texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Story {
    /// The line of the last successful write of its run before it; 0: none.
    pub last_write: u64,
    /// The line of the answer to the last attempt, if that was a failure; 0: it was not, or there was none.
    pub failed_on: u64,
    /// Answers to anything.
    pub answers: u32,
    /// Answers to attempts.
    pub attempts: u32,
    /// Attempts that succeeded.
    pub succeeded: u32,
    /// Reversals that succeeded.
    pub reversed: u32,
}

impl ClosedCall {
    /// The call alone.
    pub fn into_call(self) -> RecordedCall {
        self.0.call
    }

    /// The call in its box, to be used again.
    pub fn into_box(self) -> Box<TracedCall> {
        self.0
    }
}

impl std::ops::Deref for ClosedCall {
    type Target = TracedCall;

    fn deref(&self) -> &TracedCall {
        &self.0
    }
}

impl Story {
    /// Takes the answer to an attempt in; `last` says that no answered attempt has a higher number.
    pub(super) fn add_attempt(&mut self, answer: &RecordedAnswer, last: bool) {
        let ok = answer.reply == Reply::Ok;
        self.answers += 1; // a call has few: the assembler sees to that
        self.attempts += 1;
        self.succeeded += u32::from(ok);
        if last {
            self.failed_on = if ok { 0 } else { answer.place.line };
        }
    }

    /// Takes the answer to a refresh or a reversal in.
    pub(super) fn add_other(&mut self, answer: &RecordedAnswer) {
        self.answers += 1;
        self.reversed += u32::from(answer.to == AnswerTo::Reversal && answer.reply == Reply::Ok);
    }
}
