//! The labels of calls that were read as further attempts of earlier calls. There are none unless resends are joined.

use std::collections::BTreeMap;

/// Such labels, by their marks, while the earlier calls are open.
#[derive(Debug, Default)]
pub struct Joined {
    calls: BTreeMap<u128, u64>,
    labels: BTreeMap<u64, Vec<u128>>,
}

impl Joined {
    /// Notes that the call labelled `id` is a further attempt of the call `number`.
    pub fn add(&mut self, id: u128, number: u64) {
        self.calls.insert(id, number);
        self.labels.entry(number).or_default().push(id);
    }

    /// The call of which the one labelled `id` is a further attempt.
    pub fn find(&self, id: u128) -> Option<u64> {
        self.calls.get(&id).copied()
    }

    /// Drops the labels of a call that has closed.
    pub fn close(&mut self, number: u64) {
        for id in self.labels.remove(&number).unwrap_or_default() {
            if self.calls.get(&id) == Some(&number) {
                self.calls.remove(&id);
            }
        }
    }
}
