//! The tool facts file. The engine's model defines the meaning of the facts.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::lint::{SeenArguments, unseen_arguments_of_rows};
use super::syntax::TOOLS;
use crate::diagnostic::{Diagnostic, Report, Source};
use crate::schema;
use crate::yaml::{GUESSED, MapEntry, NodeKind};
use playproof_engine::playbook::{ToolRow, Tools};

/// The content of a tool facts file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolsFile {
    /// The declared tool facts.
    pub tools: Tools,
    /// The number of guessed rows that are not confirmed: they declare nothing.
    pub guessed: usize,
}

/// A tool facts file with the places of its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedTools {
    /// Its content.
    pub file: ToolsFile,
    /// The source of its places.
    pub source: Arc<Source>,
    /// The places of every row, guesses included, by name or glob.
    written: Vec<MapEntry>,
}

impl LoadedTools {
    /// The names and globs of every row, guesses included, with their places.
    pub fn rows(&self) -> Vec<(&str, Range<usize>)> {
        self.written.iter().map(|row| (&*row.key, row.key_span.clone())).collect()
    }

    /// The arguments that make requests of tools, and that no recorded call of these has.
    pub fn unseen_arguments(&self, seen: &SeenArguments) -> Vec<Diagnostic> {
        let written = |row: &ToolRow| self.written.iter().find(|written| *written.key == *row.pattern);
        let rows = self.file.tools.rows().iter().filter_map(|row| Some((row, written(row)?)));
        unseen_arguments_of_rows(&rows.collect::<Vec<_>>(), seen)
    }

    /// The guessed rows whose name or glob is `meant`, and the text without their marks.
    pub fn confirmed(&self, meant: impl Fn(&str) -> bool) -> (Vec<&str>, String) {
        let mut text = self.source.text.clone();
        let mut names = Vec::new();
        let is_meant = |row: &&MapEntry| is_guessed(&self.source.text, row) && meant(&row.key);
        // From the last row on, so that the places of the others stay.
        for own in self.written.iter().rev().filter(is_meant) {
            names.push(&*own.key);
            let range = row_range(&self.source.text, own);
            let row = text.get(range.clone()).unwrap_or_default();
            let row: Vec<String> = row.split('\n').map(without_mark).collect();
            text.replace_range(range, &row.join("\n"));
        }
        names.reverse();
        (names, text)
    }

    /// The rows that are guesses, by name or glob, with what they guess.
    pub fn guesses(&self) -> impl Iterator<Item = (&str, Answer)> {
        let guessed = self.written.iter().filter(|row| is_guessed(&self.source.text, row));
        guessed.map(|row| (&*row.key, self.answer_of(row)))
    }

    /// Whether a row has this name or glob, a guess or not.
    pub fn has_row(&self, pattern: &str) -> bool {
        self.written.iter().any(|row| *row.key == *pattern)
    }

    /// What the row says, a guess or not.
    fn answer_of(&self, row: &MapEntry) -> Answer {
        let said = |key: &str| Some(self.source.text.get(fact(row, key)?.clone())?.trim_matches(['\'', '"']));
        match (said("access"), said("idempotent")) {
            (Some("read"), _) => Answer::Reads,
            (_, Some("true")) => Answer::WritesOnce,
            _ => Answer::Writes,
        }
    }

    /// The text in which the guesses of `answers` are answered: each says what its answer says, and has no mark. None if
    /// that cannot be written without changing another row, as where two rows share one value.
    pub fn answered(&self, answers: &BTreeMap<String, Answer>) -> Option<String> {
        let text = &self.source.text;
        let meant = |row: &MapEntry| answers.get(&*row.key).copied().filter(|_| is_guessed(text, row));
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        for row in &self.written {
            let Some(answer) = meant(row).filter(|answer| *answer != self.answer_of(row)) else { continue };
            let access = fact(row, "access")?;
            edits.push((access.clone(), answer.access().to_owned()));
            match (fact(row, "idempotent"), answer) {
                (Some(said), answer) => edits.push((said.clone(), (answer == Answer::WritesOnce).to_string())),
                (None, Answer::WritesOnce) => edits.push(idempotent_behind(text, &row.key_span, access)),
                (None, Answer::Reads | Answer::Writes) => {}
            }
        }
        // From the last place on, so that the others stay.
        edits.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
        let mut edited = text.clone();
        edits.into_iter().for_each(|(place, text)| edited.replace_range(place, &text));
        let edited = load(Arc::new(Source { text: edited, ..(*self.source).clone() })).ok()?;
        let is_right = |(before, after): (&MapEntry, &MapEntry)| {
            edited.answer_of(after) == meant(before).unwrap_or_else(|| self.answer_of(before))
        };
        let is_right = self.written.iter().zip(&edited.written).all(is_right);
        is_right.then(|| edited.confirmed(|row| answers.contains_key(row)).1)
    }

