//! The event queue: the earliest event first, ties in the order of insertion. Reads no clock.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::time::Instant;

/// Events that are still to come. The heap orders their places, so that the events themselves are not moved about.
#[derive(Clone, Debug)]
pub struct EventQueue<T> {
    /// When, the order of insertion, the place in `events`.
    heap: BinaryHeap<Reverse<(Instant, u64, usize)>>,
    events: Vec<Option<T>>,
    free: Vec<usize>,
    inserted: u64,
}

impl<T> Default for EventQueue<T> {
    fn default() -> Self {
        EventQueue { heap: BinaryHeap::new(), events: Vec::new(), free: Vec::new(), inserted: 0 }
    }
}

impl<T> EventQueue<T> {
    /// Adds an event.
    pub fn push(&mut self, at: Instant, what: T) {
        let place = match self.free.pop() {
            Some(place) => {
                self.events[place] = Some(what); // a free place is one that was given out before
                place
            }
            None => {
                self.events.push(Some(what));
                self.events.len() - 1
            }
        };
        self.heap.push(Reverse((at, self.inserted, place)));
        self.inserted += 1;
    }

    /// Takes the next event and its time.
    pub fn pop(&mut self) -> Option<(Instant, T)> {
        let Reverse((at, _, place)) = self.heap.pop()?;
        self.free.push(place);
        let what = self.events.get_mut(place)?.take()?;
        Some((at, what))
    }

    /// Forgets every event.
    pub fn clear(&mut self) {
        self.heap.clear();
        self.events.clear();
        self.free.clear();
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
