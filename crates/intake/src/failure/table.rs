//! The rows of failure words: what a text says of its call. Reads them from YAML, from the file in the program or from a user's;
//! knows no result.

use std::ops::Range;
use std::sync::{Arc, LazyLock, OnceLock};

use super::kinds;
use super::patterns::{Pattern, ignoring_case};
use super::row_search::{RowSearch, words_of};
use super::tool_name::ToolClass;
use playproof_engine::words;
use playproof_formats::diagnostic::Diagnostic;
use playproof_formats::schema::At;

/// The rows that come with the program.
pub const FAILURE_WORDS: &str = include_str!("../../failure_words.yaml");

/// The same rows without their examples, a line each, with the words of their patterns: to read YAML and patterns costs more
/// than a short recording. A test compares it with the rows.
const TABLE: &str = include_str!("../../failure_words.table");

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
    pattern: Pattern,
    /// Words of which each match of the pattern has one; empty: there are none.
    pub(super) words: Vec<String>,
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

    /// Whether the pattern matches somewhere in `text`.
    pub(super) fn is_match(&self, text: &str) -> bool {
        self.pattern.is_match(text)
    }

    /// The row that a line of [`TABLE`] writes.
    fn of_line(line: &str) -> Option<Row> {
        let mut parts = line.split('\t');
        let mut next = || parts.next();
        let named = |name: &str| Some(name.to_owned()).filter(|name| !name.is_empty());
        let (place, says) = (Place::parse(next()?)?, Says::parse(next()?)?);
        let (kind, code, proves) = (named(next()?), named(next()?), !next()?.is_empty());
        let of = next()?.split_ascii_whitespace().filter_map(ToolClass::parse).collect();
        let pattern = ignoring_case(next()?);
        Some(Row {
            place,
            says,
            kind,
            code,
            proves,
            of,
            pattern,
            words: parts.map(str::to_owned).collect(),
            examples: Vec::new(),
        })
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
        static SHIPPED: LazyLock<WordTable> = LazyLock::new(|| WordTable::of(TABLE.lines().filter_map(Row::of_line)));
        &SHIPPED
    }

    fn of(rows: impl Iterator<Item = Row>) -> WordTable {
        WordTable { rows: rows.collect(), search: Arc::default() }
    }

    /// A list of rows as people write it; errors stay with the list.
    pub(super) fn read(list: At<'_>) -> Option<WordTable> {
        Some(WordTable::of(list.all(row)?.into_iter()))
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// These rows, and then those of `weaker`.
    #[must_use]
    pub fn and(mut self, weaker: &WordTable) -> WordTable {
        self.rows.extend(weaker.rows.iter().cloned());
        WordTable::of(self.rows.into_iter())
    }

    /// Whether all patterns are regular expressions.
    pub(super) fn compiles(&self) -> bool {
        self.rows.iter().all(|row| row.pattern.is_valid())
    }

    /// The numbers of the rows that a text may match.
    pub(super) fn candidates(&self, text: &str) -> Vec<usize> {
        self.search.get_or_init(|| RowSearch::of(self.rows.iter().map(|row| row.words.as_slice()))).candidates(text)
    }

    /// Those of `candidates`, with their numbers, that are for this place and for tools of this class, and whose pattern matches
    /// one of `views`.
    pub(super) fn matching<'t>(
        &'t self,
        candidates: &[usize],
        place: Place,
        views: &[&str],
        class: Option<ToolClass>,
    ) -> impl Iterator<Item = (usize, &'t Row)> {
        candidates.iter().filter_map(move |number| {
            let row = self.rows.get(*number).filter(|row| row.place == place && row.is_for(class))?;
            views.iter().any(|view| row.is_match(view)).then_some((*number, row))
        })
    }
}

fn row(at: At<'_>) -> Option<Row> {
    let text = |key| at.get(key).and_then(At::text).map(str::to_owned);
    let (place, says) = (at.word("where", Place::parse), at.word("says", Says::parse));
    let (kind, is_proof) = (text("kind"), at.get("proves").is_some());
    let of = at.optional("of", |of| of.all(|one| ToolClass::parse(one.text()?)));
    let example = |one: At<'_>| Some(Example { text: one.text()?.to_owned(), span: one.span() });
    let examples = at.get("examples").and_then(|examples| examples.all(example));
    let pattern = at.get("pattern")?.text()?;
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
        words: words_of(pattern).unwrap_or_default(),
        pattern: ignoring_case(pattern),
        examples: examples?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::MAPPING;
    use playproof_formats::diagnostic::Source;
    use playproof_formats::schema;

    impl WordTable {
        /// The rows as `failure_words.yaml` writes them.
        pub(in crate::failure) fn written() -> WordTable {
            let source = Source::whole("failure_words.yaml", FAILURE_WORDS);
            let read = schema::read(source, &MAPPING, |root| WordTable::read(root.get("words")?));
            read.unwrap_or_else(|report| panic!("{report}"))
        }
    }

    /// `UPDATE_DOCUMENTS=1 cargo test -p playproof-intake the_table` writes it.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "it writes the table where that is asked for")]
    fn the_table_has_the_rows_as_they_are_written() {
        let line = |row: &Row| {
            let of: Vec<_> = row.of.iter().map(|class| class.as_str()).collect();
            let (kind, code) = (row.kind.as_deref().unwrap_or_default(), row.code.as_deref().unwrap_or_default());
            let proves = if row.proves { "proves" } else { "" };
            let pattern =
                row.pattern.text.strip_prefix("(?i:").and_then(|text| text.strip_suffix(')')).expect("a pattern");
            let parts = [row.place.as_str(), row.says.as_str(), kind, code, proves, &of.join(" "), pattern];
            parts.into_iter().chain(row.words.iter().map(String::as_str)).collect::<Vec<_>>().join("\t") + "\n"
        };
        let lines = |table: &WordTable| table.rows.iter().map(line).collect::<String>();
        let rows = WordTable::written();
        let written = lines(&rows);
        if std::env::var_os("UPDATE_DOCUMENTS").is_some() {
            std::fs::write("failure_words.table", &written).expect("writable");
        }
        assert!(written == TABLE && written == lines(WordTable::shipped()), "the table is older than the rows");
        assert_eq!(written.lines().count(), rows.rows.len(), "a row is no line");
    }
}
