//! What a text says of its call: compares its first line, its last line and a short text as a whole with the rows of failure
//! words. The strongest row decides; a short answer of a tool that writes without a word of a deed is suspected.

use std::cell::{LazyCell, OnceCell};

use super::content::is_document;
use super::deeds;
use super::excerpt::{EXAMINED, cut, end_of};
use super::exit::Exit;
use super::frame;
use super::markup;
use super::message::{leading_code, message, unframed};
use super::table::{Branch, Example, Place, Row, Says, WordTable};
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
    let is_document = is_document(text, || by.class());
    // `Cancelled.` of `cancel_order`.
    let is_own_deed = text.len() <= SHORT && deeds::reports_own_deed(text, by.tool);
    let counts = |row: &Row| (!is_document || row.place == Place::Whole) && (!is_own_deed || row.says == Says::Failed);
    let known = exit.map(|_| Says::Suspected).max(is_coded.then_some(Says::Failed));
    let rows = Rows::of(text, by);
    let stronger = Says::ALL.into_iter().rev().filter(|says| Some(*says) > known);
    let strongest = stronger.into_iter().find(|says| rows.first(|row| row.says == *says && counts(row)).is_some());
    strongest.or(known).or_else(|| tells_no_deed(text, by).then_some(Says::Suspected)).and_then(heard)
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
            let is_own =
                |example: &&Example| Rows::of(&example.text, by).first(|found| std::ptr::eq(found, row)).is_some();
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
    let rows = Rows::of(message, by);
    let kind = rows.first(|row| row.kind.is_some());
    let code = rows.first(|row| row.code.is_some()).and_then(|row| row.code.as_deref());
    Named { kind: kind.and_then(|row| row.kind.as_deref()), code, proves: kind.is_some_and(|row| row.proves) }
}

/// The rows that a text may match, in their order: the user's first.
pub(super) struct Rows<'t, 'v> {
    views: Vec<View<'v>>,
    /// A branch of each, with the view that it is compared with.
    candidates: Vec<(&'t Row, &'t Branch, usize)>,
}

impl<'t, 'v> Rows<'t, 'v> {
    pub(super) fn of(text: &'v str, by: Teller<'t>) -> Rows<'t, 'v> {
        let (views, class) = (views(text), LazyCell::new(|| by.class()));
        let mut candidates = Vec::new();
        for table in by.words.into_iter().chain([WordTable::shipped()]) {
            let mut found: Vec<(usize, (&Row, &Branch, usize))> = Vec::new();
            // A single line is looked at in two places.
            let is_other = |(number, view): &(usize, &View<'_>)| *number == 0 || views[number - 1].text != view.text;
            for (first, view) in views.iter().enumerate().filter(is_other) {
                for (number, row, branch) in table.candidates(view.text).filter(|(_, row, _)| row.is_for(|| *class)) {
                    let same = views.iter().enumerate().skip(first).take_while(|(_, of)| of.text == view.text);
                    let place = same.clone().find(|(_, of)| of.place == row.place);
                    found.extend(place.map(|(place, _)| (number, (row, branch, place))));
                }
            }
            found.sort_by_key(|(number, _)| *number);
            candidates.extend(found.into_iter().map(|(_, found)| found));
        }
        Rows { views, candidates }
    }

    /// The first that the text matches, of those that pass a test: others are not compared with it.
    pub(super) fn first(&self, is_wanted: impl Fn(&'t Row) -> bool) -> Option<&'t Row> {
        let mut wanted = self.candidates.iter().filter(|(row, ..)| is_wanted(row));
        wanted.find(|(_, branch, view)| self.views[*view].is_match(branch)).map(|(row, ..)| *row)
    }
}

/// A part of a text that is compared in a place.
struct View<'v> {
    place: Place,
    text: &'v str,
    /// The part without marks, and that without frames too.
    bare: Option<&'v str>,
    unframed: OnceCell<&'v str>,
}

impl View<'_> {
    fn is_match(&self, branch: &Branch) -> bool {
        let is_match = |text: &str| branch.is_match(text);
        is_match(self.text)
            || self.bare.is_some_and(|bare| {
                let unframed = *self.unframed.get_or_init(|| unframed(bare).0);
                bare != self.text && is_match(bare) || unframed != bare && is_match(unframed)
            })
    }
}

/// The parts of a text that are compared, by their places.
fn views(text: &str) -> Vec<View<'_>> {
    let view = |place, text, bare| View { place, text, bare, unframed: OnceCell::new() };
    let mut views = Vec::new();
    let text = text.trim();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = cut(lines.next().unwrap_or_default(), EXAMINED);
    let bare = first.trim_start_matches(is_mark);
    if !names_nothing(bare, lines.clone().next().is_some()) {
        views.push(view(Place::First, first, Some(bare)));
        if text.len() <= WHOLE {
            let bare = text.trim_matches(|c: char| is_mark(c) || "[](){}".contains(c));
            views.push(view(Place::Whole, text, Some(bare)));
        }
    }
    let tail = end_of(text, 4 * EXAMINED).lines().rev().map(str::trim).find(|line| !line.is_empty());
    if let Some(last) = tail.filter(|_| lines.next().is_some() && text.lines().count() <= OUTPUT_LINES) {
        views.push(view(Place::Last, cut(last, EXAMINED), None));
    }
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
