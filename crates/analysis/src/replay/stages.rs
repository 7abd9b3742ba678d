//! The stages of a replay: read pieces, parse them, close calls in order, simulate batches, add the sums in order.
//! Opens no files, renders nothing, and knows no threads and no kind of observer: it is compiled once for all of them.
#![expect(clippy::disallowed_types, reason = "looked up by key only, never iterated into an output")]

use std::collections::{HashSet, VecDeque};
use std::io::Read;
use std::sync::atomic::{AtomicUsize, Ordering};

use foldhash::fast::FixedState;

use playproof_engine::classify::KnownFailures;
use playproof_engine::event::{ErrorFacts, Finding, FindingBy};
use playproof_engine::evidence::{FailureMeaning, Moment};
use playproof_engine::playbook::ToolFacts;
use playproof_engine::sim::{Plan, SimulationRecord};
use playproof_intake::assemble::{AssembleOptions, Assembler, FirstUses, Writes};
use playproof_intake::call::CompletedCall;
use playproof_intake::digest;
use playproof_intake::digest::Digest;
use playproof_intake::hash;
use playproof_intake::input::{ReadError, TraceInput};
use playproof_intake::pieces::{Chunks, InputPiece};
use playproof_intake::simd;

use super::attempts::{self, Judges};
use super::buffer_pool::BufferPool;
use super::call_result::{CallMarks, CallResult, RequestMark, ShownCall};
use super::counts::Counts;
use super::facts_cache::FactsCache;
use super::io::{InputAccount, Inputs, ReplayOptions, UnreadInput};
use super::lanes::{Lanes, NumberedCall};
use super::message_template::MessageTemplates;
use super::plan_state::PlanState;
use super::recorded::RecordingAnalysis;
use super::step_order::has_steps;
use super::summary::{FindingCounts, Summary};

/// The number of calls after which jointly simulated calls are merged into the order.
const ROUND: usize = 4_096;

/// The most runs off tape that are told apart.
const MAX_RUNS_OFF_TAPE: usize = 500_000;

/// The most calls of a batch.
const BATCH: usize = 256;

/// The most calls that are judged while one waits for what was made before its end.
const MOST_AWAITED: u64 = 4_096;

/// Closed calls that one worker takes at a time, and what is known of them by their index.
pub(super) struct Batch {
    calls: Vec<CompletedCall>,
    /// Findings of the recording.
    recorded: Vec<(usize, Finding)>,
    /// Calls that were simulated together with others of their run, with their records by plan.
    joined: Vec<(usize, Vec<Option<Box<SimulationRecord>>>)>,
}

/// The context of all stages, shared by all threads.
pub(super) struct Stages<'a> {
    pub plans: &'a [Plan],
    pub options: &'a ReplayOptions,
    pub writes: &'a Writes<'a>,
    /// Reusable buffers and calls.
    pub pool: BufferPool,
    /// The number of inputs that are read no further.
    pub ended: AtomicUsize,
}

/// The source of bytes.
pub(super) struct Feed<'i> {
    inputs: Inputs<'i>,
    current: Option<(String, Chunks<Box<dyn Read + Send + 'i>>)>,
    /// The number of inputs that were begun.
    begun: usize,
}

/// A piece of an input.
pub(super) enum RawPiece {
    Begins(String),
    Piece(InputPiece),
    Ends,
    Broken(ReadError),
}

/// A parsed piece.
pub(super) enum ParsedPiece {
    Begins(String),
    Digest(Digest),
    Ends,
    Broken(ReadError),
}

/// The sequential stage, in the order of the lines.
pub(super) struct Order<'a> {
    current: Option<(String, Assembler<'a>)>,
    pub recording: RecordingAnalysis,
    /// The keys of the inputs before the current one.
    keys: FirstUses,
    facts: FactsCache,
    /// If a playbook joins calls.
    lanes: Option<Lanes>,
    /// The number of calls given to the lanes.
    numbered: u64,
    closed: Vec<CompletedCall>,
    /// Calls that were judged, and wait until what was made before their ends is known.
    judged: VecDeque<JudgedCall>,
    /// The last line of a call that was judged, and how many were.
    newest: u64,
    taken: u64,
    pub accounts: Vec<InputAccount>,
    pub unread: Vec<UnreadInput>,
}

