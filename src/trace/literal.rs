//! Bytes that are looked at sixteen at a time: a text that is looked for at a place, and short texts as numbers. Knows
//! no JSON.

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

/// Text that is looked for at a place: its first bytes are compared at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    first: u128,
    mask: u128,
    length: usize,
    text: Box<[u8]>,
}

impl Literal {
    /// Of `text`; none if it is longer than `most` bytes.
    pub fn new(text: &str, most: usize) -> Option<Literal> {
        let first = text.as_bytes().get(..16).unwrap_or(text.as_bytes());
        let mut block = [0; 16];
        block.get_mut(..first.len())?.copy_from_slice(first);
        let (mask, length) = (*MASKS.get(first.len())?, text.len());
        (length <= most).then(|| Literal {
            first: u128::from_le_bytes(block),
            mask,
            length,
            text: text.as_bytes().into(),
        })
    }

    /// All of it.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// How many bytes it has.
    #[inline]
    pub fn length(&self) -> usize {
        self.length
    }

    /// Whether `block` begins with it, or, if it is longer, it with `block`.
    #[inline]
    pub fn begins(&self, block: [u8; 16]) -> bool {
        u128::from_le_bytes(block) & self.mask == self.first
    }

    /// Whether `text`, which is as long as it, is like it behind the first sixteen bytes.
    #[inline]
    pub fn ends(&self, text: &[u8]) -> bool {
        let (mine, its) = (self.text.as_chunks::<16>().0, text.as_chunks::<16>().0);
        let last = self.text.last_chunk::<16>() == text.last_chunk::<16>(); // it may overlap those before it
        last && mine.iter().zip(its).skip(1).all(|(mine, its)| mine == its)
    }
}
