//! A span of time with a fraction: microseconds in units of 2^-32, up to a day. Sums and products saturate there.

use crate::event::Draw;
use crate::playbook::Ratio;
use crate::time::Duration;

const FRACTION_BITS: u32 = 32;

/// The longest wait, a day, in microseconds.
const LONGEST: u64 = 86_400_000_000;

/// A span with a fraction. The bound keeps every product below 2^128: 2^37 * 2^32 for the span, 10^15 for a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fixed(u128);

impl Fixed {
    pub const ZERO: Fixed = Fixed(0);
    pub const LONGEST: Fixed = Fixed((LONGEST as u128) << FRACTION_BITS);

    const fn bounded(raw: u128) -> Fixed {
        if raw > Fixed::LONGEST.0 { Fixed::LONGEST } else { Fixed(raw) }
    }

    pub const fn plus(self, other: Fixed) -> Fixed {
        Fixed::bounded(self.0 + other.0)
    }

    /// The difference; zero if `other` is larger.
    pub const fn minus(self, other: Fixed) -> Fixed {
        Fixed(self.0.saturating_sub(other.0))
    }

    pub const fn times(self, factor: u64) -> Fixed {
        Fixed::bounded(self.0.saturating_mul(factor as u128))
    }

    pub const fn by_ratio(self, ratio: Ratio) -> Fixed {
        Fixed::bounded(self.0 * ratio.0 as u128 / Ratio::SCALE as u128)
    }

    pub const fn by_draw(self, draw: Draw) -> Fixed {
        Fixed::bounded(self.0 * draw.billionths() as u128 / Draw::ONE as u128)
    }

    /// `self * (low + draw * (high - low))`.
    pub fn between(self, low: Ratio, high: Ratio, draw: Draw) -> Fixed {
        let (up, down) = (u128::from(draw.billionths()), u128::from(Draw::ONE - draw.billionths()));
        let factor = u128::from(low.0) * down + u128::from(high.0) * up;
        Fixed::bounded(self.0 * factor / (u128::from(Ratio::SCALE) * u128::from(Draw::ONE)))
    }

    pub const fn half(self) -> Fixed {
        Fixed(self.0 / 2)
    }

    /// Cut to whole milliseconds.
    pub const fn whole_ms(self) -> Fixed {
        Fixed(self.0 - self.0 % (1_000 << FRACTION_BITS))
    }

    /// Whole milliseconds, rounded down.
    pub const fn millis(self) -> u64 {
        self.micros() / 1_000
    }

    /// The nearest whole microseconds.
    pub const fn round(self) -> Duration {
        Duration::from_micros(Fixed(self.0 + (1 << (FRACTION_BITS - 1))).micros())
    }

    /// Whole microseconds, rounded down.
    #[expect(clippy::cast_possible_truncation, reason = "at most a day")]
    const fn micros(self) -> u64 {
        (self.0 >> FRACTION_BITS) as u64
    }

    /// The fraction of a microsecond in floats is cut at 2^-32.
    #[expect(clippy::float_arithmetic, reason = "the one family that is defined by transcendental functions")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded by a day before")]
    pub(super) fn from_micros_f64(micros: f64) -> Fixed {
        #[expect(clippy::cast_precision_loss, reason = "2^32 and a day are exact")]
        let (unit, longest) = ((1_u64 << FRACTION_BITS) as f64, LONGEST as f64);
        if micros.is_nan() || micros <= 0.0 { Fixed::ZERO } else { Fixed((micros.min(longest) * unit) as u128) }
    }
}

impl From<Duration> for Fixed {
    fn from(span: Duration) -> Fixed {
        Fixed::bounded(u128::from(span.as_micros()) << FRACTION_BITS)
    }
}
