//! The stages of a replay: pieces of inputs, digests, closed calls, simulations, and whatever the caller makes of
//! them, in the order in which the calls close. Opens no files, renders nothing, and knows no threads.
#![expect(clippy::disallowed_types, reason = "a set of marks that is only asked, never iterated")]

use std::collections::HashSet;
use std::io::{self, Read};

use playproof_engine::event::{Finding, FindingBy};
use playproof_engine::playbook::ToolFacts;
use playproof_engine::sim::{Plan, SimulationRecord, Simulator};
use playproof_trace::assemble::{Assembler, Writes};
use playproof_trace::call::CompletedCall;
use playproof_trace::digest;
use playproof_trace::digest::Digest;
use playproof_trace::input::{ReadError, TraceInput};
use playproof_trace::pieces::{Chunks, InputPiece};

use super::ahead::ahead;
use super::attempts;
use super::batch::{self, BATCH, Batch};
use super::counts::Counts;
use super::facts::KnownFacts;
use super::io::{InputAccount, Inputs, ReplayError, ReplayOptions, Watch};
use super::lanes::{Lanes, Numbered};
use super::recorded::{PossibleDuplicates, Recording};
use super::seen::{Seen, SeenCall};
use super::spare::Spare;
use super::summary::{FindingCounts, Summary};
use super::template::Forms;

/// Calls after which those that were simulated together, and have ended, are put in their order among the others.
const ROUND: usize = 4_096;

/// Runs off tape that are told apart.
const MAX_RUNS_OFF_TAPE: usize = 500_000;

/// What all stages of a replay know; any number of threads share it.
pub(super) struct Stages<'a, W> {
    pub plans: &'a [Plan],
    pub options: &'a ReplayOptions,
    pub watch: &'a W,
    pub writes: &'a Writes<'a>,
    /// Buffers and calls to fill again.
    pub spare: Spare,
}

/// Where the bytes come from.
pub(super) struct Feed<'i> {
    inputs: Inputs<'i>,
    current: Option<(String, Chunks<Box<dyn Read + Send + 'i>>)>,
}

/// The next of what is read.
pub(super) enum Raw {
    Begins(String),
    Piece(InputPiece),
    Ends,
    Broken(ReadError),
}

/// What parsing makes of it.
pub(super) enum Parsed {
    Begins(String),
    Digest(Digest),
    Ends,
    Broken(ReadError),
}

/// What is done in the order of the lines.
pub(super) struct Order<'a> {
    current: Option<(String, Assembler<'a>)>,
    recording: Recording,
    facts: KnownFacts,
    /// Where a playbook joins calls.
    lanes: Option<Lanes>,
    /// Calls that were given to the lanes.
    numbered: u64,
    closed: Vec<CompletedCall>,
    pub accounts: Vec<InputAccount>,
    pub possible_duplicates: PossibleDuplicates,
}

/// What one worker made of one batch.
pub(super) struct Done<P> {
    part: P,
    summaries: Vec<Summary>,
    recorded: FindingCounts,
    /// By tool: attempts that may have made an effect again.
    resent: Counts,
    /// By plan: runs that went off tape, told apart across inputs.
    off_tape: Vec<Vec<u128>>,
}

/// What becomes of all batches together.
pub(super) struct Total<'a, P> {
    pub summaries: Vec<Summary>,
    pub recorded: FindingCounts,
    pub resent: Counts,
    off_tape: Vec<HashSet<u128, foldhash::fast::FixedState>>,
    sink: Sink<'a, P>,
}

/// Takes what is made of each batch, in order.
type Sink<'a, P> = Box<dyn FnMut(P) -> io::Result<()> + Send + 'a>;

/// What a worker keeps between batches.
pub(super) struct Bench {
    sims: Vec<Simulator>,
    known: Vec<KnownFacts>,
    facts: Vec<ToolFacts>,
    findings: Vec<Finding>,
    forms: Forms,
}

impl<'i> Feed<'i> {
    pub(super) fn new(inputs: Inputs<'i>) -> Feed<'i> {
        Feed { inputs, current: None }
    }

    fn next(&mut self, spare: Vec<u8>) -> Option<Raw> {
        let Some((name, chunks)) = &mut self.current else {
            return Some(match self.inputs.next()? {
                Ok(input) => self.begin(input),
                Err(report) => Raw::Broken(ReadError::from(report)),
            });
        };
        Some(match chunks.next(spare) {
            Ok(Some(piece)) => Raw::Piece(piece),
            Ok(None) => {
                self.current = None;
                Raw::Ends
            }
            Err(error) => Raw::Broken(ReadError::Unreadable(name.clone(), error)),
        })
    }

    fn begin(&mut self, input: TraceInput<'i>) -> Raw {
        self.current = Some((input.name.clone(), Chunks::new(input.lines)));
        Raw::Begins(input.name)
    }
}

impl<'a, W: Watch> Stages<'a, W> {
    /// The next piece; none at the end.
    pub(super) fn read(&self, source: &mut Feed<'_>) -> Option<Raw> {
        source.next(self.spare.buffer())
    }

