//! Compiles the patterns of this module. Words, digits and spaces are ASCII, which keeps the compiled tables small.

use regex::{Regex, RegexSet, RegexSetBuilder};

/// `pattern` with the ASCII forms of its classes.
fn ascii(pattern: &str) -> String {
    let classes = [(r"\w", "[0-9A-Za-z_]"), (r"\d", "[0-9]"), (r"\s", r"[\x20\t\r\n]"), (r"\b", r"(?-u:\b)")];
    classes.iter().fold(pattern.to_owned(), |pattern, (class, form)| pattern.replace(class, form))
}

/// One pattern; none if it is invalid, which a test excludes.
pub(super) fn one(pattern: &str) -> Option<Regex> {
    compiled(Regex::new(&ascii(pattern)))
}

/// Several patterns; none if one is invalid, which a test excludes.
pub(super) fn set<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Option<RegexSet> {
    compiled(RegexSetBuilder::new(patterns.into_iter().map(ascii)).build())
}

fn compiled<R>(result: Result<R, regex::Error>) -> Option<R> {
    debug_assert!(result.is_ok(), "{:?}", result.as_ref().err());
    result.ok()
}
