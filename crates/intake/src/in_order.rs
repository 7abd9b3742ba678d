//! Runs a step that knows no order on several threads, between two that are sequential: reading and taking. So the result is
//! the same for any number of threads. Knows nothing of what it passes on.

use std::collections::{BTreeMap, VecDeque};

use crate::shared::Shared;

/// The most pieces for each thread that are read and not taken yet.
const PIECES: usize = 2;

/// Nothing is read while pieces of this weight, in bytes, are not taken yet.
const MAX_IN_FLIGHT: usize = 64 << 20;

/// Passes what `read` gives, until it gives none, through a worker of `worker`, and the results, in order, to `take`. Both run
/// on this thread, and workers on `jobs` threads, this one included. `read` also gives the weight of a piece in bytes.
///
/// # Errors
/// Those of `read`, after all before it was taken; those of `take`.
pub(crate) fn in_order<T: Send, P: Send, E, W: FnMut(T) -> P>(
    jobs: usize,
    mut read: impl FnMut() -> Result<Option<(T, usize)>, E>,
    worker: impl Fn() -> W + Sync,
    mut take: impl FnMut(P) -> Result<(), E>,
) -> Result<(), E> {
    let mut own = worker();
    if jobs <= 1 {
        while let Some((piece, _)) = read()? {
            take(own(piece))?;
        }
        return Ok(());
    }
    let shared = Shared::new(State::default());
    std::thread::scope(|scope| {
        let _guard = shared.at_panic(State::stop);
        for _ in 1..jobs {
            scope.spawn(|| shared.work(worker()));
        }
        let ended = shared.pass_on(jobs, &mut read, &mut own, &mut take);
        shared.change(State::stop);
        ended
    })
}

/// What is in flight: between reading and taking.
struct State<T, P> {
    waiting: VecDeque<(u64, T)>,
    ready: BTreeMap<u64, P>,
    is_over: bool,
}

/// What the thread that reads and takes does next.
enum Task<T, P> {
    Take(P),
    Read,
    Work(u64, T),
    Stop,
}

impl<T, P> Default for State<T, P> {
    fn default() -> State<T, P> {
        State { waiting: VecDeque::new(), ready: BTreeMap::new(), is_over: false }
    }
}

impl<T, P> State<T, P> {
    /// Stops all workers.
    const fn stop(&mut self) {
        self.is_over = true;
    }

    /// The next task if piece `next` is to be taken; none: all pieces are being worked on.
    fn task(&mut self, next: u64, may_read: bool) -> Option<Task<T, P>> {
        if self.is_over {
            return Some(Task::Stop);
        }
        if let Some(prepared) = self.ready.remove(&next) {
            return Some(Task::Take(prepared));
        }
        if may_read {
            return Some(Task::Read);
        }
        self.waiting.pop_front().map(|(number, piece)| Task::Work(number, piece))
    }
}

impl<T, P> Shared<State<T, P>> {
    fn work(&self, mut worker: impl FnMut(T) -> P) {
        let _guard = self.at_panic(State::stop);
        let next =
            |state: &mut State<T, P>| if state.is_over { Some(None) } else { state.waiting.pop_front().map(Some) };
        while let Some((number, piece)) = self.wait(next) {
            let prepared = worker(piece);
            self.change(|state| drop(state.ready.insert(number, prepared)));
        }
    }

