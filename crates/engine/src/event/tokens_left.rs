//! What a retry budget has left, as events say it: whole thousandths of a token. Computes nothing.

use std::fmt;
use std::num::NonZeroU64;

use crate::decimal;

/// Tokens that are left. Stored plus one, so that an optional value is as small as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokensLeft(NonZeroU64);

impl TokensLeft {
    /// The decimal places of thousandths.
    const PLACES: u32 = 3;

    /// So many thousandths of a token, saturating.
    pub const fn from_thousandths(thousandths: u64) -> TokensLeft {
        TokensLeft(NonZeroU64::MIN.saturating_add(thousandths))
    }

    /// Parses a decimal number with at most three places.
    pub fn parse(text: &str) -> Option<TokensLeft> {
        decimal::parse(text, TokensLeft::PLACES).map(TokensLeft::from_thousandths)
    }
}

impl fmt::Display for TokensLeft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal::write(f, self.0.get() - 1, TokensLeft::PLACES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for text in ["0", "486", "0.5", "12.125"] {
            assert_eq!(TokensLeft::parse(text).map(|left| left.to_string()).as_deref(), Some(text));
        }
        assert_eq!(size_of::<Option<TokensLeft>>(), 8);
    }
}
