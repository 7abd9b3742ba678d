//! Hashes of names, arguments and lines: XXH3 as specified, 128 bits wide. They do not resist an attacker. Only `row`, in
//! imported lines, and the ids of failed calls in an audit log are ever written to a file.

use std::hash::{Hash, Hasher};

use xxhash_rust::xxh3::{xxh3_64, xxh3_128, xxh3_128_with_seed};

/// The hash of `data` under `seed`.
#[inline]
pub fn bytes(data: &[u8], seed: u64) -> u128 {
    xxh3_128_with_seed(data, seed)
}

/// A short hash of `data`: a seed for what belongs to it.
#[inline]
pub fn seed(data: &[u8]) -> u64 {
    xxh3_64(data)
}

/// The hash of what a call asks: its tool, and its arguments as text.
pub(crate) fn of_request(tool: &str, args: &str) -> u64 {
    half(bytes(args.as_bytes(), seed(tool.as_bytes())))
}

/// The hash of `data` in the context of another hash, `first`.
#[inline]
pub fn bytes_after(first: u128, data: &[u8], tag: u64) -> u128 {
    bytes(data, half(first) ^ tag)
}

/// The hash of several hashes, in their order.
#[inline]
pub fn joined<const N: usize>(hashes: [u128; N]) -> u128 {
    xxh3_128(hashes.map(u128::to_le_bytes).as_flattened())
}

/// Two hashes as one, in their order. Nothing is hashed again: both are spread already.
#[inline]
pub const fn mixed(first: u64, second: u64) -> u64 {
    first.rotate_left(32) ^ second
}

/// The `row` of an imported line, from the text of its source row: the low half of 64-bit XXH3.
#[expect(clippy::cast_possible_truncation, reason = "`row` is the low half")]
pub fn row(text: &str) -> u32 {
    xxh3_64(text.as_bytes()) as u32
}

/// Half of a hash: a key for a map whose values hold the whole hash.
#[expect(clippy::cast_possible_truncation, reason = "the key is the low half")]
#[inline]
pub const fn half(hash: u128) -> u64 {
    hash as u64
}

/// The first `N` parts of a hash, of 32 bits each: a key for a table whose entries have no gap then. At least two, by which it is
/// hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashParts<const N: usize>([u32; N]);

impl<const N: usize> HashParts<N> {
    /// Of a whole hash.
    #[expect(clippy::cast_possible_truncation, reason = "one part after the other")]
    #[inline]
    pub fn of(hash: u128) -> HashParts<N> {
        HashParts(std::array::from_fn(|part| (hash >> (32 * part)) as u32))
    }
}

impl<const N: usize> Hash for HashParts<N> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        const { assert!(N >= 2) };
        state.write_u64(u64::from(self.0[0]) | u64::from(self.0[1]) << 32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn hashes_follow_the_specification() {
        assert_eq!(bytes(b"", 0), 0x99aa_06d3_0147_98d8_6001_c324_468d_497f);
        assert_eq!(row(""), 0x38d3_94c2);
    }

    #[test]
    fn joined_hashes_depend_on_the_order_and_differ_from_their_parts() {
        let (a, b) = (bytes(b"a", 0), bytes(b"b", 0));
        let all: BTreeSet<u128> = [a, b, joined([a, b]), joined([b, a]), joined([a, a]), joined([a, b, a])].into();
        assert_eq!(all.len(), 6);
    }

    #[test]
    fn the_context_and_the_tag_change_the_hash() {
        let (a, b) = (bytes(b"a", 0), bytes(b"b", 0));
        let all: BTreeSet<u128> = [bytes_after(a, b"x", 1), bytes_after(b, b"x", 1), bytes_after(a, b"x", 2)].into();
        assert_eq!(all.len(), 3);
    }
}
