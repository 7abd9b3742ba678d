//! Compiles the patterns of this module. Words, digits and spaces are ASCII, which keeps the compiled tables small.

use std::sync::LazyLock;

use regex::Regex;

/// A pattern that is compiled when it is first needed.
pub(super) type LazyPattern = LazyLock<Option<Regex>>;

/// `pattern` with the ASCII forms of its classes.
pub(super) fn ascii(pattern: &str) -> String {
    let classes = [(r"\w", "[0-9A-Za-z_]"), (r"\d", "[0-9]"), (r"\s", r"[\x20\t\r\n]"), (r"\b", r"(?-u:\b)")];
    classes.iter().fold(pattern.to_owned(), |pattern, (class, form)| pattern.replace(class, form))
}

/// One pattern; none if it is invalid, which a test excludes.
pub(super) fn one(pattern: &str) -> Option<Regex> {
    let compiled = Regex::new(&ascii(pattern));
    debug_assert!(compiled.is_ok(), "{:?}", compiled.as_ref().err());
    compiled.ok()
}

/// Whether a pattern matches `text`.
pub(super) fn matches(pattern: &LazyPattern, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}
