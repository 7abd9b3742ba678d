//! The rows of failure words: what a text says of its call. Reads them from YAML, from the file in the program or from a user's;
//! knows no result.

use std::ops::Range;
use std::sync::{Arc, LazyLock, OnceLock};

use super::kinds;
use super::pattern_search::{PatternSearch, branches_of, words_of};
use super::patterns::{TextRegex, ignoring_case};
use super::tool_name::ToolClass;
use playproof_engine::words;
use playproof_formats::diagnostic::Diagnostic;
use playproof_formats::schema::At;

/// The rows that come with the program.
pub const FAILURE_WORDS: &str = include_str!("../../failure_words.yaml");

/// The same rows without their examples, each with a line for each branch of its pattern and the words of that: to read YAML and
/// patterns costs more than a short recording. A test compares it with the rows.
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
    pub(super) branches: Vec<Branch>,
    pub(super) examples: Vec<Example>,
}

/// One alternative of the pattern of a row: few are compiled for a text, and a small one in little time.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    pattern: TextRegex,
    /// Words of which each match has one; empty: there are none.
    pub(super) words: Vec<String>,
}

/// A text that a row is there for, and its place.
#[derive(Clone, Debug)]
pub(super) struct Example {
    pub(super) text: String,
    pub(super) span: Range<usize>,
}

impl Row {
    /// Whether the row is for a tool of this class. A tool without a name may be of any.
    pub(super) fn is_for(&self, class: impl FnOnce() -> Option<ToolClass>) -> bool {
        self.of.is_empty() || class().is_none_or(|class| self.of.contains(&class))
    }

    /// The row that a line of [`TABLE`] writes, without its branches.
    fn of_line(line: &str) -> Option<Row> {
        let mut parts = line.split('\t');
        let mut next = || parts.next();
        let named = |name: &str| Some(name.to_owned()).filter(|name| !name.is_empty());
        let (place, says) = (Place::parse(next()?)?, Says::parse(next()?)?);
        let (kind, code, proves) = (named(next()?), named(next()?), !next()?.is_empty());
        let of = next()?.split_ascii_whitespace().filter_map(ToolClass::parse).collect();
        Some(Row { place, says, kind, code, proves, of, branches: Vec::new(), examples: Vec::new() })
    }
}

impl Branch {
    fn of(pattern: &str) -> Branch {
        Branch { pattern: ignoring_case(pattern), words: words_of(pattern).unwrap_or_default() }
    }

    /// The branch that a line of [`TABLE`] writes.
    fn of_line(line: &str) -> Option<Branch> {
        let mut parts = line.strip_prefix('\t')?.split('\t');
        Some(Branch { pattern: ignoring_case(parts.next()?), words: parts.map(str::to_owned).collect() })
    }

    /// Whether it matches somewhere in `text`.
    pub(super) fn is_match(&self, text: &str) -> bool {
        self.pattern.is_match(text)
    }
}

/// Rows. A branch is compiled when a text that has one of its words is first compared with it.
#[derive(Clone, Debug, Default)]
pub struct WordTable {
    pub(super) rows: Vec<Row>,
    search: Arc<OnceLock<BranchSearch>>,
}

/// Finds branches.
#[derive(Debug)]
struct BranchSearch {
    /// By row and number in it.
    branches: Vec<(usize, usize)>,
    search: PatternSearch,
}

impl WordTable {
    /// The rows of the program.
    pub(super) fn shipped() -> &'static WordTable {
        static SHIPPED: LazyLock<WordTable> = LazyLock::new(|| WordTable::of_lines(TABLE));
        &SHIPPED
    }

    fn of_lines(lines: &str) -> WordTable {
        let mut rows: Vec<Row> = Vec::new();
        for line in lines.lines() {
            let Some(branch) = Branch::of_line(line) else {
                rows.extend(Row::of_line(line));
                continue;
            };
            if let Some(row) = rows.last_mut() {
                row.branches.push(branch);
            }
        }
        WordTable { rows, search: Arc::default() }
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
    pub fn and(self, weaker: &WordTable) -> WordTable {
        let rows = self.rows.into_iter().chain(weaker.rows.iter().cloned()).collect();
        WordTable { rows, search: Arc::default() }
    }

    /// Whether all patterns are regular expressions.
    pub(super) fn compiles(&self) -> bool {
        self.rows.iter().flat_map(|row| &row.branches).all(|branch| branch.pattern.is_valid())
    }

    /// The branches that a text may match, each with its row and that row's number, in their order.
    pub(super) fn candidates(&self, text: &str) -> impl Iterator<Item = (usize, &Row, &Branch)> {
        let BranchSearch { branches, search } = self.search.get_or_init(|| BranchSearch::of(&self.rows));
        search.candidates(text).into_iter().filter_map(|found| {
            let (number, branch) = branches.get(found)?;
            let row = self.rows.get(*number)?;
            Some((*number, row, row.branches.get(*branch)?))
        })
    }
}

impl BranchSearch {
    fn of(rows: &[Row]) -> BranchSearch {
        let numbered = |(row, of): (usize, &Row)| (0..of.branches.len()).map(move |branch| (row, branch));
        let words = rows.iter().flat_map(|row| &row.branches).map(|branch| &*branch.words);
        BranchSearch {
            branches: rows.iter().enumerate().flat_map(numbered).collect(),
            search: PatternSearch::of(words),
        }
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
        branches: branches_of(pattern).iter().map(|branch| Branch::of(branch)).collect(),
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
        let branch = |branch: &Branch| {
            let pattern = branch.pattern.text.strip_prefix("(?i:").and_then(|text| text.strip_suffix(')'));
            let parts = ["", pattern.expect("a pattern")].into_iter().chain(branch.words.iter().map(String::as_str));
            parts.collect::<Vec<_>>().join("\t") + "\n"
        };
        let line = |row: &Row| {
            let of: Vec<_> = row.of.iter().map(|class| class.as_str()).collect();
            let (kind, code) = (row.kind.as_deref().unwrap_or_default(), row.code.as_deref().unwrap_or_default());
            let proves = if row.proves { "proves" } else { "" };
            let parts = [row.place.as_str(), row.says.as_str(), kind, code, proves, &of.join(" ")];
            let branches: String = row.branches.iter().map(branch).collect();
            format!("{}\n{branches}", parts.join("\t"))
        };
        let lines = |table: &WordTable| table.rows.iter().map(line).collect::<String>();
        let rows = WordTable::written();
        let written = lines(&rows);
        if std::env::var_os("UPDATE_DOCUMENTS").is_some() {
            std::fs::write("failure_words.table", &written).expect("writable");
        }
        assert!(written == TABLE && written == lines(WordTable::shipped()), "the table is older than the rows");
        let branches: usize = rows.rows.iter().map(|row| row.branches.len()).sum();
        assert_eq!(written.lines().count(), rows.rows.len() + branches, "a row or a branch is no line");
    }
}
