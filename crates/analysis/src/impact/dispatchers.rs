//! Which differing call of a dispatcher is the cause of later ones: the first. A batch of calls does not know what earlier
//! batches have seen, so that its own calls wait until it is merged with those.

use std::collections::BTreeMap;

use super::cause::{CauseKey, Direction};
use super::cause_group::CauseGroup;
use super::compare::CallDifference;

/// The most dispatchers whose first differing call is kept; calls of further ones are causes of their own.
const MAX_DISPATCHERS: usize = 100_000;

/// The dispatchers with calls that differ.
#[derive(Clone, Debug, Default)]
pub(super) struct Dispatchers {
    /// The causes of their first differing calls, where every earlier call is known.
    known: BTreeMap<u128, CauseKey>,
    /// Those of the current batch.
    batch: BTreeMap<u128, Differing>,
}

/// The differing calls of one dispatcher in a batch.
#[derive(Clone, Debug)]
struct Differing {
    /// The cause of the first.
    cause: CauseKey,
    /// The first, if it may follow from a call of an earlier batch.
    first: Option<(Direction, CauseGroup)>,
    /// Those that follow from the first of all.
    following: BTreeMap<Direction, CauseGroup>,
}

impl Dispatchers {
    /// Takes a call that differs, as a group of its own; gives it back if its cause is its own.
    pub fn take(&mut self, dispatcher: u128, difference: &CallDifference, group: CauseGroup) -> Option<CauseGroup> {
        let CallDifference { cause, is_shared, direction, .. } = *difference;
        match self.batch.get_mut(&dispatcher) {
            Some(differing) if is_shared => {
                differing.following.entry(direction).or_default().merge(group.that_follow());
                None
            }
            Some(_) => Some(group),
            None => {
                let (first, own) = if is_shared { (Some((direction, group)), None) } else { (None, Some(group)) };
                self.batch.insert(dispatcher, Differing { cause, first, following: BTreeMap::new() });
                own
            }
        }
    }

    /// Takes the next batch; this one is settled.
    pub fn add_later(&mut self, later: Dispatchers) {
        self.batch.extend(later.batch);
        for (dispatcher, cause) in later.known {
            self.known.entry(dispatcher).or_insert(cause);
        }
    }

    /// The calls that waited, with their causes.
    pub fn settle(&mut self) -> Vec<((Direction, CauseKey), CauseGroup)> {
        let mut settled = Vec::new();
        for (dispatcher, Differing { cause, first, following }) in std::mem::take(&mut self.batch) {
            let known = self.known.get(&dispatcher).copied();
            if known.is_none() && self.known.len() < MAX_DISPATCHERS {
                self.known.insert(dispatcher, cause);
            }
            if let Some((direction, group)) = first {
                let group = if known.is_some() { group.that_follow() } else { group };
                settled.push(((direction, known.unwrap_or(cause)), group));
            }
            let following = following.into_iter();
            settled.extend(following.map(|(direction, group)| ((direction, known.unwrap_or(cause)), group)));
        }
        settled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impact::cause::Changes;

    fn one() -> CauseGroup {
        CauseGroup { calls: 1, ..CauseGroup::default() }
    }

    fn differs(row: usize, is_shared: bool) -> CallDifference {
        let (cause, direction) = (CauseKey::Row(row), Direction::Neutral);
        CallDifference { cause, is_shared, direction, changes: Changes::default() }
    }

    /// The row, the calls and the following calls of each settled group.
    fn settled(dispatchers: &mut Dispatchers) -> Vec<(CauseKey, u64, u64)> {
        dispatchers.settle().into_iter().map(|((_, cause), group)| (cause, group.calls, group.following)).collect()
    }

    #[test]
    fn later_calls_follow_from_the_first_and_not_from_that_of_another_dispatcher() {
        let mut dispatchers = Dispatchers::default();
        for (dispatcher, row) in [(1, 0), (1, 1), (2, 2), (1, 3)] {
            assert!(dispatchers.take(dispatcher, &differs(row, true), one()).is_none());
        }
        let found = settled(&mut dispatchers);
        assert_eq!(found, [(CauseKey::Row(0), 1, 0), (CauseKey::Row(0), 2, 2), (CauseKey::Row(2), 1, 0)]);
    }

    #[test]
    fn a_call_with_a_cause_of_its_own_follows_from_nothing() {
        let mut dispatchers = Dispatchers::default();
        assert!(dispatchers.take(1, &differs(0, false), one()).is_some());
        assert!(dispatchers.take(1, &differs(1, false), one()).is_some());
        assert!(dispatchers.take(1, &differs(2, true), one()).is_none());
        assert_eq!(settled(&mut dispatchers), [(CauseKey::Row(0), 1, 1)]);
    }

    #[test]
    fn the_first_call_may_be_one_of_an_earlier_batch() {
        let batch = |row| {
            let mut batch = Dispatchers::default();
            batch.take(1, &differs(row, true), one());
            batch
        };
        let mut all = batch(0);
        assert_eq!(settled(&mut all), [(CauseKey::Row(0), 1, 0)]);
        all.add_later(batch(1));
        assert_eq!(settled(&mut all), [(CauseKey::Row(0), 1, 1)]);
    }
}
