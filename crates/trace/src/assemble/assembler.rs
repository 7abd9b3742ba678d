//! Pairs answers with their calls, in the order of the lines, and gives calls out as they close.
//! Memory is bounded by the calls that are open. Reads no lines and judges nothing.
//!
//! A result finds its call by run and label; without a label it goes to the newest open call of its run and tool that
//! has not succeeded; with a label but without a run, to the only open call with that label, of whatever run. A call closes at its run's end, at the end of input, when its label is used again in its run,
//! or `reorder_window` calls later; a result after that is an orphan. Calls of one run are given out in the order of
//! their lines, for what a recording shows of a call depends on those before it: one whose label is used again waits
//! until its turn.
#![expect(clippy::disallowed_types, reason = "looked up by key only, never iterated into an output")]

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::assemble::account::InputLedger;
use crate::assemble::closed::{ClosedCall, Story, TracedCall};
use crate::assemble::joined::{Joined, Resend};
use crate::assemble::labels::{Labels, without_run};
use crate::assemble::open::OpenCalls;
use crate::assemble::runs::{RunSlot, Runs};
use crate::hash::half;
use crate::marks;
use crate::marks::Marks;
use crate::processor::fetch;
use crate::read::{AnswerEntry, Digest, Entry, Firsts};
use crate::wire::Unfamiliar;
use playproof_engine::call::{AnswerTo, Place, RecordedAnswer, RecordedCall, Reply};
use playproof_engine::time::Instant;
use playproof_formats::diagnostic::Report;

/// Answers that one call may have.
const MAX_ANSWERS: usize = 1_000;

/// Open calls that a result without a label is offered to, the newest first.
const MAX_OFFERS: usize = 1_000;

/// Reports of skipped lines that are kept for display.
const MAX_REPORTS: usize = 5;

/// How calls are put together.
#[derive(Clone, Debug)]
pub struct AssembleOptions {
    /// A call closes this many calls later, from 1.
    pub reorder_window: u64,
    /// An identical call after a failed one, with no successful write between, is read as its next attempt.
    pub join_resends: bool,
    /// Lines that cannot be used are counted and skipped.
    pub skip_invalid: bool,
}

impl Default for AssembleOptions {
    fn default() -> AssembleOptions {
        AssembleOptions { reorder_window: 10_000, join_resends: false, skip_invalid: false }
    }
}

/// Says whether a tool changes the upstream; unknown tools do.
pub type Writes<'a> = dyn Fn(&str) -> bool + Sync + 'a;

/// The call that a line belongs to.
#[derive(Clone, Copy, Debug)]
struct Target {
    /// Its number.
    number: u64,
    /// What the line itself calls it by, if that was read as a further attempt of it.
    resend: Option<Resend>,
}

/// Puts together the calls of one input.
pub struct Assembler<'a> {
    options: AssembleOptions,
    writes: &'a Writes<'a>,
    /// What `writes` said, by the tool's mark.
    known_writes: HashMap<u128, bool, FixedState>,
    input: u32,
    name: String,
    open: OpenCalls,
    joined: Joined,
    /// Labels without their runs; none before a result without a run finds no call.
    labels: Option<Labels>,
    /// The mark of the run of calls and results that name none.
    nameless: u128,
    /// Where resends are joined: the newest open call of each kind.
    by_resend: HashMap<u64, u64, FixedState>,
    runs: Runs,
    ledger: InputLedger,
    firsts: Firsts,
    reports: Vec<Report>,
}

