//! Which request used an idempotency key first, by when the calls were made, whether all requests under it were refused, and
//! when an effect under a key was reversed first. An earlier input comes first. Keeps 24 bytes for each key in a list, 13 more
//! in a table, both at least half full, and more for each reversed one.
#![expect(clippy::disallowed_types, reason = "looked up by key only, never iterated into an output")]

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use foldhash::fast::FixedState;

use super::writes::moment_of;
use crate::call::CallBuilder;
use crate::hash::{HashParts, half};
use crate::key_number::KeyNumber;
use playproof_engine::call::{AnswerTo, RecordedAnswer, RecordedCall, RecordedDispatch, Reply};
use playproof_engine::classify::{reads_as_processed, reads_as_refusal};
use playproof_engine::event::{ErrorFacts, KeyHistory};
use playproof_engine::evidence::Moment;
use playproof_engine::time::Instant;

/// The first use of every key in the inputs so far.
#[derive(Debug, Default)]
pub struct FirstUses {
    /// By the key's number.
    uses: Vec<FirstUse>,
    /// Where they stand.
    numbers: HashMap<HashParts<2>, KeyNumber, FixedState>,
    /// The first successful reversal of a call with the key, and its input.
    reversed: HashMap<u64, (u32, Moment), FixedState>,
}

#[derive(Clone, Copy, Debug)]
struct FirstUse {
    /// The index of its input.
    input: u32,
    /// A mark of its arguments.
    args: u32,
    /// In microseconds.
    at: u64,
    /// How the calls with it ended that have closed.
    ended: KeyHistory,
    /// Whether it has used the key: a dispatcher that refused it sent nothing.
    was_sent: bool,
}

/// In `at`: the time is not known.
const NO_TIME: u64 = u64::MAX;

impl FirstUses {
    /// Notes a call with a key, in the order of the lines, and gives it the key's number.
    pub(crate) fn note(&mut self, built: &mut CallBuilder) {
        let new = FirstUse {
            input: built.call.place.input,
            args: mark(built),
            at: built.call.at.map_or(NO_TIME, Instant::as_micros),
            ended: KeyHistory::Unknown,
            was_sent: true,
        };
        built.key_number = match self.numbers.entry(HashParts::of(built.hashes.key)) {
            Entry::Vacant(none) => KeyNumber::of_index(self.uses.len()).map(|number| {
                self.uses.push(new);
                *none.insert(number)
            }),
            Entry::Occupied(known) => {
                let number = *known.get();
                if let Some(first) = self.uses.get_mut(number.index()) {
                    let is_earlier = first.input == new.input && first.at != NO_TIME && new.at < first.at;
                    if is_earlier || !first.was_sent {
                        *first = FirstUse { ended: first.ended, ..new };
                    }
                }
                Some(number)
            }
        };
    }

    /// Marks a call that closes if its key was used with other arguments, its effect was reversed, or all requests under the
    /// key were refused, before.
    pub(crate) fn mark(&mut self, built: &mut CallBuilder) {
        if built.hashes.key == 0 {
            return;
        }
        built.call.key_is_reversed = self.is_reversed_before(built);
        if let Some(first) = built.key_number.and_then(|number| self.uses.get_mut(number.index())) {
            if was_never_sent(&built.call) {
                first.was_sent &= first.args != mark(built);
                return;
            }
            if !first.was_sent {
                (first.args, first.was_sent) = (mark(built), true); // the first that did
            }
            built.call.key_is_reused = first.args != mark(built);
            let history = first.note_end(built);
            // The script of a fixture and its key dialect know nothing of refusals under the key.
            built.call.key_history = built.call.simulated_keys().map_or(history, |_| KeyHistory::Unknown);
        }
    }

    /// Notes an answer to a call that is not to an attempt, if it is a successful reversal and there is a key.
    pub(crate) fn note_reversal(&mut self, key: u128, answer: &RecordedAnswer) {
        if key == 0 || answer.to != AnswerTo::Reversal || answer.reply != Reply::Ok {
            return;
        }
        let new = (answer.place.input, moment_of(answer));
        let first = self.reversed.entry(half(key)).or_insert(new);
        if first.0 == new.0 && first.1.is_after(new.1) {
            *first = new;
        }
    }

    /// Whether an effect under the key of this call was reversed before it was made.
    fn is_reversed_before(&self, built: &CallBuilder) -> bool {
        let call = &built.call;
        self.reversed.get(&half(built.hashes.key)).is_some_and(|&(input, reversed)| {
            let made = Moment::new(call.at, call.place.line);
            input < call.place.input || input == call.place.input && made.is_after(reversed)
        })
    }
}

impl FirstUse {
    /// Notes how a call with the key ended, and says how those before it did.
    fn note_end(&mut self, built: &CallBuilder) -> KeyHistory {
        let before = self.ended;
        let begins_refused = match before {
            KeyHistory::Unknown => built.call.answers.first().is_some_and(|answer| says(answer, reads_as_refusal)),
            KeyHistory::Refused => true,
            KeyHistory::MayHaveActed => false,
        };
        let all = |error: &ErrorFacts| reads_as_refusal(error) || reads_as_processed(error, true);
        self.ended = match begins_refused && all_say(built, all) {
            true => KeyHistory::Refused,
            false => KeyHistory::MayHaveActed,
        };
        before
    }
}

/// Whether its dispatcher says how the call ended, and of no attempt.
fn was_never_sent(call: &RecordedCall) -> bool {
    let says = |dispatch: &RecordedDispatch| dispatch.ended.is_some() && dispatch.sent == 0;
    call.answers.is_empty() && call.dispatch.as_deref().is_some_and(says)
}

/// Whether all answers to a call, of which there are some, are failures that say this.
fn all_say(built: &CallBuilder, what: impl Fn(&ErrorFacts) -> bool) -> bool {
    built.counts.succeeded == 0
        && built.counts.left_out == 0
        && !built.call.answers.is_empty()
        && built.call.answers.iter().all(|answer| says(answer, &what))
}

fn says(answer: &RecordedAnswer, what: impl Fn(&ErrorFacts) -> bool) -> bool {
    matches!(&answer.reply, Reply::Failed(Some(error)) if what(error))
}

#[expect(clippy::cast_possible_truncation, reason = "32 bits tell the few requests of one key apart")]
const fn mark(built: &CallBuilder) -> u32 {
    built.hashes.args as u32
}
