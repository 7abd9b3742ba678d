//! The event queue: the earliest event first, ties in the order of insertion. Reads no clock.

use std::collections::VecDeque;

use crate::time::Instant;

/// Events that are still to come, in their order. A list and no heap: there are few, and most are added at an end.
#[derive(Clone, Debug)]
pub struct EventQueue<T> {
    events: VecDeque<(Instant, T)>,
}

impl<T> Default for EventQueue<T> {
    fn default() -> Self {
        EventQueue { events: VecDeque::new() }
    }
}

impl<T> EventQueue<T> {
    /// Adds an event behind those that are no later.
    #[inline] // an event that was just written is slow to copy
    pub fn push(&mut self, at: Instant, what: T) {
        if self.events.back().is_none_or(|(last, _)| *last <= at) {
            self.events.push_back((at, what));
        } else {
            self.insert(at, what);
        }
    }

    #[inline(never)]
    fn insert(&mut self, at: Instant, what: T) {
        let place = self.events.partition_point(|(before, _)| *before <= at);
        self.events.insert(place, (at, what));
    }

    /// Takes the next event and its time.
    pub fn pop(&mut self) -> Option<(Instant, T)> {
        self.events.pop_front()
    }

    /// Forgets every event.
    pub fn clear(&mut self) {
        self.events.clear();
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