    /// The text with these lines as its last rows; none if the rows do not stand on lines of their own.
    pub fn with_rows(&self, rows: &[String]) -> Option<String> {
        let text = &self.source.text;
        let last = self.written.iter().max_by_key(|row| row.key_span.start)?;
        let line = text.get(..last.key_span.start)?.rfind('\n').map_or(0, |at| at + 1);
        let indent = text.get(line..last.key_span.start).filter(|indent| indent.trim_start_matches(' ').is_empty())?;
        let end = row_range(text, last).end;
        let (before, behind) = text.split_at_checked(end)?;
        let rows: String = rows.iter().map(|row| format!("\n{indent}{row}")).collect();
        Some(format!("{before}{rows}{behind}"))
    }

    /// The place of `fact` in the row that applies to `tool`, or of the row's name if it omits the fact; none if no row
    /// applies. The row may be a guess.
    pub fn place(&self, tool: &str, fact: &str) -> Option<FactPlace> {
        let declared = self.file.tools.place(tool).and_then(|at| self.file.tools.rows().get(at));
        let name = declared.map_or(tool, |row| &row.pattern);
        let row = self.written.iter().find(|row| *row.key == *name)?;
        let said = row.value.entry(fact).filter(|_| declared.is_some());
        let span = said.map_or(&row.key_span, |said| &said.value.span).clone();
        Some(FactPlace { span, is_said: said.is_some() })
    }
}

/// An answer to a guess: what a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It only reads.
    Reads,
    /// It writes.
    Writes,
    /// It writes, and doing it twice is doing it once.
    WritesOnce,
}

impl Answer {
    /// Its `access`.
    pub const fn access(self) -> &'static str {
        match self {
            Answer::Reads => "read",
            Answer::Writes | Answer::WritesOnce => "write",
        }
    }

    /// The facts as a row has them.
    pub fn facts(self) -> String {
        let idempotent = if self == Answer::WritesOnce { ", idempotent: true" } else { "" };
        format!("{{ access: {}{idempotent} }}", self.access())
    }
}

/// The place of a written fact of a row.
fn fact<'a>(row: &'a MapEntry, key: &str) -> Option<&'a Range<usize>> {
    Some(&row.value.entry(key)?.value.span)
}

/// `idempotent: true` behind the access of a row: in its braces, or on a line of its own.
fn idempotent_behind(text: &str, name: &Range<usize>, access: &Range<usize>) -> (Range<usize>, String) {
    let before = text.get(name.end..access.start).unwrap_or_default();
    let line = text.get(..access.start).and_then(|text| text.rfind('\n')).map_or(0, |at| at + 1);
    let indent = text.get(line..access.start).unwrap_or_default();
    let indent = indent.get(..indent.len() - indent.trim_start().len()).unwrap_or_default();
    match before.contains('{') {
        true => (access.end..access.end, ", idempotent: true".to_owned()),
        false => (line..line, format!("{indent}idempotent: true\n")),
    }
}

/// The place of a fact in a tool facts file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactPlace {
    /// The fact's value, else the tool's name.
    pub span: Range<usize>,
    /// Whether the fact is written there.
    pub is_said: bool,
}

/// Reads a tool facts file (`format: tools/1`).
///
/// # Errors
/// All errors, each with its place.
pub fn parse(source: Arc<Source>) -> Result<ToolsFile, Report> {
    Ok(load(source)?.file)
}

/// Reads a tool facts file with the places of its rows.
///
/// # Errors
/// As [`parse`].
pub fn load(source: Arc<Source>) -> Result<LoadedTools, Report> {
    let (tools, written) = schema::read(Arc::clone(&source), &TOOLS, |root| {
        let written = match &root.node().entry("tools")?.value.kind {
            NodeKind::Map(entries) => entries.clone(),
            _ => return None,
        };
        Some((super::lower::tools(root)?, written))
    })?;
    let rows = tools.rows().iter().zip(&written);
    let declared: Vec<_> = rows.filter(|(_, written)| !is_guessed(&source.text, written)).map(|(row, _)| row).collect();
    let guessed = tools.rows().len() - declared.len();
    let declared = Tools::new(declared.into_iter().cloned().collect());
    Ok(LoadedTools { file: ToolsFile { tools: declared, guessed }, source, written })
}

/// Whether a line of the row has the mark of a guess.
fn is_guessed(text: &str, row: &MapEntry) -> bool {
    text.get(row_range(text, row)).is_some_and(|row| row.lines().any(has_mark))
}

/// A row behind its name, to the end of its last line.
fn row_range(text: &str, row: &MapEntry) -> Range<usize> {
    let last = match &row.value.kind {
        NodeKind::Map(facts) => facts.iter().map(|fact| fact.value.span.end).max(),
        _ => None,
    };
    // The facts of an alias stand where its anchor does, before the row.
    let last = last.map_or(row.key_span.end, |last| last.max(row.key_span.end));
    let end = text.get(last..).and_then(|rest| rest.find('\n')).map_or(text.len(), |at| last + at);
    row.key_span.end..end
}

