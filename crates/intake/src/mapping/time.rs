//! Parses times and numbers of foreign rows into microseconds and integers. Reads no clock.

use std::ops::RangeInclusive;

use super::model::TimeUnit;
use crate::iso;
use crate::json;
use crate::number::Decimal;
use crate::raw_value::RawValue;

impl TimeUnit {
    /// Decimal places between the unit and a microsecond.
    fn places(self) -> Option<u32> {
        match self {
            TimeUnit::Seconds => Some(6),
            TimeUnit::Millis => Some(3),
            TimeUnit::Micros => Some(0),
            TimeUnit::Nanos | TimeUnit::Iso => None,
        }
    }

    /// The microseconds of a text in this unit.
    fn micros(self, text: &str) -> Option<u64> {
        match (self, self.places()) {
            (TimeUnit::Iso, _) => of_text(text),
            (_, Some(places)) => scaled(text, places),
            (_, None) => scaled(text, 0).map(|nanos| nanos / 1_000),
        }
    }
}

/// Where a number of seconds of this century lies that is read as milliseconds.
pub(super) const JANUARY_1970: RangeInclusive<u64> = 1_000_000_000_000..=2_678_399_999_999;

/// The microseconds of a time that is written in words and digits.
fn of_text(text: &str) -> Option<u64> {
    u64::try_from(iso::parse_any(text)?).ok()
}

/// The number in `text` times 10^`places`; what is left of a fraction is cut off.
fn scaled(text: &str, places: u32) -> Option<u64> {
    if text.bytes().all(|byte| byte.is_ascii_digit())
        && let Ok(whole) = text.parse::<u64>()
    {
        return whole.checked_mul(10_u64.checked_pow(places)?); // most times are whole numbers
    }
    Decimal::parse(text)?.scaled(places)
}

/// The microseconds of a time in `unit`. Without a unit, a number is milliseconds, also in a text. Another text is read as it
/// says itself.
pub(super) fn micros(raw: RawValue<'_>, unit: Option<TimeUnit>) -> Option<u64> {
    let text = json::scalar(raw)?;
    let text = text.trim();
    let is_text = raw.get().starts_with('"');
    match unit {
        Some(unit) => unit.micros(text).or_else(|| of_text(text).filter(|_| is_text)),
        None if !is_text => TimeUnit::Millis.micros(text),
        None => of_text(text).or_else(|| TimeUnit::Millis.micros(text)),
    }
}

/// The microseconds of a duration: a number in `unit`, or a text that names its units.
pub(super) fn span(raw: RawValue<'_>, unit: TimeUnit) -> Option<u64> {
    let text = json::scalar(raw)?;
    let text = text.trim();
    unit.micros(text).or_else(|| duration(text))
}

/// The microseconds of `5s`, `1.5 ms`, `PT1M5.5S`, `00:01:05.5`.
fn duration(text: &str) -> Option<u64> {
    if let [hours, minutes, seconds] = text.split(':').collect::<Vec<_>>().as_slice() {
        let of_clock = [(*hours, 3_600), (*minutes, 60), (*seconds, 1)].map(|(text, factor)| seconds_of(text, factor));
        return of_clock.into_iter().sum();
    }
    if let Some(mut rest) = text.strip_prefix("PT").filter(|rest| !rest.is_empty()) {
        let mut sum = 0_u64;
        while !rest.is_empty() {
            let (number, unit) = rest.split_at_checked(rest.find(['H', 'M', 'S'])?)?;
            let factor = [("H", 3_600), ("M", 60), ("S", 1)].into_iter().find(|(name, _)| unit.starts_with(name))?.1;
            sum = sum.checked_add(seconds_of(number, factor)?)?;
            rest = unit.get(1..)?;
        }
        return Some(sum);
    }
    let (number, unit) = text.split_at_checked(text.find(char::is_alphabetic)?)?;
    let number = number.trim_end();
    match unit {
        "ns" => TimeUnit::Nanos.micros(number),
        "us" | "µs" | "μs" => TimeUnit::Micros.micros(number),
        "ms" => TimeUnit::Millis.micros(number),
        "s" | "sec" => seconds_of(number, 1),
        "m" | "min" => seconds_of(number, 60),
        "h" => seconds_of(number, 3_600),
        _ => None,
    }
}

fn seconds_of(text: &str, factor: u64) -> Option<u64> {
    TimeUnit::Seconds.micros(text)?.checked_mul(factor)
}

/// Parses a whole number.
pub(super) fn whole<N: TryFrom<u64>>(text: &str) -> Option<N> {
    N::try_from(text.trim().parse::<u64>().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json_text: &str, unit: Option<TimeUnit>) -> Option<u64> {
        micros(json::parse(json_text).expect("valid"), unit)
    }

    #[test]
    fn each_unit_becomes_microseconds_without_floats() {
        assert_eq!(read("1732579994.673772", Some(TimeUnit::Seconds)), Some(1_732_579_994_673_772));
        assert_eq!(read("1732579994673", Some(TimeUnit::Millis)), Some(1_732_579_994_673_000));
        assert_eq!(read("\"1732579994673\"", Some(TimeUnit::Micros)), Some(1_732_579_994_673));
        assert_eq!(read("\"1732579994673772999\"", Some(TimeUnit::Nanos)), Some(1_732_579_994_673_772));
        assert_eq!(read("\"1970-01-01T00:00:01Z\"", None), Some(1_000_000));
        assert_eq!(read("1.5", None), Some(1_500));
        assert_eq!(read("\"1732579994673\"", None), Some(1_732_579_994_673_000));
        assert_eq!(read("\"Thu, 01 Jan 1970 00:00:02 GMT\"", None), Some(2_000_000));
    }

    #[test]
    fn a_text_says_itself_how_it_is_read_whatever_the_unit() {
        assert_eq!(read("\"1970-01-01T00:00:01Z\"", Some(TimeUnit::Seconds)), Some(1_000_000));
        assert_eq!(read("\"1970/01/01 00:00:01\"", None), Some(1_000_000));
        assert_eq!(read("\"7\"", Some(TimeUnit::Seconds)), Some(7_000_000));
    }

    #[test]
    fn a_duration_may_name_its_units() {
        let read = |text: &str| span(json::parse(&format!("\"{text}\"")).expect("valid"), TimeUnit::Millis);
        for text in ["5000", "5s", "5 s", "5000ms", "5000000 µs", "PT5S", "00:00:05", "5000000000ns"] {
            assert_eq!(read(text), Some(5_000_000), "{text}");
        }
        assert_eq!((read("PT1H1M5.5S"), read("01:01:05.5")), (Some(3_665_500_000), Some(3_665_500_000)));
        assert_eq!((read("1.5 m"), read("2h")), (Some(90_000_000), Some(7_200_000_000)));
        for bad in
            ["", "s", "-5s", "5 days", "5,000", "PT", "PTS", "PT5", "5:00", "a:b:c", "::", "5é", "9999999999999999h"]
        {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn other_values_are_no_times() {
        assert_eq!(read("-1", None), None);
        assert_eq!(read("\"soon\"", None), None);
        assert_eq!(read("{}", None), None);
        assert_eq!(read("1e400", Some(TimeUnit::Seconds)), None);
        assert_eq!(read("7", Some(TimeUnit::Iso)), None);
    }
}
