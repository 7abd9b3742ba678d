//! Calls that may ask for the same, although the recording hides it: their run id occurs in two inputs, one of them names
//! no run (also in another input), or the arguments of one are not recorded. Decides what may belong together; what follows is decided elsewhere.
#![expect(clippy::disallowed_types, reason = "looked up by key only, never iterated into an output")]

use std::collections::HashSet;
use std::num::NonZeroU64;

use foldhash::fast::FixedState;

use playproof_engine::event::IntentDoubt;
use playproof_engine::evidence::{CallShows, Moment};
use playproof_engine::ids::{ArgsId, KeyId, RunId, ToolId};
use playproof_engine::playbook::ToolFacts;
use playproof_intake::call::CompletedCall;
use playproof_intake::call_hashes::CallHashes;
use playproof_intake::hash::half;
use playproof_intake::window::Window;
use playproof_intake::{canonical, hash};

/// The last writes that are compared.
const WINDOW: u32 = 65_536;

/// In `input`: runs and inputs do not matter.
const ANY_INPUT: u32 = u32::MAX;

/// The most runs, inputs and keys of one request that are told apart, from the newest.
const MAX_ROWS: usize = 256;

/// Where a request was sent. Small: `explain` keeps one for each write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentIn {
    /// Its input; the same number for all where neither runs nor inputs matter.
    pub input: u32,
    /// A mark of its run; none: it names none.
    pub run: Option<NonZeroU64>,
    /// A mark of its tool.
    pub tool: u64,
    /// A mark of its arguments; 0: they are not recorded.
    pub args: u64,
    /// A mark of its key; 0: it has none, or the upstream ignores it.
    pub key: u64,
}

impl SentIn {
    /// Where a call was sent: the input, and whether the recording names its run.
    pub fn of(hashes: &CallHashes, (input, is_run_named): (u32, bool), facts: ToolFacts) -> SentIn {
        let run = is_run_named.then(|| SentIn::mark_of_run(hashes));
        let run = if facts.across_runs { Some(NonZeroU64::MIN) } else { run };
        SentIn {
            input: if facts.across_runs { ANY_INPUT } else { input },
            run,
            tool: half(hashes.tool),
            args: half(hashes.args),
            key: half(hashes.key_under(facts)),
        }
    }

    /// Where a call of a fixture was sent.
    pub fn in_fixture(run: RunId, tool: ToolId, args: ArgsId, key: Option<KeyId>) -> SentIn {
        let (tool, args) = (u64::from(tool.0), u64::from(args.0) + 1);
        let key = key.map_or(0, |key| u64::from(key.0) + 1);
        SentIn { input: 0, run: Some(NonZeroU64::MIN.saturating_add(run.0.into())), tool, args, key }
    }

    /// A mark of the run of a call.
    pub fn mark_of_run(hashes: &CallHashes) -> NonZeroU64 {
        NonZeroU64::new(half(hashes.run)).unwrap_or(NonZeroU64::MIN)
    }

    const fn request(&self) -> u64 {
        request_of(self.tool, self.args)
    }

    /// Why it is unknown whether a call that was sent in `other` is the same request, under whatever key; none: it is
    /// known.
    pub fn doubt(&self, other: &SentIn) -> Option<IntentDoubt> {
        if self.request() != other.request() && (self.tool != other.tool || !self.hides_args(other)) {
            return None;
        }
        match (self.input == other.input, self.run, other.run) {
            (_, Some(run), Some(other_run)) if run != other_run => None,
            (false, Some(_), Some(_)) => Some(IntentDoubt::TwoInputs),
            (true, Some(_), Some(_)) | (true, None, None) => {
                (self.args != other.args).then_some(IntentDoubt::NoArguments)
            }
            _ => Some(IntentDoubt::NoRun), // a file that is split shows as much as the whole one
        }
    }

    /// Whether `other` has the same tool and recorded arguments, and names another run.
    pub fn is_of_other_run(&self, other: &SentIn) -> bool {
        let runs_differ = self.run.zip(other.run).is_some_and(|(own, other)| own != other);
        runs_differ && self.request() == other.request() && self.args != 0 && other.args != 0
    }