/// A call with what the recording shows of it.
struct JudgedCall {
    closed: CompletedCall,
    facts: ToolFacts,
    recorded: Vec<Finding>,
    /// When its agent is told of it, if that matters.
    told_at: Option<Moment>,
    /// Its number among all calls.
    number: u64,
}

/// The sums of one batch.
pub(super) struct BatchSums {
    summaries: Vec<Summary>,
    recorded: FindingCounts,
    /// Attempts that may have made an effect again, by tool.
    resent: Counts,
    /// By plan: hashes of runs that went off tape.
    off_tape: Vec<Vec<u128>>,
}

/// The sums of all batches.
#[derive(Default)]
pub(super) struct Sums {
    pub summaries: Vec<Summary>,
    pub recorded: FindingCounts,
    pub resent: Counts,
    off_tape: Vec<HashSet<u128, FixedState>>,
}

/// Takes each call of a batch.
type OnCall<'c> = dyn FnMut(&CallResult<'_>) + 'c;

/// What a worker keeps between batches.
pub(super) struct WorkerState {
    plans: Vec<PlanState>,
    /// The facts of the call at work, by plan.
    facts: Vec<ToolFacts>,
    scratch: ReportScratch,
}

/// What the reports of calls reuse.
#[derive(Default)]
struct ReportScratch {
    findings: Vec<Finding>,
    templates: MessageTemplates,
    known: KnownFailures<FailureMeaning>,
}

impl<'i> Feed<'i> {
    pub(super) fn new(inputs: Inputs<'i>) -> Feed<'i> {
        Feed { inputs, current: None, begun: 0 }
    }

    /// The next piece. Of the first `ended` inputs nothing more is needed.
    fn next(&mut self, spare: Vec<u8>, ended: usize) -> Option<RawPiece> {
        let Some((name, chunks)) = &mut self.current else {
            let input = self.inputs.next()?;
            return Some(self.begin(input));
        };
        let piece = match chunks.next(spare) {
            Ok(Some(piece)) if self.begun > ended => return Some(RawPiece::Piece(piece)),
            Ok(_) => RawPiece::Ends,
            Err(error) => RawPiece::Broken(ReadError::Unreadable(name.clone(), error)),
        };
        self.current = None;
        Some(piece)
    }

    fn begin(&mut self, input: TraceInput<'i>) -> RawPiece {
        self.begun += 1;
        self.current = Some((input.name.clone(), Chunks::new(input.lines)));
        RawPiece::Begins(input.name)
    }
}

impl<'a> Stages<'a> {
    /// The next piece; none at the end.
    pub(super) fn read(&self, source: &mut Feed<'_>) -> Option<RawPiece> {
        source.next(self.pool.buffer(), self.ended.load(Ordering::Relaxed))
    }

    /// Parses a piece.
    pub(super) fn parse(&self, raw: RawPiece) -> ParsedPiece {
        match raw {
            RawPiece::Begins(name) => ParsedPiece::Begins(name),
            RawPiece::Piece(piece) => {
                let mut calls = self.pool.calls();
                let digest = digest::read_piece_into(&piece, &self.options.redaction, &mut calls);
                self.pool.keep_calls(calls);
                if let InputPiece::Lines(buffer) = piece {
                    self.pool.keep_buffer(buffer);
                }
                ParsedPiece::Digest(digest)
            }
            RawPiece::Ends => ParsedPiece::Ends,
            RawPiece::Broken(error) => ParsedPiece::Broken(error),
        }
    }

    /// Takes the next parsed piece in order (none at the end) and adds the batches that are complete.
    pub(super) fn order(&self, order: &mut Order<'a>, parsed: Option<ParsedPiece>, batches: &mut Vec<Batch>) {
        match parsed {
            Some(ParsedPiece::Begins(name)) => {
                let input = u32::try_from(order.accounts.len()).unwrap_or(u32::MAX);
                let requests = self.plans.first().and_then(Plan::requests);
                let options = AssembleOptions { requests, ..self.options.assemble.clone() };
                let assembler = Assembler::new(input, &name, options, self.writes);
                order.current = Some((name, assembler.with_keys(std::mem::take(&mut order.keys))));
            }
            Some(ParsedPiece::Digest(digest)) => {
                if let Some((_, assembler)) = &mut order.current
                    && let Err(report) = assembler.take(digest, &mut order.closed)
                {
                    order.end_early(report.into());
                    self.ended.store(order.accounts.len(), Ordering::Relaxed);
                }
            }
            Some(ParsedPiece::Ends) => order.end(),
            Some(ParsedPiece::Broken(error)) => order.end_early(error),
            None => {}
        }
        order.cut(self.plans, self.options, batches);
        if order.current.is_none() {
            order.recording.begin_input(); // runs belong to one input
        }
    }

