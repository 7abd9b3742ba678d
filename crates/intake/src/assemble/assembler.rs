//! Pairs answers with their calls, in the order of the lines, and completes calls as they close.
//! The open calls bound its memory. Reads no lines and judges nothing.
//!
//! A result finds its call by run and id. A result without an id goes to the newest open call of its run and tool that has
//! not succeeded. A result with an id but without a run goes to the only open call with that id, in any run. A call takes
//! results until its run ends, its id is used again in its run, or `reorder_window` further calls were made; a result after
//! that is an orphan, unless a later line is its call (see `early`). Calls close in the order of their lines, but those of
//! one run in the order in which they were made, because what a recording shows of a call depends on the calls before it.
#![expect(clippy::disallowed_types, reason = "looked up by key only, never iterated into an output")]

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use foldhash::fast::FixedState;

use crate::assemble::account::InputLedger;
use crate::assemble::answers::{
    drop_time, insert_index, is_copy_of_attempt, order_by_lines, set_late_apart, take_unfinished,
};
use crate::assemble::dispatched;
use crate::assemble::early::EarlyAnswers;
use crate::assemble::ids::{AnswerTarget, BareIds, JoinedIds, JoinedResend, bare_id};
use crate::assemble::keys::FirstUses;
use crate::assemble::open::{OpenCall, OpenCalls};
use crate::assemble::options::{AssembleOptions, Writes};
use crate::assemble::runs::{RunSlot, RunState, RunTable};
use crate::assemble::timed_writes::TimedWrites;
use crate::assemble::transactions::Transactions;
use crate::assemble::writes;
use crate::bad_line::BadLine;
use crate::call::{AttemptCounts, CallBuilder, CompletedCall, is_refused};
use crate::call_hashes;
use crate::call_hashes::CallHashes;
use crate::digest::{AnswerEntry, Digest, DigestEntry, DispatchEntry, FirstUnknown};
use crate::hash::half;
use crate::simd::prefetch;
use crate::wire::UnknownName;
use playproof_engine::call::{AnswerTo, Place, RecordedAnswer, RecordedCall, RecordedTransaction, Recorder, Reply};
use playproof_engine::event::{Act, ErrorFacts, StatusFrom};
use playproof_engine::playbook::{SameIf, Tools};
use playproof_engine::time::Instant;
use playproof_formats::diagnostic::Report;

/// The most answers of one call.
const MAX_ANSWERS: usize = 1_000;

/// The most open calls that are searched for a result without an id, from the newest.
const MAX_SEARCHED: usize = 1_000;

/// The most reports of skipped lines that are kept for display.
const MAX_REPORTS: usize = 5;

/// Assembles the calls of one input.
pub struct Assembler<'a> {
    options: AssembleOptions,
    writes: &'a Writes<'a>,
    /// The results of `writes`, by the tool's hash.
    known_writes: HashMap<u128, bool, FixedState>,
    /// What makes a request of each tool, by its hash: the arguments that count, and whether runs do not.
    known_requests: HashMap<u128, (Option<SameIf>, bool), FixedState>,
    input: u32,
    name: String,
    open: OpenCalls,
    /// The open calls by their turn to close.
    turns: VecDeque<u64>,
    /// The turn of the first of them.
    first_turn: u64,
    keys: FirstUses,
    early: EarlyAnswers,
    joined: JoinedIds,
    /// None until a result without a run finds no call in the nameless run.
    bare_ids: Option<BareIds>,
    /// The hash of the run of calls and results that name none.
    nameless: u128,
    /// The newest open call by half of its resend hash; empty unless resends are joined.
    by_resend: HashMap<u64, u64, FixedState>,
    runs: RunTable,
    ledger: InputLedger,
    transactions: Transactions,
    first_unknown: FirstUnknown,
    /// What makes the decisions of the next lines.
    recorder: Option<Arc<Recorder>>,
    reports: Vec<Report>,
}

