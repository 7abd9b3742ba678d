//! The rows of failure words: what a text says of its call. Reads them from YAML, from the file in the program or from a user's;
//! knows no result.

use std::ops::Range;
use std::sync::{Arc, LazyLock, OnceLock};

use regex::bytes::RegexSet;

use super::kinds;
use super::patterns::ascii;
use super::tool_name::ToolClass;
use playproof_formats::diagnostic::{Diagnostic, Source};
use playproof_formats::yaml::{self, Cursor, MapReader};

/// The rows that come with the program.
pub const FAILURE_WORDS: &str = include_str!("../../failure_words.yaml");

/// The most rows of one table.
const MOST_ROWS: usize = 150;

/// What a text says of its call, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Says {
    /// Perhaps that it failed.
    Suspected,
    /// That it failed.
    Failed,
    /// That the work is not done yet, or that the result is lost.
    Unfinished,
}

/// Where the words of a row stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In the first line.
    First,
    /// In the last line of several.
    Last,
    /// In a short text as a whole.
    Whole,
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
    pattern: String,
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
}

const WHERE: [(&str, Place); 3] = [("first", Place::First), ("last", Place::Last), ("whole", Place::Whole)];
const SAYS: [(&str, Says); 3] =
    [("failed", Says::Failed), ("suspected", Says::Suspected), ("unfinished", Says::Unfinished)];
const CLASSES: [(&str, ToolClass); 3] =
    [("program", ToolClass::Program), ("looking", ToolClass::Looking), ("writing", ToolClass::Writing)];
/// The keys of a row.
pub(crate) const ROW: [&str; 8] = ["where", "says", "kind", "code", "proves", "of", "pattern", "examples"];

/// Rows, whose patterns are compiled when a text is first compared with them.
#[derive(Clone, Debug, Default)]
pub struct WordTable {
    pub(super) rows: Vec<Row>,
    set: Arc<OnceLock<Option<RegexSet>>>,
}

impl WordTable {
    /// The rows of the program.
    pub(super) fn shipped() -> &'static WordTable {
        static SHIPPED: LazyLock<WordTable> = LazyLock::new(|| {
            let source = Source::whole("failure_words.yaml", FAILURE_WORDS);
            let read = yaml::parse(source, |root| {
                let record = root.record("failure words", &["format", "words"])?;
                record.format("failure-words/1")??;
                WordTable::read(record.required("words")?)
            });
            debug_assert!(read.is_ok(), "{}", read.as_ref().err().map(ToString::to_string).unwrap_or_default());
            read.unwrap_or_default()
        });
        &SHIPPED
    }

    /// A list of rows as people write it; errors stay with the cursor.
    pub(super) fn read(list: Cursor<'_>) -> Option<WordTable> {
        let rows: Vec<Cursor<'_>> = list.list()?.collect();
        if rows.len() > MOST_ROWS {
            list.wrong("too_many", format!("{} rows, and at most {MOST_ROWS} are read", rows.len()), "these");
            return None;
        }
        let read: Vec<Option<Row>> = rows.into_iter().map(row).collect();
        let rows = read.into_iter().collect::<Option<Vec<Row>>>()?;
        Some(WordTable { rows, set: Arc::default() })
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// These rows, and then those of `weaker`.
    #[must_use]
    pub fn and(mut self, weaker: &WordTable) -> WordTable {
        self.rows.extend(weaker.rows.iter().cloned());
        WordTable { rows: self.rows, set: Arc::default() }
    }

    /// Whether all patterns are regular expressions.
    pub(super) fn compiles(&self) -> bool {
        self.rows.iter().all(|row| RegexSet::new([compact(&row.pattern)]).is_ok())
    }

    /// The numbers of the rows whose pattern matches `text`, wherever the words must stand.
    pub(super) fn matching<'t>(&'t self, text: &str) -> impl Iterator<Item = (usize, &'t Row)> {
        let set = self.set.get_or_init(|| {
            let set = RegexSet::new(self.rows.iter().map(|row| compact(&row.pattern)));
            debug_assert!(set.is_ok(), "{:?}", set.as_ref().err());
            set.ok()
        });
        let found: Vec<usize> = set.iter().flat_map(|set| set.matches(text.as_bytes())).collect();
        found.into_iter().filter_map(|number| Some((number, self.rows.get(number)?)))
    }
}

/// A pattern that ignores case. It counts bytes unless it has letters of other languages, which keeps the compiled set small.
fn compact(pattern: &str) -> String {
    format!("({}:{})", if pattern.is_ascii() { "?i-u" } else { "?i" }, ascii(pattern))
}

fn row(cursor: Cursor<'_>) -> Option<Row> {
    let record = cursor.record("a row of failure words", &ROW)?;
    let place = record.required("where").and_then(|place| place.word(&WHERE));
    let says = record.required("says").and_then(|says| says.word(&SAYS));
    let (kind, code) = (text(&record, "kind"), text(&record, "code"));
    let proves = record.optional("proves").map(|proves| proves.word(&[("nothing_done", ())]).is_some());
    let of: Option<Vec<ToolClass>> = match record.optional("of") {
        Some(of) => of.one_or_many().into_iter().map(|one| one.word(&CLASSES)).collect(),
        None => Some(Vec::new()),
    };
    let pattern = record.required("pattern").and_then(Cursor::string);
    let examples = record.required("examples").and_then(|examples| {
        let read = |one: Cursor<'_>| Some(Example { text: one.string()?.to_owned(), span: one.span() });
        let read: Option<Vec<Example>> = examples.list()?.map(read).collect();
        if read.as_ref().is_some_and(|read| read.len() != 2) {
            examples.wrong("two_examples", "a row has two examples, from two sources", "not two");
            return None;
        }
        read
    });
    let claims = kind.as_deref().is_some_and(kinds::proves_nothing_happened);
    if claims != proves.is_some() {
        let span = record.key_span(if claims { "kind" } else { "proves" }).unwrap_or_default();
        let message = "a row with the kind of a refusal claims that nothing was done: it needs `proves: nothing_done`, \
                       which no other row has";
        cursor.report(Diagnostic::error("unproved", message).at(span, "claims that nothing was done"));
        return None;
    }
    Some(Row {
        place: place?,
        says: says?,
        kind,
        code,
        proves: proves.unwrap_or_default(),
        of: of?,
        pattern: pattern?.to_owned(),
        examples: examples?,
    })
}

fn text(record: &MapReader<'_>, key: &str) -> Option<String> {
    record.optional(key).and_then(Cursor::string).map(str::to_owned)
}
