//! What is known by a hash, in bounded memory: beyond 65,536 entries, all are forgotten.
#![expect(clippy::disallowed_types, reason = "looked up by key only, never iterated into an output")]

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};

use foldhash::fast::FixedState;

/// The most entries.
const MOST: usize = 65_536;

/// Values by hashes.
#[derive(Debug)]
pub(super) struct BoundedMap<V>(HashMap<u128, V, FixedState>);

impl<V> BoundedMap<V> {
    /// The value of a key, which is made if it is new; it may make room for itself.
    pub(super) fn entry(&mut self, key: u128, new: impl FnOnce() -> V) -> &mut V {
        if self.0.len() >= MOST && !self.0.contains_key(&key) {
            self.0.clear();
        }
        self.0.entry(key).or_insert_with(new)
    }

    /// Keeps a value; gives the one before it.
    pub(super) fn insert(&mut self, key: u128, value: V) -> Option<V> {
        if self.0.len() >= MOST && !self.0.contains_key(&key) {
            self.0.clear();
        }
        self.0.insert(key, value)
    }
}

impl<V> Default for BoundedMap<V> {
    fn default() -> BoundedMap<V> {
        BoundedMap(HashMap::default())
    }
}

impl<V> Deref for BoundedMap<V> {
    type Target = HashMap<u128, V, FixedState>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<V> DerefMut for BoundedMap<V> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}
