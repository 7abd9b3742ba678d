//! Time of the simulation: whole microseconds that saturate. Reads no clock and knows no floats.

use std::fmt;
use std::num::NonZeroU64;

use crate::decimal;

/// A point in virtual time: microseconds since the simulation's (or the trace's) zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Instant(Micros);

/// A span of virtual time in microseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Duration(Micros);

/// Microseconds plus one, so that an optional time is as small as a time: a trace has millions. The end of time is one
/// microsecond before the maximum of 64 bits.
type Micros = NonZeroU64;

/// The decimal places of milliseconds, down to a microsecond.
const MILLIS_PLACES: u32 = 3;

const fn stored(micros: u64) -> Micros {
    Micros::MIN.saturating_add(micros)
}

impl Instant {
    /// Virtual time zero.
    pub const ZERO: Instant = Instant::from_micros(0);

    /// The instant `micros` microseconds after zero, saturating.
    pub const fn from_micros(micros: u64) -> Instant {
        Instant(stored(micros))
    }

    /// The instant `millis` milliseconds after zero, saturating.
    pub const fn from_millis(millis: u64) -> Instant {
        Instant::from_micros(millis.saturating_mul(1_000))
    }

    /// Microseconds since zero.
    pub const fn as_micros(self) -> u64 {
        self.0.get() - 1
    }

    /// The span from `earlier` to `self`; zero if `earlier` is later.
    pub const fn since(self, earlier: Instant) -> Duration {
        Duration::from_micros(self.as_micros().saturating_sub(earlier.as_micros()))
    }

    /// This instant moved later by `span`, saturating at the end of time.
    pub const fn plus(self, span: Duration) -> Instant {
        Instant(self.0.saturating_add(span.as_micros()))
    }
}

impl Duration {
    /// Zero time.
    pub const ZERO: Duration = Duration::from_micros(0);

    /// A span of `micros` microseconds, saturating.
    pub const fn from_micros(micros: u64) -> Duration {
        Duration(stored(micros))
    }

    /// A span of `millis` milliseconds, saturating.
    pub const fn from_millis(millis: u64) -> Duration {
        Duration::from_micros(millis.saturating_mul(1_000))
    }

    /// Parses milliseconds with up to three decimals, as they are written.
    pub fn parse_millis(text: &str) -> Option<Duration> {
        decimal::parse(text, MILLIS_PLACES).map(Duration::from_micros)
    }

    /// The span in microseconds.
    pub const fn as_micros(self) -> u64 {
        self.0.get() - 1
    }

    /// The span in whole milliseconds, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.as_micros() / 1_000
    }

    /// The sum, saturating.
    pub const fn plus(self, other: Duration) -> Duration {
        Duration(self.0.saturating_add(other.as_micros()))
    }

    /// The difference; zero if `other` is longer.
    #[must_use]
    pub const fn minus(self, other: Duration) -> Duration {
        Duration::from_micros(self.as_micros().saturating_sub(other.as_micros()))
    }
}

impl Default for Instant {
    fn default() -> Instant {
        Instant::ZERO
    }
}

impl Default for Duration {
    fn default() -> Duration {
        Duration::ZERO
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Instant").field(&self.as_micros()).finish()
    }
}

impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Duration").field(&self.as_micros()).finish()
    }
}

/// Milliseconds, with up to three decimals if the span is not whole: `200`, `0.5`.
impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal::write(f, self.as_micros(), MILLIS_PLACES)
    }
}

/// Days from 1970-01-01 to a date of the Gregorian calendar; its month is from 1 to 12. Howard Hinnant's `days_from_civil`.
pub const fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_saturates_and_never_wraps() {
        let end = Instant::from_micros(u64::MAX);
        assert_eq!(end.plus(Duration::from_millis(1)), end);
        assert_eq!(Instant::ZERO.since(end), Duration::ZERO);
        assert_eq!(Duration::from_millis(u64::MAX).as_micros(), u64::MAX - 1);
        assert_eq!(Instant::from_micros(7).plus(Duration::from_micros(5)).as_micros(), 12);
        assert_eq!(size_of::<Option<Instant>>(), size_of::<u64>());
    }

    #[test]
    fn a_duration_prints_as_milliseconds_without_trailing_zeros() {
        assert_eq!(Duration::from_millis(200).to_string(), "200");
        assert_eq!(Duration::from_micros(500).to_string(), "0.5");
        assert_eq!(Duration::from_micros(1_025).to_string(), "1.025");
        assert_eq!(Duration::parse_millis("1.025"), Some(Duration::from_micros(1_025)));
    }
}
