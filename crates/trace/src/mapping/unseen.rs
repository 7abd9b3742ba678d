//! What the conditions and prefixes of a mapping look for and no row has had so far: a path without a value, or words of which
//! none was found. Looks closely at the first rows only.

use std::collections::BTreeSet;
use std::ops::Range;

use super::condition::{FieldTest, Literal, TestedValue, ValueTest, text};
use super::misspelt::is_misspelt;
use super::model::{Mapping, Prefix};
use super::path::Path;
use super::row::SourceRow;

/// The rows, from the first, after which only what is probably misspelt is looked for.
pub(super) const FIRST_ROWS: u64 = 1_000;
/// The most different values of a field that takes a few.
const VALUES: usize = 12;
/// The most characters of a value that is a word.
const LONGEST: usize = 40;

/// What no row has had so far.
#[derive(Debug, Default)]
pub(super) struct UnseenTests {
    of_rows: Vec<UnseenTest>,
    /// Those of failures, which only rows that are results need to have.
    of_results: Vec<UnseenTest>,
}

/// Something that a mapping looks for at a path of a row.
#[derive(Debug)]
pub(super) struct UnseenTest {
    /// The key of the mapping, such as `failed`.
    pub(super) key: String,
    pub(super) path: Path,
    /// Its place in the mapping file.
    pub(super) span: Range<usize>,
    wanted: Wanted,
    /// Where a row lacks the path, a part of the result is tested.
    is_else_part: bool,
    is_seen: bool,
    values: BTreeSet<String>,
}

#[derive(Debug)]
enum Wanted {
    Anything,
    /// One of these words.
    Words(Vec<String>),
    /// A text that begins with one of these.
    Prefixes(Vec<Prefix>),
}

impl UnseenTests {
    /// Nothing is seen yet of what `mapping` looks for.
    pub(super) fn of(mapping: &Mapping) -> UnseenTests {
        let tests = |of: Vec<(&'static str, &FieldTest)>| {
            of.into_iter().filter_map(|(key, test)| UnseenTest::of(key, test)).collect::<Vec<_>>()
        };
        let mut of_rows = tests(mapping.tests_of_rows());
        let calls = mapping.calls.iter().flat_map(|call| call.selectors());
        let parts = calls.chain(mapping.results.iter().flat_map(|result| result.selectors()));
        of_rows.extend(parts.filter(|part| !part.strip.is_empty()).filter_map(|part| {
            let [source] = part.sources.as_slice() else { return None };
            let wanted = Wanted::Prefixes(part.strip.clone());
            Some(UnseenTest::new(&part.field, source.path()?.clone(), part.span.clone(), wanted))
        }));
        UnseenTests { of_rows, of_results: tests(mapping.tests_of_results()) }
    }

    /// Takes a row.
    pub(super) fn row(&mut self, row: &SourceRow<'_>) {
        self.of_rows.retain_mut(|test| test.is_open(row));
    }

    /// Takes a row that is a result.
    pub(super) fn result(&mut self, row: &SourceRow<'_>) {
        self.of_results.retain_mut(|test| test.is_open(row));
    }

    /// Looks no longer for what is not `wanted`.
    pub(super) fn keep(&mut self, wanted: impl Fn(&UnseenTest) -> bool) {
        self.of_rows.retain(&wanted);
        self.of_results.retain(&wanted);
    }

    /// The paths that no row had.
    pub(super) fn paths(&self) -> impl Iterator<Item = &UnseenTest> {
        self.all().filter(|test| test.is_unseen_path())
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &UnseenTest> {
        self.of_results.iter().chain(&self.of_rows)
    }
}

impl UnseenTest {
    fn of(key: &str, test: &FieldTest) -> Option<UnseenTest> {
        let (path, is_else_part) = match &test.subject {
            TestedValue::Path(path) => (path, false),
            TestedValue::PathElsePart(path, _) => (path, true),
            TestedValue::Part(_) => return None,
        };
        let wanted = match test.tests.as_slice() {
            // What is to be skipped may well not be there.
            [ValueTest::Is(literals)] if key != "skip" => words(literals),
            _ => None,
        };
        let wanted = wanted.map_or(Wanted::Anything, Wanted::Words);
        let test = UnseenTest::new(key, path.clone(), test.span.clone(), wanted);
        path.is_inside().then_some(UnseenTest { is_else_part, ..test })
    }

    fn new(key: &str, path: Path, span: Range<usize>, wanted: Wanted) -> UnseenTest {
        let (key, values) = (key.to_owned(), BTreeSet::new());
        UnseenTest { key, path, span, wanted, is_else_part: false, is_seen: false, values }
    }

    /// Whether it is still open after `row`.
    fn is_open(&mut self, row: &SourceRow<'_>) -> bool {
        let Some(found) = row.find(&self.path) else { return true };
        self.is_seen = true;
        let value = text(found);
        let is_met = match &self.wanted {
            Wanted::Anything => true,
            Wanted::Words(words) => words.iter().any(|word| *word == value),
            Wanted::Prefixes(prefixes) => prefixes.iter().any(|prefix| prefix.after(&value).is_some()),
        };
        if !is_met && !self.values.contains(&*value) {
            self.values.insert(value.into_owned());
        }
        !is_met && self.values.len() <= VALUES
    }

    pub(super) fn is_unseen_path(&self) -> bool {
        !self.is_seen && !self.is_else_part
    }

    /// The word that is probably misspelt, and a few values that rows have in its place, the likeliest first.
    pub(super) fn misspelt(&self) -> Option<(&str, Vec<&str>)> {
        let wanted: Vec<&str> = match &self.wanted {
            Wanted::Anything => return None,
            Wanted::Words(words) => words.iter().map(String::as_str).collect(),
            Wanted::Prefixes(prefixes) => prefixes.iter().map(|prefix| prefix.0.as_str()).collect(),
        };
        let is_near = |word: &str, value: &str| match self.wanted {
            Wanted::Prefixes(_) => {
                value.char_indices().nth(word.chars().count()).is_some_and(|(end, _)| is_misspelt(word, &value[..end]))
            }
            _ => is_misspelt(word, value),
        };
        let short = || self.values.iter().map(String::as_str).filter(|value| value.chars().count() <= LONGEST);
        let (word, near) =
            wanted.into_iter().find_map(|word| Some((word, short().find(|value| is_near(word, value))?)))?;
        let others = short().filter(|value| *value != near);
        Some((word, std::iter::once(near).chain(others).take(3).collect()))
    }
}

/// The words of a test for some of them; none if it also tests for a number or for nothing.
fn words(literals: &[Literal]) -> Option<Vec<String>> {
    let word = |literal: &Literal| match literal {
        Literal::Letters(letters) => Some(letters.clone()),
        Literal::Null | Literal::Range(..) => None,
    };
    literals.iter().map(word).collect()
}
