//! The numbers of cases: exact to a billionth, read from their text. Knows no units.

use std::fmt;

use serde_json::{Number, Value};

/// A number in billionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount(i128);

/// Billionths of one.
const ONE: i128 = 1_000_000_000;

/// Its decimal places.
const PLACES: usize = 9;

/// The most digits before the point; their billionths fit.
const MOST_DIGITS: usize = 20;

impl Amount {
    /// So many whole ones.
    pub const fn whole(count: u64) -> Amount {
        Amount(count as i128 * ONE)
    }

    /// So many billionths.
    pub const fn billionths(count: i128) -> Amount {
        Amount(count)
    }

    /// So many millionths.
    pub const fn millionths(count: u64) -> Amount {
        Amount(count as i128 * 1_000)
    }

    /// So many thousandths.
    pub const fn thousandths(count: u64) -> Amount {
        Amount(count as i128 * 1_000_000)
    }

    /// The number of a JSON value.
    pub fn of(value: &Value) -> Option<Amount> {
        match value {
            Value::Number(number) => Amount::read(number),
            _ => None,
        }
    }

    /// A JSON number; further decimal places are cut. None: it is too large.
    fn read(number: &Number) -> Option<Amount> {
        let text = number.to_string();
        let (is_negative, text) = text.strip_prefix('-').map_or((false, &*text), |rest| (true, rest));
        let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, places) = digits.split_once('.').unwrap_or((digits, ""));
        let point = i64::try_from(whole.len()).ok()?.checked_add(exponent.parse().ok()?)?;
        let digits: String = [whole, places].concat();
        let significant = digits.trim_start_matches('0');
        let leading = i64::try_from(digits.len().checked_sub(significant.len())?).ok()?;
        let before = point.checked_sub(leading)?;
        if significant.is_empty() || before < -9 {
            return Some(Amount(0));
        }
        let length = usize::try_from(before.checked_add(9)?).ok().filter(|length| *length <= MOST_DIGITS + PLACES)?;
        let padded: String = significant.chars().chain(std::iter::repeat('0')).take(length).collect();
        let billionths: i128 = if padded.is_empty() { 0 } else { padded.parse().ok()? };
        Some(Amount(if is_negative { -billionths } else { billionths }))
    }

    /// Whole billionths.
    pub const fn as_billionths(self) -> i128 {
        self.0
    }

    /// Whole millionths, cut; none below zero.
    pub fn as_millionths(self) -> Option<u64> {
        u64::try_from(self.0 / 1_000).ok().filter(|_| self.0 >= 0)
    }

    /// Whole thousandths, cut; none below zero.
    pub fn as_thousandths(self) -> Option<u64> {
        u64::try_from(self.0 / 1_000_000).ok().filter(|_| self.0 >= 0)
    }

    /// The whole number that it is, if it is one and not below zero.
    pub fn as_whole(self) -> Option<u64> {
        (self.0 % ONE == 0).then(|| u64::try_from(self.0 / ONE).ok())?
    }

    /// The sum.
    #[must_use]
    pub const fn plus(self, other: Amount) -> Amount {
        Amount(self.0.saturating_add(other.0))
    }

    /// Whether the two are at most `tolerance` apart.
    pub const fn is_near(self, other: Amount, tolerance: Amount) -> bool {
        self.0.abs_diff(other.0) <= tolerance.0.unsigned_abs()
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, places) = (self.0.unsigned_abs() / ONE.unsigned_abs(), self.0.unsigned_abs() % ONE.unsigned_abs());
        let sign = if self.0 < 0 { "-" } else { "" };
        match places {
            0 => write!(f, "{sign}{whole}"),
            _ => write!(f, "{sign}{whole}.{}", format!("{places:09}").trim_end_matches('0')),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Option<String> {
        Amount::of(&serde_json::from_str(text).unwrap()).map(|amount| amount.to_string())
    }

    #[test]
    fn a_number_is_read_as_it_is_written() {
        for (text, shown) in [
            ("0", "0"),
            ("14", "14"),
            ("-1.5", "-1.5"),
            ("1e-06", "0.000001"),
            ("1.5e3", "1500"),
            ("0.3333333333333333", "0.333333333"),
            ("1e-12", "0"),
            ("1e-10", "0"),
            ("86400000.000001", "86400000.000001"),
        ] {
            assert_eq!(read(text).as_deref(), Some(shown), "{text}");
        }
        assert_eq!((read("1e40"), read("1e300"), read("\"1\""), read("null")), (None, None, None, None));
    }

    #[test]
    fn units_are_cut_and_never_negative() {
        let amount = |text: &str| Amount::of(&serde_json::from_str(text).unwrap()).unwrap();
        assert_eq!((amount("2.0000019").as_millionths(), amount("-1").as_millionths()), (Some(2_000_001), None));
        assert_eq!((amount("2").as_whole(), amount("2.5").as_whole(), amount("-2").as_whole()), (Some(2), None, None));
        assert!(amount("1").is_near(amount("1.001"), amount("0.001")));
        assert!(!amount("1").is_near(amount("1.001"), amount("0.0009")));
    }

    proptest! {
        #[test]
        fn any_number_can_be_read(number in any::<f64>(), whole in any::<i64>()) {
            let _ = Number::from_f64(number).and_then(|number| Amount::read(&number));
            prop_assert_eq!(Amount::read(&whole.into()).unwrap().to_string(), whole.to_string());
        }
    }
}
