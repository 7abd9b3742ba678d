//! The rows of failure words: what a text says of its call. Reads them from YAML, from the file in the program or from a user's;
//! knows no result.

use std::ops::Range;
use std::sync::{Arc, LazyLock, OnceLock};

use regex::bytes::Regex;

use super::kinds;
use super::patterns::ascii;
use super::row_search::RowSearch;
use super::tool_name::ToolClass;
use crate::mapping::MAPPING;
use playproof_engine::words;
use playproof_formats::diagnostic::{Diagnostic, Source};
use playproof_formats::schema::{self, At};

/// The rows that come with the program.
pub const FAILURE_WORDS: &str = include_str!("../../failure_words.yaml");

words! {
    /// What a text says of its call, the weakest first.
    pub enum Says {
        /// Perhaps that it failed.
        Suspected = "suspected",
        /// That it failed.
        Failed = "failed",
        /// That the work is not done yet, or that the result is lost.
        Unfinished = "unfinished",
    }
}

words! {
    /// Where the words of a row stand.
    pub enum Place {
        /// In the first line.
        First = "first",
        /// In the last line of several.
        Last = "last",
        /// In a short text as a whole.
        Whole = "whole",
    }
}

/// One row.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) place: Place,
    pub(super) says: Says,
    pub(super) kind: Option<String>,
    pub(super) code: Option<String>,
    /// The words prove that nothing was done.
    pub(super) proves: bool,
    /// The tools that it is for; empty: all.
    pub(super) of: Vec<ToolClass>,
    pub(super) pattern: String,
    compiled: OnceLock<Option<Regex>>,
    pub(super) examples: Vec<Example>,
}

/// A text that a row is there for, and its place.
#[derive(Clone, Debug)]
pub(super) struct Example {
    pub(super) text: String,
    pub(super) span: Range<usize>,
}

impl Row {
    /// Whether the row is for a tool of this class. A tool without a name may be of any.
    pub(super) fn is_for(&self, class: Option<ToolClass>) -> bool {
        self.of.is_empty() || class.is_none_or(|class| self.of.contains(&class))
    }

    /// The pattern, compiled; none if it is no regular expression.
    pub(super) fn compiled(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| Regex::new(&compact(&self.pattern)).ok()).as_ref()
    }
}

/// Rows. A pattern is compiled when a text that has one of its words is first compared with it.
#[derive(Clone, Debug, Default)]
pub struct WordTable {
    pub(super) rows: Vec<Row>,
    search: Arc<OnceLock<RowSearch>>,
}

impl WordTable {
    /// The rows of the program.
    pub(super) fn shipped() -> &'static WordTable {
        static SHIPPED: LazyLock<WordTable> = LazyLock::new(|| {
            let source = Source::whole("failure_words.yaml", FAILURE_WORDS);
            let read = schema::read(source, &MAPPING, |root| WordTable::read(root.get("words")?));
            debug_assert!(read.is_ok(), "{}", read.as_ref().err().map(ToString::to_string).unwrap_or_default());
            read.unwrap_or_default()
        });
        &SHIPPED
    }

    /// A list of rows as people write it; errors stay with the list.
    pub(super) fn read(list: At<'_>) -> Option<WordTable> {
        Some(WordTable { rows: list.all(row)?, search: Arc::default() })
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// These rows, and then those of `weaker`.
    #[must_use]
    pub fn and(mut self, weaker: &WordTable) -> WordTable {
        self.rows.extend(weaker.rows.iter().cloned());
        WordTable { rows: self.rows, search: Arc::default() }
    }

    /// Whether all patterns are regular expressions.
    pub(super) fn compiles(&self) -> bool {
        self.rows.iter().all(|row| row.compiled().is_some())
    }

    /// The rows of this place for tools of this class whose pattern matches one of `views`, with their numbers. The first view
    /// has all words of the others.
    pub(super) fn matching<'t>(
        &'t self,
        place: Place,
        views: &[&str],
        class: Option<ToolClass>,
    ) -> impl Iterator<Item = (usize, &'t Row)> {
        let search = self.search.get_or_init(|| RowSearch::of(self.rows.iter().map(|row| row.pattern.as_str())));
        let matches = |row: &Row, view: &str| row.compiled().is_some_and(|regex| regex.is_match(view.as_bytes()));
        let candidates = views.first().map(|widest| search.candidates(widest)).unwrap_or_default();
        candidates.into_iter().filter_map(move |number| {
            let row = self.rows.get(number).filter(|row| row.place == place && row.is_for(class))?;
            views.iter().any(|view| matches(row, view)).then_some((number, row))
        })
    }
}

/// A pattern that ignores case. It counts bytes unless it has letters of other languages, which keeps the compiled set small.
fn compact(pattern: &str) -> String {
    format!("({}:{})", if pattern.is_ascii() { "?i-u" } else { "?i" }, ascii(pattern))
}

fn row(at: At<'_>) -> Option<Row> {
    let text = |key| at.get(key).and_then(At::text).map(str::to_owned);
    let (place, says) = (at.word("where", Place::parse), at.word("says", Says::parse));
    let (kind, is_proof) = (text("kind"), at.get("proves").is_some());
    let of = at.optional("of", |of| of.all(|one| ToolClass::parse(one.text()?)));
    let example = |one: At<'_>| Some(Example { text: one.text()?.to_owned(), span: one.span() });
    let examples = at.get("examples").and_then(|examples| examples.all(example));
    let claims = kind.as_deref().is_some_and(kinds::proves_nothing_happened);
    if claims != is_proof {
        let span = at.key_span(if claims { "kind" } else { "proves" }).unwrap_or_default();
        let message = "a row with the kind of a refusal claims that nothing was done: it needs `proves: nothing_done`, \
                       which no other row has";
        at.report(Diagnostic::error("unproved", message).at(span, "claims that nothing was done"));
        return None;
    }
    Some(Row {
        place: place?,
        says: says?,
        kind,
        code: text("code"),
        proves: is_proof,
        of: of?.unwrap_or_default(),
        pattern: text("pattern")?,
        compiled: OnceLock::new(),
        examples: examples?,
    })
}