impl<'a> Assembler<'a> {
    /// An assembler for input number `input`, called `name`.
    pub fn new(input: u32, name: &str, options: AssembleOptions, writes: &'a Writes<'a>) -> Assembler<'a> {
        // One more than the window: a call closes after the next one is added.
        let usual = AssembleOptions::default().reorder_window.min(options.reorder_window) + 1;
        let usual = usize::try_from(usual).unwrap_or(0);
        Assembler {
            options,
            writes,
            known_writes: HashMap::default(),
            known_requests: HashMap::default(),
            input,
            name: name.to_owned(),
            open: OpenCalls::new(usual),
            turns: VecDeque::with_capacity(usual),
            first_turn: 1,
            keys: FirstUses::default(),
            early: EarlyAnswers::default(),
            joined: JoinedIds::default(),
            bare_ids: None,
            nameless: call_hashes::run_hash(None),
            by_resend: HashMap::default(),
            runs: RunTable::default(),
            ledger: InputLedger::default(),
            transactions: Transactions::default(),
            first_unknown: FirstUnknown::default(),
            recorder: None,
            reports: Vec::new(),
        }
    }

    /// The same, with the keys of earlier inputs.
    #[must_use]
    pub fn with_keys(self, keys: FirstUses) -> Assembler<'a> {
        Assembler { keys, ..self }
    }

    /// Takes the next piece of the input, in order, and adds the calls that it closes to `closed`.
    ///
    /// # Errors
    /// The first line that cannot be used, unless such lines are skipped.
    pub fn take(&mut self, digest: Digest, closed: &mut Vec<CompletedCall>) -> Result<(), Report> {
        let before = self.ledger.lines;
        for mut bad in digest.bad {
            bad.line += before;
            self.refuse(&bad)?;
        }
        self.ledger.lines += digest.lines;
        self.ledger.blank += digest.blank;
        self.ledger.other += digest.other;
        self.ledger.unknown_fields += digest.unknown_fields;
        let placed = |(line, name): (u64, UnknownName)| (line + before, name);
        self.first_unknown.kind = self.first_unknown.kind.take().or(digest.first_unknown.kind.map(placed));
        self.first_unknown.field = self.first_unknown.field.take().or(digest.first_unknown.field.map(placed));
        let given_out = closed.len();
        self.open.prefetch(digest.entries.iter().filter_map(|entry| match entry {
            DigestEntry::Call(call) => Some(call.hashes.id),
            _ => None, // most calls are answered soon, while they are in the cache
        }));
        for entry in digest.entries {
            match entry {
                DigestEntry::Call(call) => self.call(call, before, closed),
                DigestEntry::Answer(entry) => self.answer(entry, before),
                DigestEntry::RunEnd(run) => self.run_end(run),
                DigestEntry::Act(run, label, act, line) => self.act(run, label, act, line + before),
                DigestEntry::Crash(run, at, place) => {
                    self.crash(run, at, Place { input: self.input, line: place.line + before });
                }
                DigestEntry::Recording(recorder) => {
                    self.ledger.dispatched += 1;
                    self.recorder = Some(recorder);
                }
                DigestEntry::Dispatch(entry) => {
                    self.dispatch(entry, before).inspect_err(|_| self.ledger.end_early())?;
                }
            }
        }
        self.ledger.count_closed(closed.get(given_out..).unwrap_or_default());
        Ok(())
    }

    /// Counts a line that cannot be used, or ends with its report.
    fn refuse(&mut self, bad: &BadLine) -> Result<(), Report> {
        let report = bad.report(&self.name, bad.is_first && self.ledger.is_without_entries());
        if !self.options.skip_invalid {
            return Err(report);
        }
        self.ledger.skipped += 1;
        if self.reports.len() < MAX_REPORTS {
            self.reports.push(report);
        }
        Ok(())
    }

    /// The first unknown names so far.
    pub fn first_unknown(&self) -> &FirstUnknown {
        &self.first_unknown
    }

    /// Closes all open calls at the end of input, and returns the account with the reports of skipped lines, and the keys so
    /// far.
    ///
    /// # Panics
    /// If the account does not balance: a line, call or answer was lost. That is a bug in the assembler; no input causes
    /// it.
    pub fn finish(mut self, closed: &mut Vec<CompletedCall>) -> (InputLedger, Vec<Report>, FirstUses) {
        let given_out = closed.len();
        while !self.turns.is_empty() {
            self.close_next(closed);
        }
        self.ledger.count_closed(closed.get(given_out..).unwrap_or_default());
        for orphan in self.early.take_all() {
            self.ledger.count_orphan(&orphan.answer);
        }
        assert!(self.ledger.balances(), "the account of `{}` does not balance: {:?}", self.name, self.ledger);
        (self.ledger, self.reports, self.keys)
    }

    fn call(&mut self, mut built: Box<CallBuilder>, lines_before: u64, closed: &mut Vec<CompletedCall>) {
        if let Some(tools) = &self.options.requests {
            name_request(&mut built, tools, &mut self.known_requests);
        }
        let CallBuilder { call, hashes, .. } = &mut *built;
        let hashes = *hashes;
        call.place.input = self.input;
        call.place.line += lines_before;
        if call.transaction.is_some() || !self.transactions.is_empty() {
            let of = self.transactions.of(hashes.run, call.transaction.as_deref(), call.place.line);
            call.transaction = of.map(Box::new);
        }
        let mut answers: Vec<RecordedAnswer> = call.answers.drain(..).collect();
        match answers.is_empty() {
            true => self.ledger.calls += 1,
            false => self.ledger.combined += 1,
        }
        let number = self.open.next();
        let (run, new) = self.runs.find_or_add(hashes.run, number);
        self.ledger.runs += u64::from(new);
        let late = self.record_time(run, call.at);
        let resend = self.earlier_attempt(call, &hashes, run).map(|of| JoinedResend { of, at: call.at });
        let target = AnswerTarget { number: resend.map_or(number, |resend| resend.of), resend };
        if hashes.id != 0 {
            let holder = self.find(hashes.id).map(|holder| holder.number);
            if let Some(holder) = holder.filter(|&holder| holder != target.number) {
                self.supersede(holder);
            }
        }
        let line = call.place.line;
        let early = self.early.take(hashes.id, call.at);
        match resend {
            Some(resend) => self.join(resend, &built, run),
            None => self.open(built, run, late, closed),
        }
        for answer in &mut answers {
            answer.place = Place { input: self.input, line };
        }
        for answer in answers.into_iter().chain(early.into_iter().map(|entry| entry.answer)) {
            self.attach(target, answer, late);
        }
    }

    /// Adds an open call, and closes the one that has been open for a whole window.
    fn open(&mut self, mut built: Box<CallBuilder>, slot: RunSlot, late: bool, closed: &mut Vec<CompletedCall>) {
        let number = self.open.next();
        let run = self.runs.run_mut(slot);
        built.call.number = number;
        built.call.number_in_run = run.next_number();
        built.counts = AttemptCounts { last_write: run.last_write, ..AttemptCounts::default() };
        if self.options.join_resends {
            self.by_resend.insert(half(built.hashes.resend()), number);
        }
        if let Some(ids) = &mut self.bare_ids {
            ids.add(bare_id(&built), built.hashes.id);
        }
        if built.hashes.key != 0 && self.writes(built.hashes.tool, built.call.tool()) {
            self.keys.note(&mut built);
        }
        self.open.push(built, slot, &mut self.runs);
        self.turns.push_back(number);
        if late {
            self.put_in_order(slot);
        }
        if self.turns.len() as u64 > self.options.reorder_window.max(1) {
            self.close_next(closed);
        }
    }

    /// Puts the newest call among those of its run that were made after it.
    fn put_in_order(&mut self, run: RunSlot) {
        let Assembler { open, turns, first_turn, runs, .. } = self;
        open.put_in_order(MAX_SEARCHED, runs, |moved, number| {
            let place = moved.turn.checked_sub(*first_turn).and_then(|place| usize::try_from(place).ok());
            if let Some(turn) = place.and_then(|place| turns.get_mut(place)) {
                *turn = number;
            }
        });
        let number = open.next() - 1;
        let Some(made) = open.get(number).map(OpenCall::made) else { return };
        let RunState { last_open, last_write, .. } = *runs.run(run);
        let is_write = |tool: u128| self.known_writes.get(&tool) == Some(&true);
        let writes = &mut runs.run_mut(run).writes;
        if matches!(writes, TimedWrites::Unneeded) {
            *writes = writes::gather(last_write, open, last_open, is_write);
        }
        let known = writes.last_before(made);
        let last_write = known.unwrap_or_else(|| writes::last_before(made, last_write, open, last_open, is_write));
        if let Some(open) = self.open.get_mut(number) {
            open.built.counts.last_write = last_write;
        }
    }

    /// Whether a tool changes the upstream.
    fn writes(&mut self, tool: u128, name: &str) -> bool {
        let writes = self.writes;
        *self.known_writes.entry(tool).or_insert_with(|| writes(name))
    }

    /// The open call that this one is joined to.
    fn earlier_attempt(&self, call: &RecordedCall, hashes: &CallHashes, run: RunSlot) -> Option<u64> {
        if !self.options.join_resends {
            return None;
        }
        let number = *self.by_resend.get(&half(hashes.resend()))?;
        let earlier = self.open.get(number).filter(|earlier| earlier.built.hashes.resend() == hashes.resend())?;
        let failed_on = earlier.built.counts.failed_on;
        let failed = failed_on != 0 && !earlier.succeeded();
        let unchanged = earlier.built.call.token() == call.token();
        let written = self.runs.run(run).last_write.is_some_and(|write| write.place > failed_on);
        (failed && unchanged && !written).then_some(number)
    }

    fn join(&mut self, resend: JoinedResend, call: &CallBuilder, slot: RunSlot) {
        self.ledger.joined += 1;
        self.runs.run_mut(slot).next_number(); // later calls have the numbers that they have where none is joined
        let Some(earlier) = self.open.get_mut(resend.of) else { return };
        earlier.built.counts.failed_on = 0; // only an answer to this resend allows the next one
        let id = call.hashes.id;
        if id != 0 && id != earlier.built.hashes.id {
            let bare = bare_id(call);
            let is_new = self.joined.add(id, bare, resend);
            if let Some(ids) = self.bare_ids.as_mut().filter(|_| is_new) {
                ids.add(bare, id);
            }
        }
    }

    /// The open call with this id.
    fn find(&self, id: u128) -> Option<AnswerTarget> {
        let own = self.open.find(id).map(|number| AnswerTarget { number, resend: None });
        own.or_else(|| {
            let resend = self.joined.find(id)?;
            let target = AnswerTarget { number: resend.of, resend: Some(resend) };
            self.open.get(resend.of).is_some_and(|open| !open.superseded).then_some(target)
        })
    }

    /// The only open call with this id in any run, for a result without a run; with its id in its run.
    fn find_in_any_run(&mut self, bare: u128) -> Option<(u128, AnswerTarget)> {
        let ids = self.bare_ids.get_or_insert_with(|| BareIds::of(&self.open, &self.joined));
        let id = ids.only(bare)?;
        Some((id, self.find(id)?))
    }

    fn answer(&mut self, entry: AnswerEntry, lines_before: u64) {
        let AnswerEntry { run, mut id, tool, mut answer } = entry;
        self.ledger.results += 1;
        answer.place.input = self.input;
        answer.place.line += lines_before;
        let target = match (id, tool) {
            (0, 0) => None,
            (0, _) => self.newest(run, tool).map(|number| AnswerTarget { number, resend: None }),
            _ => match self.find(id) {
                None if run == self.nameless => self.find_in_any_run(id).map(|found| {
                    id = found.0;
                    found.1
                }),
                found => found,
            },
        };
        let Some((target, run)) = target.and_then(|target| Some((target, self.open.get(target.number)?.run))) else {
            if let Some(orphan) = self.early.add(AnswerEntry { run, id, tool, answer }) {
                self.ledger.count_orphan(&orphan.answer);
            }
            return;
        };
        let late = self.record_time(run, answer.at);
        if target.resend.is_some() {
            self.joined.answer(id);
        }
        self.attach(target, answer, late);
    }

    /// Notes what a dispatcher did with an open call, or refuses a line that says what cannot have happened.
    fn dispatch(&mut self, mut entry: DispatchEntry, lines_before: u64) -> Result<(), Report> {
        entry.line += lines_before;
        let target = match self.find(entry.id) {
            None if entry.run == self.nameless => self.find_in_any_run(entry.id).map(|found| found.1),
            found => found,
        };
        let open = target.and_then(|target| self.open.get_mut(target.number));
        let noted = dispatched::note(open, entry, self.recorder.as_ref());
        self.ledger.dispatched += u64::from(noted.is_ok());
        noted.or_else(|bad| self.refuse(&bad))
    }

    /// Hides an open call from later lines: a later call took its id.
    fn supersede(&mut self, number: u64) {
        let Some(open) = self.open.get_mut(number).filter(|open| !open.superseded) else { return };
        open.superseded = true;
        if let Some(ids) = &mut self.bare_ids {
            ids.remove_call(&open.built, &self.joined);
        }
        if self.options.join_resends {
            let resend = half(open.built.hashes.resend());
            if self.by_resend.get(&resend) == Some(&number) {
                self.by_resend.remove(&resend);
            }
        }
    }

    /// The newest open call of a run and tool that has not succeeded.
    fn newest(&self, run: u128, tool: u128) -> Option<u64> {
        let mut number = self.runs.run(self.runs.find(run)?).last_open;
        for _ in 0..MAX_SEARCHED {
            let open = self.open.get(number)?;
            if open.built.hashes.tool == tool && !open.succeeded() && !open.superseded {
                return Some(number);
            }
            number = open.before();
        }
        None
    }

    /// Attaches an answer to an open call. `late` says that its line is already counted as out of order.
    fn attach(&mut self, target: AnswerTarget, mut answer: RecordedAnswer, late: bool) {
        let mut writes_late = None;
        let Some(open) = self.open.get_mut(target.number) else {
            self.ledger.count_orphan(&answer);
            return;
        };
        let CallBuilder { call, hashes, counts, .. } = &mut *open.built;
        if call.answers.len() >= MAX_ANSWERS {
            self.ledger.surplus += 1;
            return;
        }
        if let Some(resend) = target.resend {
            answer.inferred = true;
            let sent = resend.at.filter(|_| answer.attempt.is_none_or(|attempt| attempt == 1));
            answer.started = answer.started.or(sent);
            answer.attempt = None; // it numbers the resend's attempts, not this call's
        }
        let backwards = answer.at.zip(answer.started.or(call.at)).is_some_and(|(at, start)| at < start);
        if backwards {
            drop_time(&mut answer);
        }
        if let Some(unfinished) = take_unfinished(call, &answer) {
            counts.take_back(&unfinished);
            answer.started = answer.started.or(unfinished.started);
            if unfinished.attempt.is_none() {
                open.highest_attempt = open.highest_attempt.saturating_sub(1);
            }
        }
        if answer.to == AnswerTo::Attempt && (answer.at.is_none() || answer.attempt.is_some()) {
            order_by_lines(call, counts);
        }
        open.has_late |= set_late_apart(call, counts, open.highest_attempt, &mut answer);
        let Some(index) = insert_index(call, open.highest_attempt, &answer) else {
            self.ledger.duplicates += 1;
            let undecided = (answer.attempt, answer.at.or(answer.started)) == (None, None);
            let is_doubt = match answer.to {
                AnswerTo::Attempt => undecided,
                AnswerTo::Late => is_copy_of_attempt(call, &answer) && !is_refused(&answer.reply),
                AnswerTo::Refresh | AnswerTo::Reversal => false,
            };
            counts.ambiguous += u32::from(is_doubt);
            return;
        };
        self.ledger.attached += 1;
        self.ledger.read_from_text += u64::from(matches!(answer.status_from, StatusFrom::Body | StatusFrom::Text));
        self.ledger.backwards += u64::from(backwards && !late);
        if answer.to == AnswerTo::Attempt {
            let number = answer.attempt.unwrap_or_else(|| open.highest_attempt.saturating_add(1));
            let later = call.answers.get(index..).unwrap_or_default().iter().any(|seen| seen.to == AnswerTo::Attempt);
            counts.add_attempt(&answer, !later);
            open.highest_attempt = open.highest_attempt.max(number);
            counts.left_out = open.highest_attempt.saturating_sub(counts.attempts);
        } else {
            counts.add_other(&answer);
            self.keys.note_reversal(hashes.key, &answer);
        }
        let acted = answer.reply == Reply::Ok && answer.to != AnswerTo::Refresh; // a refresh changes nothing upstream
        if acted && *self.known_writes.entry(hashes.tool).or_insert_with(|| (self.writes)(call.tool())) {
            let (slot, write) = (open.run, writes::moment_of(&answer));
            let run = self.runs.run_mut(slot);
            run.last_write = writes::later(run.last_write, write);
            run.writes.note(write);
            writes_late = late.then_some((slot, write));
        }
        if call.answers.is_empty() {
            call.answers.reserve_exact(1); // most calls have one answer; a pooled call has capacity already
        }
        call.answers.insert(index, answer);
        if let Some((run, write)) = writes_late {
            writes::note_late(write, &mut self.open, self.runs.run(run).last_open);
        }
    }

    /// Records the time of a line; counts and returns whether it is before an earlier one of its run.
    fn record_time(&mut self, run: RunSlot, at: Option<Instant>) -> bool {
        let run = self.runs.run_mut(run);
        let late = at.zip(run.latest).is_some_and(|(at, latest)| at < latest);
        self.ledger.backwards += u64::from(late);
        run.latest = run.latest.max(at);
        late
    }

    fn run_end(&mut self, run: u128) {
        self.ledger.run_ends += 1;
        self.transactions.end_run(run);
        let Some(slot) = self.runs.find(run) else { return };
        let mut number = std::mem::take(&mut self.runs.run_mut(slot).last_open);
        while let Some(open) = self.open.get(number) {
            let before = open.before();
            self.supersede(number);
            number = before;
        }
    }

    /// What a program does with a transaction. A commit is noted at the calls that are not known to be done.
    fn act(&mut self, run: u128, label: Box<str>, act: Act, line: u64) {
        self.ledger.dispatched += 1;
        match act {
            Act::Begin => self.transactions.begin(run, label, line),
            Act::State | Act::Rollback => {}
            Act::Commit => {
                if let Some(of) = self.transactions.commit(run, label, line) {
                    self.note_commit(run, &of);
                }
            }
        }
    }

    fn note_commit(&mut self, run: u128, of: &RecordedTransaction) {
        let mut next = self.runs.find(run).map_or(0, |slot| self.runs.run(slot).last_open);
        let mut done: Vec<u128> = Vec::new();
        for _ in 0..MAX_SEARCHED {
            let Some(open) = self.open.get_mut(next) else { return };
            let (succeeded, before) = (open.succeeded(), open.before());
            let CallBuilder { call, hashes, .. } = &mut *open.built;
            let is_of_it = |known: &RecordedTransaction| (&known.label, known.since) == (&of.label, of.since);
            if let Some(known) = call.transaction.as_deref_mut().filter(|known| is_of_it(known)) {
                if succeeded {
                    done.push(hashes.request);
                } else {
                    known.was_committed = known.begun == of.begun && !done.contains(&hashes.request);
                }
            }
            next = before;
        }
    }

    /// The dispatcher of a run, or of all runs, dies: a request that is out is answered with the kind `interrupted`, and nobody
    /// hears another answer to it.
    fn crash(&mut self, run: Option<u128>, at: Option<Instant>, place: Place) {
        self.ledger.dispatched += 1;
        if run.is_some_and(|run| self.runs.find(run).is_none()) {
            self.ledger.count_stray_crash(place.line);
        }
        let open: Vec<u64> = self.turns.iter().copied().collect();
        for number in open {
            let Some(open) = self.open.get(number).filter(|open| !open.superseded) else { continue };
            let built = &open.built;
            let has_ended = built.call.dispatch.as_ref().is_some_and(|of| of.ended.is_some() || of.cancelled.is_some());
            if has_ended || !built.call.answers.is_empty() || run.is_some_and(|run| run != built.hashes.run) {
                continue;
            }
            let answer = RecordedAnswer {
                to: AnswerTo::Attempt,
                attempt: None,
                started: None,
                at,
                reply: Reply::Failed(Some(Arc::new(ErrorFacts::interrupted()))),
                inferred: false,
                status_from: StatusFrom::Flag,
                draw: None,
                line_hash: 0,
                place,
            };
            self.attach(AnswerTarget { number, resend: None }, answer, false);
            self.ledger.attached = self.ledger.attached.saturating_sub(1); // it has no line of its own
            self.supersede(number);
        }
    }

    fn close_next(&mut self, closed: &mut Vec<CompletedCall>) {
        if let Some(number) = self.turns.pop_front() {
            self.first_turn += 1;
            self.close(number, closed);
        }
    }

    fn close(&mut self, number: u64, closed: &mut Vec<CompletedCall>) {
        let is_superseded = self.open.get(number).is_some_and(|open| open.superseded);
        let Some(mut call) = self.open.take(number, &mut self.runs) else { return };
        self.ledger.count_unsent(&call);
        self.keys.mark(&mut call);
        if let Some(ids) = self.bare_ids.as_mut().filter(|_| !is_superseded) {
            ids.remove_call(&call, &self.joined);
        }
        prefetch(&*call); // it has left the cache, and will be read soon
        if self.options.join_resends {
            self.joined.close(number);
            let resend = half(call.hashes.resend());
            if self.by_resend.get(&resend) == Some(&number) {
                self.by_resend.remove(&resend);
            }
        }
        closed.push(CompletedCall::new(call));
    }
}

/// Takes the arguments that do not count, and the run if it does not, out of the request of a call.
fn name_request(built: &mut CallBuilder, tools: &Tools, known: &mut HashMap<u128, (Option<SameIf>, bool), FixedState>) {
    let tool = built.call.tool();
    let told = || (tools.same_if(tool).cloned(), tools.facts(tool).across_runs);
    let (same_if, across_runs) = known.entry(built.hashes.tool).or_insert_with(told);
    if same_if.is_none() && !*across_runs {
        return;
    }
    let (args, is_named) = call_hashes::args_hash(same_if.as_ref(), built.call.args());
    built.hashes = built.hashes.with_request(if is_named { args } else { built.hashes.args }, *across_runs);
    built.is_named = is_named;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "the account of `t.jsonl` does not balance")]
    fn an_account_that_does_not_balance_panics() {
        let mut assembler = Assembler::new(0, "t.jsonl", AssembleOptions::default(), &|_| true);
        assembler.ledger.results += 1; // an answer that is neither attached nor an orphan
        assembler.finish(&mut Vec::new());
    }
}
