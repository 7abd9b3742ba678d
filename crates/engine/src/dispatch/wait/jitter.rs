//! How a draw spreads a wait.

use super::fixed::Fixed;
use crate::event::Draw;
use crate::playbook::Jitter;
use crate::time::Duration;

/// The wait of retry `n`, spread by its draw.
pub(super) fn spread(jitter: &Jitter, wait: Fixed, n: u32, draw: Draw) -> Fixed {
    match *jitter {
        Jitter::None => wait,
        Jitter::Full => wait.by_draw(draw),
        Jitter::Equal => wait.half().plus(wait.half().by_draw(draw)),
        Jitter::Proportional { low, high } => wait.between(low, high, draw),
        Jitter::Absolute { by } => {
            let by = Fixed::from(by);
            wait.plus(by).minus(by.by_draw(draw).times(2))
        }
        Jitter::Additive { by, per_retry } => {
            wait.plus(Fixed::from(by).plus(Fixed::from(per_retry).times(n.into())).by_draw(draw))
        }
        Jitter::Modulo => modulo(wait, draw),
    }
}

/// The draw in billionths, modulo the milliseconds of `span`, as milliseconds.
pub(super) fn modulo(span: Fixed, draw: Draw) -> Fixed {
    let millis = u64::from(draw.billionths()).checked_rem(span.millis()).unwrap_or_default();
    Duration::from_millis(millis).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playbook::Ratio;

    #[test]
    fn each_kind_spreads_a_wait_between_its_bounds() {
        let by = Duration::from_millis(300);
        let cases = [
            (Jitter::None, ["100", "100", "100"]),
            (Jitter::Full, ["0", "50", "100"]),
            (Jitter::Equal, ["50", "75", "100"]),
            (Jitter::Proportional { low: Ratio(800_000), high: Ratio(1_200_000) }, ["80", "100", "120"]),
            // The orientation of Stripe and failsafe: draw 0 is the longest wait.
            (Jitter::Proportional { low: Ratio(1_000_000), high: Ratio(750_000) }, ["100", "87.5", "75"]),
            (Jitter::Absolute { by: Duration::from_millis(30) }, ["130", "100", "70"]),
            (Jitter::Absolute { by }, ["400", "100", "0"]),
            (Jitter::Additive { by, per_retry: Duration::from_millis(10) }, ["100", "260", "420"]),
        ];
        for (jitter, expected) in cases {
            let spread = ["0", "0.5", "1"].map(|draw| {
                let draw = Draw::parse(draw).unwrap();
                spread(&jitter, Duration::from_millis(100).into(), 2, draw).round().to_string()
            });
            assert_eq!(spread, expected, "{jitter:?}");
        }
    }

    #[test]
    fn modulo_takes_the_remainder_in_whole_milliseconds() {
        let wait = |draw, millis| {
            let draw = Draw::from_billionths(draw).unwrap();
            spread(&Jitter::Modulo, Duration::from_millis(millis).into(), 1, draw).round().as_millis()
        };
        assert_eq!((wait(7, 25), wait(25, 25), wait(149, 75), wait(149, 0)), (7, 0, 74, 0));
    }
}
