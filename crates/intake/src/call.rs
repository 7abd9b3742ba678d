//! A recorded call with its hashes and attempt counts: while its lines are read, and once no later line can change it.
//! Decides nothing.

use std::sync::Arc;

use crate::call_hashes::CallHashes;
use crate::hash;
use crate::key_number::KeyNumber;
use playproof_engine::call::{AnswerTo, RecordedAnswer, RecordedCall, Reply};
use playproof_engine::classify::reads_as_refusal;
use playproof_engine::event::ErrorFacts;
use playproof_engine::evidence::Moment;
use playproof_engine::time::Instant;

/// A call that its lines build up. It stays in one box from its line to its simulation: a trace has millions of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallBuilder {
    /// The call with its answers, as recorded.
    pub(crate) call: RecordedCall,
    /// Its hashes.
    pub hashes: CallHashes,
    /// How its attempts ended.
    pub counts: AttemptCounts,
    /// The number of its idempotency key; none: it is a read, has no key, or comes from no trace.
    pub key_number: Option<KeyNumber>,
    /// Whether only some of its arguments make its request.
    pub is_named: bool,
}

/// A call that no later line can change: as it is recorded, and as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletedCall {
    built: Box<CallBuilder>,
    /// None where nothing is redacted.
    shown: Option<Box<RecordedCall>>,
}

/// How the attempts of a call ended: enough to compare it with other calls without reading its texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AttemptCounts {
    /// The answer to the last successful write of its run before it.
    pub last_write: Option<Moment>,
    /// The line of the answer to the last attempt if that attempt failed; else 0.
    pub failed_on: u64,
    /// The last line of an answer to an attempt; 0: no attempt was answered.
    pub ended_on: u64,
    /// The latest time of such an answer; none if one has no time.
    pub ended_at: Option<Instant>,
    /// Answers of every kind.
    pub answers: u32,
    /// Answers to attempts.
    pub attempts: u32,
    /// Attempts that succeeded.
    pub succeeded: u32,
    /// Attempts whose only ok came late.
    pub late: u32,
    /// Reversals that succeeded.
    pub reversed: u32,
    /// Reversals that failed and may have taken an effect back.
    pub unclear_reversals: u32,
    /// Attempts below the highest recorded number that have no answer.
    pub left_out: u32,
    /// Lines of which it is unknown whether they are one attempt more: equal ones without a number and a time, and those
    /// with the number of another answer that say something else and may have acted.
    pub ambiguous: u32,
}

impl CallBuilder {
    /// A call with no answer yet.
    pub(crate) fn new(call: RecordedCall, hashes: CallHashes) -> CallBuilder {
        CallBuilder { call, hashes, counts: AttemptCounts::default(), key_number: None, is_named: false }
    }

    /// Counts all answers again, because one came late: perhaps one that was counted as an attempt's own.
    pub(crate) fn count_late(&mut self) {
        let CallBuilder { call, counts, .. } = self;
        *counts = AttemptCounts {
            last_write: counts.last_write,
            ambiguous: counts.ambiguous,
            late: call.late_successes(),
            ..AttemptCounts::default()
        };
        for answer in &call.answers {
            match answer.to {
                AnswerTo::Attempt => counts.add_attempt(answer, true),
                AnswerTo::Refresh | AnswerTo::Reversal | AnswerTo::Late => counts.add_other(answer),
            }
        }
        let highest = call.attempts().last().map_or(0, |(number, _)| number.get());
        counts.left_out = highest.saturating_sub(counts.attempts);
    }
}

impl CompletedCall {
    pub(crate) const fn new(built: Box<CallBuilder>) -> CompletedCall {
        CompletedCall { built, shown: None }
    }

    /// A call that comes from no trace; nothing of it is redacted.
    pub fn of(call: RecordedCall) -> CompletedCall {
        let args = call.args().map_or(0, crate::canonical::hash_of);
        let hashes = CallHashes::new(call.run(), call.id(), call.tool(), call.key(), args);
        let hashes = hashes.of_dispatcher(call.dispatcher());
        CompletedCall::new(Box::new(CallBuilder::new(call, hashes)))
    }

    /// The call as recorded. Decisions use this one; none of its texts reaches a reader.
    pub fn raw(&self) -> &RecordedCall {
        &self.built.call
    }

    /// The call as it is shown. Reporters and files get this one.
    pub fn shown(&self) -> &RecordedCall {
        self.shown.as_deref().unwrap_or(&self.built.call)
    }

