//! Which request used an idempotency key first, by when the calls were made. An earlier input comes first. Keeps 24 bytes
//! for each key, in a table that is at least half full.
#![expect(clippy::disallowed_types, reason = "looked up by key only, never iterated into an output")]

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use foldhash::fast::FixedState;

use crate::call::CallBuilder;
use crate::hash::half;
use playproof_engine::time::Instant;

/// The first use of every key in the inputs so far.
#[derive(Debug, Default)]
pub struct FirstUses(HashMap<u64, FirstUse, FixedState>);

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
        match self.0.entry(half(built.hashes.key)) {
            Entry::Vacant(none) => drop(none.insert(new)),
            Entry::Occupied(mut known) => {
                let first = known.get_mut();
                if first.input == new.input && new.at.zip(first.at).is_some_and(|(new, first)| new < first) {
                    *first = new;
                }
            }
        }
    }

    /// Whether the first call with the key of this one had other arguments.
    pub(crate) fn is_reused_by(&self, built: &CallBuilder) -> bool {
        self.0.get(&half(built.hashes.key)).is_some_and(|first| first.args != mark(built))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "32 bits tell the few requests of one key apart")]
const fn mark(built: &CallBuilder) -> u32 {
    built.hashes.args as u32
}
