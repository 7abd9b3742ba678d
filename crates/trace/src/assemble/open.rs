//! The calls that are open, by number, linked to those of their run and found by their label. What closing needs of a
//! call stands here in a row, because the call itself was last touched thousands of calls ago.

use crate::assemble::closed::TracedCall;
use crate::assemble::runs::{RunSlot, Runs};
use crate::window::Window;

/// An open call, and what pairing knows of it.
#[derive(Debug)]
pub struct OpenCall {
    /// The call as it will be given out.
    pub traced: Box<TracedCall>,
    /// Its run.
    pub run: RunSlot,
    /// The highest number of an answered attempt; 0: none was answered.
    pub highest_attempt: u32,
    /// Another call has its label now: no later line finds it, and it waits for its turn to be given out.
    pub forgotten: bool,
    /// Its neighbours in its run; 0: none. The one before it may have closed.
    before: u64,
    after: u64,
}

impl OpenCall {
    /// Whether an attempt of it succeeded.
    pub fn succeeded(&self) -> bool {
        self.traced.story.succeeded > 0
    }

    /// The call before it in its run, which may have closed; 0: none.
    pub fn before(&self) -> u64 {
        self.before
    }
}

/// The open calls. A call that closed leaves a gap until all before it have closed.
#[derive(Debug)]
pub struct OpenCalls(Window<Option<OpenCall>>);

impl OpenCalls {
    /// No calls, with room for `usual`.
    pub fn new(usual: usize) -> OpenCalls {
        OpenCalls(Window::new(usual))
    }

    /// The lowest number that may be open.
    pub fn first(&self) -> u64 {
        self.0.first()
    }

    /// The number of the next call.
    pub fn next(&self) -> u64 {
        self.0.next()
    }

    /// The open call with this number.
    pub fn get(&self, number: u64) -> Option<&OpenCall> {
        self.0.get(number)?.as_ref()
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, number: u64) -> Option<&mut OpenCall> {
        self.0.get_mut(number)?.as_mut()
    }

    /// All that are open, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &OpenCall> {
        (self.first()..self.next()).filter_map(|number| self.get(number))
    }

    /// The number of the newest call with this label, if that is open and not forgotten.
    pub fn find(&self, id: u128) -> Option<u64> {
        self.0.find(id).filter(|&number| self.get(number).is_some_and(|open| !open.forgotten))
    }

    /// Has brought near what these labels need.
    pub fn fetch(&self, ids: impl Iterator<Item = u128> + Clone) {
        self.0.fetch(ids);
    }

    /// Adds a call of `run` behind the others.
    #[inline]
    pub fn push(&mut self, traced: Box<TracedCall>, run: RunSlot, runs: &mut Runs) {
        let number = self.next();
        let of_run = runs.run_mut(run);
        let before = std::mem::replace(&mut of_run.last_open, number);
        if before == 0 {
            of_run.first_open = number;
        } else if let Some(before) = self.get_mut(before) {
            before.after = number;
        }
        let id = traced.marks.id;
        self.0.push(id, Some(OpenCall { traced, run, highest_attempt: 0, forgotten: false, before, after: 0 }));
    }

    /// Takes out the first open call of its run.
    pub fn take(&mut self, number: u64, runs: &mut Runs) -> Option<Box<TracedCall>> {
        let OpenCall { traced, run, after, .. } = self.0.get_mut(number)?.take()?;
        while self.0.pop_first(Option::is_none).is_some() {}
        let run = runs.run_mut(run);
        debug_assert_eq!(run.first_open, number, "calls of a run close in their order");
        run.first_open = after;
        if after == 0 {
            run.last_open = 0;
        }
        Some(traced)
    }
}
