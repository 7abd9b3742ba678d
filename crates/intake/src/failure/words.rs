//! What a text says of its call: compares its first line, its last line and a short text as a whole with the rows of failure
//! words. The strongest row decides; a short answer of a tool that writes without a word of a deed is suspected.

use super::content::is_document;
use super::deeds;
use super::excerpt::{EXAMINED, cut, end_of};
use super::exit::Exit;
use super::frame;
use super::markup;
use super::message::{leading_code, message, unframed};
use super::table::{Example, Place, Row, Says, WordTable};
use super::tool_name::{ToolClass, asks};
use super::word_list::WordList;
use playproof_formats::diagnostic::Diagnostic;
use playproof_formats::schema::At;

/// The longest text that is compared as a whole, in bytes.
const WHOLE: usize = 600;
/// The longest answer of a tool that writes that must tell of its deed, in bytes.
const SHORT: usize = 250;
/// The most lines of an output whose last line tells how a program ended.
const OUTPUT_LINES: usize = 400;

/// Who told a result: the tool, and the user's own rows of failure words.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Teller<'a> {
    pub(super) tool: Option<&'a str>,
    pub(super) words: Option<&'a WordTable>,
}

impl Teller<'_> {
    /// Whether the tool's name passes a test; without a name it does not.
    pub(super) fn is(self, test: impl FnOnce(&str) -> bool) -> bool {
        self.tool.is_some_and(test)
    }

    pub(super) fn class(self) -> Option<ToolClass> {
        self.tool.map(ToolClass::of)
    }
}

/// What a text says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Heard<'t> {
    pub(super) says: Says,
    pub(super) message: &'t str,
}

/// What a message names.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Named<'t> {
    pub(super) kind: Option<&'t str>,
    pub(super) code: Option<&'t str>,
    /// Its words prove that nothing was done.
    pub(super) proves: bool,
}

/// What `text` says of its call; none: nothing of a failure.
pub(super) fn hear<'t>(text: &'t str, by: Teller<'_>) -> Option<Heard<'t>> {
    let text = frame::inside(text).trim();
    let heard = |says| Some(Heard { says, message: message(text) });
    let exit = Exit::of(text, by.tool);
    if matches!(exit, Some(Exit::Ok)) {
        return None; // whatever a command prints, its exit code says that it succeeded
    }
    let is_sure = matches!(exit, Some(Exit::Failed { sure: true }));
    match markup::error_page(text).filter(|_| !is_sure) {
        Some(message) => return Some(Heard { says: Says::Failed, message }),
        None if is_sure || markup::is_error_report(text) => return heard(Says::Failed),
        None => {}
    }
    let is_coded = leading_code(cut(text.lines().next().unwrap_or_default(), EXAMINED)).is_some() && !by.is(asks);
    let is_document = is_document(text, by.class());
    // `Cancelled.` of `cancel_order`.
    let is_own_deed = text.len() <= SHORT && deeds::reports_own_deed(text, by.tool);
    let counts = |row: &&Row| (!is_document || row.place == Place::Whole) && (!is_own_deed || row.says == Says::Failed);
    let of_rows = rows_of(text, by).filter(counts).map(|row| row.says).max();
    let strongest = of_rows.max(exit.map(|_| Says::Suspected)).max(is_coded.then_some(Says::Failed));
    strongest.or_else(|| tells_no_deed(text, by).then_some(Says::Suspected)).and_then(heard)
}

impl WordTable {
    /// A user's list of rows: their patterns must be regular expressions, and match their own examples. Errors stay with the
    /// list.
    pub fn read_own(list: At<'_>) -> Option<WordTable> {
        let table = WordTable::read(list)?;
        if !table.compiles() {
            list.wrong("bad_pattern", "a `pattern` of these rows is no regular expression", "in one of these");
            return None;
        }
        let mut is_good = true;
        let by = Teller { tool: None, words: Some(&table) };
        for row in &table.rows {
            let is_own = |example: &&Example| rows_of(&example.text, by).any(|found| std::ptr::eq(found, row));
            for example in row.examples.iter().filter(|example| !is_own(example)) {
                let message = "the pattern of the row does not match its own example";
                let said = Diagnostic::error("unmatched_example", message).at(example.span.clone(), "not matched");
                list.report(said.help("`first` is the first line, `last` the last of several, `whole` a short text"));
                is_good = false;
            }
        }
        is_good.then_some(table)
    }
}

