//! The latest of some things: what a recording repeats is made once. Knows none of the things.

/// The latest `MAX` things.
#[derive(Debug)]
pub(crate) struct Latest<T, const MAX: usize> {
    things: Vec<T>,
    /// The index of the thing that is replaced next.
    oldest: usize,
}

impl<T, const MAX: usize> Default for Latest<T, MAX> {
    fn default() -> Latest<T, MAX> {
        Latest { things: Vec::new(), oldest: 0 }
    }
}

impl<T, const MAX: usize> Latest<T, MAX> {
    /// The first thing that fits.
    #[inline]
    pub(crate) fn find(&self, fits: impl Fn(&T) -> bool) -> Option<&T> {
        self.things.iter().find(|thing| fits(thing))
    }

    /// Adds a thing that [`Latest::find`] did not find.
    pub(crate) fn insert(&mut self, thing: T) {
        match self.things.get_mut(self.oldest) {
            Some(oldest) => *oldest = thing,
            None => self.things.push(thing), // there is room
        }
        self.oldest = (self.oldest + 1) % MAX;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_things_are_found_and_older_ones_are_replaced() {
        let mut latest = Latest::<u32, 4>::default();
        (0..7).for_each(|n| latest.insert(n));
        let found: Vec<u32> = (0..8).filter(|n| latest.find(|thing| thing == n).is_some()).collect();
        assert_eq!(found, [3, 4, 5, 6]);
    }
}