    /// Parses a piece.
    pub(super) fn parse(&self, raw: Raw) -> Parsed {
        match raw {
            Raw::Begins(name) => Parsed::Begins(name),
            Raw::Piece(piece) => {
                let mut calls = self.spare.calls();
                let digest = digest::read_piece_into(&piece, &self.options.redaction, &mut calls);
                self.spare.keep_calls(calls);
                if let InputPiece::Lines(buffer) = piece {
                    self.spare.keep_buffer(buffer);
                }
                Parsed::Digest(digest)
            }
            Raw::Ends => Parsed::Ends,
            Raw::Broken(error) => Parsed::Broken(error),
        }
    }

    /// Takes the next parsed piece in order (none: there are no more) and adds the batches that follow from it.
    pub(super) fn order(
        &self,
        order: &mut Order<'a>,
        parsed: Option<Parsed>,
        batches: &mut Vec<Batch>,
    ) -> Result<(), ReplayError> {
        match parsed {
            Some(Parsed::Begins(name)) => {
                let input = u32::try_from(order.accounts.len()).unwrap_or(u32::MAX);
                let assembler = Assembler::new(input, &name, self.options.assemble.clone(), self.writes);
                order.current = Some((name, assembler));
            }
            Some(Parsed::Digest(digest)) => {
                if let Some((_, assembler)) = &mut order.current {
                    let taken = assembler.take(digest, &mut order.closed);
                    taken.map_err(|report| ReplayError::Read(report.into()))?;
                }
            }
            Some(Parsed::Ends) => order.end(),
            Some(Parsed::Broken(error)) => return Err(ReplayError::Read(error)),
            None => {}
        }
        order.cut(self.plans, self.options, batches);
        if order.current.is_none() {
            order.possible_duplicates.merge(order.recording.possible_duplicates());
            order.recording = Recording::default(); // intents and runs are those of one input
        }
        Ok(())
    }

    /// What a new worker starts with.
    pub(super) fn bench(&self) -> Bench {
        Bench {
            sims: self.plans.iter().map(|_| Simulator::new()).collect(),
            known: self.plans.iter().map(|_| KnownFacts::default()).collect(),
            facts: Vec::new(),
            findings: Vec::new(),
            forms: Forms::default(),
        }
    }

    /// Works a batch.
    pub(super) fn work(&self, bench: &mut Bench, batch: Batch) -> Done<W::Part> {
        let mut done = Done {
            part: self.watch.part(),
            summaries: self.plans.iter().map(Summary::new).collect(),
            recorded: FindingCounts::default(),
            resent: Counts::default(),
            off_tape: self.plans.iter().map(|_| Vec::new()).collect(),
        };
        let mut recorded = batch.recorded.iter().peekable();
        let mut joined = batch.joined.iter().peekable();
        for (n, closed) in batch.calls.iter().enumerate() {
            ahead(&batch.calls, n);
            bench.findings.clear();
            while let Some((_, finding)) = recorded.next_if(|(place, _)| *place == n) {
                bench.findings.push(*finding);
            }
            let records = joined.next_if(|(place, _)| *place == n).map_or(&[][..], |(_, records)| records);
            self.work_call(bench, closed, records, &mut done);
        }
        self.spare.keep_calls(batch.calls.into_iter().map(CompletedCall::into_box));
        done
    }

    /// Takes what was done, in the order of the batches.
    pub(super) fn sink(&self, total: &mut Total<'_, W::Part>, done: Done<W::Part>) -> Result<(), ReplayError> {
        for (mine, later) in total.summaries.iter_mut().zip(&done.summaries) {
            mine.merge(later);
        }
        total.recorded.merge(&done.recorded);
        total.resent.merge(&done.resent);
        for ((summary, known), runs) in total.summaries.iter_mut().zip(&mut total.off_tape).zip(&done.off_tape) {
            for &run in runs {
                match known.len() < MAX_RUNS_OFF_TAPE {
                    true => drop(known.insert(run)),
                    false => summary.off_tape_runs_bound |= !known.contains(&run),
                }
            }
            summary.off_tape_runs = known.len() as u64;
        }
        (total.sink)(done.part).map_err(ReplayError::Output)
    }