/// The kind and the code that the words of a message name. The first row with a kind counts.
pub(super) fn named<'t>(message: &str, by: Teller<'t>) -> Named<'t> {
    let mut named = Named::default();
    for row in rows_of(message, by) {
        if named.kind.is_none() && row.kind.is_some() {
            (named.kind, named.proves) = (row.kind.as_deref(), row.proves);
        }
        named.code = named.code.or(row.code.as_deref());
    }
    named
}

/// The rows that a text matches, in their order: the user's first.
pub(super) fn rows_of<'t>(text: &str, by: Teller<'t>) -> impl Iterator<Item = &'t Row> {
    let class = by.class();
    let views = views(text);
    let tables = by.words.into_iter().chain([WordTable::shipped()]);
    tables.flat_map(move |table| {
        let mut found: Vec<(usize, &Row)> = Vec::new();
        let mut searched: Option<(&str, Vec<usize>)> = None;
        for (place, views) in &views {
            // The first view has all words of the others. A single line is looked at in two places.
            let widest = views.first().copied().unwrap_or_default();
            let searched = match searched.take().filter(|(text, _)| *text == widest) {
                Some(known) => searched.insert(known),
                None => searched.insert((widest, table.candidates(widest))),
            };
            found.extend(table.matching(&searched.1, *place, views, class));
        }
        found.sort_by_key(|(number, _)| *number);
        found.into_iter().map(|(_, row)| row)
    })
}

/// The parts of a text that are compared in each place, the widest first.
fn views(text: &str) -> Vec<(Place, Vec<&str>)> {
    let mut views = Vec::new();
    let text = text.trim();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = cut(lines.next().unwrap_or_default(), EXAMINED);
    let bare = first.trim_start_matches(is_mark);
    if !names_nothing(bare, lines.clone().next().is_some()) {
        views.push((Place::First, different([first, bare, unframed(bare).0])));
        if text.len() <= WHOLE {
            let whole = text.trim_matches(|c: char| is_mark(c) || "[](){}".contains(c));
            views.push((Place::Whole, different([text, whole, unframed(whole).0])));
        }
    }
    let tail = end_of(text, 4 * EXAMINED).lines().rev().map(str::trim).find(|line| !line.is_empty());
    if let Some(last) = tail.filter(|_| lines.next().is_some() && text.lines().count() <= OUTPUT_LINES) {
        views.push((Place::Last, vec![cut(last, EXAMINED)]));
    }
    views
}

/// The views of one place, each once.
fn different(views: [&str; 3]) -> Vec<&str> {
    let mut views = views.to_vec();
    views.dedup();
    views
}

/// A mark before the words of a line.
fn is_mark(c: char) -> bool {
    "*#`\"'>[|·•⚠️✗✘❌🚫⛔💥❗🛑╷│×\u{feff}".contains(c) || c.is_whitespace()
}

/// Whether a line is the word for an error and says that there is none, or counts them; `more` lines may come behind it.
fn names_nothing(line: &str, more: bool) -> bool {
    let Some((label, said)) = line.split_once([':', '=']) else { return false };
    let said = said.trim().trim_end_matches(['.', ',', ';', '|', ')']);
    let is_word = const { &WordList::of("none null nil undefined n/a - 0 []") }.has_in_any_case(said);
    let is_count = said.split([',', ';', ' ', '|', ')']).next() == Some("0")
        || said.chars().all(|c| c.is_ascii_digit() || ".%ms".contains(c)) && !matches!(said.parse(), Ok(400..=599_u16));
    let is_label = label.len() <= 60 && label.chars().all(|c| c.is_ascii_alphanumeric() || " _-'/".contains(c));
    is_label && (is_word || is_count) && (more || !said.is_empty())
}

/// Whether a short answer of a tool that writes does not tell of its deed.
fn tells_no_deed(text: &str, by: Teller<'_>) -> bool {
    let is_field = |line: &str| line.split_once(": ").is_some_and(|(name, _)| !name.trim().contains(' '));
    let is_prose = text.len() <= SHORT
        && text.starts_with(|c: char| c.is_alphabetic() || "\"'✗❌⚠".contains(c))
        && (text.contains(' ') || !text.is_ascii())
        && !text.lines().all(is_field);
    is_prose && by.class() == Some(ToolClass::Writing) && !deeds::reports_a_deed(text, by.tool)
}
