//! Writes that a run may make again for another one, as recorded in one input: under the same call id, or because it goes
//! on where the run before it broke off, as a client does that connects again. Without tool facts nothing proves that both
//! want the same. Memory is bounded: beyond 65,536 runs or ids, all are forgotten, and of each run the last writes are kept.
#![expect(clippy::disallowed_types, reason = "looked up by key only, never iterated into an output")]

use std::collections::HashMap;

use foldhash::fast::FixedState;

use playproof_engine::event::{Finding, FindingId, IntentDoubt};
use playproof_engine::evidence::{CallShows, Moment, acts_again};
use playproof_engine::playbook::ToolFacts;
use playproof_intake::call::CompletedCall;
use playproof_intake::hash;

use super::attempts::finding;

/// The most runs, and the most ids, that are kept.
const MOST: usize = 65_536;

/// The most writes of one run that are kept: the last ones.
const MOST_WRITES: usize = 64;

/// A tag for hashes of call ids.
const ID: u64 = 41;

/// What the runs of one input have written.
#[derive(Debug, Default)]
pub(super) struct BegunAgain {
    /// By call id, tool and arguments: the last write.
    ids: HashMap<u128, (u128, Write), FixedState>,
    runs: HashMap<u128, Run, FixedState>,
    /// The run of the last call.
    last: Option<u128>,
}

#[derive(Debug, Default)]
struct Run {
    /// The run whose call came before its first one.
    before: Option<u128>,
    began: Moment,
    has_written: bool,
    writes: Vec<Write>,
}

/// A write that may have acted.
#[derive(Clone, Copy, Debug)]
struct Write {
    /// Tool and arguments.
    request: u128,
    key: u64,
    line: u64,
    made: Moment,
    ended: Option<Moment>,
    failed: bool,
}

impl BegunAgain {
    /// Begins another input.
    pub(super) fn clear(&mut self) {
        self.ids.clear();
        self.runs.clear();
        self.last = None;
    }

    /// Takes the next closed call; gives a doubt if it may be a write of another run, made again. `shows` is what its answers
    /// show.
    pub(super) fn take(
        &mut self,
        closed: &CompletedCall,
        facts: ToolFacts,
        shows: impl FnOnce() -> CallShows,
    ) -> Option<Finding> {
        let (call, hashes) = (closed.raw(), &closed.hashes);
        call.run()?;
        if self.last != Some(hashes.run) {
            self.begin(closed);
        }
        if !acts_again(facts) || facts.across_runs || hashes.args == 0 || call.was_unsent() {
            return None;
        }
        let CallShows { key, made, ended, failed, effects, may_have_acted, settled, .. } = shows();
        let run = self.runs.get(&hashes.run)?;
        let (is_first, began) = (!run.has_written, run.began);
        let write = Write {
            request: hash::joined([hashes.tool, hashes.args]),
            key,
            line: call.place.line,
            made,
            ended,
            failed,
        };
        let may_act = effects > 0 || may_have_acted && settled.is_none();
        let left_open = |before: &&Write| {
            let was_open = before.ended.is_none_or(|ended| ended.is_after(began));
            write.may_repeat(before) && (was_open || is_first && before.failed)
        };
        let before = run.before.and_then(|before| self.runs.get(&before));
        let before = before.and_then(|before| before.writes.iter().rev().find(left_open));
        let begun_again = before.map(|before| (IntentDoubt::BegunAgain, before.line));
        let mut same_id = None;
        if let Some(id) = call.id().filter(|_| may_act) {
            let id = hash::bytes_after(write.request, id.as_bytes(), ID);
            if self.ids.len() >= MOST {
                self.ids.clear();
            }
            let known = self.ids.insert(id, (hashes.run, write));
            let known = known.filter(|(run, before)| *run != hashes.run && write.may_repeat(before));
            same_id = known.map(|(_, before)| (IntentDoubt::SameId, before.line));
        }
        let run = self.runs.get_mut(&hashes.run)?;
        run.has_written = true;
        if may_act {
            if run.writes.len() >= MOST_WRITES {
                run.writes.remove(0);
            }
            run.writes.push(write);
        }
        let (doubt, line) = same_id.or(begun_again).filter(|_| may_act)?;
        let found = finding(FindingId::PossibleDuplicateEffect, 2).in_doubt();
        Some(Finding { doubt: Some(doubt), other_line: line, ..found })
    }

    /// Notes that the run of a call goes on, or begins after another one.
    fn begin(&mut self, closed: &CompletedCall) {
        let run = closed.hashes.run;
        if self.runs.len() >= MOST {
            self.runs.clear();
        }
        let before = self.last.replace(run);
        let began = Moment::new(closed.raw().at, closed.raw().place.line);
        self.runs.entry(run).or_insert_with(|| Run { before, began, ..Run::default() });
    }
}

impl Write {
    /// Whether it may be `before` once more. One key protects both.
    fn may_repeat(&self, before: &Write) -> bool {
        let is_protected = self.key != 0 && self.key == before.key;
        self.request == before.request && !is_protected && !before.made.is_after(self.made)
    }
}
