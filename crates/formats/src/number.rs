//! JSON numbers by value: `1`, `1.0` and `10e-1` are equal. Exact at any length; uses no floats.

use std::borrow::Cow;

/// A number in lowest terms: `digits` x 10^`exponent`, without leading or trailing zeros; zero has no digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decimal<'a> {
    /// Below zero; never for zero.
    pub negative: bool,
    /// The significant digits.
    pub digits: Cow<'a, str>,
    /// The power of ten that the digits are multiplied by; saturates.
    pub exponent: i64,
}

impl<'a> Decimal<'a> {
    /// Parses the text of a JSON number.
    pub fn parse(text: &'a str) -> Option<Decimal<'a>> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, saturating(exponent)?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let all = if fraction.is_empty() { Cow::Borrowed(whole) } else { Cow::Owned(format!("{whole}{fraction}")) };
        let significant = all.trim_end_matches('0');
        let dropped = all.len() - significant.len();
        let exponent = exponent.saturating_sub(length(fraction.len())).saturating_add(length(dropped));
        let digits = match &all {
            Cow::Borrowed(_) => Cow::Borrowed(whole.trim_end_matches('0').trim_start_matches('0')),
            Cow::Owned(_) => Cow::Owned(significant.trim_start_matches('0').to_owned()),
        };
        let zero = digits.is_empty();
        Some(Decimal { negative: negative && !zero, digits, exponent: if zero { 0 } else { exponent } })
    }

    /// The value times 10^`places`, truncated; none if it is negative or does not fit into 64 bits.
    pub fn scaled(&self, places: u32) -> Option<u64> {
        if self.negative {
            return None;
        }
        let exponent = self.exponent.saturating_add(i64::from(places));
        let (digits, zeros) = match usize::try_from(exponent) {
            Ok(zeros) => (&*self.digits, zeros),
            Err(_) => {
                let cut = usize::try_from(exponent.unsigned_abs()).unwrap_or(usize::MAX);
                (self.digits.get(..self.digits.len().saturating_sub(cut)).unwrap_or(""), 0)
            }
        };
        let mut value: u64 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
        if value == 0 {
            return Some(0);
        }
        for _ in 0..zeros {
            value = value.checked_mul(10)?; // overflows after 20 rounds at most
        }
        Some(value)
    }

    /// The number as an integer, if it is a whole number of at most 18 digits.
    pub fn small(&self) -> Option<i64> {
        let zeros = usize::try_from(self.exponent).ok()?;
        if self.digits.len().checked_add(zeros)? > 18 {
            return None;
        }
        let value = Decimal { negative: false, ..self.clone() }.scaled(0)?;
        let value = i64::try_from(value).ok()?;
        Some(if self.negative { -value } else { value })
    }
}

/// In lowest terms: in plain notation up to 40 digits and 18 decimals, else with an exponent.
impl std::fmt::Display for Decimal<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.negative { "-" } else { "" };
        if self.digits.is_empty() {
            return write!(f, "0");
        }
        let places = usize::try_from(self.exponent.unsigned_abs()).unwrap_or(usize::MAX);
        if self.exponent >= 0 && self.digits.len().saturating_add(places) <= 40 {
            return write!(f, "{sign}{}{:0<places$}", self.digits, "");
        }
        if self.exponent < 0 && places <= 18 {
            let digits = format!("{:0>width$}", self.digits, width = places + 1);
            let (whole, fraction) = digits.split_at(digits.len() - places);
            return write!(f, "{sign}{whole}.{fraction}");
        }
        write!(f, "{sign}{}e{}", self.digits, self.exponent)
    }
}

fn saturating(exponent: &str) -> Option<i64> {
    let (negative, digits) = match exponent.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, exponent.strip_prefix('+').unwrap_or(exponent)),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value = digits.parse().unwrap_or(i64::MAX); // only digits: parsing fails only on overflow
    Some(if negative { -value } else { value })
}

fn length(of: usize) -> i64 {
    i64::try_from(of).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(of: &str) -> String {
        Decimal::parse(of).unwrap().to_string()
    }

    #[test]
    fn equal_values_have_one_text() {
        for same in ["1", "1.0", "1e0", "10e-1", "0.1E+1", "1.000"] {
            assert_eq!(text(same), "1");
        }
        for same in ["0", "-0", "0.0", "0e99", "-0.000e-5"] {
            assert_eq!(text(same), "0");
        }
        assert_eq!(text("-1200"), "-1200");
        assert_eq!(text("0.50"), "0.5");
        assert_eq!(text("-12.5e-3"), "-0.0125");
        assert_eq!(text("12.345"), "12.345");
        assert_eq!(text("123456789012345678901"), "123456789012345678901");
        assert_eq!(text("1e400"), "1e400");
        assert_eq!(text("1e99999999999999999999"), format!("1e{}", i64::MAX));
        assert_eq!(text(&"7".repeat(5_000)).len(), 5_002);
    }

    #[test]
    fn scaling_truncates_and_does_not_wrap() {
        let scaled = |of: &str, places| Decimal::parse(of).unwrap().scaled(places);
        assert_eq!(scaled("5000", 3), Some(5_000_000));
        assert_eq!(scaled("1.5", 3), Some(1_500));
        assert_eq!(scaled("0.0019", 3), Some(1));
        assert_eq!(scaled("1e-99", 3), Some(0));
        assert_eq!(scaled("1.7e12", 3), Some(1_700_000_000_000_000));
        assert_eq!(scaled("-1", 3), None);
        assert_eq!(scaled("-0", 3), Some(0));
        assert_eq!(scaled("18446744073709551616", 0), None);
        assert_eq!(scaled("1e99999", 3), None);
        assert_eq!(scaled(&"9".repeat(5_000), 3), None);
    }

    #[test]
    fn other_texts_are_refused() {
        for bad in ["", "-", "abc", "1e", "1e+", ".5", "1.2.3", "0x1", "NaN"] {
            assert_eq!(Decimal::parse(bad), None, "{bad}");
        }
    }
}
