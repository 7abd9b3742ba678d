//! The steps of readers, counted where a test asks for them: a test then sees that twice the input costs twice the steps,
//! which no clock tells reliably. A program that is built without debug assertions counts nothing.

#[cfg(debug_assertions)]
use std::cell::Cell;

#[cfg(debug_assertions)]
thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// Counts `steps` more on this thread.
#[inline]
pub fn count(steps: usize) {
    #[cfg(debug_assertions)]
    STEPS.with(|all| all.set(all.get().saturating_add(steps as u64)));
    #[cfg(not(debug_assertions))]
    let _ = steps;
}

/// The steps that `read` takes on this thread.
#[cfg(debug_assertions)]
pub fn of(read: impl FnOnce()) -> u64 {
    let before = STEPS.with(Cell::get);
    read();
    STEPS.with(Cell::get) - before
}

/// Whether `read` takes steps, and at most in proportion to the length of its input: `input` makes one of a length.
#[cfg(debug_assertions)]
pub fn are_linear<T>(length: usize, input: impl Fn(usize) -> T, read: impl Fn(T)) -> bool {
    let steps = |length| of(|| read(input(length)));
    let [once, twice, four_times] = [1, 2, 4].map(|times| steps(times * length));
    once > 0 && twice * 10 <= once * 23 && four_times * 10 <= once * 46
}

#[cfg(test)]
#[cfg(debug_assertions)]
mod tests {
    use super::*;

    #[test]
    fn a_quadratic_reader_and_one_that_counts_nothing_are_not_linear() {
        let each = |n: usize| (0..n).for_each(|_| count(1));
        let each_pair = |n: usize| (0..n).for_each(|_| each(n));
        let length = |n: usize| n;
        assert!(are_linear(50, length, each));
        assert!(!are_linear(50, length, each_pair));
        assert!(!are_linear(50, length, |_| ()));
    }
}
