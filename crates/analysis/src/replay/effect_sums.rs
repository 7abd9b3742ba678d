//! How many effects the calls of a recording prove for each intent. Knows no findings. Memory: 4 bytes for each key (in all
//! inputs); 16 bytes for each declared write without a key that succeeded (in one input) and for each further request under a
//! key (in all inputs), in tables that are at least half full.
#![expect(clippy::disallowed_types, reason = "looked up by key only, never iterated into an output")]

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use foldhash::fast::FixedState;

use playproof_trace::call::CompletedCall;
use playproof_trace::call_hashes::CallHashes;
use playproof_trace::hash;

/// The effects of each intent.
#[derive(Debug, Default)]
pub struct EffectSums {
    /// Of intents without a key; they belong to one input.
    requests: HashMap<IntentKey, u32, FixedState>,
    /// Of the first request under each key, by its number; keys mean the same in all inputs.
    keys: Vec<u32>,
    /// Of other requests with a key: further ones under it, and those of keys without a number.
    others: HashMap<IntentKey, u32, FixedState>,
}

impl EffectSums {
    /// Begins another input: keys mean the same in it.
    pub fn begin_input(&mut self) {
        self.requests.clear();
    }

    /// Makes room for a request without a key.
    pub fn reserve(&mut self, hashes: &CallHashes) {
        self.of_request(hashes);
    }

    /// The effects of a request without a key.
    pub fn of_request(&mut self, hashes: &CallHashes) -> &mut u32 {
        self.requests.entry(IntentKey::new(hashes.request)).or_default()
    }

    /// The effects of a request with a key, and whether it is a new one among the further requests under keys.
    pub fn of_key(&mut self, closed: &CompletedCall) -> Option<(&mut u32, bool)> {
        let (is_reused, hashes) = (closed.raw().key_is_reused, &closed.hashes);
        if let Some(number) = closed.key_number.filter(|_| !is_reused) {
            let known = self.keys.len().max(number.index() + 1);
            self.keys.resize(known, 0);
            return Some((self.keys.get_mut(number.index())?, false));
        }
        let request = if is_reused { hash::joined([hashes.key, hashes.args]) } else { hashes.key };
        Some(match self.others.entry(IntentKey::new(request)) {
            Entry::Occupied(known) => (known.into_mut(), false),
            Entry::Vacant(new) => (new.insert(0), true),
        })
    }
}

/// The first 96 bits of an intent's hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct IntentKey([u32; 3]);

impl IntentKey {
    #[expect(clippy::cast_possible_truncation, reason = "96 bits tell millions of intents apart")]
    fn new(mark: u128) -> IntentKey {
        IntentKey([mark as u32, (mark >> 32) as u32, (mark >> 64) as u32])
    }
}

impl std::hash::Hash for IntentKey {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        let IntentKey([a, b, _]) = *self;
        state.write_u64(u64::from(a) | u64::from(b) << 32);
    }
}

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
        *sums.of_request(&bare.hashes) += 1;
        assert!(matches!(sums.of_key(&keyed), Some((0, true))), "no number was given to its key");
        *sums.of_key(&keyed).expect("the sum of a key").0 += 1;
        sums.begin_input();
        assert_eq!(*sums.of_request(&bare.hashes), 0);
        assert!(matches!(sums.of_key(&keyed), Some((1, false))));
    }
}
