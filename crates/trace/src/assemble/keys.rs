//! Which request used an idempotency key first, by when the calls were made, and when an effect under a key was reversed
//! first. An earlier input comes first. Keeps 24 bytes for each key, in a table that is at least half full, and more for
//! each reversed one.
#![expect(clippy::disallowed_types, reason = "looked up by key only, never iterated into an output")]

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use foldhash::fast::FixedState;

use super::writes::moment_of;
use crate::call::CallBuilder;
use crate::hash::half;
use playproof_engine::call::{AnswerTo, RecordedAnswer, Reply};
use playproof_engine::sim::Moment;
use playproof_engine::time::Instant;

/// The first use of every key in the inputs so far.
#[derive(Debug, Default)]
pub struct FirstUses {
    uses: HashMap<u64, FirstUse, FixedState>,
    /// The first successful reversal of a call with the key, and its input.
    reversed: HashMap<u64, (u32, Moment), FixedState>,
}

#[derive(Clone, Copy, Debug)]
struct FirstUse {
    /// The index of its input.
    input: u32,
    /// A mark of its arguments.
    args: u32,
    at: Option<Instant>,
}

impl FirstUses {
    /// Notes a call with a key, in the order of the lines.
    pub(crate) fn note(&mut self, built: &CallBuilder) {
        let new = FirstUse { input: built.call.place.input, args: mark(built), at: built.call.at };
        match self.uses.entry(half(built.hashes.key)) {
            Entry::Vacant(none) => drop(none.insert(new)),
            Entry::Occupied(mut known) => {
                let first = known.get_mut();
                if first.input == new.input && new.at.zip(first.at).is_some_and(|(new, first)| new < first) {
                    *first = new;
                }
            }
        }
    }

    /// Marks a call whose key was used with other arguments, or whose effect was reversed, before.
    pub(crate) fn mark(&self, built: &mut CallBuilder) {
        if built.hashes.key != 0 {
            built.call.key_is_reused = self.is_reused_by(built);
            built.call.key_is_reversed = self.is_reversed_before(built);
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
            let made = Moment { at: call.at, place: call.place.line };
            input < call.place.input || input == call.place.input && made.is_after(reversed)
        })
    }

    /// Whether the first call with the key of this one had other arguments.
    fn is_reused_by(&self, built: &CallBuilder) -> bool {
        self.uses.get(&half(built.hashes.key)).is_some_and(|first| first.args != mark(built))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "32 bits tell the few requests of one key apart")]
const fn mark(built: &CallBuilder) -> u32 {
    built.hashes.args as u32
}
