//! Works on many items in parallel, with results in the order of the items. Independent of the work.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The results of `work` on every item, in order. `start` makes the state that a thread keeps between items.
///
/// After the first item, in order, whose result is `last`, the results end: the same for any number of threads.
pub fn map<T: Sync, S, R: Send>(
    items: &[T],
    jobs: NonZeroUsize,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> R + Sync,
    last: impl Fn(&R) -> bool + Sync,
) -> Vec<R> {
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let one_thread = || {
        let mut kept = start();
        let mut done = Vec::new();
        while !stopped.load(Ordering::Relaxed) {
            // Items are taken in order, so all before one that is taken will be finished.
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { break };
            let result = work(&mut kept, item);
            stopped.fetch_or(last(&result), Ordering::Relaxed);
            done.push((at, result));
        }
        done
    };
    let threads = jobs.get().min(items.len()).max(1);
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(one_thread)).collect();
        let mut done = one_thread();
        for other in others {
            match other.join() {
                Ok(theirs) => done.extend(theirs),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_by_key(|(at, _)| *at);
    let end = done.iter().position(|(_, result)| last(result)).map_or(done.len(), |at| at + 1);
    done.into_iter().take(end).map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs(n: usize) -> NonZeroUsize {
        NonZeroUsize::new(n).unwrap()
    }

    #[test]
    fn results_are_in_order_for_any_number_of_threads() {
        let items: Vec<usize> = (0..500).collect();
        for n in [1, 2, 7, 1000] {
            let found = map(&items, jobs(n), || (), |(), item| item * 2, |_| false);
            assert_eq!(found, (0..500).map(|item| item * 2).collect::<Vec<_>>());
        }
        assert!(map(&[] as &[usize], jobs(3), || (), |(), item| *item, |_| false).is_empty());
    }

    #[test]
    fn results_end_after_the_first_last_result_in_order() {
        let items: Vec<usize> = (0..500).collect();
        for n in [1, 4] {
            let found = map(&items, jobs(n), || (), |(), item| *item, |result| result % 100 == 99);
            assert_eq!(found, (0..100).collect::<Vec<_>>());
        }
    }
}
