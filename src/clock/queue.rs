//! The event queue: the earliest event first, ties in the order of insertion. Reads no clock.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::time::Instant;

/// Events that are still to come.
#[derive(Clone, Debug)]
pub struct EventQueue<T> {
    heap: BinaryHeap<Reverse<Due<T>>>,
    inserted: u64,
}

#[derive(Clone, Debug)]
struct Due<T> {
    at: Instant,
    order: u64,
    what: T,
}

impl<T> Due<T> {
    fn key(&self) -> (Instant, u64) {
        (self.at, self.order)
    }
}

impl<T> PartialEq for Due<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for Due<T> {}

impl<T> PartialOrd for Due<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Due<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl<T> Default for EventQueue<T> {
    fn default() -> Self {
        EventQueue { heap: BinaryHeap::new(), inserted: 0 }
    }
}

impl<T> EventQueue<T> {
    /// Adds an event.
    pub fn push(&mut self, at: Instant, what: T) {
        self.heap.push(Reverse(Due { at, order: self.inserted, what }));
        self.inserted += 1;
    }

    /// Takes the next event and its time.
    pub fn pop(&mut self) -> Option<(Instant, T)> {
        self.heap.pop().map(|Reverse(due)| (due.at, due.what))
    }

    /// Forgets every event.
    pub fn clear(&mut self) {
        self.heap.clear();
        self.inserted = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_and_ties_in_the_order_of_insertion() {
        let mut queue = EventQueue::default();
        let at = Instant::from_millis;
        for (when, what) in [(2, "c"), (1, "a"), (2, "d"), (1, "b")] {
            queue.push(at(when), what);
        }
        let order: Vec<&str> = std::iter::from_fn(|| queue.pop().map(|(_, what)| what)).collect();
        assert_eq!(order, ["a", "b", "c", "d"]);
    }
}
