//! The paths that the conditions of a mapping test and no row has had so far.

use std::ops::Range;

use super::condition::{FieldTest, TestedValue};
use super::model::Mapping;
use super::path::Path;
use super::row::SourceRow;

/// What no row has had so far.
#[derive(Debug, Default)]
pub(super) struct UnseenTests {
    of_rows: Vec<UnseenTest>,
    /// Those of failures, which only rows that are results need to have.
    of_results: Vec<UnseenTest>,
}

/// A path that a condition tests.
#[derive(Debug)]
pub(super) struct UnseenTest {
    /// The key of the mapping, such as `failed`.
    pub(super) key: &'static str,
    pub(super) path: Path,
    /// Its place in the mapping file.
    pub(super) span: Range<usize>,
}

impl UnseenTests {
    /// Nothing is seen yet of what `mapping` looks for.
    pub(super) fn of(mapping: &Mapping) -> UnseenTests {
        let tests = |of: Vec<(&'static str, &FieldTest)>| {
            let of = of.into_iter().filter(|(_, test)| !test.is_optional);
            let paths = of.filter_map(|(key, test)| match &test.subject {
                TestedValue::Path(path) if path.is_inside() => {
                    Some(UnseenTest { key, path: path.clone(), span: test.span.clone() })
                }
                // Where a row lacks the path, a part of the result is tested.
                TestedValue::Path(_) | TestedValue::PathElsePart(..) | TestedValue::Part(_) => None,
            });
            paths.collect::<Vec<_>>()
        };
        UnseenTests { of_rows: tests(mapping.tests_of_rows()), of_results: tests(mapping.tests_of_results()) }
    }

    /// Takes a row.
    pub(super) fn row(&mut self, row: &SourceRow<'_>) {
        self.of_rows.retain(|test| row.find(&test.path).is_none());
    }

    /// Takes a row that is a result.
    pub(super) fn result(&mut self, row: &SourceRow<'_>) {
        self.of_results.retain(|test| row.find(&test.path).is_none());
    }

    /// The paths that no row had.
    pub(super) fn paths(&self) -> impl Iterator<Item = &UnseenTest> {
        self.of_results.iter().chain(&self.of_rows)
    }
}
