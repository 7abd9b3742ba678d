//! A random number as an input: whole billionths from 0 to 1. Draws nothing itself.

use std::fmt;
use std::num::NonZeroU32;

use crate::decimal;

/// A number from 0 to 1 that an answer brings, so that the dispatcher needs no randomness of its own. Stored plus one, so
/// that an optional draw is as small as a draw.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Draw(NonZeroU32);

impl Draw {
    /// Billionths of one.
    pub const ONE: u32 = 1_000_000_000;

    /// The decimal places of billionths.
    const PLACES: u32 = 9;

    /// The draw 0.
    pub const ZERO: Draw = Draw(NonZeroU32::MIN);

    /// The draw 1.
    pub const MAX: Draw = Draw(NonZeroU32::MIN.saturating_add(Draw::ONE));

    /// A draw of this many billionths; none above one.
    pub const fn from_billionths(billionths: u32) -> Option<Draw> {
        if billionths > Draw::ONE { None } else { Some(Draw(NonZeroU32::MIN.saturating_add(billionths))) }
    }

    /// The draw in billionths.
    pub const fn billionths(self) -> u32 {
        self.0.get() - 1
    }

    /// Parses a decimal number from 0 to 1 with at most nine places, also in the notation with an exponent (`1e-05`).
    pub fn parse(text: &str) -> Option<Draw> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let places = exponent.checked_add_unsigned(Draw::PLACES).and_then(|places| u32::try_from(places).ok())?;
        let has_one_digit = mantissa.split('.').next().is_some_and(|whole| whole.len() == 1);
        let billionths = decimal::parse(mantissa, places).filter(|_| has_one_digit)?;
        Draw::from_billionths(u32::try_from(billionths).ok()?)
    }
}

impl fmt::Display for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal::write(f, self.billionths().into(), Draw::PLACES)
    }
}

impl fmt::Debug for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Draw({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_is_written_as_it_is_read() {
        for text in ["0", "1", "0.5", "0.874419", "0.000000001", "0.999999999"] {
            assert_eq!(Draw::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Draw::parse("0.50"), Draw::parse("0.5"));
        for (text, draw) in
            [("1e-05", "0.00001"), ("2.5E-1", "0.25"), ("1e-9", "0.000000001"), ("0.1e+1", "1"), ("0e9", "0")]
        {
            assert_eq!(Draw::parse(text), Draw::parse(draw), "{text}");
        }
        assert_eq!(size_of::<Option<Draw>>(), 4);
    }

    #[test]
    fn what_is_no_number_from_0_to_1_is_no_draw() {
        for text in [
            "",
            ".5",
            "-0",
            "1.000000001",
            "2",
            "0.1234567891",
            "0,5",
            "00.5",
            "+1",
            "0.5 ",
            "1e-10",
            "1.5e-9",
            "1e1",
            "2e0",
            "e-3",
            "1e",
            "1e-",
            "1e99999999999",
            "1e-99999999999",
            "1e2147483647",
        ] {
            assert_eq!(Draw::parse(text), None, "{text}");
        }
        assert_eq!(Draw::from_billionths(Draw::ONE + 1), None);
    }
}
