//! Writes that had succeeded and were made again after their transaction had begun again: what began it again did not know of
//! them. Recordings and fixtures ask here. Bounded: the last 10,000 requests.

use std::collections::{BTreeMap, VecDeque};

const MOST: usize = 10_000;

/// The requests that have succeeded in their transactions.
#[derive(Debug)]
pub struct Reruns<K> {
    /// How often the transaction of each had begun.
    done: BTreeMap<K, u32>,
    order: VecDeque<K>,
}

impl<K> Default for Reruns<K> {
    fn default() -> Reruns<K> {
        Reruns { done: BTreeMap::new(), order: VecDeque::new() }
    }
}

impl<K: Ord + Copy> Reruns<K> {
    /// Takes the next write of a transaction that has begun `begun` times: whether it had succeeded before the last time.
    /// `request` tells it and its transaction from others.
    pub fn take(&mut self, request: K, begun: u32, succeeded: bool, acted: bool) -> bool {
        let again = acted && self.done.get(&request).is_some_and(|before| *before < begun);
        if succeeded && self.done.insert(request, begun).is_none() {
            self.order.push_back(request);
            if self.order.len() > MOST
                && let Some(oldest) = self.order.pop_front()
            {
                self.done.remove(&oldest);
            }
        }
        again
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_had_succeeded_before_its_transaction_began_again_is_made_again() {
        let mut reruns = Reruns::default();
        assert!(!reruns.take("charge", 1, true, true));
        assert!(!reruns.take("charge", 1, true, true), "twice in one go is another finding");
        assert!(!reruns.take("mail", 1, false, true));
        assert!(reruns.take("charge", 2, true, true));
        assert!(!reruns.take("charge", 3, false, false), "nothing was sent");
        assert!(!reruns.take("mail", 2, true, true), "it had failed");
        for n in 0..2 * MOST {
            reruns.take(Box::leak(n.to_string().into_boxed_str()), 1, true, true);
        }
        assert!(reruns.done.len() <= MOST);
    }
}
