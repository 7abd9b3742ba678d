//! The shortest and the longest own wait before a retry, whatever is drawn: for lints and for people.

use super::own::{self, Step};
use crate::event::Draw;
use crate::playbook::{Backoff, Formula, Jitter};
use crate::time::Duration;

/// The bounds of the wait before retry `n` of one verdict, from 1, if no wait before it was the upstream's wish.
pub fn wait_range(backoff: &Backoff, n: u32) -> (Duration, Duration) {
    match backoff {
        Backoff::Listed(_) => {
            let wait = own::own_wait(backoff, n, Draw::ZERO, None);
            (wait, wait)
        }
        Backoff::Formula(formula) if formula.jitter == Jitter::Modulo => {
            let (_, longest) = extremes(&Formula { jitter: Jitter::None, ..*formula }, n);
            (formula.floor, longest)
        }
        Backoff::Formula(formula) => extremes(formula, n),
    }
}

/// Every wait grows or shrinks steadily with its own draw and with those before it, so that the extremes are at their ends.
fn extremes(formula: &Formula, n: u32) -> (Duration, Duration) {
    let ends = [Draw::ZERO, Draw::MAX];
    let waits = ends.into_iter().flat_map(|before| {
        let previous =
            (1..n).fold(None, |previous, n| Some((own::wait(formula, Step { n, draw: before, previous }), before)));
        ends.map(|draw| own::wait(formula, Step { n, draw, previous }))
    });
    let bounds = waits.map(|wait| (wait, wait));
    bounds.reduce(|(least, most), (wait, _)| (least.min(wait), most.max(wait))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playbook::{Cap, Counter, DecorrelatedFrom, Family, Ratio};
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;
    use proptest::sample::select;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn range(family: Family, jitter: Jitter, n: u32) -> (u64, u64) {
        let formula = Formula { max: Some(ms(1_000)), jitter, ..Formula::plain(family) };
        let (least, most) = wait_range(&Backoff::Formula(formula), n);
        (least.as_millis(), most.as_millis())
    }

    #[test]
    fn the_range_holds_every_drawn_wait() {
        let base = ms(100);
        let doubling = Family::Exponential { base, multiplier: Ratio(2_000_000) };
        assert_eq!(range(doubling, Jitter::None, 3), (400, 400));
        assert_eq!(range(doubling, Jitter::Full, 3), (0, 400));
        let down = Jitter::Proportional { low: Ratio(1_000_000), high: Ratio(750_000) };
        assert_eq!(range(doubling, down, 3), (300, 400));
        assert_eq!(range(doubling, Jitter::Modulo, 5), (0, 1_000));
        let from = DecorrelatedFrom::Previous;
        let decorrelated = Family::Decorrelated { base, multiplier: Ratio(3_000_000), from };
        assert_eq!(range(decorrelated, Jitter::None, 2), (100, 900));
        assert_eq!(range(Family::PollyV2 { base }, Jitter::None, 2), (0, 283));
        assert_eq!(wait_range(&Backoff::Listed(vec![ms(7), ms(9)]), 5), (ms(9), ms(9)));
    }

    fn millis(most: u64) -> impl Strategy<Value = Duration> {
        (0..=most).prop_map(Duration::from_millis)
    }

    fn ratios(least: u32, most: u32) -> impl Strategy<Value = Ratio> {
        (least * 1_000..=most * 1_000).prop_map(|thousandths| Ratio(thousandths * 1_000))
    }

    fn families() -> impl Strategy<Value = Family> {
        let from = select(vec![DecorrelatedFrom::Base, DecorrelatedFrom::Previous]);
        prop_oneof![
            millis(9_000).prop_map(|base| Family::Constant { base }),
            (millis(9_000), millis(9_000)).prop_map(|(base, increment)| Family::Linear { base, increment }),
            (millis(9_000), ratios(1, 4)).prop_map(|(base, multiplier)| Family::Exponential { base, multiplier }),
            (millis(9_000), millis(900), 1..5_u32).prop_map(|(base, coef, exponent)| Family::Polynomial {
                base,
                coef,
                exponent
            }),
            millis(9_000).prop_map(|base| Family::Fibonacci { base }),
            (millis(9_000), ratios(1, 4), from).prop_map(|(base, multiplier, from)| Family::Decorrelated {
                base,
                multiplier,
                from
            }),
            millis(9_000).prop_map(|base| Family::PollyV2 { base }),
        ]
    }

    fn jitters() -> impl Strategy<Value = Jitter> {
        prop_oneof![
            select(vec![Jitter::None, Jitter::Full, Jitter::Equal, Jitter::Modulo]),
            (ratios(0, 2), ratios(0, 2)).prop_map(|(low, high)| Jitter::Proportional { low, high }),
            millis(9_000).prop_map(|by| Jitter::Absolute { by }),
            (millis(900), millis(900)).prop_map(|(by, per_retry)| Jitter::Additive { by, per_retry }),
        ]
    }

    proptest! {
        #[test]
        fn no_draws_lead_out_of_the_range(
            family in families(),
            jitter in jitters(),
            max in option::of(millis(60_000)),
            after in any::<bool>(),
            floor in millis(500),
            whole_ms in any::<bool>(),
            draws in vec(0..=Draw::ONE, 1..12),
        ) {
            let cap = if after { Cap::AfterJitter } else { Cap::BeforeJitter };
            let jitter = if family.is_drawn() { Jitter::None } else { jitter };
            let formula = Formula { family, max, cap, jitter, floor, whole_ms, counter: Counter::Verdict };
            let mut previous = None;
            for (draw, n) in draws.into_iter().zip(1..) {
                let draw = Draw::from_billionths(draw).unwrap();
                let wait = own::wait(&formula, Step { n, draw, previous });
                let (least, most) = wait_range(&Backoff::Formula(formula), n);
                prop_assert!(least <= wait && wait <= most, "retry {n}: {least} to {most}, got {wait}");
                previous = Some((wait, draw));
            }
        }
    }
}
