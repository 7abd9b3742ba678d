//! The text of a foreign source: checks that bytes are text and JSON, and reports errors with a small window of the text.
//! Knows no format.

use std::sync::Arc;

use crate::bad_line::{TABLE, fix_hint, is_table};
use crate::origin::LineFinder;
use crate::pieces::{BYTE_ORDER_MARK, BYTE_ORDER_MARK_BYTES, REMOVE_MARKS, STRAY_MARK};
use crate::raw_value::{RawValue, Tape};
use playproof_formats::diagnostic::{Diagnostic, Report, Source};

/// Bytes shown before and after a place.
const AROUND: usize = 60;

/// The text of a foreign source, with its name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SourceText<'a> {
    pub(crate) text: &'a str,
    pub(crate) name: &'a str,
}

impl<'a> SourceText<'a> {
    /// The text of `bytes`, called `name`.
    pub(crate) fn new(bytes: &'a [u8], name: &'a str) -> Result<SourceText<'a>, Report> {
        let whole = bytes.strip_prefix(BYTE_ORDER_MARK_BYTES).unwrap_or(bytes);
        match std::str::from_utf8(whole) {
            Ok(text) => Ok(SourceText { text, name }),
            Err(error) => {
                let (good, _) = whole.split_at(error.valid_up_to());
                let foreign = SourceText { text: std::str::from_utf8(good).unwrap_or_default(), name };
                let message = "this is not UTF-8 text";
                let help = "if it is Latin-1 or a Windows code page, `iconv -f WINDOWS-1252 -t UTF-8` converts it";
                Err(foreign.report(good.len(), Diagnostic::error("not_utf8", message).help(help)))
            }
        }
    }

    /// Line `number` (from 1) of a source in JSON Lines, with what `read` makes of it.
    pub(crate) fn line<T>(
        bytes: &'a [u8],
        name: &'a str,
        number: usize,
        read: impl FnOnce(&SourceText<'a>) -> Result<T, Report>,
    ) -> Result<(SourceText<'a>, T), Report> {
        let at_line = |mut report: Report| {
            Arc::make_mut(&mut report.source).first_line += number.saturating_sub(1);
            report
        };
        let source = SourceText::new(bytes, name).map_err(at_line)?; // text that is not UTF-8 cannot be skipped
        // A first line that is not JSON: the whole file is probably something else.
        let may_skip = |report| if number > 1 { skippable(report) } else { report };
        let read = read(&source).map_err(|report| may_skip(at_line(report)))?;
        Ok((source, read))
    }

    /// A finder for values that are borrowed from the text.
    pub(crate) fn lines(&self) -> LineFinder {
        LineFinder::new(self.text, 1)
    }

    /// The text as one JSON value.
    pub(crate) fn document(&self) -> Result<RawValue<'a>, Report> {
        serde_json::from_str(self.text).map_err(|error| self.not_json(&error))
    }

    /// The text as one JSON value, on a tape.
    pub(crate) fn on_tape(&self, tape: &'a mut Tape) -> Result<RawValue<'a>, Report> {
        tape.read(self.text).map_or_else(|| self.document(), Ok)
    }

    /// The text as JSON values in a row.
    pub(crate) fn documents(&self) -> Result<Vec<RawValue<'a>>, Report> {
        let stream = serde_json::Deserializer::from_str(self.text).into_iter();
        let is_skippable = || self.without_bad_lines() != self.text;
        let said = |report: Report| if is_skippable() { skippable(report) } else { report };
        stream.collect::<Result<_, _>>().map_err(|error| said(self.not_json(&error)))
    }

    /// The text of JSON Lines with blanks for the lines that are not JSON; any other text as it is.
    pub(crate) fn without_bad_lines(&self) -> String {
        let is_json = |line: &&str| serde_json::from_str::<RawValue<'_>>(line).is_ok();
        let lines = || self.text.lines().filter(|line| !line.trim().is_empty());
        if lines().filter(is_json).count() * 2 < lines().count() {
            return self.text.to_owned();
        }
        let blank = |line: &str| " ".repeat(line.len());
        let kept = self.text.split('\n').map(|line| if is_json(&line) { line.to_owned() } else { blank(line) });
        kept.collect::<Vec<_>>().join("\n")
    }

    /// The report of a document whose shape does not fit its format.
    pub(crate) fn shape(&self, expected: &str) -> Report {
        self.report(0, Diagnostic::error("not_this_format", format!("this is not {expected}")))
    }

    pub(crate) fn not_json(&self, error: &serde_json::Error) -> Report {
        let line_start = match error.line() {
            0 | 1 => 0,
            line => self.text.match_indices('\n').nth(line - 2).map_or(0, |(newline, _)| newline + 1),
        };
        // Truncated JSON ends at its last character; line breaks may follow.
        let offset = match error.is_eof() {
            true => self.text.trim_end_matches(['\n', '\r']).len().saturating_sub(1),
            // A word that a line break cuts: the line break is the place.
            false if error.column() == 0 => line_start.saturating_sub(1),
            false => line_start + error.column().saturating_sub(1),
        };
        let is_mark = self.text.get(offset..).is_some_and(|rest| rest.starts_with(BYTE_ORDER_MARK));
        let diagnostic = match error.is_eof() {
            _ if is_mark => Diagnostic::error(STRAY_MARK, "a byte order mark inside the file").help(REMOVE_MARKS),
            true => Diagnostic::error("cut_short", "the JSON ends before it is complete")
                .help("the file was cut short, or is still being written"),
            false => {
                let diagnostic = Diagnostic::error("not_json", format!("this is not JSON: {}", message_of(error)));
                let has_header = error.line() == 1 && self.text.lines().next().is_some_and(is_table);
                if has_header { diagnostic.help(TABLE) } else { diagnostic }
            }
        };
        self.report(offset, diagnostic)
    }

    /// A report that shows only the text around byte `offset`: a source may be long.
    pub(crate) fn report(&self, offset: usize, diagnostic: Diagnostic) -> Report {
        let offset = floor(self.text, offset);
        let line_start = self.text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
        let start = line_start.max(floor(self.text, offset.saturating_sub(AROUND)));
        let rest = self.text[offset..].split('\n').next().unwrap_or_default();
        let line_end = offset + rest.strip_suffix('\r').unwrap_or(rest).len();
        let end = line_end.min(floor(self.text, offset + AROUND));
        let source = Source {
            name: self.name.to_owned(),
            text: self.text[start..end].to_owned(),
            first_line: self.text[..start].matches('\n').count() + 1,
            first_column: self.text[line_start..start].chars().count(),
            begins_before: line_start < start,
            goes_on: end < line_end,
        };
        let here = offset - start;
        let width = self.text[offset..end].chars().next().map_or(0, char::len_utf8);
        let underlined = here..here + width;
        Report::one(Arc::new(source), diagnostic.at(underlined, "here"))
    }
}

