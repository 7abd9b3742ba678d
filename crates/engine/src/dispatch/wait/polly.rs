//! The decorrelated jitter of Polly 8 (`RetryHelper.DecorrelatedJitterBackoffV2`): the one formula with floats. `libm` gives
//! the same bits on every machine.

#![expect(clippy::float_arithmetic, reason = "`tanh` and a square root are the formula")]

use super::fixed::Fixed;
use crate::event::Draw;
use crate::time::Duration;

/// The wait of retry `n`, from 1; `previous`: the draw of the retry before. `base * (f(t) - f(t before)) / 1.4`, where `t` is
/// the number of earlier retries plus the draw.
pub(super) fn wait(base: Duration, n: u32, draw: Draw, previous: Option<Draw>) -> Fixed {
    const FIRST_IS_THE_MEDIAN: f64 = 1.4;
    let earlier = n.saturating_sub(1);
    let before = match (earlier.checked_sub(1), previous) {
        (Some(earlier), Some(draw)) => spread(time(earlier, draw)),
        _ => 0.0,
    };
    let grown = spread(time(earlier, draw)) - before;
    Fixed::from_micros_f64(micros(base) * grown / FIRST_IS_THE_MEDIAN)
}

fn time(earlier: u32, draw: Draw) -> f64 {
    f64::from(earlier) + f64::from(draw.billionths()) / f64::from(Draw::ONE)
}

fn spread(t: f64) -> f64 {
    libm::exp2(t) * libm::tanh(libm::sqrt(4.0 * t))
}

#[expect(clippy::cast_precision_loss, reason = "a base has whole milliseconds, at most a day of them")]
fn micros(span: Duration) -> f64 {
    span.as_micros() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The microseconds of six waits from a base of one second, computed apart with the same draw at each retry.
    #[test]
    fn the_waits_are_those_of_the_formula() {
        let expected = [
            ("0", [0, 1_377_182, 1_460_067, 2_865_850, 5_717_807, 11_430_272]),
            ("0.25", [646_924, 1_013_570, 1_720_438, 3_404_510, 6_798_370, 13_592_378]),
            ("0.5", [897_405, 1_093_004, 2_035_748, 4_045_979, 8_083_632, 16_163_663]),
            ("1", [1_377_182, 1_460_067, 2_865_850, 5_717_807, 11_430_272, 22_858_027]),
        ];
        for (draw, expected) in expected {
            let draw = Draw::parse(draw).unwrap();
            let mut previous = None;
            let waits = (1..=6).map(|n| {
                let wait = wait(Duration::from_millis(1_000), n, draw, previous).round();
                previous = Some(draw);
                wait.as_micros()
            });
            assert_eq!(waits.collect::<Vec<_>>(), expected, "{draw}");
        }
    }
}
