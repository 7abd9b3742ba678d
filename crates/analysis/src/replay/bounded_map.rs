//! A map by hash, in bounded memory: beyond 65,536 entries, it forgets all. Two keys are one if half of their hashes is, which
//! happens to one in billions.
#![expect(clippy::disallowed_types, reason = "looked up by key; who takes all values sorts them")]

use std::collections::HashMap;

use foldhash::fast::FixedState;

use playproof_intake::hash::half;

/// The most entries.
const MOST: usize = 65_536;

/// Values by hashes.
#[derive(Debug)]
pub(super) struct BoundedMap<V>(HashMap<u64, V, FixedState>);

impl<V> BoundedMap<V> {
    /// The value of a key, which is made if it is new; it may make room for itself.
    pub(super) fn entry(&mut self, key: u128, new: impl FnOnce() -> V) -> &mut V {
        self.make_room(key);
        self.0.entry(half(key)).or_insert_with(new)
    }

    /// Keeps a value; gives the one before it.
    pub(super) fn insert(&mut self, key: u128, value: V) -> Option<V> {
        self.make_room(key);
        self.0.insert(half(key), value)
    }

    fn make_room(&mut self, key: u128) {
        if self.0.len() >= MOST && !self.0.contains_key(&half(key)) {
            self.0.clear();
        }
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &u128) -> Option<&V> {
        self.0.get(&half(*key))
    }

    /// The same, to be changed.
    pub(super) fn get_mut(&mut self, key: &u128) -> Option<&mut V> {
        self.0.get_mut(&half(*key))
    }

    /// Forgets a key; gives its value.
    pub(super) fn remove(&mut self, key: &u128) -> Option<V> {
        self.0.remove(&half(*key))
    }

    /// Whether nothing is kept.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes all values, in no order: whoever shows them sorts them.
    pub(super) fn take_values(&mut self) -> impl Iterator<Item = V> + '_ {
        self.0.drain().map(|(_, value)| value)
    }
}

impl<V> Default for BoundedMap<V> {
    fn default() -> BoundedMap<V> {
        BoundedMap(HashMap::default())
    }
}