    /// When a call that was sent here was made.
    fn made_at(&self, closed: &CompletedCall) -> Moment {
        let made = Moment::new(closed.raw().at, closed.raw().place.line);
        if self.input == ANY_INPUT { made.in_input(closed.raw().place.input) } else { made }
    }

    /// Whether the arguments of either are not recorded, and those of the other are.
    pub const fn hides_args(&self, other: &SentIn) -> bool {
        (self.args == 0) != (other.args == 0)
    }

    /// Whether both are one request of one run, under whatever keys.
    fn is_beside(&self, other: &SentIn) -> bool {
        SentIn { key: other.key, ..*self } == *other
    }

    /// Whether both were sent under one key, which makes them one intent.
    pub const fn shares_key(&self, other: &SentIn) -> bool {
        self.key != 0 && self.key == other.key
    }
}

/// A mark of tool and arguments; arguments that are missing or `{}` are equal.
const fn request_of(tool: u64, args: u64) -> u64 {
    hash::mixed(tool, if args == half(canonical::EMPTY_OBJECT) { 0 } else { args })
}

/// The last writes that acted or may have, and the last calls that were refused for good.
#[derive(Debug)]
pub struct HiddenIntents {
    requests: Window<Rows>,
    /// Writes by run and tool.
    runs: Window<RunRow>,
    /// The requests of the window that were once refused: few, so most calls need no search among all.
    refused: HashSet<u64, FixedState>,
}

/// The rows of one request, the oldest first. Nearly all requests have one.
#[derive(Debug, Default)]
struct Rows {
    first: Option<Row>,
    more: Box<[Row]>,
}

/// The calls of one request in one place, under one key or without.
#[derive(Debug)]
struct Row {
    sent: SentIn,
    /// Effects, if each write that may have acted has. A key has one.
    effects: u32,
    /// When the first of them was made.
    since: Moment,
    /// The last denial or processed key, unless a success came after it.
    refused: Option<Box<Refused>>,
}

/// A call that is not to be sent again.
#[derive(Clone, Copy, Debug)]
struct Refused {
    ended: Moment,
    denied: bool,
    processed: bool,
}

/// The writes of one tool in one run: those with arguments, and those without.
#[derive(Debug, Default)]
struct RunRow {
    /// Effects of those without a key, if each that may have acted has.
    effects: [u32; 2],
    /// The first key (0: none) under which one with arguments acted or may have, and when the first under it was made.
    first: Option<(u64, Moment)>,
    /// Few have more.
    more: Option<Box<MoreOfRun>>,
}

/// What is known of few tools of a run, of calls with arguments and of those without.
#[derive(Debug, Default)]
struct MoreOfRun {
    /// The second key under which one with arguments acted or may have.
    second: Option<(u64, Moment)>,
    /// The first two of those without.
    without: [Option<(u64, Moment)>; 2],
    /// When the first of each was refused for good.
    refused: [Option<Moment>; 2],
}

impl RunRow {
    /// The first two keys under which a write acted or may have, of those without arguments or of those with.
    fn acted(&self, is_without: bool) -> [Option<(u64, Moment)>; 2] {
        let more = self.more.as_ref();
        match is_without {
            true => more.map(|more| more.without).unwrap_or_default(),
            false => [self.first, more.and_then(|more| more.second)],
        }
    }

    /// Takes a write under a key that acted or may have.
    fn take(&mut self, is_without: bool, key: u64, made: Moment) {
        let known = self.acted(is_without);
        if known.iter().flatten().any(|(known, _)| *known == key) || known[1].is_some() {
            return;
        }
        let place = match (is_without, known[0].is_some()) {
            (false, false) => &mut self.first,
            (false, true) => &mut self.more().second,
            (true, is_second) => &mut self.more().without[usize::from(is_second)],
        };
        *place = Some((key, made));
    }

    fn more(&mut self) -> &mut MoreOfRun {
        self.more.get_or_insert_default()
    }
}

/// Why a denial or a processed key before a call may be about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SentAfter {
    /// A denial.
    pub denial: Option<IntentDoubt>,
    /// A processed key.
    pub conflict: Option<IntentDoubt>,
}

impl Default for HiddenIntents {
    fn default() -> HiddenIntents {
        HiddenIntents {
            requests: Window::new(WINDOW as usize),
            runs: Window::new(WINDOW as usize),
            refused: HashSet::default(),
        }
    }
}

