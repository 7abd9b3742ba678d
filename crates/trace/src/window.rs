//! The last things of a stream, in a row: found by number, or by a mark that several may have. Judges nothing.
//!
//! Marks are found through chains from the newest thing to older ones, for that takes no work when the first things
//! go: a chain is followed down to the first that is left, and whatever was before is not asked.

use std::collections::VecDeque;

use crate::hash::half;
use crate::processor::fetch;

/// The last things of a stream, numbered from 1.
#[derive(Debug)]
pub struct Window<T> {
    slots: VecDeque<Slot<T>>,
    /// The number of the first slot.
    first: u64,
    /// By bucket of marks: the newest thing; 0: none. Twice as many as slots or more, and a power of two.
    newest: Vec<u64>,
}

#[derive(Debug)]
#[repr(align(64))] // what fits into so many bytes is fetched from memory at once
struct Slot<T> {
    mark: u128,
    /// The one before it in its bucket, which may be gone; 0: none.
    before: u64,
    what: T,
}

impl<T> Window<T> {
    /// Nothing yet, with room for `usual` things; there may be more.
    pub fn new(usual: usize) -> Window<T> {
        Window { slots: VecDeque::with_capacity(usual), first: 1, newest: vec![0; 256] }
    }

    /// The lowest number that is left.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The number of the next thing.
    pub fn next(&self) -> u64 {
        self.first + self.slots.len() as u64
    }

    /// The thing with this number.
    pub fn get(&self, number: u64) -> Option<&T> {
        self.slots.get(self.index(number)?).map(|slot| &slot.what)
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        let index = self.index(number)?;
        self.slots.get_mut(index).map(|slot| &mut slot.what)
    }

    /// The number of the newest thing with this mark.
    #[inline]
    pub fn find(&self, mark: u128) -> Option<u64> {
        let mut number = self.newest[self.bucket(mark)];
        loop {
            let slot = self.slots.get(self.index(number)?)?;
            if slot.mark == mark {
                return Some(number);
            }
            number = slot.before;
        }
    }

    /// Has brought near what [`Window::find`] and [`Window::push`] will look at for these marks. Done for several at once,
    /// for then they do not wait for memory one after the other.
    pub fn fetch(&self, marks: impl Iterator<Item = u128> + Clone) {
        marks.clone().for_each(|mark| fetch(&self.newest[self.bucket(mark)]));
        for mark in marks {
            let newest = self.index(self.newest[self.bucket(mark)]).and_then(|index| self.slots.get(index));
            newest.into_iter().for_each(fetch);
        }
    }

    /// Adds a thing behind the others; by the mark 0 it will not be found.
    #[inline]
    pub fn push(&mut self, mark: u128, what: T) -> &mut T {
        let place = self.slots.len();
        self.slots.push_back(Slot { mark, before: 0, what });
        match self.slots.len() * 2 > self.newest.len() {
            true => self.widen(),
            false => self.link(place),
        }
        &mut self.slots[place].what // it was added just now
    }

    /// Takes the first thing out if it `is_done`.
    #[inline]
    pub fn pop_first(&mut self, is_done: impl FnOnce(&T) -> bool) -> Option<(u128, T)> {
        let Slot { mark, what, .. } = self.slots.pop_front_if(|slot| is_done(&slot.what))?;
        self.first += 1;
        Some((mark, what))
    }

    #[inline]
    fn index(&self, number: u64) -> Option<usize> {
        number.checked_sub(self.first).and_then(|index| usize::try_from(index).ok())
    }

    #[expect(clippy::cast_possible_truncation, reason = "the low bits are meant")]
    #[inline]
    fn bucket(&self, mark: u128) -> usize {
        half(mark) as usize & (self.newest.len() - 1)
    }

    /// Makes the thing at this place the newest of its bucket.
    #[inline]
    fn link(&mut self, index: usize) {
        let mark = self.slots.get(index).map_or(0, |slot| slot.mark);
        let (bucket, number) = (self.bucket(mark), self.first + index as u64);
        if let Some(slot) = self.slots.get_mut(index).filter(|_| mark != 0) {
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

    fn mark(n: u64) -> u128 {
        hash::bytes(&n.to_le_bytes(), 0)
    }

    #[test]
    fn the_newest_thing_with_a_mark_is_found_until_it_is_gone() {
        let mut window = Window::new(1);
        for (number, name) in (1..).zip(["a", "b", "a"]) {
            assert_eq!(window.next(), number);
            window.push(mark(u64::from(name == "b")), name);
        }
        window.push(0, "c");
        assert_eq!((window.find(mark(0)), window.find(mark(1)), window.find(mark(2))), (Some(3), Some(2), None));
        assert_eq!(window.find(0), None, "it has no mark");
        assert_eq!(window.pop_first(|_| false), None);
        assert_eq!(window.pop_first(|_| true), Some((mark(0), "a")));
        assert_eq!(window.pop_first(|_| true), Some((mark(1), "b")));
        assert_eq!((window.find(mark(0)), window.find(mark(1))), (Some(3), None));
        assert_eq!((window.first(), window.get(2), window.get(4)), (3, None, Some(&"c")));
    }

    proptest! {
        #[test]
        fn a_window_finds_what_a_plain_search_finds(
            marks in proptest::collection::vec(0_u64..400, 0..900), keep in 1_usize..500
        ) {
            let mut window = Window::new(1);
            for (n, &wanted) in marks.iter().enumerate() {
                if n >= keep {
                    window.pop_first(|_| true);
                }
                let kept = &marks[n.saturating_sub(keep - 1)..n];
                let plain = kept.iter().rposition(|&kept| kept == wanted).map(|place| n + 1 - (kept.len() - place));
                prop_assert_eq!(window.find(mark(wanted)), plain.map(|number| number as u64));
                window.push(mark(wanted), ());
            }
        }
    }
}
