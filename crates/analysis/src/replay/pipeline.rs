//! Runs the stages of a replay on any number of threads: read, parse, order, work, sink. Reading, ordering and sinking
//! are sequential; parsing and working are parallel. So the result is the same for any number of threads. Reads
//! no clock.

use std::collections::{BTreeMap, VecDeque};
use std::io;

use super::call_result::CallResult;
use super::io::Observer;
use super::stages::{Batch, BatchSums, Feed, Order, ParsedPiece, Stages, Sums};
use playproof_intake::shared::Shared;

/// The final state of a pipeline.
pub(super) struct Finished<'a> {
    /// The order's last state.
    pub order: Option<Order<'a>>,
    /// The sums of what was sunk.
    pub sums: Sums,
    /// The error of the sink, which ended the run early.
    pub error: Option<io::Error>,
}

/// Adds the sums of the batches, and hands on what the observer made of each, in order.
pub(super) struct Sink<'a, P> {
    sums: Sums,
    /// Takes the observer's partial result of each batch.
    take: Box<dyn FnMut(P) -> io::Result<()> + Send + 'a>,
}

/// A batch that was worked.
struct Done<P> {
    sums: BatchSums,
    part: P,
}

/// Runs `stages` on the threads that their options want; `observer` sees each call, and `sink` takes what it makes of them.
pub(super) fn run<'a, W: Observer>(
    stages: &Stages<'a>,
    observer: &W,
    source: Feed<'_>,
    order: Order<'a>,
    sink: Sink<'a, W::Part>,
) -> Finished<'a> {
    let jobs = stages.options.jobs.clamp(1, 1_024);
    let pipeline = Pipeline { stages, observer, state: Shared::new(State::new(source, order, sink, jobs)) };
    std::thread::scope(|scope| {
        for _ in 1..jobs {
            scope.spawn(|| pipeline.worker());
        }
        pipeline.worker();
    });
    let state = pipeline.state.into_inner();
    let sums = state.sink.map_or_else(Sums::default, |sink| sink.sums);
    Finished { order: state.order.map(|order| *order), sums, error: state.error }
}