    /// The state of a new worker.
    pub(super) fn worker(&self) -> WorkerState {
        WorkerState {
            plans: self.plans.iter().map(|_| PlanState::default()).collect(),
            facts: Vec::new(),
            scratch: ReportScratch::default(),
        }
    }

    /// Simulates a batch, and shows each of its calls.
    pub(super) fn work(&self, worker: &mut WorkerState, batch: Batch, on_call: &mut OnCall<'_>) -> BatchSums {
        let mut done = BatchSums {
            summaries: self.plans.iter().map(Summary::new).collect(),
            recorded: FindingCounts::default(),
            resent: Counts::default(),
            off_tape: self.plans.iter().map(|_| Vec::new()).collect(),
        };
        let mut recorded = batch.recorded.into_iter().peekable();
        let mut joined = batch.joined.into_iter().peekable();
        let how = (&self.options.beyond, self.options.simulates_each);
        for (n, closed) in batch.calls.iter().enumerate() {
            prefetch_next(&batch.calls, n);
            let records = joined.next_if(|(place, _)| *place == n).map_or_else(Vec::new, |(_, records)| records);
            let joined = records.into_iter().chain(std::iter::repeat_with(|| None));
            worker.facts.clear();
            for ((plan, state), joined) in self.plans.iter().zip(&mut worker.plans).zip(joined) {
                worker.facts.push(state.take(plan, closed, joined, how));
            }
            worker.scratch.findings.clear();
            let own = std::iter::from_fn(|| recorded.next_if(|(place, _)| *place == n));
            worker.scratch.findings.extend(own.map(|(_, finding)| finding));
            self.report(closed, worker, &mut done, on_call);
        }
        self.pool.keep_calls(batch.calls.into_iter().map(CompletedCall::into_box));
        done
    }

    /// Adds a simulated call to the sums, and shows it.
    fn report(&self, closed: &CompletedCall, worker: &mut WorkerState, done: &mut BatchSums, on_call: &mut OnCall<'_>) {
        let (call, WorkerState { plans: states, facts, scratch }) = (closed.raw(), worker);
        let ReportScratch { findings, templates, known } = scratch;
        let (states, facts) = (&**states, &**facts);
        let records = || states.iter().map(PlanState::record);
        for (n, (plan, record)) in self.plans.iter().zip(records()).enumerate() {
            if let Some(summary) = done.summaries.get_mut(n) {
                summary.add(plan, call, record, templates);
                if let Some(shared) = &mut summary.shared {
                    shared.add(plan, closed.shown(), record);
                }
            }
            let off_tape = record.tallies.iter().any(|tally| tally.off_tape.is_some());
            if let Some(runs) = done.off_tape.get_mut(n).filter(|_| off_tape) {
                let run = closed.hashes.run ^ u128::from(call.place.input); // names of runs belong to one input
                if runs.last() != Some(&run) {
                    runs.push(run);
                }
            }
        }
        // What a harness made of the steps of an action is no attempt: each step is judged.
        if let Some(&facts) = facts.first()
            && !has_steps(call, self.plans.first())
            && attempts::judge(closed, facts, &mut Judges::new(self.plans, known), findings)
        {
            done.resent.add(closed.shown().tool(), 1);
        }
        Finding::settle(findings);
        for finding in &*findings {
            done.recorded.add(finding.kind(), FindingBy::Recorded, 1);
        }
        for (summary, record) in done.summaries.iter_mut().zip(records()) {
            summary.add_recorded_findings(call, record, findings);
        }
        let (hashes, across_runs) = (&closed.hashes, facts.first().is_some_and(|facts| facts.across_runs));
        let request = RequestMark { input: (!across_runs).then_some(call.place.input), request: hashes.request };
        let case = hash::joined([hashes.tool, hashes.args]);
        let marks = CallMarks { intent: hashes.intent(), request, case };
        let dispatcher = hashes.dispatcher;
        let call = ShownCall { shown: closed.shown(), raw: call, facts };
        let run = closed.hashes.run;
        let result = CallResult { call, marks, run, dispatcher, recorded: findings, plans: self.plans, states, facts };
        on_call(&result);
    }
}

impl Order<'_> {
    pub(super) fn new(plans: &[Plan]) -> Self {
        Order {
            current: None,
            recording: RecordingAnalysis::default(),
            keys: FirstUses::default(),
            facts: FactsCache::default(),
            lanes: Lanes::of(plans),
            numbered: 0,
            closed: Vec::new(),
            judged: VecDeque::new(),
            newest: 0,
            taken: 0,
            accounts: Vec::new(),
            unread: Vec::new(),
        }
    }

