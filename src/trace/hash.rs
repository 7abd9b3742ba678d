//! A 128-bit hash of bytes with fixed secrets, for telling names and arguments apart in memory.
//! Not a fingerprint: it does not resist an attacker, and its values reach no output but the `row` of imported lines,
//! where they are compared with those of the same file alone.

const SECRETS: [u64; 6] = [
    0x243f_6a88_85a3_08d3, // the digits of pi: nothing up the sleeve
    0x1319_8a2e_0370_7344,
    0xa409_3822_299f_31d0,
    0x082e_fa98_ec4e_6c89,
    0x4528_21e6_38d0_1377,
    0xbe54_66cf_34e9_0c6c,
];

/// The two halves of a 64 by 64 bit product, folded.
#[expect(clippy::cast_possible_truncation, reason = "the low half is meant")]
#[inline]
const fn fold(a: u64, b: u64) -> u64 {
    let product = (a as u128) * (b as u128);
    (product as u64) ^ ((product >> 64) as u64)
}

#[inline]
const fn join(high: u64, low: u64) -> u128 {
    ((high as u128) << 64) | low as u128
}

/// The hash of `data`; the same bytes under another `tag` hash differently.
#[inline]
pub fn bytes(data: &[u8], tag: u64) -> u128 {
    if data.len() > 16 {
        let (low, high) = blocks(data, SECRETS[0] ^ tag, SECRETS[1] ^ data.len() as u64);
        return finish(low, high);
    }
    short(padded(data), data.len(), tag)
}

/// The hash of the first `length` bytes (at most 16) of `block`, whose other bytes are zero.
#[inline]
pub fn short(block: u128, length: usize, tag: u64) -> u128 {
    let (low, high) = absorb(SECRETS[0] ^ tag, SECRETS[1] ^ length as u64, block);
    join(high, low) // one round is enough for so few bytes
}

/// The hash of `data` behind what hashes to `first`: the same bytes behind something else hash differently.
#[inline]
pub fn bytes_after(first: u128, data: &[u8], tag: u64) -> u128 {
    match as_short(data) {
        Some((block, length)) => short_after(first, block, length, tag),
        None => entry(first, bytes(data, tag)),
    }
}

/// At most 16 bytes as a block and their number, for [`short`]; none of more bytes.
#[inline]
pub fn as_short(data: &[u8]) -> Option<(u128, usize)> {
    (data.len() <= 16).then(|| (padded(data), data.len()))
}

/// The hash of the first `length` bytes (at most 16) of `block`, whose other bytes are zero, behind what hashes to
/// `first`.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
pub fn short_after(first: u128, block: u128, length: usize, tag: u64) -> u128 {
    let (low, high) = absorb(first as u64 ^ tag, (first >> 64) as u64 ^ length as u64, block);
    join(high, low)
}

/// At most 16 bytes as a block.
#[inline]
fn padded(data: &[u8]) -> u128 {
    if let (Some(first), Some(last)) = (data.first_chunk::<8>(), data.last_chunk::<8>()) {
        let last = u128::from(u64::from_le_bytes(*last));
        return u128::from(u64::from_le_bytes(*first)) | last << (8 * (data.len() - 8)); // where they overlap they agree
    }
    if let (Some(first), Some(last)) = (data.first_chunk::<4>(), data.last_chunk::<4>()) {
        let last = u128::from(u32::from_le_bytes(*last));
        return u128::from(u32::from_le_bytes(*first)) | last << (8 * (data.len() - 4));
    }
    match *data {
        [a] => u128::from(a),
        [a, b] => u128::from(u16::from_le_bytes([a, b])),
        [a, b, c, ..] => u128::from(u32::from_le_bytes([a, b, c, 0])),
        [] => 0,
    }
}

