//! Runs a step that knows no order on several threads, between two that are sequential: reading and taking. So the result is
//! the same for any number of threads. Knows nothing of what it passes on.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The pieces for each thread that are read and not taken yet.
const AHEAD: u64 = 2;

/// Passes what `read` gives, until it gives none, through a worker of `worker`, and the results, in order, to `take`. Both run
/// on this thread, and workers on `jobs` threads, this one included.
///
/// # Errors
/// Those of `read`, after all before it was taken; those of `take`.
pub(crate) fn in_order<T: Send, P: Send, E, W: FnMut(T) -> P>(
    jobs: usize,
    mut read: impl FnMut() -> Result<Option<T>, E>,
    worker: impl Fn() -> W + Sync,
    mut take: impl FnMut(P) -> Result<(), E>,
) -> Result<(), E> {
    let mut own = worker();
    if jobs <= 1 {
        while let Some(piece) = read()? {
            take(own(piece))?;
        }
        return Ok(());
    }
    let desk = Desk { state: Mutex::new(State::default()), changed: Condvar::new() };
    std::thread::scope(|scope| {
        let _end = End { desk: &desk, is_owner: true };
        for _ in 1..jobs {
            scope.spawn(|| desk.work(worker()));
        }
        let (mut ended, mut next, mut begun) = (Ok(false), 0, 0);
        while ended.as_ref().is_ok_and(|ended| !ended) || next < begun {
            if let Some(prepared) = desk.lock().ready.remove(&next) {
                take(prepared)?;
                next += 1;
            } else if ended.as_ref().is_ok_and(|ended| !ended) && begun - next < AHEAD * jobs as u64 {
                match read() {
                    Ok(Some(piece)) => {
                        desk.change(|state| state.waiting.push_back((begun, piece)));
                        begun += 1;
                    }
                    Ok(None) => ended = Ok(true),
                    Err(error) => ended = Err(error),
                }
            } else if !desk.help(&mut own, next) {
                break; // a worker has panicked, which ends the scope
            }
        }
        ended.map(drop)
    })
}

/// What is between reading and taking.
struct Desk<T, P> {
    state: Mutex<State<T, P>>,
    changed: Condvar,
}

struct State<T, P> {
    waiting: VecDeque<(u64, T)>,
    ready: BTreeMap<u64, P>,
    is_over: bool,
}

impl<T, P> Default for State<T, P> {
    fn default() -> State<T, P> {
        State { waiting: VecDeque::new(), ready: BTreeMap::new(), is_over: false }
    }
}

impl<T, P> Desk<T, P> {
    fn lock(&self) -> MutexGuard<'_, State<T, P>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State<T, P>)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    fn work(&self, mut worker: impl FnMut(T) -> P) {
        let _end = End { desk: self, is_owner: false };
        let mut state = self.lock();
        while !state.is_over {
            state = match state.waiting.pop_front() {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some((number, piece)) => {
                    drop(state);
                    let prepared = worker(piece);
                    self.change(|state| drop(state.ready.insert(number, prepared)));
                    self.lock()
                }
            };
        }
    }

    /// Prepares a piece that waits, or else waits until piece `next` is ready; false: nobody works any more.
    fn help(&self, own: &mut impl FnMut(T) -> P, next: u64) -> bool {
        let mut state = self.lock();
        while !state.is_over && !state.ready.contains_key(&next) {
            if let Some((number, piece)) = state.waiting.pop_front() {
                drop(state);
                let prepared = own(piece);
                self.lock().ready.insert(number, prepared);
                return true;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.is_over
    }
}

/// Sends all workers home at the end, also if this thread panics, so that none waits forever.
struct End<'d, T, P> {
    desk: &'d Desk<T, P>,
    is_owner: bool,
}

impl<T, P> Drop for End<'_, T, P> {
    fn drop(&mut self) {
        if self.is_owner || std::thread::panicking() {
            self.desk.change(|state| state.is_over = true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Squares the numbers up to `end` on `jobs` threads; reading fails at `bad_read`, taking at `bad_take`.
    fn squares(jobs: usize, end: u64, bad_read: u64, bad_take: u64) -> (Result<(), &'static str>, Vec<u64>) {
        let (mut numbers, mut taken) = (0..end, Vec::new());
        let read = || match numbers.next() {
            Some(number) if number == bad_read => Err("read"),
            next => Ok(next),
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
            let run = || in_order(jobs, || Ok::<_, ()>(numbers.next()), worker, |_| Ok(()));
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err(), "{jobs} threads");
        }
    }
}
