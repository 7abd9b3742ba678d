//! Parses times and numbers of foreign rows into microseconds and integers. Reads no clock.

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
            (TimeUnit::Iso, _) => u64::try_from(iso::parse_micros(text)?).ok(),
            (_, Some(places)) => scaled(text, places),
            (_, None) => scaled(text, 0).map(|nanos| nanos / 1_000),
        }
    }
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

/// The microseconds of a time in `unit`. Without a unit, a number is milliseconds, also in a text; any other text is
/// ISO 8601 or RFC 2822.
pub(super) fn micros(raw: RawValue<'_>, unit: Option<TimeUnit>) -> Option<u64> {
    let text = json::scalar(raw)?;
    let text = text.trim();
    match unit {
        Some(unit) => unit.micros(text),
        None if !raw.get().starts_with('"') => TimeUnit::Millis.micros(text),
        None => TimeUnit::Iso
            .micros(text)
            .or_else(|| u64::try_from(iso::parse_rfc2822(text)?).ok())
            .or_else(|| TimeUnit::Millis.micros(text)),
    }
}

/// The microseconds of a duration in `unit`.
pub(super) fn span(raw: RawValue<'_>, unit: TimeUnit) -> Option<u64> {
    unit.micros(json::scalar(raw)?.trim())
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
    fn other_values_are_no_times() {
        assert_eq!(read("-1", None), None);
        assert_eq!(read("\"soon\"", None), None);
        assert_eq!(read("{}", None), None);
        assert_eq!(read("1e400", Some(TimeUnit::Seconds)), None);
        assert_eq!(read("7", Some(TimeUnit::Iso)), None);
    }
}
