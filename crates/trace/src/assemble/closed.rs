//! A call that no later line can change, with what its lines said in short. Judges nothing.

use std::sync::Arc;

use crate::marks::Marks;
use playproof_engine::call::{AnswerTo, RecordedAnswer, RecordedCall, Reply};
use playproof_engine::event::ErrorFacts;

/// A call on its way from its line to its simulation. It stays in its box all the way, for a trace has millions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedCall {
    /// The call with its answers, as recorded.
    pub(crate) call: RecordedCall,
    /// Its hashes.
    pub marks: Marks,
    /// What its lines said in short.
    pub story: Story,
}

/// A call that no later line can change: as it is recorded, and as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosedCall {
    traced: Box<TracedCall>,
    /// None where nothing is redacted.
    shown: Option<Box<RecordedCall>>,
}

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
    pub(super) const fn new(traced: Box<TracedCall>) -> ClosedCall {
        ClosedCall { traced, shown: None }
    }

    /// A call by itself, of which nothing is redacted.
    pub fn of(call: RecordedCall) -> ClosedCall {
        let args = call.args().map_or(0, crate::canonical::hash_of);
        let marks = Marks::new(call.run(), call.id(), call.tool(), call.key(), args);
        ClosedCall::new(Box::new(TracedCall { call, marks, story: Story::default() }))
    }

    /// The call as recorded: what is decided is decided on this, and none of its texts reaches a reader.
    pub fn raw(&self) -> &RecordedCall {
        &self.traced.call
    }

    /// The call as it is shown: what reporters and files are given.
    pub fn shown(&self) -> &RecordedCall {
        self.shown.as_deref().unwrap_or(&self.traced.call)
    }

    pub(crate) fn set_shown(&mut self, shown: Box<RecordedCall>) {
        self.shown = Some(shown);
    }

    /// The errors as they are shown, where that is otherwise than they were recorded: those of no answer to the call
    /// stay as they are.
    pub fn shown_errors(&self, errors: &[Arc<ErrorFacts>]) -> Vec<Arc<ErrorFacts>> {
        let Some(shown) = &self.shown else { return Vec::new() };
        let answers = || self.traced.call.answers.iter().zip(&shown.answers);
        let said = |reply: &Reply| match reply {
            Reply::Failed(error) => error.clone(),
            Reply::Ok => None,
        };
        let as_shown = |error: &Arc<ErrorFacts>| {
            let found = answers().find(|(raw, _)| said(&raw.reply).as_ref() == Some(error));
            found.and_then(|(_, shown)| said(&shown.reply)).unwrap_or_else(|| Arc::clone(error))
        };
        errors.iter().map(as_shown).collect()
    }

    /// Whether `wanted` is the call's reference, as recorded or as shown.
    pub fn has_reference(&self, wanted: &str) -> bool {
        self.either(|call| call.reference() == wanted)
    }

    /// Whether `wanted` is the call's own id, as recorded or as shown.
    pub fn has_id(&self, wanted: &str) -> bool {
        self.either(|call| call.id() == Some(wanted))
    }

    fn either(&self, is: impl Fn(&RecordedCall) -> bool) -> bool {
        is(&self.traced.call) || self.shown.as_deref().is_some_and(is)
    }

    /// The call in its box, to be used again.
    pub fn into_box(self) -> Box<TracedCall> {
        self.traced
    }
}

impl std::ops::Deref for ClosedCall {
    type Target = TracedCall;

    fn deref(&self) -> &TracedCall {
        &self.traced
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