impl HiddenIntents {
    /// Prefetches what taking these calls reads.
    pub fn prefetch<'h>(&self, calls: impl Iterator<Item = &'h CallHashes> + Clone) {
        self.requests.prefetch(calls.map(|hashes| request_of(half(hashes.tool), half(hashes.args)).into()));
    }

    /// Takes a write that made `effects` or may have; gives the effects of it and of those that may share its intent, and
    /// why that is unknown.
    pub fn take(&mut self, closed: &CompletedCall, sent: SentIn, effects: u32) -> Option<(u32, IntentDoubt)> {
        let own = if sent.key == 0 { effects.max(1) } else { 1 };
        let (mut all, mut why) = (own, None);
        let other_args = self.other_arguments(sent.made_at(closed), &sent, own);
        if other_args > 0 {
            (all, why) = (own.saturating_add(other_args), Some(IntentDoubt::NoArguments));
        }
        let mut rows = self.rows_of(sent.request().into());
        let acted = rows.iter().filter(|row| row.effects > 0 && !row.sent.shares_key(&sent));
        for (row, doubt) in acted.filter_map(|row| Some((row, sent.doubt(&row.sent)?))) {
            all = all.saturating_add(row.effects);
            why = why.max(Some(doubt));
        }
        let row = rows.row(sent);
        if row.effects == 0 {
            row.since = sent.made_at(closed);
        }
        row.effects = if sent.key == 0 { row.effects.saturating_add(own) } else { own };
        self.requests.push(sent.request().into(), rows);
        why.map(|why| (all, why))
    }

    /// Whether, at a moment, a call may be known to have acted that may be the same request.
    pub fn may_have_acted(&self, sent: &SentIn, now: Moment) -> bool {
        let is_known = |since: Moment| !since.is_after(now);
        let rows = self.requests.find(sent.request().into()).and_then(|number| self.requests.get(number));
        let acted = |row: &Row| {
            let is_seen = row.sent.input != sent.input || is_known(row.since);
            row.effects > 0 && is_seen && !row.sent.shares_key(sent) && sent.doubt(&row.sent).is_some()
        };
        if rows.is_some_and(|rows| rows.iter().any(acted)) {
            return true;
        }
        let others = self.run_of(sent).map(|row| row.acted(sent.args != 0));
        let mut others = others.into_iter().flatten().flatten();
        others.any(|(key, since)| (key == 0 || key != sent.key) && is_known(since))
    }

    /// Whether, at a moment, a call of the run may be known to have been refused for good that may be the same request,
    /// because the arguments of one of both are not recorded.
    pub fn may_be_refused(&self, sent: &SentIn, now: Moment) -> bool {
        let more = self.run_of(sent).and_then(|row| row.more.as_ref());
        let refused = more.and_then(|more| more.refused[usize::from(sent.args != 0)]);
        refused.is_some_and(|ended| !ended.is_after(now))
    }

    /// The calls of the run with this tool; none: no arguments are hidden.
    fn run_of(&self, sent: &SentIn) -> Option<&RunRow> {
        let is_empty = sent.args == half(canonical::EMPTY_OBJECT);
        self.runs.find(run_place(sent)).and_then(|number| self.runs.get(number)).filter(|_| !is_empty)
    }

    /// Whether any call was refused for good.
    pub fn has_refused(&self) -> bool {
        !self.refused.is_empty()
    }

    /// Whether a call of this request was refused for good.
    pub fn has_refused_of(&self, sent: &SentIn) -> bool {
        self.refused.contains(&sent.request())
    }

    /// Takes the end of a call; gives why one before it that was denied, or whose key had been processed, may be the same
    /// request. A success ends both.
    pub fn sent_after(&mut self, sent: SentIn, seen: &CallShows) -> SentAfter {
        let is_refused = seen.denied || seen.processed;
        let mut after = SentAfter::default();
        if !is_refused && !self.has_refused_of(&sent) {
            return after; // the usual call
        }
        let known = self.requests.find(sent.request().into()).and_then(|number| self.requests.get_mut(number));
        for row in known.into_iter().flat_map(Rows::iter_mut) {
            let doubt = sent.doubt(&row.sent);
            let is_later = |ended| row.sent.input != sent.input || seen.made.is_after(ended);
            if let Some(refused) = row.refused.as_deref().filter(|refused| is_later(refused.ended)) {
                after.denial = after.denial.max(doubt.filter(|_| refused.denied));
                after.conflict = after.conflict.max(doubt.filter(|_| refused.processed));
            }
            if seen.succeeded() && (doubt.is_some() || sent.is_beside(&row.sent)) {
                row.refused = None;
            }
        }
        if let Some(ended) = seen.ended.filter(|_| is_refused) {
            if let Some(row) = self.run_row(&sent) {
                row.more().refused[usize::from(sent.args == 0)].get_or_insert(ended);
            }
            let mut rows = self.rows_of(sent.request().into());
            let refused = Refused { ended, denied: seen.denied, processed: seen.processed };
            rows.row(sent).refused = Some(Box::new(refused));
            self.requests.push(sent.request().into(), rows);
            self.refused.insert(sent.request()); // at last: making room may have dropped an older row of the same request
        }
        after
    }

    /// Takes a write; gives, if it has no key, the effects of the run's others without a key whose arguments may be those of
    /// this one, because they are recorded of only one of both. `{}` may be compared with those that are not recorded, which
    /// is done by request.
    fn other_arguments(&mut self, made: Moment, sent: &SentIn, own: u32) -> u32 {
        if sent.args == half(canonical::EMPTY_OBJECT) {
            return 0;
        }
        let Some(row) = self.run_row(sent) else { return 0 };
        let own_place = usize::from(sent.args == 0);
        row.take(sent.args == 0, sent.key, made);
        if sent.key != 0 {
            return 0;
        }
        row.effects[own_place] = row.effects[own_place].saturating_add(own);
        row.effects[1 - own_place]
    }

    /// The row of the calls of a run with one tool; the oldest of all makes room for a new one.
    fn run_row(&mut self, sent: &SentIn) -> Option<&mut RunRow> {
        let place = run_place(sent);
        if self.runs.find(place).is_none() {
            if self.runs.next() - self.runs.first() >= u64::from(WINDOW) {
                self.runs.pop_first(|_| true);
            }
            return Some(self.runs.push(place, RunRow::default()));
        }
        self.runs.find(place).and_then(|number| self.runs.get_mut(number))
    }

    /// The rows of a request, taken from where they are; drops the oldest request of the window.
    fn rows_of(&mut self, request: u128) -> Rows {
        if self.requests.next() - self.requests.first() >= u64::from(WINDOW)
            && let Some((_, dropped)) = self.requests.pop_first(|_| true)
            && let Some(row) = dropped.first
        {
            self.refused.remove(&row.sent.request());
        }
        let known = self.requests.find(request).and_then(|number| self.requests.get_mut(number));
        known.map(std::mem::take).unwrap_or_default()
    }
}