impl<'a> Assembler<'a> {
    /// For the input numbered `input`, which people call `name`.
    pub fn new(input: u32, name: &str, options: AssembleOptions, writes: &'a Writes<'a>) -> Assembler<'a> {
        // One more than the window, for a call closes once another is there.
        let usual = AssembleOptions::default().reorder_window.min(options.reorder_window) + 1;
        let usual = usize::try_from(usual).unwrap_or(0);
        Assembler {
            options,
            writes,
            known_writes: HashMap::default(),
            input,
            name: name.to_owned(),
            open: OpenCalls::new(usual),
            joined: Joined::default(),
            labels: None,
            nameless: marks::of_run(None),
            by_resend: HashMap::default(),
            runs: Runs::default(),
            ledger: InputLedger::default(),
            firsts: Firsts::default(),
            reports: Vec::new(),
        }
    }

    /// Takes the next piece of the input, in order, and gives out the calls that it closes.
    ///
    /// # Errors
    /// The first line that cannot be used, unless such lines are to be skipped.
    pub fn take(&mut self, digest: Digest, closed: &mut Vec<ClosedCall>) -> Result<(), Report> {
        let before = self.ledger.lines;
        for mut bad in digest.bad {
            bad.line += before;
            let report = bad.report(&self.name, bad.is_first && self.ledger.is_without_entries());
            if !self.options.skip_invalid {
                return Err(report);
            }
            self.ledger.skipped += 1;
            if self.reports.len() < MAX_REPORTS {
                self.reports.push(report);
            }
        }
        self.ledger.lines += digest.lines;
        self.ledger.blank += digest.blank;
        self.ledger.other += digest.other;
        self.ledger.unknown_fields += digest.unknown_fields;
        let placed = |(line, name): (u64, Unfamiliar)| (line + before, name);
        self.firsts.kind = self.firsts.kind.take().or(digest.firsts.kind.map(placed));
        self.firsts.field = self.firsts.field.take().or(digest.firsts.field.map(placed));
        let given_out = closed.len();
        self.open.fetch(digest.entries.iter().filter_map(|entry| match entry {
            Entry::Call(traced) => Some(traced.marks.id),
            Entry::Answer(_) | Entry::RunEnd(_) => None, // what is answered is near: most answers come soon
        }));
        for entry in digest.entries {
            match entry {
                Entry::Call(traced) => self.call(traced, before, closed),
                Entry::Answer(entry) => self.answer(entry, before),
                Entry::RunEnd(run) => self.run_end(run, closed),
            }
        }
        self.count(closed.get(given_out..).unwrap_or_default());
        Ok(())
    }

    /// The first things that nobody knows, so far.
    pub fn firsts(&self) -> &Firsts {
        &self.firsts
    }

    /// Closes what is open at the end of input, and gives the account.
    ///
    /// # Panics
    /// If the account does not balance: a line, call or answer was lost, and whatever follows would be wrong. That is a
    /// bug in the assembler and nothing that an input can be blamed for.
    pub fn finish(mut self, closed: &mut Vec<ClosedCall>) -> (InputLedger, Vec<Report>) {
        let given_out = closed.len();
        while self.open.first() < self.open.next() {
            self.close(self.open.first(), closed);
        }
        self.count(closed.get(given_out..).unwrap_or_default());
        assert!(self.ledger.balances(), "the account of `{}` does not balance: {:?}", self.name, self.ledger);
        (self.ledger, self.reports)
    }

    fn call(&mut self, mut traced: Box<TracedCall>, lines_before: u64, closed: &mut Vec<ClosedCall>) {
        let TracedCall { call, marks, .. } = &mut *traced;
        let marks = *marks;
        call.place.input = self.input;
        call.place.line += lines_before;
        let mut answers: Vec<RecordedAnswer> = call.answers.drain(..).collect();
        match answers.is_empty() {
            true => self.ledger.calls += 1,
            false => self.ledger.combined += 1,
        }
        let number = self.open.next();
        let (run, new) = self.runs.find_or_add(marks.run, number);
        self.ledger.runs += u64::from(new);
        let late = self.see_time(run, call.at);
        let resend = self.joins(call, &marks, run).map(|of| Resend { of, at: call.at });
        let target = Target { number: resend.map_or(number, |resend| resend.of), resend };
        if marks.id != 0 {
            let holder = self.find(marks.id).map(|holder| holder.number);
            if let Some(holder) = holder.filter(|&holder| holder != target.number) {
                self.forget(holder);
            }
        }
        let line = call.place.line;
        match resend {
            Some(resend) => self.join(resend, &traced),
            None => self.open(traced, run, closed),
        }
        for answer in &mut answers {
            answer.place = Place { input: self.input, line };
        }
        for answer in answers {
            self.attach(target, answer, late);
        }
    }

    /// Adds a call behind the open ones, and closes the one that has been open for a whole window.
    fn open(&mut self, mut traced: Box<TracedCall>, slot: RunSlot, closed: &mut Vec<ClosedCall>) {
        let number = self.open.next();
        let run = self.runs.run_mut(slot);
        run.calls = run.calls.saturating_add(1);
        traced.call.number = number;
        traced.call.number_in_run = run.calls;
        traced.story = Story { last_write: run.last_write, ..Story::default() };
        if self.options.join_resends {
            self.by_resend.insert(half(traced.marks.resend()), number);
        }
        if let Some(labels) = &mut self.labels {
            labels.add(without_run(&traced), traced.marks.id);
        }
        self.open.push(traced, slot, &mut self.runs);
        if number - self.open.first() >= self.options.reorder_window.max(1) {
            self.close(self.open.first(), closed);
        }
    }

    /// The open call that this one is read as a further attempt of.
    fn joins(&self, call: &RecordedCall, marks: &Marks, run: RunSlot) -> Option<u64> {
        if !self.options.join_resends {
            return None;
        }
        let number = *self.by_resend.get(&half(marks.resend()))?;
        let earlier = self.open.get(number).filter(|earlier| earlier.traced.marks.resend() == marks.resend())?;
        let failed_on = earlier.traced.story.failed_on;
        let failed = failed_on != 0 && !earlier.succeeded();
        let unchanged = earlier.traced.call.token() == call.token();
        (failed && unchanged && self.runs.run(run).last_write <= failed_on).then_some(number)
    }

    fn join(&mut self, resend: Resend, traced: &TracedCall) {
        self.ledger.joined += 1;
        let Some(earlier) = self.open.get_mut(resend.of) else { return };
        earlier.traced.story.failed_on = 0; // the next resend waits for this one's answer
        let id = traced.marks.id;
        if id != 0 && id != earlier.traced.marks.id {
            let label = without_run(traced);
            let is_new = self.joined.add(id, label, resend);
            if let Some(labels) = self.labels.as_mut().filter(|_| is_new) {
                labels.add(label, id);
            }
        }
    }

    /// The open call that answers to a label.
    fn find(&self, id: u128) -> Option<Target> {
        let own = self.open.find(id).map(|number| Target { number, resend: None });
        own.or_else(|| {
            let resend = self.joined.find(id)?;
            let target = Target { number: resend.of, resend: Some(resend) };
            self.open.get(resend.of).is_some_and(|open| !open.forgotten).then_some(target)
        })
    }

    /// The same for a result without a run: the only open call with this label, by its mark with its run.
    fn find_in_any_run(&mut self, label: u128) -> Option<(u128, Target)> {
        let labels = self.labels.get_or_insert_with(|| Labels::of(&self.open, &self.joined));
        let id = labels.only(label)?;
        Some((id, self.find(id)?))
    }

    fn answer(&mut self, entry: AnswerEntry, lines_before: u64) {
        let AnswerEntry { run, mut id, tool, mut answer } = entry;
        self.ledger.results += 1;
        answer.place.input = self.input;
        answer.place.line += lines_before;
        let target = match (id, tool) {
            (0, 0) => None,
            (0, _) => self.newest(run, tool).map(|number| Target { number, resend: None }),
            _ => match self.find(id) {
                None if run == self.nameless => self.find_in_any_run(id).map(|found| {
                    id = found.0;
                    found.1
                }),
                found => found,
            },
        };
        let Some((target, run)) = target.and_then(|target| Some((target, self.open.get(target.number)?.run))) else {
            self.ledger.orphans += 1;
            return;
        };
        let late = self.see_time(run, answer.at);
        if target.resend.is_some() {
            self.joined.answer(id);
        }
        self.attach(target, answer, late);
    }

    /// Lets no later line find an open call whose label has another call now.
    fn forget(&mut self, number: u64) {
        let Some(open) = self.open.get_mut(number) else { return };
        open.forgotten = true;
        if let Some(labels) = &mut self.labels {
            labels.remove_call(&open.traced, &self.joined);
        }
        if self.options.join_resends {
            let resend = half(open.traced.marks.resend());
            if self.by_resend.get(&resend) == Some(&number) {
                self.by_resend.remove(&resend);
            }
        }
    }

    /// The newest open call of a run and tool that has not succeeded.
    fn newest(&self, run: u128, tool: u128) -> Option<u64> {
        let mut number = self.runs.run(self.runs.find(run)?).last_open;
        for _ in 0..MAX_OFFERS {
            let open = self.open.get(number)?;
            if open.traced.marks.tool == tool && !open.succeeded() && !open.forgotten {
                return Some(number);
            }
            number = open.before();
        }
        None
    }

    /// Adds an answer to an open call. `late` says that its line has been counted as one with a time before others.
    fn attach(&mut self, target: Target, mut answer: RecordedAnswer, late: bool) {
        let Some(open) = self.open.get_mut(target.number) else {
            self.ledger.orphans += 1;
            return;
        };
        let TracedCall { call, marks, story } = &mut *open.traced;
        if call.answers.len() >= MAX_ANSWERS {
            self.ledger.surplus += 1;
            return;
        }
        if let Some(resend) = target.resend {
            answer.inferred = true;
            let sent = resend.at.filter(|_| answer.attempt.is_none_or(|attempt| attempt == 1));
            answer.started = answer.started.or(sent);
            answer.attempt = None; // it counts the resend's attempts, not this call's
        }
        let backwards = answer.at.zip(answer.started.or(call.at)).is_some_and(|(at, start)| at < start);
        if backwards {
            forget_time(&mut answer);
        }
        let Some(place) = place(call, open.highest_attempt, &answer) else {
            self.ledger.duplicates += 1;
            return;
        };
        self.ledger.attached += 1;
        self.ledger.read_from_text += u64::from(answer.from_text);
        self.ledger.backwards += u64::from(backwards && !late);
        if answer.to == AnswerTo::Attempt {
            let number = answer.attempt.unwrap_or_else(|| open.highest_attempt.saturating_add(1));
            story.add_attempt(&answer, number > open.highest_attempt);
            open.highest_attempt = open.highest_attempt.max(number);
        } else {
            story.add_other(&answer);
        }
        let writes = self.writes;
        let acted = answer.reply == Reply::Ok && answer.to != AnswerTo::Refresh; // new evidence changes nothing
        if acted && *self.known_writes.entry(marks.tool).or_insert_with(|| writes(call.tool())) {
            self.runs.run_mut(open.run).last_write = answer.place.line;
        }
        if call.answers.is_empty() {
            call.answers.reserve_exact(1); // most calls have one answer, and a spare has room already
        }
        call.answers.insert(place, answer);
    }

    /// Counts a line whose time is before an earlier one of its run, and says whether it is.
    fn see_time(&mut self, run: RunSlot, at: Option<Instant>) -> bool {
        let run = self.runs.run_mut(run);
        let late = at.zip(run.latest).is_some_and(|(at, latest)| at < latest);
        self.ledger.backwards += u64::from(late);
        run.latest = run.latest.max(at);
        late
    }

    fn run_end(&mut self, run: u128, closed: &mut Vec<ClosedCall>) {
        self.ledger.run_ends += 1;
        let Some(slot) = self.runs.find(run) else { return };
        while let first @ 1.. = self.runs.run(slot).first_open {
            self.close(first, closed);
        }
    }

    fn close(&mut self, number: u64, closed: &mut Vec<ClosedCall>) {
        let is_forgotten = self.open.get(number).is_some_and(|open| open.forgotten);
        let Some(traced) = self.open.take(number, &mut self.runs) else { return };
        if let Some(labels) = self.labels.as_mut().filter(|_| !is_forgotten) {
            labels.remove_call(&traced, &self.joined);
        }
        fetch(&*traced); // it was last touched thousands of calls ago, and will be looked at soon
        if self.options.join_resends {
            self.joined.close(number);
            let resend = half(traced.marks.resend());
            if self.by_resend.get(&resend) == Some(&number) {
                self.by_resend.remove(&resend);
            }
        }
        closed.push(ClosedCall::new(traced));
    }

    /// Counts what is given out.
    fn count(&mut self, closed: &[ClosedCall]) {
        self.ledger.closed += closed.len() as u64;
        self.ledger.unanswered += closed.iter().filter(|closed| closed.story.answers == 0).count() as u64;
    }
}

