//! What is remembered of each run while a trace streams by: how many calls it had, and which are still open.
//! Bounded: a run without open calls that was silent for 100,000 calls is forgotten.
#![expect(clippy::disallowed_types, reason = "looked up by key only, never iterated into an output")]

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::hash::half;
use playproof_engine::time::Instant;

/// A run is forgotten after this many calls of others.
const FORGET_AFTER: u64 = 100_000;

/// The place of a run in [`Runs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunSlot(u32);

/// What is remembered of one run.
#[derive(Clone, Debug, Default)]
pub struct Run {
    mark: u128,
    /// Its calls so far.
    pub calls: u32,
    /// Its open call of the lowest number; 0: none is open.
    pub first_open: u64,
    /// Its open call of the highest number; 0: none is open.
    pub last_open: u64,
    /// The latest time seen in it.
    pub latest: Option<Instant>,
    /// The line of its last write that succeeded; 0: none did.
    pub last_write: u64,
    touched: u64,
}

/// Every run that is remembered.
#[derive(Debug, Default)]
pub struct Runs {
    slots: HashMap<u64, u32, FixedState>,
    runs: Vec<Run>,
    free: Vec<u32>,
    sweep_at: usize,
    latest: Option<RunSlot>,
}

impl Runs {
    /// The run with this mark, and whether it is a new one. `now` is the number of the call that is being read.
    pub fn find_or_add(&mut self, mark: u128, now: u64) -> (RunSlot, bool) {
        if let Some(slot) = self.latest.filter(|&slot| self.run(slot).mark == mark) {
            self.run_mut(slot).touched = now; // lines of one run often follow one another
            return (slot, false);
        }
        let found = self.find(mark);
        let slot = found.unwrap_or_else(|| self.add(mark, now));
        self.run_mut(slot).touched = now;
        self.latest = Some(slot);
        (slot, found.is_none())
    }

    /// The run with this mark, if it is remembered.
    pub fn find(&self, mark: u128) -> Option<RunSlot> {
        let slot = RunSlot(*self.slots.get(&half(mark))?);
        (self.run(slot).mark == mark).then_some(slot)
    }

    /// What is remembered of a run.
    pub fn run(&self, slot: RunSlot) -> &Run {
        &self.runs[slot.0 as usize] // slots are given out by `add` for this very table, which never shrinks
    }

    /// The same, to change it.
    pub fn run_mut(&mut self, slot: RunSlot) -> &mut Run {
        &mut self.runs[slot.0 as usize] // as above
    }

    fn add(&mut self, mark: u128, now: u64) -> RunSlot {
        if self.slots.len() >= self.sweep_at.max(65_536) {
            self.sweep(now);
            self.sweep_at = self.slots.len() * 2;
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.runs.push(Run::default());
            u32::try_from(self.runs.len() - 1).unwrap_or(u32::MAX) // at most two sweeps' worth of runs
        });
        self.runs[slot as usize] = Run { mark, ..Run::default() };
        self.slots.insert(half(mark), slot);
        RunSlot(slot)
    }

    fn sweep(&mut self, now: u64) {
        let Runs { slots, runs, free, .. } = self;
        slots.retain(|_, &mut slot| {
            let run = &runs[slot as usize];
            let keep = run.first_open != 0 || now.saturating_sub(run.touched) < FORGET_AFTER;
            if !keep {
                free.push(slot);
            }
            keep
        });
        self.latest = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;

    fn mark(n: u64) -> u128 {
        hash::bytes(&n.to_le_bytes(), 0)
    }

    #[test]
    fn a_run_keeps_its_place_and_the_latest_one_is_found_again() {
        let mut runs = Runs::default();
        let (one, new) = runs.find_or_add(mark(1), 1);
        assert!(new);
        runs.run_mut(one).calls = 7;
        let (two, new) = runs.find_or_add(mark(2), 2);
        assert!(new && one != two);
        assert_eq!(runs.find_or_add(mark(2), 3), (two, false));
        assert_eq!(runs.find_or_add(mark(1), 4), (one, false));
        assert_eq!((runs.run(one).calls, runs.find(mark(3))), (7, None));
    }

    #[test]
    fn silent_runs_are_forgotten_but_those_with_open_calls_are_not() {
        let mut runs = Runs::default();
        let (open, _) = runs.find_or_add(mark(0), 0);
        runs.run_mut(open).first_open = 1;
        for n in 1..1_000_000 {
            runs.find_or_add(mark(n), n);
        }
        assert!(runs.runs.len() < 300_000, "{}", runs.runs.len());
        assert_eq!(runs.find_or_add(mark(0), 1_000_000), (open, false));
        assert_eq!(runs.find(mark(1)), None);
        assert!(runs.find(mark(950_000)).is_some());
    }
}