/// Where the writes of a run with one tool are kept.
fn run_place(sent: &SentIn) -> u128 {
    u128::from(hash::mixed(sent.tool, sent.run.map_or(0, NonZeroU64::get)) ^ u64::from(sent.run.is_some()))
}

impl Rows {
    fn iter(&self) -> impl Iterator<Item = &Row> {
        self.first.iter().chain(self.more.iter())
    }

    fn iter_mut(&mut self) -> impl Iterator<Item = &mut Row> {
        self.first.iter_mut().chain(self.more.iter_mut())
    }

    /// The row of the calls that were sent so; the oldest makes room for a new one.
    fn row(&mut self, sent: SentIn) -> &mut Row {
        let new = || Row { sent, effects: 0, since: Moment::default(), refused: None };
        if self.first.as_ref().is_none_or(|first| first.sent == sent) {
            return self.first.get_or_insert_with(new);
        }
        let place = self.more.iter().position(|row| row.sent == sent).unwrap_or_else(|| {
            let mut more = std::mem::take(&mut self.more).into_vec();
            if more.len() + 1 >= MAX_ROWS {
                self.first = Some(more.remove(0));
            }
            more.push(new());
            self.more = more.into();
            self.more.len() - 1
        });
        &mut self.more[place] // it was found or pushed just now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_of_most_writes_is_small() {
        assert!(size_of::<Rows>() <= 104 && size_of::<RunRow>() <= 104, "with links, two cache lines");
    }
}