/// Takes away a time that cannot be; what told the answer from others of its call still does.
fn forget_time(answer: &mut RecordedAnswer) {
    let Some(at) = answer.at.take() else { return };
    if answer.line_hash == 0 {
        let bits = at.as_micros() % u64::from(u32::MAX);
        answer.line_hash = u32::try_from(bits).unwrap_or_default().max(1);
    }
}

/// Where an answer goes among those of its call: attempts stand in the order of their numbers, however late their
/// answers came. None: the same attempt has an answer already, or this very line was read before.
fn place(call: &RecordedCall, highest_attempt: u32, answer: &RecordedAnswer) -> Option<usize> {
    let end = Some(call.answers.len());
    match (answer.to, answer.attempt) {
        // Logs are shipped more than once; what differs, be it in its time alone, is another attempt. A resend that was
        // read as an attempt is one, whatever it got.
        (_, None) if !answer.inferred && call.answers.iter().any(|seen| seen.is_duplicate_of(answer)) => None,
        (_, None) => end,
        (AnswerTo::Attempt, Some(attempt)) if attempt > highest_attempt => end,
        (AnswerTo::Attempt, Some(attempt)) => {
            let later = call.attempts().find(|(number, _)| number.get() >= attempt);
            match later {
                Some((number, _)) if number.get() == attempt => None,
                Some((_, later)) => call.answers.iter().position(|seen| std::ptr::eq(seen, later)),
                None => end,
            }
        }
        (other, attempt) => {
            let seen = call.answers.iter().any(|seen| seen.to == other && seen.attempt == attempt);
            if seen { None } else { end }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "the account of `t.jsonl` does not balance")]
    fn an_account_that_does_not_balance_ends_the_program() {
        let mut assembler = Assembler::new(0, "t.jsonl", AssembleOptions::default(), &|_| true);
        assembler.ledger.results += 1; // an answer of which nobody knows what became
        assembler.finish(&mut Vec::new());
    }
}
