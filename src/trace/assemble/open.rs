//! The calls that are open, by number, each linked to its neighbours in its run. What closing needs of a call stands
//! here in a row, because the call itself was last touched thousands of calls ago.

use std::collections::VecDeque;

use crate::trace::assemble::closed::TracedCall;
use crate::trace::assemble::runs::{RunSlot, Runs};

/// An open call, and what pairing knows of it: 64 bytes, as many as a processor fetches at once.
#[derive(Debug)]
pub struct OpenCall {
    /// The call as it will be given out.
    pub traced: Box<TracedCall>,
    /// Its label's mark; 0: it has none.
    pub id: u128,
    /// Its run.
    pub run: RunSlot,
    /// The highest number of an answered attempt; 0: none was answered.
    pub highest_attempt: u32,
    /// Labels of calls that were read as its further attempts; most calls have none.
    joined_ids: Vec<u128>,
    /// Its neighbours among the open calls of its run; 0: none.
    before: u64,
    after: u64,
}

impl OpenCall {
    /// Whether an attempt of it succeeded.
    pub fn succeeded(&self) -> bool {
        self.traced.story.succeeded > 0
    }

    /// Whether a call with this label is this one, or was read as its further attempt.
    pub fn answers_to(&self, id: u128) -> bool {
        self.id == id || self.was_joined_by(id)
    }

    /// Whether a call with this label was read as its further attempt.
    pub fn was_joined_by(&self, id: u128) -> bool {
        self.joined_ids.contains(&id)
    }

    /// Its label and those of the calls that were read as its further attempts.
    pub fn ids(&self) -> impl Iterator<Item = u128> {
        std::iter::once(self.id).chain(self.joined_ids.iter().copied())
    }

    /// Notes the label of a call that is read as its further attempt.
    pub fn join(&mut self, id: u128) {
        self.joined_ids.push(id);
    }

    /// The open call before it in its run; 0: none.
    pub fn before(&self) -> u64 {
        self.before
    }
}

/// The open calls. A call that closed leaves a gap until all before it have closed.
#[derive(Debug)]
pub struct OpenCalls {
    slots: VecDeque<Option<OpenCall>>,
    /// The number of the first slot.
    first: u64,
}

impl OpenCalls {
    /// No calls; the first one is number 1.
    pub fn new() -> OpenCalls {
        OpenCalls { slots: VecDeque::new(), first: 1 }
    }

    /// The lowest number that may be open.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The number of the next call.
    pub fn next(&self) -> u64 {
        self.first + self.slots.len() as u64
    }

    /// The open call with this number.
    pub fn get(&self, number: u64) -> Option<&OpenCall> {
        self.slots.get(self.index(number)?)?.as_ref()
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, number: u64) -> Option<&mut OpenCall> {
        let index = self.index(number)?;
        self.slots.get_mut(index)?.as_mut()
    }

    fn index(&self, number: u64) -> Option<usize> {
        number.checked_sub(self.first).and_then(|index| usize::try_from(index).ok())
    }

    /// Adds a call of `run` behind the others.
    #[inline]
    pub fn push(&mut self, traced: Box<TracedCall>, run: RunSlot, runs: &mut Runs) {
        let number = self.next();
        let of_run = runs.run_mut(run);
        let before = std::mem::replace(&mut of_run.last_open, number);
        if before == 0 {
            of_run.first_open = number;
        }
        if let Some(before) = self.get_mut(before) {
            before.after = number;
        }
        let id = traced.marks.id;
        self.slots.push_back(None); // so that the call is made where it stays: to move what was just written is slow
        if let Some(slot) = self.slots.back_mut() {
            *slot = Some(OpenCall { traced, id, run, highest_attempt: 0, joined_ids: Vec::new(), before, after: 0 });
        }
    }

    /// Takes a call out.
    pub fn take(&mut self, number: u64, runs: &mut Runs) -> Option<OpenCall> {
        let index = self.index(number)?;
        let open = self.slots.get_mut(index)?.take()?;
        while let Some(None) = self.slots.front() {
            self.slots.pop_front();
            self.first += 1;
        }
        if let Some(before) = self.get_mut(open.before) {
            before.after = open.after;
        }
        if let Some(after) = self.get_mut(open.after) {
            after.before = open.before;
        }
        let run = runs.run_mut(open.run);
        if open.before == 0 {
            run.first_open = open.after;
        }
        if open.after == 0 {
            run.last_open = open.before;
        }
        Some(open)
    }
}