/// The report of a line that can be skipped: beside what to do, or why it is so.
pub(crate) fn skippable(mut report: Report) -> Report {
    for said in &mut report.diagnostics {
        said.help = Some(match said.help.take() {
            Some(advice) if said.id == STRAY_MARK => fix_hint(Some(&format!("{advice}."))),
            Some(cause) => format!("{cause}; {}", fix_hint(None)),
            None => fix_hint(None),
        });
    }
    report
}

/// The nearest character boundary at or before `offset`.
fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// The message of serde_json without its place: we underline the place.
fn message_of(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(message, _)| message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_its_line_cuts_is_reported_in_that_line() {
        let text = "{\"a\":1}\n{\"a\": tr\n{\"a\":2}\n";
        let report = SourceText { text, name: "t" }.documents().expect_err("a broken line");
        assert_eq!(report.to_string(), "t:2:9: this is not JSON: expected ident");
    }

    #[test]
    fn a_line_break_of_either_kind_is_no_part_of_its_line() {
        let shown = |behind: &str| {
            let text = format!("1\n{{\"a\":x{behind}");
            let source = SourceText { text: &text, name: "t" }.report(7, Diagnostic::error("not_json", "m")).source;
            (source.text.clone(), source.goes_on)
        };
        for line_break in ["", "\n", "\r\n", "\r\n2"] {
            assert_eq!(shown(line_break), ("{\"a\":x".to_owned(), false), "{line_break:?}");
            // The window ends just before the line break.
            let full = format!("{}{line_break}", "y".repeat(AROUND - 1));
            assert!(!shown(&full).1, "{line_break:?}");
        }
        assert!(shown(&"y".repeat(AROUND)).1 && !shown(&"y".repeat(AROUND - 1)).1);
        assert_eq!(shown("\r2").0, "{\"a\":x\r2", "a lone one ends no line");
    }
}
