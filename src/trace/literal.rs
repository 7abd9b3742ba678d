//! Short texts as numbers. Knows no JSON.

/// The first 0 to 16 bytes of a block.
const MASKS: [u128; 17] = {
    let mut masks = [u128::MAX; 17];
    let mut length = 0;
    while length < 16 {
        masks[length] = (1 << (8 * length)) - 1;
        length += 1;
    }
    masks
};

/// The first `length` bytes of a block, the others zero; none of more than 16.
#[inline]
pub fn first_bytes(block: [u8; 16], length: usize) -> Option<u128> {
    Some(u128::from_le_bytes(block) & MASKS.get(length)?)
}

/// Some bytes of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bytes<'a> {
    /// At most 16, padded with zeros, and how many they are.
    Short(u128, usize),
    /// More, or too near the end of the text to be looked at at once.
    Long(&'a [u8]),
}