    /// Reads and takes to the end, and works while there is neither to do.
    fn pass_on<E>(
        &self,
        jobs: usize,
        read: &mut impl FnMut() -> Result<Option<(T, usize)>, E>,
        own: &mut impl FnMut(T) -> P,
        take: &mut impl FnMut(P) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut weights, mut begun, mut ended) = (VecDeque::new(), 0, None);
        loop {
            if let Some(ended) = ended.take_if(|_| weights.is_empty()) {
                return ended;
            }
            let has_room = weights.len() < PIECES * jobs && weights.iter().sum::<usize>() < MAX_IN_FLIGHT;
            let (next, may_read) = (begun - weights.len() as u64, has_room && ended.is_none());
            match self.wait(|state| state.task(next, may_read)) {
                Task::Take(prepared) => {
                    take(prepared)?;
                    weights.pop_front();
                }
                Task::Read => match read() {
                    Ok(Some((piece, weight))) => {
                        weights.push_back(weight);
                        self.change(|state| state.waiting.push_back((begun, piece)));
                        begun += 1;
                    }
                    Ok(None) => ended = Some(Ok(())),
                    Err(error) => ended = Some(Err(error)),
                },
                Task::Work(number, piece) => {
                    let prepared = own(piece);
                    self.change(|state| drop(state.ready.insert(number, prepared)));
                }
                Task::Stop => return Ok(()), // a worker has panicked, which ends the scope
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Squares the numbers up to `end` on `jobs` threads; reading fails at `bad_read`, taking at `bad_take`.
    fn squares(jobs: usize, end: u64, bad_read: u64, bad_take: u64) -> (Result<(), &'static str>, Vec<u64>) {
        let (mut numbers, mut taken) = (0..end, Vec::new());
        let read = || match numbers.next() {
            Some(number) if number == bad_read => Err("read"),
            next => Ok(next.map(|number| (number, 1))),
        };
        let worker = || |number: u64| number * number;
        let take = |square: u64| {
            taken.push(square);
            if taken.len() as u64 == bad_take { Err("take") } else { Ok(()) }
        };
        let ended = in_order(jobs, read, worker, take);
        (ended, taken)
    }

    #[test]
    fn results_come_in_order_on_any_number_of_threads() {
        for jobs in [0, 1, 2, 7] {
            let (ended, taken) = squares(jobs, 1_000, u64::MAX, u64::MAX);
            assert_eq!((ended, taken.len()), (Ok(()), 1_000));
            assert!(taken.into_iter().eq((0..1_000).map(|number| number * number)), "{jobs} threads");
        }
    }

    #[test]
    fn an_error_ends_it_after_all_before_it() {
        for jobs in [1, 2, 7] {
            let (ended, taken) = squares(jobs, 1_000, 500, u64::MAX);
            assert_eq!((ended, taken.len()), (Err("read"), 500), "{jobs} threads");
            let (ended, taken) = squares(jobs, 1_000, 500, 20);
            assert_eq!((ended, taken.len()), (Err("take"), 20), "{jobs} threads");
        }
    }

    #[test]
    fn a_panic_ends_it() {
        for jobs in [1, 2, 7] {
            let worker = || |number: u64| if number == 50 { panic!("the work went wrong") } else { number };
            let mut numbers = 0..1_000;
            let run = || in_order(jobs, || Ok::<_, ()>(numbers.next().map(|number| (number, 1))), worker, |_| Ok(()));
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err(), "{jobs} threads");
        }
    }
    #[test]
    fn what_is_in_flight_is_bounded_in_pieces_and_in_bytes() {
        let cases =
            [(0, PIECES * 7), (MAX_IN_FLIGHT / 2, 2), (MAX_IN_FLIGHT - 1, 2), (MAX_IN_FLIGHT, 1), (usize::MAX / 2, 1)];
        for (weight, most) in cases {
            let (in_flight, seen, mut numbers) = (Cell::new(0), Cell::new(0), 0..100);
            let read = || {
                let piece = numbers.next().map(|number| (number, weight));
                in_flight.set(in_flight.get() + usize::from(piece.is_some()));
                seen.set(seen.get().max(in_flight.get()));
                Ok::<_, ()>(piece)
            };
            let take = |_| {
                in_flight.set(in_flight.get() - 1);
                Ok(())
            };
            assert_eq!(in_order(7, read, || |number: u64| number, take), Ok(()));
            assert!(seen.get() <= most, "{} pieces of {weight} bytes", seen.get());
        }
    }
}
