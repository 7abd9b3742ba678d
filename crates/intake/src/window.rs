//! The last items of a stream: found by number, or by a hash that several items may share. Decides nothing.
//!
//! Items with one hash form a chain from the newest to older ones. Removing the first item costs nothing: a search ends
//! where the chain leaves the window.

use std::collections::VecDeque;

use crate::hash::half;
use crate::simd::prefetch;

/// The last items of a stream, numbered from 1.
#[derive(Debug)]
pub struct Window<T> {
    slots: VecDeque<WindowSlot<T>>,
    /// The number of the first slot.
    first: u64,
    /// By bucket of hashes: the number of the newest item; 0: none. A power of two, at least twice the slots.
    newest: Vec<u64>,
}

#[derive(Debug)]
#[repr(align(64))] // one cache line
struct WindowSlot<T> {
    hash: u128,
    /// The number of the item before it in its bucket, which may be gone; 0: none.
    before: u64,
    item: T,
}

impl<T> Window<T> {
    /// An empty window with capacity for `usual` items; it grows where needed.
    pub fn new(usual: usize) -> Window<T> {
        let buckets = (usual * 2).next_power_of_two().max(256);
        Window { slots: VecDeque::with_capacity(usual), first: 1, newest: vec![0; buckets] }
    }

    /// The number of the first item.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The number that the next item will get.
    pub fn next(&self) -> u64 {
        self.first + self.slots.len() as u64
    }

    /// The item with this number.
    pub fn get(&self, number: u64) -> Option<&T> {
        self.slots.get(self.index(number)?).map(|slot| &slot.item)
    }

    /// The item with this number, mutable.
    pub fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        let index = self.index(number)?;
        self.slots.get_mut(index).map(|slot| &mut slot.item)
    }

    /// The number of the newest item with this hash.
    #[inline]
    pub fn find(&self, hash: u128) -> Option<u64> {
        self.find_all(hash).next()
    }

    /// The numbers of the items with this hash, the newest first.
    #[inline]
    pub fn find_all(&self, hash: u128) -> impl Iterator<Item = u64> {
        let mut next = self.newest[self.bucket(hash)];
        std::iter::from_fn(move || {
            loop {
                let (number, slot) = (next, self.slots.get(self.index(next)?)?);
                next = slot.before;
                if slot.hash == hash {
                    return Some(number);
                }
            }
        })
    }

    /// Prefetches what [`Window::find`] and [`Window::push`] read for these hashes; all at once, so that the waits for
    /// memory overlap.
    pub fn prefetch(&self, hashes: impl Iterator<Item = u128> + Clone) {
        hashes.clone().for_each(|hash| prefetch(&self.newest[self.bucket(hash)]));
        for hash in hashes {
            let newest = self.index(self.newest[self.bucket(hash)]).and_then(|index| self.slots.get(index));
            newest.into_iter().for_each(prefetch);
        }
    }

    /// Adds an item at the end. An item with the hash 0 is never found by its hash.
    #[inline]
    pub fn push(&mut self, hash: u128, item: T) -> &mut T {
        let index = self.slots.len();
        self.slots.push_back(WindowSlot { hash, before: 0, item });
        match self.slots.len() * 2 > self.newest.len() {
            true => self.widen(),
            false => self.link(index),
        }
        &mut self.slots[index].item // it was added just now
    }

    /// Removes the first item if it `is_done`.
    #[inline]
    pub fn pop_first(&mut self, is_done: impl FnOnce(&T) -> bool) -> Option<(u128, T)> {
        let WindowSlot { hash, item, .. } = self.slots.pop_front_if(|slot| is_done(&slot.item))?;
        self.first += 1;
        Some((hash, item))
    }

    #[inline]
    fn index(&self, number: u64) -> Option<usize> {
        number.checked_sub(self.first).and_then(|index| usize::try_from(index).ok())
    }

    #[expect(clippy::cast_possible_truncation, reason = "a bucket is chosen by the low bits")]
    #[inline]
    fn bucket(&self, hash: u128) -> usize {
        half(hash) as usize & (self.newest.len() - 1)
    }

    /// Makes the item at this index the newest of its bucket.
    #[inline]
    fn link(&mut self, index: usize) {
        let hash = self.slots.get(index).map_or(0, |slot| slot.hash);
        let (bucket, number) = (self.bucket(hash), self.first + index as u64);
        if let Some(slot) = self.slots.get_mut(index).filter(|_| hash != 0) {
            slot.before = std::mem::replace(&mut self.newest[bucket], number);
        }
    }

    fn widen(&mut self) {
        self.newest = vec![0; self.newest.len() * 2];
        for index in 0..self.slots.len() {
            self.link(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;
    use proptest::prelude::*;

    fn hash(n: u64) -> u128 {
        hash::bytes(&n.to_le_bytes(), 0)
    }

    #[test]
    fn the_newest_item_with_a_hash_is_found_until_it_leaves() {
        let mut window = Window::new(1);
        for (number, name) in (1..).zip(["a", "b", "a"]) {
            assert_eq!(window.next(), number);
            window.push(hash(u64::from(name == "b")), name);
        }
        window.push(0, "c");
        assert_eq!((window.find(hash(0)), window.find(hash(1)), window.find(hash(2))), (Some(3), Some(2), None));
        assert_eq!(window.find(0), None, "0 is no hash");
        assert_eq!(window.pop_first(|_| false), None);
        assert_eq!(window.pop_first(|_| true), Some((hash(0), "a")));
        assert_eq!(window.pop_first(|_| true), Some((hash(1), "b")));
        assert_eq!((window.find(hash(0)), window.find(hash(1))), (Some(3), None));
        assert_eq!((window.first(), window.get(2), window.get(4)), (3, None, Some(&"c")));
    }

    proptest! {
        #[test]
        fn a_window_finds_what_a_plain_search_finds(
            hashes in proptest::collection::vec(0_u64..400, 0..900), keep in 1_usize..500
        ) {
            let mut window = Window::new(1);
            for (n, &wanted) in hashes.iter().enumerate() {
                if n >= keep {
                    window.pop_first(|_| true);
                }
                let kept = &hashes[n.saturating_sub(keep - 1)..n];
                let plain = kept.iter().rposition(|&kept| kept == wanted).map(|place| n + 1 - (kept.len() - place));
                prop_assert_eq!(window.find(hash(wanted)), plain.map(|number| number as u64));
                window.push(hash(wanted), ());
            }
        }
    }
}
