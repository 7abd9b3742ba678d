//! Diagnostics: what is wrong, where, and what to do. Plain values: `report` draws them.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The input cannot be used.
    Error,
    /// The input is valid, but probably not what was meant.
    Warning,
    /// The input is valid and means what it says; something in it is not needed.
    Note,
}

/// A text, or an excerpt of one, that diagnostics point into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name: a path, `<stdin>`, `<embedded>/standard`.
    pub name: String,
    /// The text that spans point into.
    pub text: String,
    /// The number of the text's first line in the whole source, from 1.
    pub first_line: usize,
    /// The characters before the text in its first line, so that columns are correct; 0 for whole sources.
    pub first_column: usize,
    /// Whether the first line of the text begins before it, which is shown.
    pub begins_before: bool,
    /// Whether the last line of the text continues after it, which is shown.
    pub goes_on: bool,
}

impl Source {
    /// A whole source.
    pub fn whole(name: impl Into<String>, text: impl Into<String>) -> Arc<Source> {
        Source::lines(name, text, 1)
    }

    /// Whole lines of a source, the first of them with this number.
    pub fn lines(name: impl Into<String>, text: impl Into<String>, first_line: usize) -> Arc<Source> {
        let (name, text) = (name.into(), text.into());
        Arc::new(Source { name, text, first_line, first_column: 0, begins_before: false, goes_on: false })
    }

    /// Line and column (both from 1, the column counts characters) of byte `offset` of the text.
    pub fn place(&self, offset: usize) -> (usize, usize) {
        let mut end = offset.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &self.text[..end];
        let line = before.matches('\n').count();
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let shift = if line == 0 { self.first_column } else { 0 };
        (self.first_line + line, before[start..].chars().count() + 1 + shift)
    }
}

/// A place in a source that is underlined, with a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Bytes of the source's text.
    pub span: Range<usize>,
    /// The label of the place; may be empty.
    pub text: String,
}

/// One error or warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// A stable id such as `unknown_key`; `playproof help ID` explains the lint ids.
    pub id: &'static str,
    /// Its severity.
    pub severity: Severity,
    /// What is wrong, lowercase, user text in backticks.
    pub message: String,
    /// Where; the first label gives the place in `FILE:LINE:COLUMN`.
    pub labels: Vec<Label>,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error without a place yet.
    pub fn error(id: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic { id, severity: Severity::Error, message: message.into(), labels: Vec::new(), help: None }
    }

    /// A note without a place yet.
    pub fn note(id: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Note, ..Diagnostic::error(id, message) }
    }

    /// A warning without a place yet.
    pub fn warning(id: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(id, message) }
    }

    /// The same with a further label at `span`.
    #[must_use]
    pub fn at(mut self, span: Range<usize>, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// The same with a help text.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }
}

/// All diagnostics of one source, in the order of their places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What the diagnostics point into.
    pub source: Arc<Source>,
    /// Never empty.
    pub diagnostics: Vec<Diagnostic>,
}

impl Report {
    /// A report of a single diagnostic.
    pub fn one(source: Arc<Source>, diagnostic: Diagnostic) -> Report {
        Report { source, diagnostics: vec![diagnostic] }
    }
}

/// `FILE:LINE:COLUMN: message`, one line a diagnostic, for logs and tests.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, diagnostic) in self.diagnostics.iter().enumerate() {
            if n > 0 {
                writeln!(f)?;
            }
            write!(f, "{}", self.source.name)?;
            if let Some(label) = diagnostic.labels.first() {
                let (line, column) = self.source.place(label.span.start);
                write!(f, ":{line}:{column}")?;
            }
            write!(f, ": {}", diagnostic.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for Report {}

/// The candidate nearest to `word`, if one is near enough to be what was meant; else the longest that is its last part, as
/// `key` is of `idempotency_key`.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let length = word.chars().count();
    // A candidate in which every character differs is never near.
    let near = nearest(word, candidates.iter().copied(), (length / 3).max(1).min(length.saturating_sub(1)));
    let is_last_part = |candidate: &&str| word.strip_suffix(*candidate).is_some_and(|rest| rest.ends_with('_'));
    near.or_else(|| candidates.iter().copied().filter(is_last_part).max_by_key(|candidate| candidate.len()))
}

/// The candidate nearest to `word`, if the edit distance is at most `limit`.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>, limit: usize) -> Option<&'a str> {
    candidates
        .into_iter()
        .filter_map(|candidate| Some((edit_distance(word, candidate, limit)?, candidate)))
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// The number of characters to change, add, remove or swap with a neighbour, ignoring case; none if it is over `limit`.
fn edit_distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    let folded = |text: &str| text.chars().take(64).flat_map(char::to_lowercase).collect::<String>();
    let (a, b) = (folded(a), folded(b));
    if a.chars().count().abs_diff(b.chars().count()) > limit {
        return None; // so many are to be added or removed
    }
    Some(strsim::osa_distance(&a, &b)).filter(|distance| *distance <= limit)
}

/// A count with separated thousands: `1,234,567`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with its noun: `1 call`, `2 calls`.
pub fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_counts_characters_and_starts_at_the_excerpts_first_line() {
        let source = Source::lines("t", "é: 1\nb: 2", 7);
        assert_eq!(source.place(2), (7, 2));
        assert_eq!(source.place(6), (8, 1));
        assert_eq!(source.place(999), (8, 5));
    }

    #[test]
    fn a_near_name_is_offered_and_a_far_one_is_not() {
        let known = ["backoff_ms", "max_retries"];
        assert_eq!(did_you_mean("bakoff_ms", known), Some("backoff_ms"));
        assert_eq!(did_you_mean("queue", known), None);
        assert_eq!((nearest("abcd", ["ab", "abcdef"], 1), nearest("abcd", ["ab", "abcdef"], 2)), (None, Some("ab")));
        assert_eq!(did_you_mean("titel", ["title"]), Some("title"));
        assert_eq!(did_you_mean("idempotency_key", ["kinds", "key"]), Some("key"));
        assert_eq!(did_you_mean("monkey", ["key"]), None);
    }

    #[test]
    fn thousands_are_separated_and_one_is_singular() {
        assert_eq!((count(0), count(999), count(1_234_567)), ("0".into(), "999".into(), "1,234,567".into()));
        assert_eq!((counted(1, "call", "calls"), counted(2, "call", "calls")), ("1 call".into(), "2 calls".into()));
    }
}