    pub(crate) fn set_shown(&mut self, shown: Box<RecordedCall>) {
        self.shown = Some(shown);
    }

    /// Sets what all inputs show of its key. A replay, which reads one input after the other, knows those before it.
    pub fn set_key_reused(&mut self, is_reused: bool) {
        self.built.call.key_is_reused = is_reused;
    }

    /// Sets that identical calls before it speak against making it once more.
    pub fn set_repeat_unwise(&mut self) {
        self.built.call.is_repeat_unwise = true;
    }

    /// The errors as they are shown; empty where nothing is redacted. Errors of other calls stay as they are.
    pub fn shown_errors(&self, errors: &[Arc<ErrorFacts>]) -> Vec<Arc<ErrorFacts>> {
        let Some(shown) = &self.shown else { return Vec::new() };
        let answers = || self.built.call.answers.iter().zip(&shown.answers);
        let error_of = |reply: &Reply| reply.error().cloned();
        let as_shown = |error: &Arc<ErrorFacts>| {
            let found = answers().find(|(raw, _)| error_of(&raw.reply).as_ref() == Some(error));
            found.and_then(|(_, shown)| error_of(&shown.reply)).unwrap_or_else(|| Arc::clone(error))
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
        is(&self.built.call) || self.shown.as_deref().is_some_and(is)
    }

    /// A mark of the call's run and reversal token; none: it has no token.
    pub fn token_mark(&self) -> Option<u128> {
        const TOKEN: u64 = 30;
        Some(hash::bytes_after(self.hashes.run, self.raw().token()?.as_bytes(), TOKEN))
    }

    /// The box of the call, to be filled with another call.
    pub fn into_box(self) -> Box<CallBuilder> {
        self.built
    }
}

impl std::ops::Deref for CompletedCall {
    type Target = CallBuilder;

    fn deref(&self) -> &CallBuilder {
        &self.built
    }
}

/// Whether an answer is that of a reversal that failed, unless the upstream clearly refused it: it may have taken the
/// effect back.
pub fn is_unclear_reversal(answer: &RecordedAnswer) -> bool {
    answer.to == AnswerTo::Reversal && answer.reply != Reply::Ok && !is_refused(&answer.reply)
}

/// Whether the upstream clearly refused a request: its effect was not made.
pub(crate) fn is_refused(reply: &Reply) -> bool {
    reply.is_failure() && reply.error().is_some_and(|error| reads_as_refusal(error))
}

impl AttemptCounts {
    /// Effects that are proved: successful attempts of a write, less reversals that took one back or may have.
    pub const fn net_effects(&self) -> u32 {
        self.made().saturating_sub(self.reversed).saturating_sub(self.unclear_reversals)
    }

    /// Attempts with a proved effect, reversed or not: those that succeeded, at once or late.
    pub const fn made(&self) -> u32 {
        self.succeeded.saturating_add(self.late)
    }

    /// Whether a successful attempt has an effect that may have been taken back.
    pub const fn may_be_taken_back(&self) -> bool {
        self.made() > self.reversed && self.unclear_reversals > 0
    }

    /// Takes back that work which goes on is the answer to an attempt.
    pub(crate) const fn take_back(&mut self, unfinished: &RecordedAnswer) {
        self.answers -= 1; // it was counted when it was attached
        self.attempts -= 1;
        if self.ended_on == unfinished.place.line {
            self.ended_on = 0;
        }
    }

    /// Counts the answer to an attempt; `last` says that no answered attempt has a higher number.
    pub(crate) fn add_attempt(&mut self, answer: &RecordedAnswer, last: bool) {
        let ok = answer.reply == Reply::Ok;
        self.ended_at = match self.attempts {
            0 => answer.at,
            _ => self.ended_at.zip(answer.at).map(|(known, at)| known.max(at)),
        };
        self.ended_on = self.ended_on.max(answer.place.line);
        self.answers += 1; // the assembler limits the answers of a call
        self.attempts += 1;
        self.succeeded += u32::from(ok);
        if last {
            self.failed_on = if answer.reply.is_failure() { answer.place.line } else { 0 };
        }
    }

    /// Counts the answer to a refresh or a reversal, or a late one.
    pub(crate) fn add_other(&mut self, answer: &RecordedAnswer) {
        self.answers += 1;
        self.reversed += u32::from(answer.to == AnswerTo::Reversal && answer.reply == Reply::Ok);
        self.unclear_reversals += u32::from(is_unclear_reversal(answer));
    }
}
