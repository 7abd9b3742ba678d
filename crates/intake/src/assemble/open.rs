//! The open calls, by number: linked with those of their run, and found by their call id. What closing a call needs is
//! stored here contiguously, because the call itself has left the processor's cache by then.

use crate::assemble::runs::{RunSlot, RunTable};
use crate::call::CallBuilder;
use crate::window::Window;
use playproof_engine::evidence::Moment;

/// An open call, with what pairing answers needs.
#[derive(Debug)]
pub struct OpenCall {
    /// The call itself.
    pub built: Box<CallBuilder>,
    /// Its run.
    pub run: RunSlot,
    /// The highest number of an answered attempt; 0: no attempt was answered.
    pub highest_attempt: u32,
    /// Its run ended, or a later call took its call id: no later line finds it, and it waits for its turn to close.
    pub superseded: bool,
    /// Whether one of its answers came late.
    pub has_late: bool,
    /// It closes in the place of the call with this number: calls of one run close in the order in which they were made.
    pub turn: u64,
    /// The call that was made before it in its run, which may have closed; 0: none.
    before: u64,
}

impl OpenCall {
    /// Whether one of its attempts succeeded.
    pub fn succeeded(&self) -> bool {
        self.built.counts.succeeded > 0
    }

    /// When it was made.
    pub fn made(&self) -> Moment {
        Moment::new(self.built.call.at, self.built.call.place.line)
    }

    /// The call that was made before it in its run, which may have closed; 0: none.
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
        state.open += 1;
        let before = std::mem::replace(&mut state.last_open, number);
        let id = built.hashes.id;
        let open =
            OpenCall { built, run, highest_attempt: 0, superseded: false, has_late: false, turn: number, before };
        self.0.push(id, Some(open));
    }

    /// Moves the call that was added last before the open calls of its run that were made after it, at most `limit`, and
    /// gives each call whose turn that changes to `moved`.
    pub fn put_in_order(&mut self, limit: usize, runs: &mut RunTable, mut moved: impl FnMut(&OpenCall, u64)) {
        let number = self.next() - 1;
        let Some(Some(mut new)) = self.0.get_mut(number).map(Option::take) else { return };
        let mut after = 0; // the call that was made next
        for _ in 0..limit {
            let before = new.before;
            let Some(earlier) = self.get_mut(before) else { break };
            if new.built.call.at.zip(earlier.built.call.at).is_none_or(|(new, earlier)| new >= earlier) {
                break;
            }
            std::mem::swap(&mut new.turn, &mut earlier.turn);
            moved(earlier, before);
            new.before = std::mem::replace(&mut earlier.before, number);
            if after == 0 {
                runs.run_mut(new.run).last_open = before;
            } else if let Some(after) = self.get_mut(after) {
                after.before = before;
            }
            after = before;
        }
        moved(&new, number);
        if let Some(slot) = self.0.get_mut(number) {
            *slot = Some(new);
        }
    }

    /// Removes the open call of its run that was made first.
    pub fn take(&mut self, number: u64, runs: &mut RunTable) -> Option<Box<CallBuilder>> {
        let OpenCall { mut built, run, has_late, .. } = self.0.get_mut(number)?.take()?;
        if has_late {
            built.count_late();
        }
        while self.0.pop_first(Option::is_none).is_some() {}
        let run = runs.run_mut(run);
        run.open -= 1; // it was counted when it was added
        if run.last_open == number {
            run.last_open = 0;
        }
        Some(built)
    }
}
