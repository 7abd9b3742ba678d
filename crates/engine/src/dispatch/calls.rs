//! The calls of a machine, in a slab: a call's number is its slot, and the lowest free slot is given out next.
//! Memory follows the calls that are there. Decides nothing.

use std::collections::BTreeSet;

use super::call::CallState;
use crate::ids::CallId;

/// The slab. Its last slot is never free, so that equal calls in equal slots are equal slabs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct CallSlab {
    slots: Vec<Option<CallState>>,
    free: BTreeSet<u32>,
}

impl CallSlab {
    /// The number that the next call gets.
    #[inline]
    pub(super) fn next(&self) -> CallId {
        let after_all = || u32::try_from(self.slots.len()).unwrap_or(u32::MAX);
        CallId(self.free.first().copied().unwrap_or_else(after_all))
    }

    /// Puts a call into the next slot.
    #[inline]
    pub(super) fn insert(&mut self, call: CallState) {
        match self.free.pop_first() {
            Some(slot) => self.slots[CallId(slot).index()] = Some(call), // a free slot is one of them
            None => self.slots.push(Some(call)),
        }
    }

    #[inline]
    pub(super) fn get(&self, call: CallId) -> Option<&CallState> {
        self.slots.get(call.index())?.as_ref()
    }

    #[inline]
    pub(super) fn get_mut(&mut self, call: CallId) -> Option<&mut CallState> {
        self.slots.get_mut(call.index())?.as_mut()
    }

    /// Frees the call's slot.
    pub(super) fn remove(&mut self, call: CallId) {
        if self.slots.get_mut(call.index()).and_then(Option::take).is_none() {
            return;
        }
        self.free.insert(call.0);
        while let Some(None) = self.slots.last() {
            self.slots.pop();
            self.free.pop_last(); // the last slot was free: it is the highest of them
        }
    }

    /// Frees every slot and keeps the allocation.
    pub(super) fn clear(&mut self) {
        self.slots.clear();
        self.free.clear();
    }
}
