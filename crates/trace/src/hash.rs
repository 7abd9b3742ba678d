//! The hashes by which names, arguments and lines are told apart: XXH3 as it is specified, 128 bits wide. Not a
//! fingerprint: it does not resist an attacker. Of its values only the `row` of imported lines is written.

use xxhash_rust::xxh3::{xxh3_64, xxh3_128, xxh3_128_with_seed};

/// The hash of `data`; the same bytes under another `seed` hash differently.
#[inline]
pub fn bytes(data: &[u8], seed: u64) -> u128 {
    xxh3_128_with_seed(data, seed)
}

/// The hash of `data` behind what hashes to `first`: the same bytes behind something else hash differently.
#[inline]
pub fn bytes_after(first: u128, data: &[u8], tag: u64) -> u128 {
    bytes(data, half(first) ^ tag)
}

/// The hash of an ordered pair of hashes.
#[inline]
pub fn pair(first: u128, second: u128) -> u128 {
    let mut both = [0; 32];
    both[..16].copy_from_slice(&first.to_le_bytes());
    both[16..].copy_from_slice(&second.to_le_bytes());
    xxh3_128(&both)
}

/// The low half of XXH3 of 64 bits: what the `row` of an imported line says of a text.
#[expect(clippy::cast_possible_truncation, reason = "the low half is meant")]
pub fn row(text: &str) -> u32 {
    xxh3_64(text.as_bytes()) as u32
}

/// Half of a hash, as a key for a map whose values hold the whole.
#[expect(clippy::cast_possible_truncation, reason = "half is meant")]
#[inline]
pub const fn half(hash: u128) -> u64 {
    hash as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn hashes_are_those_of_the_specification() {
        assert_eq!(bytes(b"", 0), 0x99aa_06d3_0147_98d8_6001_c324_468d_497f);
        assert_eq!(row(""), 0x38d3_94c2);
    }

    #[test]
    fn a_pair_is_ordered_and_unlike_its_parts() {
        let (a, b) = (bytes(b"a", 0), bytes(b"b", 0));
        let all: BTreeSet<u128> = [a, b, pair(a, b), pair(b, a), pair(a, a), pair(pair(a, b), a)].into();
        assert_eq!(all.len(), 6);
    }

    #[test]
    fn what_stands_before_counts() {
        let (a, b) = (bytes(b"a", 0), bytes(b"b", 0));
        let all: BTreeSet<u128> = [bytes_after(a, b"x", 1), bytes_after(b, b"x", 1), bytes_after(a, b"x", 2)].into();
        assert_eq!(all.len(), 3);
    }
}
