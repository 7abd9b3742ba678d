//! Runs an ordered pipeline on any number of threads: read, parse, order, work, sink.
//! Reading, ordering and sinking happen one at a time and in order; parsing and working happen anywhere.
//! So the outcome is the same for any number of threads. Knows nothing of traces; reads no clock.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What the five stages do.
pub trait Stages: Sync {
    /// What is read.
    type Raw: Send;
    /// What parsing makes of it.
    type Parsed: Send;
    /// What ordering cuts the parsed into.
    type Batch: Send;
    /// What work makes of a batch.
    type Done: Send;
    /// What ends a run early.
    type Error: Send;
    /// The state of the reader.
    type Source: Send;
    /// The state of the order.
    type Order: Send;
    /// The state of the sink.
    type Sink: Send;
    /// What a worker keeps between batches.
    type Scratch;

    /// The next piece; none at the end.
    fn read(&self, source: &mut Self::Source) -> Option<Self::Raw>;
    /// Parses a piece.
    fn parse(&self, raw: Self::Raw) -> Self::Parsed;
    /// Takes the next parsed piece in order (none: there are no more) and adds the batches that follow from it.
    fn order(
        &self,
        order: &mut Self::Order,
        parsed: Option<Self::Parsed>,
        batches: &mut Vec<Self::Batch>,
    ) -> Result<(), Self::Error>;
    /// What a new worker starts with.
    fn scratch(&self) -> Self::Scratch;
    /// Works a batch.
    fn work(&self, scratch: &mut Self::Scratch, batch: Self::Batch) -> Self::Done;
    /// Takes what was done, in the order of the batches.
    fn sink(&self, sink: &mut Self::Sink, done: Self::Done) -> Result<(), Self::Error>;
}

/// What is left when a pipeline has run.
pub struct Finished<S: Stages> {
    /// The order's last state.
    pub order: Option<S::Order>,
    /// The sink's last state.
    pub sink: Option<S::Sink>,
    /// What ended the run early: all that came before it in order was sunk.
    pub error: Option<S::Error>,
}

/// Runs `stages` on `jobs` threads, the calling one included.
pub fn run<S: Stages>(stages: &S, jobs: usize, source: S::Source, order: S::Order, sink: S::Sink) -> Finished<S> {
    let jobs = jobs.clamp(1, 1_024);
    let shared = Shared { stages, state: Mutex::new(State::new(source, order, sink, jobs)), changed: Condvar::new() };
    std::thread::scope(|scope| {
        for _ in 1..jobs {
            scope.spawn(|| shared.worker());
        }
        shared.worker();
    });
    let state = shared.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    Finished { order: state.order, sink: state.sink, error: state.error }
}

/// Everything that the workers share. A stage's state is absent while a worker has it.
struct State<S: Stages> {
    source: Option<S::Source>,
    order: Option<S::Order>,
    sink: Option<S::Sink>,
    parsed: BTreeMap<u64, S::Parsed>,
    batches: VecDeque<S::Batch>,
    done: BTreeMap<u64, S::Done>,
    error: Option<S::Error>,
    /// Pieces read, pieces ordered, batches taken up, batches sunk.
    read: u64,
    ordered: u64,
    taken: u64,
    sunk: u64,
    /// Pieces being parsed, batches being worked.
    parsing: usize,
    working: usize,
    limit: usize,
    /// Workers that wait for a change.
    idle: usize,
    source_ended: bool,
    order_ended: bool,
    stopped: bool,
}

/// What a worker does next.
enum Task<S: Stages> {
    Read(S::Source),
    Order(S::Order, Option<S::Parsed>),
    Work(u64, S::Batch),
    Sink(S::Sink, S::Done),
}

impl<S: Stages> State<S> {
    fn new(source: S::Source, order: S::Order, sink: S::Sink, jobs: usize) -> State<S> {
        State {
            source: Some(source),
            order: Some(order),
            sink: Some(sink),
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
            idle: 0,
            source_ended: false,
            order_ended: false,
            stopped: false,
        }
    }

    /// The task nearest to the end of the pipeline, so that little is kept in memory.
    fn next(&mut self) -> Option<Task<S>> {
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

struct Shared<'a, S: Stages> {
    stages: &'a S,
    state: Mutex<State<S>>,
    changed: Condvar,
}

/// Stops the other workers if this one panics, so that the panic is heard and nobody waits for ever.
struct Alarm<'a, 'b, S: Stages>(&'b Shared<'a, S>);

impl<S: Stages> Drop for Alarm<'_, '_, S> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().stopped = true;
            self.0.changed.notify_all();
        }
    }
}

