//! Compiles the patterns of this module, when a text is first compared with them. Words, digits and spaces are ASCII, which keeps
//! the compiled tables small. Most texts are ASCII: for these a pattern is compiled that knows no other letters, in a tenth of
//! the time.

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Captures, Match, Regex, RegexBuilder};

/// A pattern of this module.
pub(super) type LazyPattern = LazyLock<TextRegex>;

/// A regular expression for texts, compiled when it is first needed.
#[derive(Clone, Debug)]
pub(super) struct TextRegex {
    pub(super) text: Cow<'static, str>,
    /// Any text is searched by its bytes, with the form for ASCII.
    takes_bytes: bool,
    for_ascii: OnceLock<Option<Regex>>,
    for_any: OnceLock<Option<Regex>>,
}

/// What a pattern found.
pub(super) struct Found<'t>(Captures<'t>);

/// `pattern` with the ASCII forms of its classes.
pub(super) fn ascii(pattern: &str) -> String {
    let classes = [(r"\w", "[0-9A-Za-z_]"), (r"\d", "[0-9]"), (r"\s", r"[\x20\t\r\n]"), (r"\b", r"(?-u:\b)")];
    classes.iter().fold(pattern.to_owned(), |pattern, (class, form)| pattern.replace(class, form))
}

/// One pattern; an invalid one matches nothing.
pub(super) fn one(pattern: impl Into<Cow<'static, str>>) -> TextRegex {
    TextRegex { text: pattern.into(), takes_bytes: false, for_ascii: OnceLock::new(), for_any: OnceLock::new() }
}

/// A pattern that ignores case. Without letters of other languages it takes bytes.
pub(super) fn ignoring_case(pattern: &str) -> TextRegex {
    TextRegex { takes_bytes: pattern.is_ascii(), ..one(format!("(?i:{pattern})")) }
}

/// Whether a pattern matches `text`.
pub(super) fn matches(pattern: &LazyPattern, text: &str) -> bool {
    pattern.is_match(text)
}

impl TextRegex {
    fn compile(&self, unicode: bool) -> Option<Regex> {
        RegexBuilder::new(&ascii(&self.text)).unicode(unicode).build().ok()
    }

    /// The pattern for a text; none if it is no regular expression.
    fn compiled(&self, text: &str) -> Option<&Regex> {
        // A class with other letters is compiled for any text alone.
        let for_ascii = || self.for_ascii.get_or_init(|| self.compile(false)).as_ref();
        let compiled = (self.takes_bytes || text.is_ascii()).then(for_ascii).flatten();
        let compiled = compiled.or_else(|| self.for_any.get_or_init(|| self.compile(true)).as_ref());
        debug_assert!(compiled.is_some(), "{}", self.text);
        compiled
    }

    /// Whether it is a regular expression.
    pub(super) fn is_valid(&self) -> bool {
        self.compile(!self.takes_bytes).is_some()
    }

    /// Whether it matches somewhere in `text`.
    pub(super) fn is_match(&self, text: &str) -> bool {
        self.compiled(text).is_some_and(|pattern| pattern.is_match(text.as_bytes()))
    }

    /// The first match.
    pub(super) fn find<'t>(&self, text: &'t str) -> Option<Found<'t>> {
        self.compiled(text)?.captures(text.as_bytes()).map(Found)
    }

    /// All matches.
    pub(super) fn find_all<'t>(&self, text: &'t str) -> impl Iterator<Item = Found<'t>> {
        self.compiled(text).into_iter().flat_map(|pattern| pattern.captures_iter(text.as_bytes())).map(Found)
    }

    /// The text without its matches.
    pub(super) fn without(&self, text: &str) -> String {
        let rest = self.compiled(text).map(|pattern| pattern.replace_all(text.as_bytes(), &b""[..]).into_owned());
        rest.and_then(|rest| String::from_utf8(rest).ok()).unwrap_or_else(|| text.to_owned())
    }
}

impl<'t> Found<'t> {
    /// A group, by number; 0 is the whole match.
    pub(super) fn get(&self, group: usize) -> Option<&'t str> {
        text_of(self.0.get(group)?)
    }

    /// A group, by name.
    pub(super) fn name(&self, group: &str) -> Option<&'t str> {
        text_of(self.0.name(group)?)
    }

    /// The first group that matched.
    pub(super) fn group(&self) -> Option<&'t str> {
        text_of(self.0.iter().skip(1).flatten().next()?)
    }

    /// Where the match begins.
    pub(super) fn start(&self) -> usize {
        self.0.get(0).map_or(0, |whole| whole.start())
    }

    /// Where the match ends.
    pub(super) fn end(&self) -> usize {
        self.0.get(0).map_or(0, |whole| whole.end())
    }
}

/// A match of whole letters; of a pattern that takes bytes, none.
fn text_of(found: Match<'_>) -> Option<&str> {
    std::str::from_utf8(found.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_taken_alike_by_the_form_for_ascii_and_by_that_for_any() {
        let texts = ["EXIT code 2", "ab k ", "❌x", "'x", "##⛔ a", "a: b", "a：b", "Kx", "ſx", "", "\n"];
        for pattern in [
            r"(?i)^\[?exit[ _-]?code:? [1-9]\d*\b",
            r"(?i)[^\n]{1,3}k\s|(?:❌|'|’)x",
            r"(?ix)^(?:[*\#]|⛔)+ \s*",
            "[:：]",
            r"(?i)\W(s|k)?x|.y",
        ] {
            for text in texts {
                let found =
                    |pattern: &TextRegex| pattern.find(text).map(|found| (found.get(0), found.group(), found.end()));
                let any = TextRegex { for_ascii: OnceLock::from(None), ..one(pattern) };
                assert_eq!(found(&one(pattern)), found(&any), "{pattern} {text:?}");
            }
        }
        assert_eq!(one("é|b").without("abécb"), "ac");
        assert!(!one("(").is_valid() && ignoring_case("é").is_match("É") && ignoring_case("^.{3}$").is_match("xé"));
    }
}