/// A line without the comment that has the mark.
fn without_mark(line: &str) -> String {
    let mut marks = line.match_indices('#').filter(|(at, _)| has_mark(line.get(*at..).unwrap_or_default()));
    match marks.next_back() {
        None => line.to_owned(),
        Some((at, _)) => {
            let line_end = if line.ends_with('\r') { "\r" } else { "" };
            format!("{}{line_end}", line.get(..at).unwrap_or_default().trim_end())
        }
    }
}

/// Whether a line has the mark, ignoring case and blanks.
fn has_mark(line: &str) -> bool {
    let Some((_, comment)) = line.split_once('#') else { return false };
    let words = |text: &str| text.to_lowercase().replace(['#', ' ', '\t'], "");
    words(comment).contains(&words(GUESSED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answered_row_says_the_answer_and_keeps_everything_else() {
        let text = "format: tools/1\ntools:\n  get: { access: read, timeout_ms: 5 } # guessed: confirm (1 call)\n  pay:\n    \
                    access: write # guessed: confirm\n    server: bank\n  put: { access: write, idempotent: true } # guessed: \
                    confirm\n  see: { access: read } # guessed: confirm\n  sure: { access: write }\n";
        let loaded = load(Source::whole("t.yaml", text)).unwrap_or_else(|report| panic!("{report}"));
        let guesses: Vec<_> = loaded.guesses().collect();
        let guessed = [Answer::Reads, Answer::Writes, Answer::WritesOnce, Answer::Reads];
        assert_eq!(guesses, ["get", "pay", "put", "see"].into_iter().zip(guessed).collect::<Vec<_>>());
        let answers =
            [("get", Answer::WritesOnce), ("pay", Answer::WritesOnce), ("put", Answer::Reads), ("sure", Answer::Reads)];
        let answers = answers.into_iter().map(|(name, answer)| (name.to_owned(), answer)).collect();
        let answered = loaded.answered(&answers).expect("rows of their own");
        let rows = "  get: { access: write, idempotent: true, timeout_ms: 5 }\n  pay:\n    idempotent: true\n    access: \
                    write\n    server: bank\n  put: { access: read, idempotent: false }\n  see: { access: read } # guessed: \
                    confirm\n  sure: { access: write }\n";
        assert_eq!(answered, format!("format: tools/1\ntools:\n{rows}"), "what is no guess is not asked");
        let more = loaded.with_rows(&["new: { access: read }".to_owned()]).expect("rows stand on lines");
        assert_eq!(more, text.trim_end().to_owned() + "\n  new: { access: read }\n");
        let shared =
            "format: tools/1\ntools:\n  a: &a { access: read } # guessed: confirm\n  b: *a # guessed: confirm\n";
        let shared = load(Source::whole("t.yaml", shared)).unwrap_or_else(|report| panic!("{report}"));
        assert_eq!(shared.file.guessed, 2, "a mark counts behind an alias, too");
        assert_eq!(shared.answered(&[("b".to_owned(), Answer::Writes)].into()), None, "`a` would change, too");
        let flow = load(Source::whole("t.yaml", "format: tools/1\ntools: { a: { access: read } }\n"));
        assert_eq!(flow.unwrap_or_else(|report| panic!("{report}")).with_rows(&[String::new()]), None);
    }

    #[test]
    fn a_confirmed_row_loses_its_mark_and_nothing_else_changes() {
        let text = "# ours\r\nformat: tools/1\r\ntools:\r\n  'a#b': { access: read } # guessed: confirm (1 call)\r\n  \
                    get_x: { access: read } #Guessed:  confirm\r\n  pay: # keep this\r\n    access: write   # guessed: confirm\r\n  \
                    done: { access: write } # sure\r\n";
        let loaded = load(Source::whole("t.yaml", text)).unwrap_or_else(|report| panic!("{report}"));
        assert_eq!(loaded.file.guessed, 3);
        let (names, one) = loaded.confirmed(|row| row == "get_x");
        assert_eq!((names, one), (vec!["get_x"], text.replace(" #Guessed:  confirm", "")));
        let (names, all) = loaded.confirmed(|_| true);
        assert_eq!(names, ["a#b", "get_x", "pay"]);
        let plain = text.replace(" #Guessed:  confirm", "").replace(" # guessed: confirm (1 call)", "");
        assert_eq!(all, plain.replace("   # guessed: confirm", ""));
        let (names, none) = loaded.confirmed(|row| row == "done");
        assert_eq!((names.is_empty(), none.as_str()), (true, text), "it is no guess");
    }
}
