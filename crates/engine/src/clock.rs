//! The event queue of the virtual clock: a heap by time, priority and sequence. Time passes only when the next event is
//! taken.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::time::Instant;

/// The order of events at the same moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventPriority {
    /// Starting calls, in the order in which they were added.
    Start,
    /// Callers that go away.
    Cancel,
    /// Everything else, in the order in which it was added.
    Other,
}

/// Future events: the earliest first, then by priority, then in the order in which they were added.
#[derive(Clone, Debug)]
pub struct EventQueue<T> {
    events: BinaryHeap<Event<T>>,
    /// The sequence number of the next event.
    next: u64,
}

#[derive(Clone, Debug)]
struct Event<T> {
    key: (Instant, EventPriority, u64),
    what: T,
}

impl<T> Ord for Event<T> {
    /// The heap takes the greatest first: this reverses the order of the keys.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key)
    }
}

impl<T> PartialOrd for Event<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Event<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<T> Eq for Event<T> {}

impl<T> Default for EventQueue<T> {
    fn default() -> Self {
        EventQueue { events: BinaryHeap::new(), next: 0 }
    }
}

impl<T> EventQueue<T> {
    /// Adds an event.
    #[inline] // copying an event that was just written is slow
    pub fn push(&mut self, at: Instant, class: EventPriority, what: T) {
        self.events.push(Event { key: (at, class, self.next), what });
        self.next += 1;
    }

    /// Takes the next event and its time.
    #[inline]
    pub fn pop(&mut self) -> Option<(Instant, T)> {
        self.events.pop().map(|Event { key: (at, ..), what }| (at, what))
    }

    /// The time of the next event.
    pub fn next_at(&self) -> Option<Instant> {
        self.events.peek().map(|event| event.key.0)
    }

    /// Removes every event.
    pub fn clear(&mut self) {
        if !self.events.is_empty() {
            self.events.clear();
        }
        self.next = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn drain<T>(queue: &mut EventQueue<T>) -> Vec<T> {
        std::iter::from_fn(|| queue.pop().map(|(_, what)| what)).collect()
    }

    #[test]
    fn events_come_by_time_and_ties_in_the_order_of_insertion() {
        let mut queue = EventQueue::default();
        for (when, what) in [(2, "c"), (1, "a"), (2, "d"), (1, "b")] {
            queue.push(Instant::from_millis(when), EventPriority::Other, what);
        }
        assert_eq!(queue.next_at(), Some(Instant::from_millis(1)));
        assert_eq!(drain(&mut queue), ["a", "b", "c", "d"]);
    }

    #[test]
    fn a_starting_call_comes_before_other_events_of_the_same_moment() {
        let mut queue = EventQueue::default();
        for (class, what) in [
            (EventPriority::Other, "answer"),
            (EventPriority::Start, "one"),
            (EventPriority::Other, "wake"),
            (EventPriority::Start, "two"),
        ] {
            queue.push(Instant::ZERO, class, what);
        }
        assert_eq!(drain(&mut queue), ["one", "two", "answer", "wake"]);
    }

    proptest! {
        #[test]
        fn events_come_in_the_order_of_a_stable_sort(events in prop::collection::vec((0..5_u64, 0..2_u8), 0..100)) {
            let mut queue = EventQueue::default();
            let mut sorted: Vec<(Instant, EventPriority, usize)> = Vec::new();
            for (n, (at, class)) in events.into_iter().enumerate() {
                let class = if class == 0 { EventPriority::Start } else { EventPriority::Other };
                queue.push(Instant::from_millis(at), class, n);
                sorted.push((Instant::from_millis(at), class, n));
            }
            sorted.sort_by_key(|(at, class, _)| (*at, *class));
            let order: Vec<usize> = sorted.into_iter().map(|(.., n)| n).collect();
            prop_assert_eq!(drain(&mut queue), order);
        }
    }
}
