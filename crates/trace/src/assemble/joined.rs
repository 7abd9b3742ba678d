//! The labels of calls that were read as further attempts of earlier calls. There are none unless resends are joined.

use std::collections::BTreeMap;

use playproof_engine::time::Instant;

/// Such labels, by their marks, while the earlier calls are open.
#[derive(Debug, Default)]
pub struct Joined {
    calls: BTreeMap<u128, Resend>,
    labels: BTreeMap<u64, Vec<(u128, u128)>>,
}

/// A call that was read as a further attempt of an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resend {
    /// The number of the earlier one.
    pub of: u64,
    /// When it was sent; none once that was told of its first answer.
    pub at: Option<Instant>,
}

impl Joined {
    /// Notes that the call labelled `id`, without its run `label`, is a further attempt; says whether that is new.
    pub fn add(&mut self, id: u128, label: u128, resend: Resend) -> bool {
        let before = self.calls.insert(id, resend);
        let is_new = before.is_none_or(|before| before.of != resend.of);
        if is_new {
            self.labels.entry(resend.of).or_default().push((id, label));
        }
        is_new
    }

    /// The labels that were joined to an open call, each with its run and without.
    pub fn labels(&self, number: u64) -> &[(u128, u128)] {
        self.labels.get(&number).map_or(&[], Vec::as_slice)
    }

    /// The call labelled `id`, if it is a further attempt of an earlier one.
    pub fn find(&self, id: u128) -> Option<Resend> {
        self.calls.get(&id).copied()
    }

    /// Notes that the call labelled `id` has an answer: what follows was sent later.
    pub fn answer(&mut self, id: u128) {
        if let Some(resend) = self.calls.get_mut(&id) {
            resend.at = None;
        }
    }

    /// Drops the labels of a call that has closed.
    pub fn close(&mut self, number: u64) {
        for (id, _) in self.labels.remove(&number).unwrap_or_default() {
            if self.calls.get(&id).is_some_and(|resend| resend.of == number) {
                self.calls.remove(&id);
            }
        }
    }
}
