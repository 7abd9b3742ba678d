//! The number of an idempotency key among those of all inputs: what is known of a key stands in lists then, which need less
//! memory than tables. Decides nothing.

use std::num::NonZeroU32;

/// A key of a write, by the order in which keys were first seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyNumber(NonZeroU32);

impl KeyNumber {
    /// The number of the key at this index; none: there are more keys than numbers (2^32 - 1).
    pub(crate) fn of_index(index: usize) -> Option<KeyNumber> {
        let number = u32::try_from(index).ok()?.checked_add(1)?;
        NonZeroU32::new(number).map(KeyNumber)
    }

    /// Its index in a list of all keys.
    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}
