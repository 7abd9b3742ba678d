//! Keeps the latest of what was made, so that what a recording repeats is made once. Knows nothing of what it keeps.

/// The latest `MAX` entries.
#[derive(Debug)]
pub(crate) struct RecentCache<T, const MAX: usize> {
    entries: Vec<T>,
    /// The index of the entry that is replaced next.
    oldest: usize,
}

impl<T, const MAX: usize> Default for RecentCache<T, MAX> {
    fn default() -> RecentCache<T, MAX> {
        RecentCache { entries: Vec::new(), oldest: 0 }
    }
}

impl<T, const MAX: usize> RecentCache<T, MAX> {
    /// The first entry that fits.
    #[inline]
    pub(crate) fn find(&self, fits: impl Fn(&T) -> bool) -> Option<&T> {
        self.entries.iter().find(|entry| fits(entry))
    }

    /// Adds an entry that [`RecentCache::find`] did not find.
    pub(crate) fn insert(&mut self, entry: T) {
        match self.entries.get_mut(self.oldest) {
            Some(oldest) => *oldest = entry,
            None => self.entries.push(entry), // there is room
        }
        self.oldest = (self.oldest + 1) % MAX;
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
}
