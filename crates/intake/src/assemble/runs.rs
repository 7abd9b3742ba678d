//! The state of each run while its trace streams by: how many calls it had, and which are open.
//! Bounded: a run without open calls is forgotten once 100,000 calls of other runs have passed.
#![expect(clippy::disallowed_types, reason = "looked up by key only, never iterated into an output")]

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::assemble::timed_writes::TimedWrites;
use crate::hash::half;
use playproof_engine::evidence::Moment;
use playproof_engine::time::Instant;

/// A run is forgotten after this many calls of other runs.
const FORGET_AFTER: u64 = 100_000;

/// The index of a run in [`RunTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunSlot(u32);

/// The state of one run.
#[derive(Clone, Debug, Default)]
pub struct RunState {
    hash: u128,
    /// Its calls so far.
    pub calls: u32,
    /// The number of its open calls.
    pub open: u32,
    /// Its last open call that takes results; 0: there is none.
    pub last_open: u64,
    /// The latest time in it.
    pub latest: Option<Instant>,
    /// The answer to its last successful write.
    pub last_write: Option<Moment>,
    /// Its successful writes, where lines came late.
    pub writes: TimedWrites,
    touched: u64,
}

impl RunState {
    /// The number of the next call made in the run, from 1.
    pub(super) fn next_number(&mut self) -> u32 {
        self.calls = self.calls.saturating_add(1);
        self.calls
    }
}

/// The runs that are not forgotten.
#[derive(Debug, Default)]
pub struct RunTable {
    slots: HashMap<u64, u32, FixedState>,
    runs: Vec<RunState>,
    free: Vec<u32>,
    next_sweep: usize,
    latest: Option<RunSlot>,
}

impl RunTable {
    /// The run with this hash, and whether it is new. `now` is the number of the call that is being read.
    pub fn find_or_add(&mut self, hash: u128, now: u64) -> (RunSlot, bool) {
        if let Some(slot) = self.latest.filter(|&slot| self.run(slot).hash == hash) {
            self.run_mut(slot).touched = now; // lines of one run often follow one another
            return (slot, false);
        }
        let found = self.find(hash);
        let slot = found.unwrap_or_else(|| self.add(hash, now));
        self.run_mut(slot).touched = now;
        self.latest = Some(slot);
        (slot, found.is_none())
    }

    /// The run with this hash, if it is not forgotten.
    pub fn find(&self, hash: u128) -> Option<RunSlot> {
        let slot = RunSlot(*self.slots.get(&half(hash))?);
        (self.run(slot).hash == hash).then_some(slot)
    }

    /// The state of a run.
    pub fn run(&self, slot: RunSlot) -> &RunState {
        &self.runs[slot.0 as usize] // `add` of this table made the slot, and the table never shrinks
    }

    /// The state of a run, mutable.
    pub fn run_mut(&mut self, slot: RunSlot) -> &mut RunState {
        &mut self.runs[slot.0 as usize] // as above
    }

    fn add(&mut self, hash: u128, now: u64) -> RunSlot {
        if self.slots.len() >= self.next_sweep.max(65_536) {
            self.sweep(now);
            self.next_sweep = self.slots.len() * 2;
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.runs.push(RunState::default());
            u32::try_from(self.runs.len() - 1).unwrap_or(u32::MAX) // the table holds the runs of two sweeps at most
        });
        self.runs[slot as usize] = RunState { hash, ..RunState::default() };
        self.slots.insert(half(hash), slot);
        RunSlot(slot)
    }

    fn sweep(&mut self, now: u64) {
        let RunTable { slots, runs, free, .. } = self;
        slots.retain(|_, &mut slot| {
            let run = &runs[slot as usize];
            let keep = run.open > 0 || now.saturating_sub(run.touched) < FORGET_AFTER;
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

    fn hash_of(n: u64) -> u128 {
        hash::bytes(&n.to_le_bytes(), 0)
    }

    #[test]
    fn a_run_keeps_its_slot_and_the_latest_run_is_found_again() {
        let mut runs = RunTable::default();
        let (one, new) = runs.find_or_add(hash_of(1), 1);
        assert!(new);
        runs.run_mut(one).calls = 7;
        let (two, new) = runs.find_or_add(hash_of(2), 2);
        assert!(new && one != two);
        assert_eq!(runs.find_or_add(hash_of(2), 3), (two, false));
        assert_eq!(runs.find_or_add(hash_of(1), 4), (one, false));
        assert_eq!((runs.run(one).calls, runs.find(hash_of(3))), (7, None));
    }

    #[test]
    fn silent_runs_are_forgotten_but_those_with_open_calls_are_not() {
        let mut runs = RunTable::default();
        let (open, _) = runs.find_or_add(hash_of(0), 0);
        runs.run_mut(open).open = 1;
        for n in 1..1_000_000 {
            runs.find_or_add(hash_of(n), n);
        }
        assert!(runs.runs.len() < 300_000, "{}", runs.runs.len());
        assert_eq!(runs.find_or_add(hash_of(0), 1_000_000), (open, false));
        assert_eq!(runs.find(hash_of(1)), None);
        assert!(runs.find(hash_of(950_000)).is_some());
    }
}
