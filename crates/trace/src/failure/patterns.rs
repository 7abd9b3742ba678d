//! Compiles the patterns of this module. Words, digits and spaces are ASCII, and a pattern of a set counts bytes unless it has
//! letters of other languages: both keep the compiled tables small.

use std::sync::LazyLock;

use regex::Regex;
use regex::bytes::RegexSet;

/// A pattern that is compiled when it is first needed.
pub(super) type LazyPattern = LazyLock<Option<Regex>>;
/// A set that is compiled when it is first needed.
pub(super) type LazySet = LazyLock<Option<RegexSet>>;

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
    let of_bytes = |pattern: &str| match pattern.is_ascii() {
        true => format!("(?-u:{})", ascii(pattern)),
        false => ascii(pattern),
    };
    compiled(RegexSet::new(patterns.into_iter().map(of_bytes)))
}

/// Whether a pattern matches `text`.
pub(super) fn matches(pattern: &LazyPattern, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// Whether a pattern of a set matches `text`.
pub(super) fn any_matches(set: &LazySet, text: &str) -> bool {
    set.as_ref().is_some_and(|set| set.is_match(text.as_bytes()))
}

fn compiled<R>(result: Result<R, regex::Error>) -> Option<R> {
    debug_assert!(result.is_ok(), "{:?}", result.as_ref().err());
    result.ok()
}