    /// Ends an input that cannot be read further, unless it has ended.
    fn end_early(&mut self, error: ReadError) {
        if self.current.is_some() {
            self.unread.push(UnreadInput { input: self.accounts.len(), error });
            self.end();
        }
    }

    /// Closes the open calls at the end of an input, and keeps its account.
    fn end(&mut self) {
        if let Some((name, assembler)) = self.current.take() {
            let first_unknown = assembler.first_unknown().clone();
            let (ledger, skipped, keys) = assembler.finish(&mut self.closed);
            self.keys = keys;
            self.accounts.push(InputAccount { name, ledger, first_unknown, skipped });
        }
    }

    /// Analyses the closed calls in order and cuts them into batches. An incomplete batch waits for more calls, but not
    /// beyond its input.
    fn cut(&mut self, plans: &[Plan], options: &ReplayOptions, batches: &mut Vec<Batch>) {
        let piece = if self.lanes.is_some() { ROUND } else { BATCH };
        while self.closed.len() >= piece || (self.current.is_none() && !self.closed.is_empty()) {
            let mut calls: Vec<CompletedCall> = self.closed.drain(..piece.min(self.closed.len())).collect();
            calls.iter_mut().for_each(|closed| options.redaction.show(closed)); // here, because names are numbered in order
            let of_tool = |closed: &CompletedCall| match plans.first() {
                Some(plan) => self.facts.facts(plan, closed.hashes.tool, closed.raw()),
                None => ToolFacts::ASSUMED,
            };
            let facts: Vec<ToolFacts> = calls.iter().map(of_tool).collect();
            self.recording.prepare(&calls, &facts);
            for (closed, facts) in calls.into_iter().zip(facts) {
                let mut recorded = Vec::new();
                self.recording.take(&closed, facts, plans, |finding| recorded.push(finding));
                self.newest = self.newest.max(closed.raw().place.line);
                let is_action = has_steps(closed.raw(), plans.first());
                // A call without an answer may be told what is told of another one.
                let may_follow = closed.counts.answers == 0 && self.lanes.is_some();
                let is_asked = is_action || closed.counts.failed_on > 0 || may_follow;
                let told_at = is_asked.then(|| told_at(&closed));
                self.taken += 1;
                self.judged.push_back(JudgedCall { closed, facts, recorded, told_at, number: self.taken });
            }
        }
        self.release(plans, options, batches);
        if self.current.is_none() {
            self.newest = 0; // lines belong to one input
        }
        if let Some(lanes) = &mut self.lanes {
            if self.current.is_none() {
                lanes.finish(plans);
            }
            cut(lanes.take_ended(), batches);
        }
    }
}

