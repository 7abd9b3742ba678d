//! Writes that a run may make again for another one, as recorded in one input: under the same call id, or because it goes
//! on where the run before it broke off, as a client does that connects again. Without tool facts nothing proves that both
//! want the same. Of each run the last writes are kept.

use playproof_engine::event::{Finding, FindingId, IntentDoubt};
use playproof_engine::evidence::{CallShows, Moment, acts_again};
use playproof_engine::playbook::ToolFacts;
use playproof_intake::call::CompletedCall;
use playproof_intake::hash;

use super::attempts::finding;
use super::bounded_map::BoundedMap;

/// The most writes of one run that are kept: the last ones.
const MOST_WRITES: usize = 64;

/// A tag for hashes of call ids.
const ID: u64 = 41;

/// What the runs of one input have written.
#[derive(Debug, Default)]
pub(super) struct BegunAgain {
    /// By call id, tool and arguments: the last write.
    ids: BoundedMap<(u128, Write)>,
    runs: BoundedMap<Run>,
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
        let write = Write {
            request: hash::joined([hashes.tool, hashes.args]),
            key,
            line: call.place.line,
            made,
            ended,
            failed,
        };
        let begun_again = self.begun_again(run, &write).map(|line| (IntentDoubt::BegunAgain, line));
        self.runs.get_mut(&hashes.run)?.has_written = true;
        if effects == 0 && (!may_have_acted || settled.is_some()) {
            return None;
        }
        let same_id = call.id().and_then(|id| self.note_id(id, hashes.run, write));
        self.runs.get_mut(&hashes.run)?.note(write);
        let (doubt, line) = same_id.map(|line| (IntentDoubt::SameId, line)).or(begun_again)?;
        let found = finding(FindingId::PossibleDuplicateEffect, 2).in_doubt();
        Some(Finding { doubt: Some(doubt), other_line: line, ..found })
    }

    /// The line of the write that a run makes again because the run before it left it open, or failed with it and this is the
    /// first write.
    fn begun_again(&self, run: &Run, write: &Write) -> Option<u64> {
        let left_open = |before: &&Write| {
            let was_open = before.ended.is_none_or(|ended| ended.is_after(run.began));
            write.may_repeat(before) && (was_open || !run.has_written && before.failed)
        };
        let before = self.runs.get(&run.before?)?;
        before.writes.iter().rev().find(left_open).map(|before| before.line)
    }

    /// Notes a write under its call id; gives the line of the same write of another run under that id.
    fn note_id(&mut self, id: &str, run: u128, write: Write) -> Option<u64> {
        let id = hash::bytes_after(write.request, id.as_bytes(), ID);
        let (other, before) = self.ids.insert(id, (run, write))?;
        (other != run && write.may_repeat(&before)).then_some(before.line)
    }

    /// Notes that the run of a call goes on, or begins after another one.
    fn begin(&mut self, closed: &CompletedCall) {
        let run = closed.hashes.run;
        let before = self.last.replace(run);
        let began = Moment::new(closed.raw().at, closed.raw().place.line);
        self.runs.entry(run, || Run { before, began, ..Run::default() });
    }
}

impl Run {
    /// Keeps a write that may have acted.
    fn note(&mut self, write: Write) {
        if self.writes.len() >= MOST_WRITES {
            self.writes.remove(0);
        }
        self.writes.push(write);
    }
}

impl Write {
    /// Whether it may be `before` once more. One key protects both.
    fn may_repeat(&self, before: &Write) -> bool {
        let is_protected = self.key != 0 && self.key == before.key;
        self.request == before.request && !is_protected && !before.made.is_after(self.made)
    }
}
