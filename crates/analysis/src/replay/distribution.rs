//! How a number is spread over many calls, in bounded memory: exact for few different values, else rounded up to three
//! digits. What is counted in parts adds up to the same, however the calls are divided.

use std::collections::BTreeMap;

/// The most different values that are kept as they are.
const EXACT_MAX: usize = 1_000;

/// Values below this have a place of their own: most calls have no delay and few requests.
const SMALL: usize = 16;

/// Three digits stay of a value once there are too many different ones.
const DIGITS: u64 = 1_000;

/// How often each value was seen. At most 17,200 of them are kept: 1,000 below 1,000, then 900 for each power of ten.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Distribution {
    small: [u64; SMALL],
    /// The other values.
    counts: BTreeMap<u64, u64>,
    /// There were more than `EXACT_MAX` other values. If a part has them, so has the whole.
    is_rounded: bool,
    /// Exact.
    max: u64,
}

/// The values that 50, 95 and 99 percent of all do not exceed, and the highest one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Percentiles {
    /// The median.
    pub p50: u64,
    /// 19 of 20 have at most this.
    pub p95: u64,
    /// 99 of 100 have at most this.
    pub p99: u64,
    /// The highest.
    pub max: u64,
}

impl Percentiles {
    /// Each with its name.
    pub const fn rows(self) -> [(&'static str, u64); 4] {
        [("p50", self.p50), ("p95", self.p95), ("p99", self.p99), ("max", self.max)]
    }
}

impl Distribution {
    /// Counts a value.
    pub fn add(&mut self, value: u64) {
        self.max = self.max.max(value);
        self.count(value, 1);
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, other: &Distribution) {
        self.max = self.max.max(other.max);
        if other.is_rounded {
            self.round();
        }
        for (mine, count) in self.small.iter_mut().zip(other.small) {
            *mine += count;
        }
        for (value, count) in &other.counts {
            self.count(*value, *count);
        }
    }

    fn count(&mut self, value: u64, count: u64) {
        if let Some(small) = usize::try_from(value).ok().and_then(|value| self.small.get_mut(value)) {
            *small += count;
            return;
        }
        let value = if self.is_rounded { rounded(value) } else { value };
        *self.counts.entry(value).or_default() += count;
        if self.counts.len() > EXACT_MAX {
            self.round();
        }
    }

    fn round(&mut self) {
        if self.is_rounded {
            return;
        }
        self.is_rounded = true;
        for (value, count) in std::mem::take(&mut self.counts) {
            *self.counts.entry(rounded(value)).or_default() += count;
        }
    }

    /// How many values were counted.
    pub fn total(&self) -> u64 {
        self.rows().map(|(_, count)| count).sum()
    }

    /// How many of them are more than 0.
    pub fn above_zero(&self) -> u64 {
        self.total() - self.small[0]
    }

    /// The values with their counts, in order.
    fn rows(&self) -> impl Iterator<Item = (u64, u64)> {
        let small = (0_u64..).zip(self.small).filter(|(_, count)| *count > 0);
        small.chain(self.counts.iter().map(|(value, count)| (*value, *count)))
    }

    /// The percentiles of all values; zeros if there are none.
    pub fn percentiles(&self) -> Percentiles {
        self.of_those(|_| true)
    }

    /// The percentiles of the values above 0.
    pub fn percentiles_above_zero(&self) -> Percentiles {
        self.of_those(|value| value > 0)
    }

    /// By nearest rank: the least value that so many percent do not exceed.
    fn of_those(&self, wanted: impl Fn(u64) -> bool) -> Percentiles {
        let those = || self.rows().filter(|(value, _)| wanted(*value));
        let total: u64 = those().map(|(_, count)| count).sum();
        let at = |percent: u64| {
            let rank = u64::try_from((u128::from(total) * u128::from(percent)).div_ceil(100)).unwrap_or(total);
            let mut seen = 0;
            let found = those().find(|(_, count)| {
                seen += *count;
                seen >= rank
            });
            found.map_or(0, |(value, _)| value.min(self.max))
        };
        Percentiles { p50: at(50), p95: at(95), p99: at(99), max: self.max }
    }
}

/// The value with its first three digits, rounded up: at most one percent more.
fn rounded(value: u64) -> u64 {
    let mut unit = 1;
    while value / unit >= DIGITS {
        unit *= 10;
    }
    value.div_ceil(unit).saturating_mul(unit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counted(values: impl IntoIterator<Item = u64>) -> Distribution {
        let mut all = Distribution::default();
        values.into_iter().for_each(|value| all.add(value));
        all
    }

    #[test]
    fn percentiles_are_the_nearest_ranks() {
        let all = counted(1..=200).percentiles();
        assert_eq!(all.rows().map(|(_, value)| value), [100, 190, 198, 200]);
        assert_eq!(counted([7]).percentiles().rows().map(|(_, value)| value), [7; 4]);
        assert_eq!(counted([]).percentiles(), Percentiles::default());
        let mostly_zero = counted(std::iter::repeat_n(0, 98).chain([5, 9]));
        assert_eq!(mostly_zero.percentiles(), Percentiles { p50: 0, p95: 0, p99: 5, max: 9 });
        assert_eq!(mostly_zero.percentiles_above_zero(), Percentiles { p50: 5, p95: 9, p99: 9, max: 9 });
        assert_eq!((mostly_zero.total(), mostly_zero.above_zero()), (100, 2));
    }

    #[test]
    fn a_value_is_rounded_up_to_three_digits() {
        let cases = [(0, 0), (999, 999), (1_000, 1_000), (1_001, 1_010), (99_900, 99_900), (999_001, 1_000_000)];
        for (value, wanted) in cases {
            assert_eq!(rounded(value), wanted, "{value}");
        }
        assert_eq!(rounded(u64::MAX), u64::MAX);
    }

    #[test]
    fn few_values_are_exact_and_many_take_bounded_memory() {
        let few = counted((0..EXACT_MAX as u64).map(|n| 1_000_001 + n));
        assert_eq!((few.percentiles().p50, few.is_rounded), (1_000_500, false));
        assert!(counted((0..=EXACT_MAX as u64).map(|n| 1_000_001 + n)).is_rounded);
        let many = counted((0..200_000).map(|n| n * n * n));
        assert!(many.counts.len() <= 17_200 && many.is_rounded, "{}", many.counts.len());
        assert_eq!((many.total(), many.max), (200_000, 199_999_u64.pow(3)));
        let (truth, p50) = (99_999_u64.pow(3), many.percentiles().p50);
        assert!(truth <= p50 && p50 <= truth + truth / 100, "{p50} for {truth}");
    }

    proptest! {
        #[test]
        fn parts_add_up_to_the_whole_however_they_are_divided(
            values in prop::collection::vec(0..3_000_u64, 0..2_000), parts in 1..6_usize, spread in 1..5_000_u64,
        ) {
            let values: Vec<u64> = values.into_iter().map(|value| value * spread).collect();
            let whole = counted(values.iter().copied());
            let mut all = Distribution::default();
            for part in values.chunks(values.len() / parts + 1) {
                all.merge(&counted(part.iter().copied()));
            }
            prop_assert_eq!(&all, &whole);
            let mut sorted = values;
            sorted.sort_unstable();
            for (percent, found) in [(50, whole.percentiles().p50), (95, whole.percentiles().p95)] {
                let rank = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
                let truth = sorted.get(rank).copied().unwrap_or_default();
                prop_assert!(truth <= found && found <= truth + truth / 100, "p{}: {} for {}", percent, found, truth);
            }
        }
    }
}