/// More than 16 bytes: whole blocks, then the last 16 bytes, which may overlap them.
fn blocks(data: &[u8], mut low: u64, mut high: u64) -> (u64, u64) {
    let mut rest = data;
    while let Some((block, after)) = rest.split_first_chunk::<16>() {
        (low, high) = absorb(low, high, u128::from_le_bytes(*block));
        rest = after;
    }
    match data.last_chunk::<16>() {
        Some(last) if !rest.is_empty() => absorb(low, high, u128::from_le_bytes(*last)),
        _ => (low, high),
    }
}

/// The hash of an ordered pair of hashes.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
pub fn pair(first: u128, second: u128) -> u128 {
    let (low, high) = absorb(first as u64 ^ SECRETS[4], (first >> 64) as u64 ^ SECRETS[5], second);
    finish(low, high)
}

/// The hash of a value behind what hashes to `key`: one round, which is enough for what is a hash already. [`pair`]
/// mixes once more, for long chains.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
pub fn entry(key: u128, value: u128) -> u128 {
    let (low, high) = absorb(key as u64 ^ SECRETS[4], (key >> 64) as u64 ^ SECRETS[5], value);
    join(high, low)
}

#[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
#[inline]
const fn absorb(low: u64, high: u64, block: u128) -> (u64, u64) {
    let (x, y) = (block as u64, (block >> 64) as u64);
    (fold(x ^ SECRETS[2], y ^ low), fold(x ^ high, y ^ SECRETS[3]))
}

#[inline]
const fn finish(low: u64, high: u64) -> u128 {
    join(fold(low ^ SECRETS[4], high ^ SECRETS[0]), fold(high ^ SECRETS[5], low ^ SECRETS[1]))
}

/// Half of a hash, as a key for a map whose values hold the whole.
#[expect(clippy::cast_possible_truncation, reason = "half is meant")]
#[inline]
pub const fn half(hash: u128) -> u64 {
    hash as u64
}

/// Hands a hash to a map as it is: it is already well mixed.
#[derive(Clone, Copy, Debug, Default)]
pub struct AsIs(u64);

/// Builds [`AsIs`], for maps whose keys are hashes of this module.
pub type AsIsState = std::hash::BuildHasherDefault<AsIs>;

impl std::hash::Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = fold(self.0 ^ u64::from(byte), SECRETS[2]);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    #[expect(clippy::cast_possible_truncation, reason = "half of a well-mixed hash is enough to choose a bucket")]
    fn write_u128(&mut self, hash: u128) {
        self.0 = hash as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_length_every_byte_and_every_tag_counts() {
        let data = [0_u8; 64];
        let mut seen = BTreeSet::new();
        for length in 0..=data.len() {
            for tag in 0..3 {
                assert!(seen.insert(bytes(&data[..length], tag)), "length {length} tag {tag}");
            }
        }
        for place in 0..data.len() {
            let mut changed = data;
            changed[place] = 1;
            assert!(seen.insert(bytes(&changed, 0)), "place {place}");
        }
    }

    #[test]
    fn a_short_block_hashes_as_its_bytes_do() {
        let data: Vec<u8> = (1..=17).collect();
        for length in 0..=16 {
            let mut block = [0; 16];
            block[..length].copy_from_slice(&data[..length]);
            assert_eq!(bytes(&data[..length], 5), short(u128::from_le_bytes(block), length, 5));
        }
    }

    #[test]
    fn a_pair_is_ordered_and_unlike_its_parts() {
        let (a, b) = (bytes(b"a", 0), bytes(b"b", 0));
        let all: BTreeSet<u128> = [a, b, pair(a, b), pair(b, a), pair(a, a), pair(pair(a, b), a)].into();
        assert_eq!(all.len(), 6);
    }

    #[test]
    fn both_halves_of_the_hash_spread() {
        let mut low = BTreeSet::new();
        let mut high = BTreeSet::new();
        for n in 0..20_000_u32 {
            let hash = bytes(&n.to_le_bytes(), 7);
            low.insert((hash & 0xffff_ffff) as u32);
            high.insert((hash >> 96) as u32);
        }
        assert!(low.len() > 19_990 && high.len() > 19_990, "{} {}", low.len(), high.len());
    }
}
