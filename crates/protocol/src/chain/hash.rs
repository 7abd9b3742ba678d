//! The hash of an entry.

use std::fmt;

use sha2::{Digest, Sha256};

/// A SHA-256, as `sha256:` and 64 characters of 0-9 and a-f. The default is what the first entry has before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash([u8; 32]);

/// What stands before the digits.
const PREFIX: &str = "sha256:";

impl Hash {
    /// The length of its text.
    pub const LENGTH: usize = PREFIX.len() + 64;

    /// That of an entry behind the text of its `prev`.
    pub fn of(prev: &str, entry: &str) -> Hash {
        Hash(Sha256::new().chain_update(prev).chain_update(entry).finalize().into())
    }

    /// Reads its text.
    pub fn parse(text: &str) -> Option<Hash> {
        let digits = text.strip_prefix(PREFIX).filter(|digits| digits.len() == 64)?;
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if !digits.bytes().all(is_digit) {
            return None;
        }
        let mut hash = Hash::default();
        for (byte, at) in hash.0.iter_mut().zip((0..64).step_by(2)) {
            *byte = u8::from_str_radix(digits.get(at..at + 2)?, 16).ok()?;
        }
        Some(hash)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_read_as_it_is_written_and_in_no_other_form() {
        let hash = Hash::of("a", "b");
        assert_eq!(Hash::parse(&hash.to_string()), Some(hash));
        assert_eq!(Hash::default().to_string(), format!("sha256:{}", "0".repeat(64)));
        for wrong in ["", "sha256:", "sha256:00", &hash.to_string().to_uppercase(), "\u{e9}"] {
            assert_eq!(Hash::parse(wrong), None, "{wrong}");
        }
    }
}