impl<'a, P> Sink<'a, P> {
    pub(super) fn new(sums: Sums, take: impl FnMut(P) -> io::Result<()> + Send + 'a) -> Sink<'a, P> {
        Sink { sums, take: Box::new(take) }
    }
}

/// The shared state of the workers. A stage is absent while a worker runs it.
struct State<'a, 'i, P> {
    source: Option<Feed<'i>>,
    order: Option<Box<Order<'a>>>,
    sink: Option<Box<Sink<'a, P>>>,
    parsed: BTreeMap<u64, ParsedPiece>,
    batches: VecDeque<Batch>,
    done: BTreeMap<u64, Box<Done<P>>>,
    error: Option<io::Error>,
    /// Pieces read, pieces ordered, batches taken up, batches sunk.
    read: u64,
    ordered: u64,
    taken: u64,
    sunk: u64,
    /// Pieces being parsed, batches being worked.
    parsing: usize,
    working: usize,
    limit: usize,
    source_ended: bool,
    order_ended: bool,
    stopped: bool,
}

/// What a worker does next.
enum Task<'a, 'i, P> {
    Read(Feed<'i>),
    Order(Box<Order<'a>>, Option<ParsedPiece>),
    Work(u64, Batch),
    Sink(Box<Sink<'a, P>>, Box<Done<P>>),
}

impl<'a, 'i, P> State<'a, 'i, P> {
    fn new(source: Feed<'i>, order: Order<'a>, sink: Sink<'a, P>, jobs: usize) -> Self {
        State {
            source: Some(source),
            order: Some(Box::new(order)),
            sink: Some(Box::new(sink)),
            parsed: BTreeMap::new(),
            batches: VecDeque::new(),
            done: BTreeMap::new(),
            error: None,
            read: 0,
            ordered: 0,
            taken: 0,
            sunk: 0,
            parsing: 0,
            working: 0,
            limit: jobs * 2 + 1,
            source_ended: false,
            order_ended: false,
            stopped: false,
        }
    }

    /// The task nearest to the end of the pipeline, so that little is kept in memory.
    fn next(&mut self) -> Option<Task<'a, 'i, P>> {
        if self.sink.is_some() && self.done.contains_key(&self.sunk) {
            let done = self.done.remove(&self.sunk)?;
            return Some(Task::Sink(self.sink.take()?, done));
        }
        if let Some(batch) = self.batches.pop_front() {
            self.working += 1;
            self.taken += 1;
            return Some(Task::Work(self.taken - 1, batch));
        }
        if self.order.is_some() && !self.order_ended {
            let all_ordered = self.source_ended && self.ordered == self.read;
            if all_ordered || self.parsed.contains_key(&self.ordered) {
                return Some(Task::Order(self.order.take()?, self.parsed.remove(&self.ordered)));
            }
        }
        let waiting = self.parsing + self.parsed.len() + self.working + self.done.len();
        if !self.source_ended && waiting < self.limit {
            return self.source.take().map(Task::Read);
        }
        None
    }

    fn is_over(&self) -> bool {
        let drained = self.batches.is_empty() && self.working == 0 && self.done.is_empty();
        self.stopped || (self.order_ended && drained && self.sink.is_some() && self.order.is_some())
    }
}

struct Pipeline<'s, 'a, 'i, W: Observer> {
    stages: &'s Stages<'a>,
    observer: &'s W,
    state: Shared<State<'a, 'i, W::Part>>,
}

impl<'a, 'i, W: Observer> Pipeline<'_, 'a, 'i, W> {
    fn worker(&self) {
        let _guard = self.state.at_panic(|state| state.stopped = true);
        let mut worker = self.stages.worker();
        let next =
            |state: &mut State<'a, 'i, W::Part>| if state.is_over() { Some(None) } else { state.next().map(Some) };
        while let Some(task) = self.state.wait(next) {
            match task {
                Task::Read(source) => self.read_and_parse(source),
                Task::Order(order, parsed) => self.order(order, parsed),
                Task::Work(number, batch) => {
                    let mut part = self.observer.part();
                    let mut on_call = |result: &CallResult<'_>| self.observer.on_call(result, &mut part);
                    let sums = self.stages.work(&mut worker, batch, &mut on_call);
                    let done = Box::new(Done { sums, part });
                    self.state.change(|state| {
                        state.working -= 1;
                        state.done.insert(number, done);
                    });
                }
                Task::Sink(sink, done) => self.sink(sink, *done),
            }
        }
    }

    fn read_and_parse(&self, mut source: Feed<'i>) {
        let raw = self.stages.read(&mut source);
        let mut number = 0;
        self.state.change(|state| {
            state.source = Some(source);
            match raw {
                Some(_) => {
                    number = state.read;
                    state.read += 1;
                    state.parsing += 1;
                }
                None => state.source_ended = true,
            }
        });
        if let Some(raw) = raw {
            let parsed = self.stages.parse(raw);
            self.state.change(|state| {
                state.parsing -= 1;
                state.parsed.insert(number, parsed);
            });
        }
    }

    fn order(&self, mut order: Box<Order<'a>>, parsed: Option<ParsedPiece>) {
        let last = parsed.is_none();
        let mut batches = Vec::new();
        self.stages.order(&mut order, parsed, &mut batches);
        self.state.change(|state| {
            state.order = Some(order);
            state.ordered += 1;
            state.batches.extend(batches);
            state.order_ended |= last;
        });
    }

    fn sink(&self, mut sink: Box<Sink<'a, W::Part>>, done: Done<W::Part>) {
        sink.sums.add(&done.sums);
        let result = (sink.take)(done.part);
        self.state.change(|state| {
            state.sink = Some(sink);
            state.sunk += 1;
            if let Err(error) = result {
                state.error = Some(error);
                state.stopped = true;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Cursor};

    use crate::replay::{CallResult, Inputs, Observer, ReplayError, ReplayOptions, TraceInput, replay};
    use playproof_engine::playbook::Tools;
    use playproof_engine::sim::Plan;
    use playproof_formats::diagnostic::Source;

    const CALLS: u64 = 20_000;

    /// Keeps the line of each call, and goes wrong at one of them.
    struct Lines {
        panic_at: u64,
    }

    impl Observer for Lines {
        type Part = Vec<u64>;

        fn part(&self) -> Vec<u64> {
            Vec::new()
        }

        fn on_call(&self, result: &CallResult<'_>, part: &mut Vec<u64>) {
            assert!(result.call.place.line != self.panic_at, "the work went wrong");
            part.push(result.call.place.line);
        }
    }

    /// Replays calls on `jobs` threads into a sink that takes `room` parts: how that ended, and what it took.
    fn run_on(jobs: usize, room: usize, panic_at: u64) -> (Result<(), ReplayError>, Vec<Vec<u64>>) {
        let text = playproof_formats::playbook::embedded("standard").unwrap();
        let playbook = playproof_formats::playbook::parse(Source::whole("standard", text)).unwrap().playbook;
        let trace: String =
            (0..CALLS).map(|n| format!("{{\"tool\":\"a\",\"args\":{n},\"status\":\"ok\"}}\n")).collect();
        let source = Box::new(Cursor::new(trace.into_bytes()));
        let inputs: Inputs<'_> = Box::new(std::iter::once(TraceInput::own("t", source)));
        let options = ReplayOptions { jobs, ..ReplayOptions::default() };
        let mut taken = Vec::new();
        let plans = [Plan::new(playbook, &Tools::default())];
        let ended = replay(&plans, inputs, &options, &Lines { panic_at }, |part| {
            if taken.len() == room {
                return Err(io::Error::other("no room"));
            }
            taken.push(part);
            Ok(())
        });
        (ended.map(drop), taken)
    }

    #[test]
    fn parts_come_in_the_order_of_the_calls_on_any_number_of_threads() {
        for jobs in [1, 2, 3, 40] {
            let (ended, taken) = run_on(jobs, usize::MAX, 0);
            assert!(ended.is_ok());
            assert!(taken.concat().into_iter().eq(1..=CALLS), "{jobs} threads");
        }
    }

    #[test]
    fn a_sink_that_fails_stops_everything() {
        for jobs in [1, 2, 8] {
            let (ended, taken) = run_on(jobs, 5, 0);
            assert!(matches!(ended, Err(ReplayError::Output(_))));
            let lines = taken.concat();
            assert_eq!(taken.len(), 5);
            assert!(lines.iter().copied().eq(1..=lines.len() as u64), "{jobs} threads");
        }
    }

    #[test]
    fn a_panic_stops_all_workers() {
        for jobs in [1, 4] {
            assert!(std::panic::catch_unwind(|| run_on(jobs, usize::MAX, CALLS / 2)).is_err());
        }
    }
}
