//! How many random cases a test tries: all of them where `PROPTEST_CASES` says 128 or more, as `.ci/run` does.

use std::ops::RangeInclusive;

use proptest::test_runner::Config;

/// The first of `all` seeds.
pub fn seeds(all: u64) -> RangeInclusive<u64> {
    1..=share(all)
}

/// As much of a number as there are seeds of theirs.
pub fn share(all: u64) -> u64 {
    all * u64::from(Config::default().cases.min(128)) / 128
}

#[test]
fn a_quarter_of_the_seeds_is_tried_with_32_cases_and_all_of_them_in_the_gate() {
    let cases = u64::from(Config::default().cases);
    assert_eq!(share(1_000), if cases >= 128 { 1_000 } else { 1_000 * cases / 128 });
    assert_eq!(seeds(128).count() as u64, cases.min(128));
}
