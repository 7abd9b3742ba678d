//! Keeps the latest of what was made, so that what a recording repeats is made once. Knows nothing of what it keeps.

/// The latest `MAX` entries; one that was found since it was passed over last has another chance, so that rare entries do not
/// displace frequent ones (the CLOCK algorithm).
#[derive(Debug)]
pub(crate) struct RecentCache<T, const MAX: usize> {
    /// Each with whether it was found.
    entries: Vec<(T, bool)>,
    /// The index of the entry that is replaced next, if it was not found.
    hand: usize,
}

impl<T, const MAX: usize> Default for RecentCache<T, MAX> {
    fn default() -> RecentCache<T, MAX> {
        RecentCache { entries: Vec::new(), hand: 0 }
    }
}

impl<T, const MAX: usize> RecentCache<T, MAX> {
    /// The first entry that fits, which then has another chance.
    #[inline]
    pub(crate) fn find(&mut self, fits: impl Fn(&T) -> bool) -> Option<&T> {
        let (entry, was_found) = self.entries.iter_mut().find(|(entry, _)| fits(entry))?;
        *was_found = true;
        Some(entry)
    }

    /// Adds an entry that [`RecentCache::find`] did not find.
    pub(crate) fn insert(&mut self, entry: T) {
        while let Some((_, was_found @ true)) = self.entries.get_mut(self.hand) {
            *was_found = false;
            self.hand = (self.hand + 1) % MAX;
        }
        match self.entries.get_mut(self.hand) {
            Some(replaced) => *replaced = (entry, false),
            None => self.entries.push((entry, false)), // there is room
        }
        self.hand = (self.hand + 1) % MAX;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_entries_are_found_and_older_ones_are_replaced() {
        let mut cache = RecentCache::<u32, 4>::default();
        (0..7).for_each(|n| cache.insert(n));
        let found: Vec<u32> = (0..8).filter(|n| cache.find(|entry| entry == n).is_some()).collect();
        assert_eq!(found, [3, 4, 5, 6]);
    }

    #[test]
    fn an_entry_that_is_found_again_and_again_stays() {
        let mut cache = RecentCache::<u32, 4>::default();
        cache.insert(0);
        for n in 1..100 {
            assert!(cache.find(|entry| *entry == 0).is_some(), "before {n}");
            cache.insert(n);
            assert!(cache.entries.len() <= 4);
        }
        assert!(cache.find(|entry| *entry == 99).is_some());
    }
}
