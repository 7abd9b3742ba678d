//! How many effects the calls of a recording prove for each intent. Knows no findings. Memory: 4 bytes for each key (in all
//! inputs), in a list that is at least half full; 17 bytes for each declared write without a key that succeeded (in one input),
//! for each further request under a key, each key without a number, and each request of a tool for which runs do not matter
//! (in all inputs), in tables that are nearly so. Two
//! keys are one if half of their hashes is, which happens to one in billions.
#![expect(clippy::disallowed_types, reason = "looked up by key only, never iterated into an output")]

use std::collections::HashMap;

use foldhash::fast::FixedState;

use playproof_intake::call::CompletedCall;
use playproof_intake::call_hashes::CallHashes;
use playproof_intake::hash::{self, HashParts};

/// The effects of each intent.
#[derive(Debug, Default)]
pub struct EffectSums {
    /// Of intents without a key; they belong to one input.
    requests: HashMap<IntentKey, u32, FixedState>,
    /// Of the first request under each key, by its number; keys mean the same in all inputs.
    keys: Vec<u32>,
    /// Of other requests in all inputs: further ones under a key, those of keys without a number, and those of tools for
    /// which runs do not matter.
    others: HashMap<IntentKey, u32, FixedState>,
}

impl EffectSums {
    /// Begins another input: keys mean the same in it.
    pub fn begin_input(&mut self) {
        self.requests.clear();
    }

    /// Makes room for a request without a key.
    pub fn reserve(&mut self, hashes: &CallHashes, across_runs: bool) {
        self.of_request(hashes, across_runs);
    }

    /// The effects of a request without a key: in its input, or in all.
    pub fn of_request(&mut self, hashes: &CallHashes, across_runs: bool) -> &mut u32 {
        let requests = if across_runs { &mut self.others } else { &mut self.requests };
        requests.entry(IntentKey::of(hashes.request)).or_default()
    }

    /// The effects of a request with a key.
    pub fn of_key(&mut self, closed: &CompletedCall) -> &mut u32 {
        let Some(number) = closed.key_number.filter(|_| !closed.raw().key_is_reused) else {
            return self.others.entry(other_request(closed)).or_default();
        };
        let known = self.keys.len().max(number.index() + 1);
        self.keys.resize(known, 0);
        &mut self.keys[number.index()] // it was added just now, if it was not there
    }

    /// Whether no call so far has made this further request under a key.
    pub fn is_new_under_key(&self, closed: &CompletedCall) -> bool {
        closed.raw().key_is_reused && !self.others.contains_key(&other_request(closed))
    }
}

/// A further request under a key, or the first one of a key without a number.
fn other_request(closed: &CompletedCall) -> IntentKey {
    let hashes = &closed.hashes;
    let is_reused = closed.raw().key_is_reused;
    IntentKey::of(if is_reused { hash::joined([hashes.key, hashes.args]) } else { hashes.key })
}

/// The first 96 bits of an intent's hash, which tell millions of intents apart.
type IntentKey = HashParts<3>;

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_engine::call::{CallTexts, Place, RecordedCall};

    #[test]
    fn a_request_without_a_key_is_summed_in_its_input_and_a_key_in_all() {
        let place = Place { input: 0, line: 1 };
        let call =
            |key| CompletedCall::of(RecordedCall::new(CallTexts { tool: "pay", key, ..CallTexts::default() }, place));
        let (bare, keyed) = (call(None), call(Some("k")));
        let mut sums = EffectSums::default();
        *sums.of_request(&bare.hashes, false) += 1;
        *sums.of_request(&bare.hashes, true) += 1;
        *sums.of_key(&keyed) += 1; // no number was given to its key
        sums.begin_input();
        assert_eq!((*sums.of_request(&bare.hashes, false), *sums.of_request(&bare.hashes, true)), (0, 1));
        assert_eq!(*sums.of_key(&keyed), 1);
    }
}
