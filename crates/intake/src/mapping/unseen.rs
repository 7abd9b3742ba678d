//! The paths that the conditions of a mapping test and no row has had so far.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::condition::{FieldTest, TestedValue};
use super::model::Mapping;
use super::path::Path;
use super::row::SourceRow;

/// What no row has had so far.
#[derive(Debug, Default)]
pub(super) struct UnseenTests(Vec<UnseenTest>);

/// A path that a condition tests.
#[derive(Debug)]
pub(super) struct UnseenTest {
    /// The key of the mapping, such as `failed`.
    pub(super) key: &'static str,
    pub(super) path: Path,
    /// Its place in the mapping file.
    pub(super) span: Range<usize>,
    /// It is of failures: only rows that are results need to have it.
    is_of_result: bool,
    is_seen: AtomicBool,
}

impl UnseenTests {
    /// Nothing is seen yet of what `mapping` looks for.
    pub(super) fn of(mapping: &Mapping) -> UnseenTests {
        let tests = |of: Vec<(&'static str, &FieldTest)>, is_of_result| {
            let of = of.into_iter().filter(|(_, test)| !test.is_optional);
            let paths = of.filter_map(|(key, test)| match &test.subject {
                TestedValue::Path(path) if path.is_inside() => {
                    let (path, span) = (path.clone(), test.span.clone());
                    Some(UnseenTest { key, path, span, is_of_result, is_seen: AtomicBool::new(false) })
                }
                // Where a row lacks the path, a part of the result is tested.
                TestedValue::Path(_) | TestedValue::PathElsePart(..) | TestedValue::Part(_) => None,
            });
            paths.collect::<Vec<_>>()
        };
        let of_results = tests(mapping.tests_of_results(), true);
        UnseenTests(of_results.into_iter().chain(tests(mapping.tests_of_rows(), false)).collect())
    }

    /// The tests, by number, whose paths this row has and none before it: those of results, or of all rows.
    pub(super) fn found(&self, row: &SourceRow<'_>, is_of_result: bool) -> Vec<usize> {
        let is_new = |test: &UnseenTest| {
            test.is_of_result == is_of_result && !test.is_seen.load(Ordering::Relaxed) && row.find(&test.path).is_some()
        };
        self.0.iter().enumerate().filter(|(_, test)| is_new(test)).map(|(number, _)| number).collect()
    }

    /// A row that is taken has the paths of these tests.
    pub(super) fn see(&self, found: &[usize]) {
        found
            .iter()
            .filter_map(|number| self.0.get(*number))
            .for_each(|test| test.is_seen.store(true, Ordering::Relaxed));
    }

    /// The paths that no row had.
    pub(super) fn paths(&self) -> impl Iterator<Item = &UnseenTest> {
        self.0.iter().filter(|test| !test.is_seen.load(Ordering::Relaxed))
    }
}
