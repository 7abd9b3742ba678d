//! Writes that a run may make again for another one, as recorded in one input: under the same call id, or because it goes
//! on where the run before it broke off, as a client does that connects again. Without tool facts nothing proves that both
//! want the same. The last writes are kept.

use playproof_engine::event::{Finding, FindingId, IntentDoubt};
use playproof_engine::evidence::{CallShows, Moment, acts_again};
use playproof_engine::playbook::ToolFacts;
use playproof_engine::time::Instant;
use playproof_intake::call::CompletedCall;
use playproof_intake::hash::{self, half};
use playproof_intake::window::Window;

use super::attempts::finding;
use super::bounded_map::BoundedMap;

/// The last writes of all runs that are kept.
const WINDOW: u64 = 65_536;

/// The last writes of one run that are compared.
const MOST_WRITES: u16 = 64;

/// A tag for hashes of call ids.
const ID: u64 = 41;

/// What the runs of one input have written.
#[derive(Debug)]
pub(super) struct BegunAgain {
    /// The last writes that may have acted, by run, tool and arguments.
    writes: Window<Write>,
    /// By call id, tool and arguments: the run of the last write, and its number.
    ids: BoundedMap<(u64, u64)>,
    runs: BoundedMap<Run>,
    /// The run of the last call.
    last: Option<u128>,
}

#[derive(Debug)]
struct Run {
    /// The run whose call came before its first one: half of its hash, which is half of itself.
    before: Option<u64>,
    began: Kept,
    has_written: bool,
    /// How many of its writes were kept, modulo 65,536.
    writes: u16,
}

/// A write that may have acted. Small: most are made once.
#[derive(Clone, Copy, Debug)]
struct Write {
    made: Kept,
    /// Its place is 0 if it has no end.
    ended: Kept,
    key: u32,
    /// The number among those of its run, modulo 65,536.
    number: u16,
    failed: bool,
}

/// A moment of the input in half of its size.
#[derive(Clone, Copy, Debug, Default)]
struct Kept {
    at: u64,
    place: u64,
}

/// In [`Kept`]: the time is not known.
const NO_TIME: u64 = u64::MAX;

impl Default for BegunAgain {
    fn default() -> BegunAgain {
        BegunAgain { writes: Window::new(0), ids: BoundedMap::default(), runs: BoundedMap::default(), last: None }
    }
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
        let shows = shows();
        let request = hash::joined([hashes.tool, hashes.args]);
        let mut write = Write::of(&shows);
        let begun_again = self.begun_again(hashes.run, request, &write).map(|line| (IntentDoubt::BegunAgain, line));
        let run = self.runs.get_mut(&hashes.run)?;
        run.has_written = true;
        if shows.effects == 0 && (!shows.may_have_acted || shows.settled.is_some()) {
            return None;
        }
        run.writes = run.writes.wrapping_add(1);
        write.number = run.writes;
        let same_id = call.id().and_then(|id| self.note_id(id, half(hashes.run), request, write));
        if self.writes.next() - self.writes.first() >= WINDOW {
            self.writes.pop_first(|_| true);
        }
        self.writes.push(place_of(half(hashes.run), request), write);
        let (doubt, line) = same_id.map(|line| (IntentDoubt::SameId, line)).or(begun_again)?;
        let found = finding(FindingId::PossibleDuplicateEffect, 2).in_doubt();
        Some(Finding { doubt: Some(doubt), other_line: line, ..found })
    }

    /// The line of the write that a run makes again because the run before it left it open, or failed with it and this is the
    /// first write. Of the run before it, the last writes are compared.
    fn begun_again(&self, run: u128, request: u128, write: &Write) -> Option<u64> {
        let run = self.runs.get(&run)?;
        let before = run.before?;
        let count = self.runs.get(&before.into())?.writes;
        let writes = self.writes.find_all(place_of(before, request)).filter_map(|number| self.writes.get(number));
        let mut last = writes.take_while(|before| count.wrapping_sub(before.number) < MOST_WRITES);
        let left_open = |before: &&Write| {
            let was_open = before.ended.place == 0 || before.ended.moment().is_after(run.began.moment());
            write.may_repeat(before) && (was_open || !run.has_written && before.failed)
        };
        last.find(left_open).map(|before| before.made.place)
    }

    /// Notes the next write under its call id; gives the line of the same write of another run under that id.
    fn note_id(&mut self, id: &str, run: u64, request: u128, write: Write) -> Option<u64> {
        let id = hash::bytes_after(request, id.as_bytes(), ID);
        let (other, before) = self.ids.insert(id, (run, self.writes.next()))?;
        let before = self.writes.get(before)?;
        (other != run && write.may_repeat(before)).then_some(before.made.place)
    }

    /// Notes that the run of a call goes on, or begins after another one.
    fn begin(&mut self, closed: &CompletedCall) {
        let run = closed.hashes.run;
        let before = self.last.replace(run).map(half);
        let began = Kept::of(Moment::new(closed.raw().at, closed.raw().place.line));
        self.runs.entry(run, || Run { before, began, has_written: false, writes: 0 });
    }
}

/// Where the writes of a run with one tool and the same arguments are kept.
fn place_of(run: u64, request: u128) -> u128 {
    hash::joined([run.into(), request])
}

impl Write {
    fn of(shows: &CallShows) -> Write {
        let (made, ended) = (Kept::of(shows.made), shows.ended.map(Kept::of).unwrap_or_default());
        // Marks of keys have 32 bits; any other would protect nothing.
        Write { made, ended, key: u32::try_from(shows.key).unwrap_or_default(), number: 0, failed: shows.failed }
    }

    /// Whether it may be `before` once more, which is the same request. One key protects both.
    fn may_repeat(&self, before: &Write) -> bool {
        let is_protected = self.key != 0 && self.key == before.key;
        !is_protected && !before.made.moment().is_after(self.made.moment())
    }
}

impl Kept {
    fn of(moment: Moment) -> Kept {
        Kept { at: moment.at.map_or(NO_TIME, Instant::as_micros), place: moment.place }
    }

    fn moment(self) -> Moment {
        Moment::new(Some(self.at).filter(|at| *at != NO_TIME).map(Instant::from_micros), self.place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_fits_a_cache_line_with_its_links() {
        assert!(size_of::<Write>() <= 40, "a trace has millions of writes that are made once");
    }

    #[test]
    fn of_equal_writes_the_newest_is_found_first() {
        let mut writes = Window::new(0);
        for n in 0..600 {
            writes.push(1 + n % 3, ());
        }
        let all = |writes: &Window<()>| writes.find_all(1).collect::<Vec<u64>>();
        let newest_first: Vec<u64> = (0..200).rev().map(|n| 1 + 3 * n).collect();
        assert_eq!(all(&writes), newest_first);
        writes.pop_first(|()| true);
        assert_eq!(all(&writes), newest_first[..199], "the first has left");
    }
}
