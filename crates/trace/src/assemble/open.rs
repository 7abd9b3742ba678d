//! The open calls, by number: linked with those of their run, and found by their call id. What closing a call needs is
//! stored here contiguously, because the call itself has left the processor's cache by then.

use crate::assemble::runs::{RunSlot, RunTable};
use crate::call::CallBuilder;
use crate::window::Window;

/// An open call, with what pairing answers needs.
#[derive(Debug)]
pub struct OpenCall {
    /// The call itself.
    pub built: Box<CallBuilder>,
    /// Its run.
    pub run: RunSlot,
    /// The highest number of an answered attempt; 0: no attempt was answered.
    pub highest_attempt: u32,
    /// A later call took its call id: no later line finds it, and it waits until the calls before it have closed.
    pub superseded: bool,
    /// The calls before and after it in its run; 0: none. The one before it may have closed.
    before: u64,
    after: u64,
}

impl OpenCall {
    /// Whether one of its attempts succeeded.
    pub fn succeeded(&self) -> bool {
        self.built.counts.succeeded > 0
    }

    /// The call before it in its run, which may have closed; 0: none.
    pub fn before(&self) -> u64 {
        self.before
    }
}

/// The open calls. A closed call leaves a gap until all calls before it have closed.
#[derive(Debug)]
pub struct OpenCalls(Window<Option<OpenCall>>);

impl OpenCalls {
    /// No calls, with capacity for `usual`.
    pub fn new(usual: usize) -> OpenCalls {
        OpenCalls(Window::new(usual))
    }

    /// The lowest number that may be open.
    pub fn first(&self) -> u64 {
        self.0.first()
    }

    /// The number that the next call will get.
    pub fn next(&self) -> u64 {
        self.0.next()
    }

    /// The open call with this number.
    pub fn get(&self, number: u64) -> Option<&OpenCall> {
        self.0.get(number)?.as_ref()
    }

    /// The open call with this number, mutable.
    pub fn get_mut(&mut self, number: u64) -> Option<&mut OpenCall> {
        self.0.get_mut(number)?.as_mut()
    }

    /// All open calls, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &OpenCall> {
        (self.first()..self.next()).filter_map(|number| self.get(number))
    }

    /// The number of the newest call with this call id, if it is open and not superseded.
    pub fn find(&self, id: u128) -> Option<u64> {
        self.0.find(id).filter(|&number| self.get(number).is_some_and(|open| !open.superseded))
    }

    /// Prefetches what finding these call ids reads.
    pub fn prefetch(&self, ids: impl Iterator<Item = u128> + Clone) {
        self.0.prefetch(ids);
    }

    /// Adds a call of `run` at the end.
    #[inline]
    pub fn push(&mut self, built: Box<CallBuilder>, run: RunSlot, runs: &mut RunTable) {
        let number = self.next();
        let state = runs.run_mut(run);
        let before = std::mem::replace(&mut state.last_open, number);
        if before == 0 {
            state.first_open = number;
        } else if let Some(before) = self.get_mut(before) {
            before.after = number;
        }
        let id = built.hashes.id;
        self.0.push(id, Some(OpenCall { built, run, highest_attempt: 0, superseded: false, before, after: 0 }));
    }

    /// Removes the first open call of its run.
    pub fn take(&mut self, number: u64, runs: &mut RunTable) -> Option<Box<CallBuilder>> {
        let OpenCall { built, run, after, .. } = self.0.get_mut(number)?.take()?;
        while self.0.pop_first(Option::is_none).is_some() {}
        let run = runs.run_mut(run);
        debug_assert_eq!(run.first_open, number, "calls of a run close in their order");
        run.first_open = after;
        if after == 0 {
            run.last_open = 0;
        }
        Some(built)
    }
}
