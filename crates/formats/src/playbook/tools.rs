//! The tool facts file. The engine's model defines the meaning of the facts.

use std::ops::Range;
use std::sync::Arc;

use super::syntax::TOOLS;
use crate::diagnostic::{Report, Source};
use crate::schema;
use crate::yaml::{GUESSED, MapEntry, NodeKind};
use playproof_engine::playbook::Tools;

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
    let last = last.unwrap_or(row.key_span.end);
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