impl Order<'_> {
    /// Gives the judged calls on, in order, as far as all calls are known that were made before they ended.
    fn release(&mut self, plans: &[Plan], options: &ReplayOptions, batches: &mut Vec<Batch>) {
        let is_over = self.current.is_none();
        let is_known = |call: &JudgedCall| {
            let is_past = call.told_at.is_none_or(|told| told.place < self.newest);
            is_over || is_past || call.number + MOST_AWAITED <= self.taken
        };
        let known = self.judged.iter().take_while(|call| is_known(call)).count();
        // An incomplete batch waits for more calls, but not beyond its input.
        let count = if is_over || self.lanes.is_some() { known } else { known - known % BATCH };
        let mut batch = Batch { calls: Vec::new(), recorded: Vec::new(), joined: Vec::new() };
        for mut call in self.judged.drain(..count).collect::<Vec<_>>() {
            if call.told_at.is_some_and(|told| self.recording.is_unwise(&call.closed, call.facts, plans, told)) {
                call.closed.set_repeat_unwise();
            }
            let JudgedCall { closed, recorded, .. } = call;
            match &mut self.lanes {
                None => {
                    let place = batch.calls.len();
                    batch.calls.push(closed);
                    batch.recorded.extend(recorded.into_iter().map(|finding| (place, finding)));
                    if batch.calls.len() >= BATCH {
                        let full = Batch { calls: Vec::new(), recorded: Vec::new(), joined: Vec::new() };
                        batches.push(std::mem::replace(&mut batch, full));
                    }
                }
                Some(lanes) => {
                    let call = NumberedCall { number: self.numbered, closed, recorded, records: Vec::new() };
                    self.numbered += 1;
                    lanes.take(plans, options.session(), call);
                }
            }
        }
        if !batch.calls.is_empty() {
            batches.push(batch);
        }
    }
}

impl Sums {
    pub(super) fn new(plans: &[Plan]) -> Sums {
        Sums {
            summaries: plans.iter().map(Summary::new).collect(),
            off_tape: plans.iter().map(|_| HashSet::default()).collect(),
            ..Sums::default()
        }
    }

    /// Adds those of the next batch.
    pub(super) fn add(&mut self, done: &BatchSums) {
        for (mine, later) in self.summaries.iter_mut().zip(&done.summaries) {
            mine.merge(later);
        }
        self.recorded.merge(&done.recorded);
        self.resent.merge(&done.resent);
        for ((summary, known), runs) in self.summaries.iter_mut().zip(&mut self.off_tape).zip(&done.off_tape) {
            for &run in runs {
                match known.len() < MAX_RUNS_OFF_TAPE {
                    true => drop(known.insert(run)),
                    false => summary.off_tape_runs_bound |= !known.contains(&run),
                }
            }
            summary.off_tape_runs = known.len() as u64;
        }
    }
}

/// Cuts calls into batches, in their order.
fn cut(calls: Vec<NumberedCall>, batches: &mut Vec<Batch>) {
    let mut calls = calls.into_iter().peekable();
    while calls.peek().is_some() {
        let mut batch = Batch { calls: Vec::with_capacity(BATCH), recorded: Vec::new(), joined: Vec::new() };
        for (n, call) in calls.by_ref().take(BATCH).enumerate() {
            batch.calls.push(call.closed);
            batch.recorded.extend(call.recorded.into_iter().map(|finding| (n, finding)));
            if !call.records.is_empty() {
                batch.joined.push((n, call.records));
            }
        }
        batches.push(batch);
    }
}

/// When the agent is told of a call: at its end, as far as that is recorded.
pub fn told_at(closed: &CompletedCall) -> Moment {
    let counts = &closed.counts;
    match closed.raw().dispatch.as_ref().and_then(|dispatch| dispatch.ended) {
        Some((at, place)) => Moment::new(Some(at), place),
        None if counts.ended_on == 0 => Moment::END,
        None => Moment::new(counts.ended_at, counts.ended_on),
    }
}

/// Prefetches the next calls: they were last touched thousands of calls ago.
#[inline]
fn prefetch_next(calls: &[CompletedCall], now: usize) {
    if let Some(soon) = calls.get(now + 12) {
        simd::prefetch(&**soon);
    }
    if let Some(next) = calls.get(now + 8)
        && let Some(answer) = next.raw().answers.first()
    {
        simd::prefetch_texts(next.raw().names());
        simd::prefetch(answer);
    }
    if let Some(error) = calls.get(now + 5).and_then(first_error) {
        simd::prefetch(error);
    }
    if let Some(error) = calls.get(now + 2).and_then(first_error)
        && let (Some(kind), Some(message)) = (&error.kind, &error.message)
    {
        simd::prefetch(&**kind);
        simd::prefetch(&**message);
    }
}

fn first_error(closed: &CompletedCall) -> Option<&ErrorFacts> {
    closed.raw().answers.first()?.reply.error().map(|error| &**error)
}
