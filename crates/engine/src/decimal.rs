//! Decimal numbers with a fixed number of places, as text and as a count of their smallest unit. No signs, no floats.

use std::fmt;

/// Parses a decimal number with at most `places` places. Gives the count of units of the last place; none if the text is
/// no such number, or one that 64 bits do not hold.
pub fn parse(text: &str, places: u32) -> Option<u64> {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let missing = places.checked_sub(u32::try_from(rest.len()).ok()?)?;
    if whole.is_empty() || !is_number(whole) || !is_number(rest) {
        return None;
    }
    let rest: u64 = if rest.is_empty() { 0 } else { rest.parse().ok()? };
    let units = whole.parse::<u64>().ok()?.checked_mul(10_u64.checked_pow(places)?)?;
    units.checked_add(rest.checked_mul(10_u64.checked_pow(missing)?)?)
}

/// Writes a count of units of which 10 to the power of `places` (19 or fewer) are one, without zeros at the end.
///
/// # Errors
/// Only those of the formatter.
pub fn write(f: &mut fmt::Formatter<'_>, units: u64, places: u32) -> fmt::Result {
    let one = 10_u64.saturating_pow(places);
    match (units / one, units % one) {
        (whole, 0) => write!(f, "{whole}"),
        (whole, rest) => {
            let rest = format!("{rest:0width$}", width = places as usize);
            write!(f, "{whole}.{}", rest.trim_end_matches('0'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Thousandths of one.
    struct Thousandths(u64);

    impl fmt::Display for Thousandths {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write(f, self.0, 3)
        }
    }

    #[test]
    fn a_number_is_written_as_it_is_read() {
        for (text, units) in [("0", 0), ("200", 200_000), ("0.5", 500), ("1.025", 1_025), ("0.001", 1), ("3.1", 3_100)]
        {
            assert_eq!((parse(text, 3), Thousandths(units).to_string().as_str()), (Some(units), text));
        }
        assert_eq!((parse("007.50", 3), parse("7.", 3)), (Some(7_500), Some(7_000)));
        assert_eq!(parse("18446744073709551.615", 3), Some(u64::MAX));
    }

    #[test]
    fn what_is_no_such_number_is_refused() {
        for text in
            ["", ".", ".5", "-1", "+1", "1e3", "1,5", "1.2.3", "1.0000", " 1", "1 ", "0x1", "18446744073709551.616"]
        {
            assert_eq!(parse(text, 3), None, "{text}");
        }
    }
}