    fn work_call(
        &self,
        bench: &mut Bench,
        closed: &CompletedCall,
        joined: &[Option<SimulationRecord>],
        done: &mut Done<W::Part>,
    ) {
        let Bench { sims, known, facts, findings, forms } = bench;
        let call = closed.raw();
        facts.clear();
        for (n, (plan, sim)) in self.plans.iter().zip(sims.iter_mut()).enumerate() {
            let known = known
                .get_mut(n)
                .map_or_else(|| plan.facts(call.tool()), |known| known.of(plan, closed.hashes.tool, call));
            facts.push(known);
            let record = match joined.get(n) {
                Some(Some(record)) => record,
                _ => {
                    sim.replay(plan, call, known, &self.options.beyond);
                    sim.show(|errors| closed.shown_errors(errors));
                    sim.record()
                }
            };
            if let Some(summary) = done.summaries.get_mut(n) {
                summary.add(plan, call, record, forms);
            }
            let off_tape = record.tallies.iter().any(|tally| tally.off_tape.is_some());
            if let Some(runs) = done.off_tape.get_mut(n).filter(|_| off_tape) {
                let run = closed.hashes.run ^ u128::from(call.place.input); // names of runs are those of one input
                if runs.last() != Some(&run) {
                    runs.push(run);
                }
            }
        }
        if let Some(&facts) = facts.first()
            && attempts::judge(call, facts, self.plans, findings)
        {
            done.resent.add(closed.shown().tool(), 1);
        }
        findings.sort_unstable();
        for finding in &*findings {
            done.recorded.add(finding.id, FindingBy::Recorded, 1);
        }
        let intent = closed.hashes.intent();
        let call = SeenCall { shown: closed.shown(), raw: call, facts };
        let seen = Seen { call, intent, recorded: findings, plans: self.plans, sims, joined, facts };
        self.watch.see(&seen, &mut done.part);
    }
}

impl Order<'_> {
    pub(super) fn new(plans: &[Plan]) -> Self {
        Order {
            current: None,
            recording: Recording::default(),
            facts: KnownFacts::default(),
            lanes: Lanes::of(plans),
            numbered: 0,
            closed: Vec::new(),
            accounts: Vec::new(),
            possible_duplicates: PossibleDuplicates::default(),
        }
    }

    /// Closes what is open at an input's end, and keeps its account.
    fn end(&mut self) {
        if let Some((name, assembler)) = self.current.take() {
            let first_unknown = assembler.first_unknown().clone();
            let (ledger, skipped) = assembler.finish(&mut self.closed);
            self.accounts.push(InputAccount { name, ledger, first_unknown, skipped });
        }
    }

    /// Judges the closed calls in their order and cuts them into batches; less than a batch waits for more, but not
    /// beyond its input.
    fn cut(&mut self, plans: &[Plan], options: &ReplayOptions, batches: &mut Vec<Batch>) {
        let piece = if self.lanes.is_some() { ROUND } else { BATCH };
        while self.closed.len() >= piece || (self.current.is_none() && !self.closed.is_empty()) {
            let mut calls: Vec<CompletedCall> = self.closed.drain(..piece.min(self.closed.len())).collect();
            calls.iter_mut().for_each(|closed| options.redaction.show(closed)); // here, for names are numbered in order
            let mut recorded = Vec::new();
            let of_tool = |closed: &CompletedCall| match plans.first() {
                Some(plan) => self.facts.of(plan, closed.hashes.tool, closed.raw()),
                None => ToolFacts::ASSUMED,
            };
            let facts: Vec<ToolFacts> = calls.iter().map(of_tool).collect();
            self.recording.prepare(&calls, &facts);
            for (n, (closed, &facts)) in calls.iter().zip(&facts).enumerate() {
                self.recording.take(closed, facts, plans, |finding| recorded.push((n, finding)));
            }
            match &mut self.lanes {
                None => batches.push(Batch { calls, recorded, joined: Vec::new() }),
                Some(lanes) => {
                    let mut recorded = recorded.into_iter().peekable();
                    for (n, closed) in calls.into_iter().enumerate() {
                        let own = std::iter::from_fn(|| recorded.next_if(|(place, _)| *place == n));
                        let recorded = own.map(|(_, finding)| finding).collect();
                        let call = Numbered { number: self.numbered, closed, recorded, records: Vec::new() };
                        self.numbered += 1;
                        lanes.take(plans, &options.beyond, call);
                    }
                }
            }
        }
        if let Some(lanes) = &mut self.lanes {
            if self.current.is_none() {
                lanes.finish(plans);
            }
            batch::cut(lanes.take_ended(), batches);
        }
    }
}

impl<'a, P> Total<'a, P> {
    pub(super) fn new(plans: &[Plan], sink: Sink<'a, P>) -> Total<'a, P> {
        Total {
            summaries: plans.iter().map(Summary::new).collect(),
            recorded: FindingCounts::default(),
            resent: Counts::default(),
            off_tape: plans.iter().map(|_| HashSet::default()).collect(),
            sink,
        }
    }
}
