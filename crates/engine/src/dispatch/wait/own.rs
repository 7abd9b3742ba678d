//! The playbook's own wait before a retry: family, cap, jitter, floor.

use super::fixed::Fixed;
use super::{jitter, polly};
use crate::event::Draw;
use crate::playbook::{Backoff, Cap, DecorrelatedFrom, Family, Formula};
use crate::time::Duration;

/// The playbook's own wait before retry `n` as its counter counts, from 1. `previous`: the wait and the draw of the retry
/// before.
pub fn own_wait(backoff: &Backoff, n: u32, draw: Draw, previous: Option<(Duration, Draw)>) -> Duration {
    match backoff {
        // The last value repeats.
        Backoff::Listed(list) => {
            let place = usize::try_from(n.saturating_sub(1)).unwrap_or(usize::MAX);
            list.get(place).or(list.last()).copied().unwrap_or_default()
        }
        Backoff::Formula(formula) => wait(formula, Step { n, draw, previous }),
    }
}

/// What an own wait depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// The number of the retry as the formula's counter counts, from 1.
    pub n: u32,
    /// The draw of this retry.
    pub draw: Draw,
    /// The wait and the draw of the retry before.
    pub previous: Option<(Duration, Draw)>,
}

/// The wait of a formula.
pub(super) fn wait(formula: &Formula, step: Step) -> Duration {
    let most = formula.max.map_or(Fixed::LONGEST, Fixed::from);
    let grown = grow(formula, step, most);
    let spread = match formula.cap {
        Cap::BeforeJitter => jitter::spread(&formula.jitter, grown.min(most), step.n, step.draw),
        Cap::AfterJitter => jitter::spread(&formula.jitter, grown, step.n, step.draw).min(most),
    };
    let spread = if formula.whole_ms { spread.whole_ms() } else { spread };
    spread.max(formula.floor.into()).round()
}

/// The wait of step `n`, from 1, of a formula that needs no draw.
pub(in crate::dispatch) fn formula_wait(formula: &Formula, n: u32) -> Duration {
    wait(formula, Step { n, draw: Draw::ZERO, previous: None })
}

/// The wait before cap and jitter.
fn grow(formula: &Formula, step: Step, most: Fixed) -> Fixed {
    let base = Fixed::from(formula.family.base());
    let earlier = step.n.saturating_sub(1);
    let cut = |wait: Fixed| if formula.whole_ms { wait.whole_ms() } else { wait };
    match formula.family {
        Family::Constant { .. } => base,
        Family::Linear { increment, .. } => base.plus(Fixed::from(increment).times(earlier.into())),
        Family::Exponential { multiplier, .. } => repeat(earlier, base, |wait| cut(wait.by_ratio(multiplier))),
        Family::Polynomial { coef, exponent, .. } => {
            base.plus(Fixed::from(coef).times(u64::from(earlier).saturating_pow(exponent)))
        }
        Family::Fibonacci { .. } => {
            let mut before = Fixed::ZERO;
            repeat(earlier, base, |wait| before_and(&mut before, wait))
        }
        Family::Decorrelated { multiplier, from, .. } => {
            let from = match (from, step.previous) {
                (DecorrelatedFrom::Previous, Some((previous, _))) => Fixed::from(previous),
                _ => base,
            };
            base.plus(from.by_ratio(multiplier).min(most).minus(base).by_draw(step.draw))
        }
        Family::PollyV2 { .. } => {
            let before = step.previous.map(|(_, draw)| draw);
            polly::wait(formula.family.base(), step.n, step.draw, before)
        }
    }
}

/// `next` applied `times` times; stops where nothing changes any more.
fn repeat(times: u32, first: Fixed, mut next: impl FnMut(Fixed) -> Fixed) -> Fixed {
    let mut wait = first;
    for _ in 0..times {
        let following = next(wait);
        if following == wait && (wait == Fixed::LONGEST || wait == Fixed::ZERO) {
            break;
        }
        wait = following;
    }
    wait
}