impl<S: Stages> Shared<'_, S> {
    fn lock(&self) -> MutexGuard<'_, State<S>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn worker(&self) {
        let alarm = Alarm(self);
        let mut scratch = self.stages.scratch();
        while let Some(task) = self.wait() {
            match task {
                Task::Read(source) => self.read_and_parse(source),
                Task::Order(order, parsed) => self.order(order, parsed),
                Task::Work(number, batch) => {
                    let done = self.stages.work(&mut scratch, batch);
                    self.change(|state| {
                        state.working -= 1;
                        state.done.insert(number, done);
                    });
                }
                Task::Sink(sink, done) => self.sink(sink, done),
            }
        }
        drop(alarm);
    }

    fn wait(&self) -> Option<Task<S>> {
        let mut state = self.lock();
        loop {
            if state.is_over() {
                return None;
            }
            if let Some(task) = state.next() {
                return Some(task);
            }
            state.idle += 1;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }

    fn change(&self, change: impl FnOnce(&mut State<S>)) {
        let mut state = self.lock();
        change(&mut state);
        let heard = state.idle > 0;
        drop(state);
        if heard {
            self.changed.notify_all(); // the system is asked each time, so not where nobody waits
        }
    }

    fn read_and_parse(&self, mut source: S::Source) {
        let raw = self.stages.read(&mut source);
        let mut number = 0;
        self.change(|state| {
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
            self.change(|state| {
                state.parsing -= 1;
                if !state.order_ended {
                    state.parsed.insert(number, parsed);
                }
            });
        }
    }

    fn order(&self, mut order: S::Order, parsed: Option<S::Parsed>) {
        let last = parsed.is_none();
        let mut batches = Vec::new();
        let result = self.stages.order(&mut order, parsed, &mut batches);
        self.change(|state| {
            state.order = Some(order);
            state.ordered += 1;
            state.batches.extend(batches);
            if last || result.is_err() {
                state.order_ended = true; // what was cut before an error is still worked and sunk
                state.source_ended = true;
                state.parsed.clear();
            }
            if let Err(error) = result {
                state.error = Some(error);
            }
        });
    }

    fn sink(&self, mut sink: S::Sink, done: S::Done) {
        let result = self.stages.sink(&mut sink, done);
        self.change(|state| {
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
    use super::*;

    /// Adds numbers up in an order that shows every mistake: reads 0, 1, 2…, parses to squares, orders to pairs.
    struct Numbers {
        fail_order_at: u64,
        fail_sink_at: usize,
        panic_at: u64,
    }

    impl Stages for Numbers {
        type Raw = u64;
        type Parsed = u64;
        type Batch = (u64, u64);
        type Done = String;
        type Error = &'static str;
        type Source = std::ops::Range<u64>;
        type Order = u64;
        type Sink = Vec<String>;
        type Scratch = ();

        fn read(&self, source: &mut Self::Source) -> Option<u64> {
            source.next()
        }

        fn parse(&self, raw: u64) -> u64 {
            if raw.is_multiple_of(7) {
                std::thread::yield_now(); // uneven pieces
            }
            raw * raw
        }

        fn order(
            &self,
            order: &mut u64,
            parsed: Option<u64>,
            batches: &mut Vec<(u64, u64)>,
        ) -> Result<(), &'static str> {
            let Some(parsed) = parsed else {
                batches.push((u64::MAX, *order));
                return Ok(());
            };
            *order += parsed;
            if parsed == self.fail_order_at {
                return Err("order");
            }
            batches.extend((0..parsed % 3).map(|n| (n, *order)));
            Ok(())
        }

        fn scratch(&self) {}

        fn work(&self, (): &mut (), batch: (u64, u64)) -> String {
            assert!(batch.1 != self.panic_at, "the work went wrong");
            format!("{batch:?}")
        }

        fn sink(&self, sink: &mut Vec<String>, done: String) -> Result<(), &'static str> {
            sink.push(done);
            if sink.len() == self.fail_sink_at { Err("sink") } else { Ok(()) }
        }
    }

    const FINE: Numbers = Numbers { fail_order_at: u64::MAX, fail_sink_at: usize::MAX, panic_at: u64::MAX };

    fn run_on(jobs: usize, numbers: &Numbers) -> (Option<&'static str>, Vec<String>) {
        let finished = run(numbers, jobs, 0..1_000, 0, Vec::new());
        (finished.error, finished.sink.unwrap())
    }

    #[test]
    fn the_outcome_does_not_depend_on_the_number_of_threads() {
        let one = run_on(1, &FINE);
        assert_eq!((one.0, one.1.len()), (None, 667));
        for jobs in [2, 3, 8, 40] {
            assert_eq!(run_on(jobs, &FINE), one);
        }
    }

    #[test]
    fn an_error_in_the_order_comes_after_all_that_was_before_it() {
        let numbers = Numbers { fail_order_at: 500 * 500, ..FINE };
        let one = run_on(1, &numbers);
        assert_eq!((one.0, one.1.len()), (Some("order"), 333));
        for jobs in [2, 8] {
            assert_eq!(run_on(jobs, &numbers), one);
        }
    }

    #[test]
    fn a_sink_that_fails_stops_everything() {
        for jobs in [1, 2, 8] {
            let (error, sunk) = run_on(jobs, &Numbers { fail_sink_at: 5, ..FINE });
            assert_eq!((error, sunk.len()), (Some("sink"), 5));
        }
    }

    #[test]
    fn a_panic_is_heard_and_nobody_waits_for_ever() {
        for jobs in [1, 4] {
            let numbers = Numbers { panic_at: (0..=100).map(|n| n * n).sum(), ..FINE };
            assert!(std::panic::catch_unwind(|| run_on(jobs, &numbers)).is_err());
        }
    }
}
