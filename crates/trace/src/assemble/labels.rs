//! Labels of open calls without their runs, for results that name none. Empty until the first such result asks, so that
//! traces whose results name their runs pay nothing.
#![expect(clippy::disallowed_types, reason = "looked up by key only, never iterated into an output")]

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::assemble::closed::TracedCall;
use crate::assemble::joined::Joined;
use crate::assemble::open::OpenCalls;
use crate::marks;

/// By label: how many open calls have it, and their marks.
#[derive(Debug, Default)]
pub struct Labels(HashMap<u128, Holders, FixedState>);

#[derive(Debug, Default)]
struct Holders {
    calls: u32,
    /// The marks of all of them, added up: of a single one its own.
    marks: u128,
}

/// The mark of a call's label without its run; 0: it has none.
pub fn without_run(traced: &TracedCall) -> u128 {
    traced.call.id().map_or(0, |id| marks::of_id(marks::of_run(None), id))
}

impl Labels {
    /// The labels of all open calls that a result can still find.
    pub fn of(open: &OpenCalls, joined: &Joined) -> Labels {
        let mut labels = Labels::default();
        for open in open.iter().filter(|open| !open.forgotten) {
            labels.add(without_run(&open.traced), open.traced.marks.id);
            joined.labels(open.traced.call.number).iter().for_each(|&(mark, label)| labels.add(label, mark));
        }
        labels
    }

    /// Removes the labels of a call that no result can find any more.
    pub fn remove_call(&mut self, traced: &TracedCall, joined: &Joined) {
        self.remove(without_run(traced), traced.marks.id);
        joined.labels(traced.call.number).iter().for_each(|&(mark, label)| self.remove(label, mark));
    }

    /// Adds an open call, by its label's mark without its run and with it.
    pub fn add(&mut self, label: u128, mark: u128) {
        if label == 0 {
            return;
        }
        let holders = self.0.entry(label).or_default();
        holders.calls = holders.calls.saturating_add(1);
        holders.marks = holders.marks.wrapping_add(mark);
    }

    fn remove(&mut self, label: u128, mark: u128) {
        let Some(holders) = self.0.get_mut(&label) else { return };
        holders.calls = holders.calls.saturating_sub(1);
        holders.marks = holders.marks.wrapping_sub(mark);
        if holders.calls == 0 {
            self.0.remove(&label);
        }
    }

    /// The mark, with its run, of the only open call with this label.
    pub fn only(&self, label: u128) -> Option<u128> {
        self.0.get(&label).filter(|holders| holders.calls == 1).map(|holders| holders.marks)
    }
}