/// The sum of `wait` and the one before it, which becomes `wait`.
fn before_and(before: &mut Fixed, wait: Fixed) -> Fixed {
    let sum = wait.plus(*before);
    *before = wait;
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playbook::{Jitter, Ratio};

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn waits(formula: &Formula, draw: &str) -> Vec<String> {
        let draw = Draw::parse(draw).unwrap();
        let mut previous = None;
        let each = (1..=5).map(|n| {
            let wait = wait(formula, Step { n, draw, previous });
            previous = Some((wait, draw));
            wait.to_string()
        });
        each.collect()
    }

    #[test]
    fn the_last_wait_of_a_list_repeats() {
        let list = Backoff::Listed(vec![ms(200), ms(600)]);
        let waits = [0, 1, 2, 3, u32::MAX].map(|n| own_wait(&list, n, Draw::MAX, None).as_millis());
        assert_eq!(waits, [200, 200, 600, 600, 600]);
    }

    #[test]
    fn each_family_grows_by_its_formula() {
        let base = ms(100);
        let cases = [
            (Family::Constant { base }, ["100", "100", "100", "100", "100"]),
            (Family::Linear { base, increment: ms(50) }, ["100", "150", "200", "250", "300"]),
            (Family::Exponential { base, multiplier: Ratio(1_500_000) }, ["100", "150", "225", "337.5", "506.25"]),
            (Family::Polynomial { base, coef: ms(10), exponent: 2 }, ["100", "110", "140", "190", "260"]),
            (Family::Fibonacci { base }, ["100", "100", "200", "300", "500"]),
        ];
        for (family, expected) in cases {
            assert_eq!(waits(&Formula::plain(family), "0"), expected, "{family:?}");
        }
    }

    #[test]
    fn a_decorrelated_wait_lies_between_its_base_and_a_multiple_of_the_wait_before() {
        let family =
            Family::Decorrelated { base: ms(100), multiplier: Ratio(3_000_000), from: DecorrelatedFrom::Previous };
        let capped = Formula { max: Some(ms(1_000)), ..Formula::plain(family) };
        assert_eq!(waits(&capped, "0"), ["100", "100", "100", "100", "100"]);
        assert_eq!(waits(&capped, "0.5"), ["200", "350", "550", "550", "550"]);
        assert_eq!(waits(&capped, "1"), ["300", "900", "1000", "1000", "1000"]);
        let family = Family::Decorrelated { base: ms(100), multiplier: Ratio(3_000_000), from: DecorrelatedFrom::Base };
        assert_eq!(waits(&Formula::plain(family), "1"), ["300", "300", "300", "300", "300"]);
    }

    #[test]
    fn the_cap_cuts_on_its_side_of_the_jitter() {
        let jitter = Jitter::Proportional { low: Ratio(500_000), high: Ratio(1_500_000) };
        let family = Family::Exponential { base: ms(100), multiplier: Ratio(2_000_000) };
        let before = Formula { max: Some(ms(300)), jitter, ..Formula::plain(family) };
        assert_eq!(waits(&before, "1"), ["150", "300", "450", "450", "450"]);
        let after = Formula { cap: Cap::AfterJitter, ..before };
        assert_eq!(waits(&after, "1"), ["150", "300", "300", "300", "300"]);
        assert_eq!(waits(&after, "0"), ["50", "100", "200", "300", "300"]);
    }

    #[test]
    fn each_step_is_cut_to_whole_milliseconds_on_demand() {
        let family = Family::Exponential { base: ms(7), multiplier: Ratio(1_500_000) };
        assert_eq!(waits(&Formula::plain(family), "0"), ["7", "10.5", "15.75", "23.625", "35.438"]);
        let whole = Formula { whole_ms: true, ..Formula::plain(family) };
        assert_eq!(waits(&whole, "0"), ["7", "10", "15", "22", "33"]);
    }

    #[test]
    fn the_floor_comes_last() {
        let family = Family::Constant { base: ms(100) };
        let formula = Formula { jitter: Jitter::Full, floor: ms(40), ..Formula::plain(family) };
        assert_eq!(waits(&formula, "0.1")[0], "40");
        assert_eq!(waits(&formula, "0.5")[0], "50");
    }

    #[test]
    fn the_longest_growth_saturates_at_a_day() {
        let huge = Duration::from_millis(86_400_000);
        let step = |n| Step { n, draw: Draw::from_billionths(Draw::ONE).unwrap(), previous: None };
        for family in [
            Family::Linear { base: huge, increment: huge },
            Family::Exponential { base: huge, multiplier: Ratio(1_000_000_000) },
            Family::Polynomial { base: huge, coef: huge, exponent: 10 },
            Family::Fibonacci { base: huge },
            Family::Decorrelated { base: huge, multiplier: Ratio(1_000_000_000), from: DecorrelatedFrom::Base },
            Family::PollyV2 { base: huge },
        ] {
            let jitter = Jitter::Additive { by: huge, per_retry: huge };
            let formula = Formula { jitter, ..Formula::plain(family) };
            assert_eq!(wait(&formula, step(u32::MAX)), huge, "{family:?}");
        }
    }
}
