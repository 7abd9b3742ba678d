//! The places of very many lines in few bytes each: line numbers grow, and paths repeat. Knows no path.

/// Places behind which a new block begins: a place is found by reading the block that it lies in.
const BLOCK: usize = 16;

/// A place: the line in the user's file, and a number for the path in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PackedPlace {
    /// The line, from 1; 0: unknown, or too far.
    pub(crate) line: u32,
    pub(crate) path: u32,
}

/// A list of places, two to three bytes each in most recordings.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct PlaceList {
    /// Of each place the difference of its line to the one before it, and its path.
    bytes: Vec<u8>,
    /// Where each block begins, with the line before it.
    blocks: Vec<(u64, u32)>,
    /// The line of the last place.
    last: u32,
    count: usize,
}

impl PlaceList {
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    pub(crate) fn push(&mut self, place: PackedPlace) {
        if self.count.is_multiple_of(BLOCK) {
            self.blocks.push((self.bytes.len() as u64, self.last));
        }
        let difference = i64::from(place.line) - i64::from(self.last);
        self.write(((difference << 1) ^ (difference >> 63)).cast_unsigned());
        self.write(u64::from(place.path));
        self.last = place.line;
        self.count += 1;
    }

    /// The place with this index, from 0.
    pub(crate) fn get(&self, index: usize) -> Option<PackedPlace> {
        let (start, before) = *self.blocks.get(index / BLOCK).filter(|_| index < self.count)?;
        let bytes = self.bytes.get(usize::try_from(start).ok()?..)?;
        Places { bytes, line: before }.nth(index % BLOCK)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = PackedPlace> + '_ {
        Places { bytes: &self.bytes, line: 0 }
    }

    /// Writes a number, seven bits a byte, the lowest first; the highest bit says that more follow.
    fn write(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.bytes.push(number.to_le_bytes()[0]);
    }
}

/// Reads places one by one.
struct Places<'a> {
    bytes: &'a [u8],
    line: u32,
}

impl Places<'_> {
    fn read(&mut self) -> Option<u64> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let (byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if *byte < 0x80 {
                return Some(number);
            }
            shift += 7; // ends: `write` gives at most ten bytes to a number
        }
    }
}

impl Iterator for Places<'_> {
    type Item = PackedPlace;

    fn next(&mut self) -> Option<PackedPlace> {
        let (difference, path) = (self.read()?, self.read()?);
        let difference = (difference >> 1).cast_signed() ^ -(difference & 1).cast_signed();
        self.line = u32::try_from(i64::from(self.line) + difference).ok()?;
        Some(PackedPlace { line: self.line, path: u32::try_from(path).ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_are_found_as_they_were_given(places in prop::collection::vec((any::<u32>(), any::<u32>()), 0..100)) {
            let given: Vec<PackedPlace> = places.into_iter().map(|(line, path)| PackedPlace { line, path }).collect();
            let mut list = PlaceList::default();
            given.iter().for_each(|place| list.push(*place));
            prop_assert_eq!(list.iter().collect::<Vec<_>>(), given.clone());
            let found: Vec<_> = (0..=given.len()).map(|index| list.get(index)).collect();
            prop_assert_eq!(found, given.into_iter().map(Some).chain([None]).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_place_needs_few_bytes_in_a_long_recording() {
        let mut list = PlaceList::default();
        (1..=1_000).for_each(|line| list.push(PackedPlace { line, path: line % 100 }));
        assert_eq!((list.len(), list.bytes.len()), (1_000, 2_000));
        assert_eq!(list.get(999), Some(PackedPlace { line: 1_000, path: 0 }));
    }
}
