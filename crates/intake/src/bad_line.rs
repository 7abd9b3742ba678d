//! A line that cannot be used: the window of it that is shown, and its report for people. Decides nothing.

use std::ops::Range;
use std::str::Utf8Error;
use std::sync::Arc;

use crate::redact::{REDACTED, RedactionRules};
use crate::wire::{LineError, NonTrace};
use playproof_formats::diagnostic::{Diagnostic, Report, Source};

/// The most bytes of an error that are shown, and the bytes shown on either side.
const AROUND: usize = 60;

/// The second half of a fix hint: how to go on without fixing the line. Commands that skip no line remove it.
pub const OR_SKIP: &str = ", or pass `--skip-invalid` to count and skip such lines";

/// The error id of a first line that is no line of a trace.
pub const FOREIGN_LINE: &str = "foreign_line";

const ONE_OBJECT_A_LINE: &str = "a trace has one JSON object a line, with `tool` and `status`; \
                                 a mapping file (`--map FILE`) reads other JSON or JSONL";

/// A line that cannot be used, with the window of it that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Its number, from 1 (in a digest: from the start of the piece).
    pub line: u64,
    /// The error; its span points into the window.
    pub error: LineError,
    window: String,
    /// Columns of the line before the window.
    before: usize,
    /// Nothing of the line is shown, because something is redacted.
    is_hidden: bool,
    /// The line goes on after the window.
    goes_on: bool,
    /// No line before it in its piece is a line of a trace.
    pub is_first: bool,
}

impl BadLine {
    /// Line number `line`, whose text is `text`.
    pub fn new(line: u64, text: &str, mut error: LineError) -> BadLine {
        let start = text.floor_char_boundary(error.span.start.saturating_sub(AROUND));
        let shown_end = error.span.end.min(error.span.start + AROUND);
        let end = text.ceil_char_boundary(shown_end + AROUND);
        let before = text.get(..start).map_or(0, |before| before.chars().count());
        error.span = shift(&error.span, start, text.ceil_char_boundary(shown_end));
        let window = text.get(start..end).unwrap_or("").to_owned();
        BadLine { line, error, window, before, is_hidden: false, goes_on: end < text.len(), is_first: false }
    }

    /// A line whose bytes are not UTF-8.
    pub fn not_utf8(line: u64, bytes: &[u8], error: Utf8Error) -> BadLine {
        let good = std::str::from_utf8(bytes.get(..error.valid_up_to()).unwrap_or(&[])).unwrap_or("");
        let start = good.floor_char_boundary(good.len().saturating_sub(AROUND));
        let width = error.error_len().unwrap_or(1);
        let rest = bytes.get(good.len() + width..).unwrap_or(&[]);
        let goes_on = rest.len() > AROUND;
        let rest = String::from_utf8_lossy(rest.get(..AROUND).unwrap_or(rest));
        let shown = good.get(start..).unwrap_or("");
        let byte = bytes.get(good.len()).copied().unwrap_or(0);
        let error = LineError {
            id: "not_utf8",
            message: format!("the line is not UTF-8 text: its byte {} is 0x{byte:02x}", good.len() + 1),
            span: shown.len()..shown.len() + char::REPLACEMENT_CHARACTER.len_utf8(),
            label: "this byte begins no character",
            help: None,
            foreign: good.is_empty().then_some(NonTrace::Text),
        };
        let window = format!("{shown}{}{rest}", char::REPLACEMENT_CHARACTER);
        let before = good.chars().count() - shown.chars().count();
        BadLine { line, error, window, before, is_hidden: false, goes_on, is_first: false }
    }

    /// A line that begins with `start` and is longer than `limit` bytes.
    pub fn too_long(line: u64, start: &[u8], limit: usize) -> BadLine {
        let text = String::from_utf8_lossy(start);
        let window = text.get(..text.floor_char_boundary(AROUND)).unwrap_or("").to_owned();
        let error = LineError {
            id: "line_too_long",
            message: format!("the line is longer than {} MiB, the limit of a line", limit.div_ceil(1 << 20)),
            span: 0..window.chars().next().map_or(0, char::len_utf8),
            label: "the line begins here",
            help: None,
            foreign: None,
        };
        BadLine { line, error, window, before: 0, is_hidden: false, goes_on: true, is_first: false }
    }

    /// Hides the line if anything is redacted: broken JSON does not show which keys its values have.
    #[must_use]
    pub fn redacted(mut self, rules: &RedactionRules) -> BadLine {
        if !rules.is_empty() {
            self.hide();
        }
        self
    }

    /// Hides the line.
    pub fn hide(&mut self) {
        self.before += self.window.get(..self.error.span.start).map_or(0, |before| before.chars().count());
        self.window = REDACTED.to_owned();
        self.is_hidden = true;
        self.error.span = 0..REDACTED.len();
    }

    /// The report for people. `first` says that no line before it is a line of a trace.
    pub fn report(&self, source: &str, first: bool) -> Report {
        let source = Source {
            name: source.to_owned(),
            text: self.window.clone(),
            first_line: usize::try_from(self.line).unwrap_or(usize::MAX),
            first_column: self.before,
            begins_before: self.before > 0 && !self.is_hidden,
            goes_on: self.goes_on && !self.is_hidden,
        };
        let LineError { id, message, label, foreign, .. } = &self.error;
        let (id, message, label) = match foreign.filter(|_| first) {
            None => (*id, &**message, *label),
            Some(NonTrace::Row) => (FOREIGN_LINE, &**message, *label),
            Some(NonTrace::Text) => ("not_json", "this is not a JSON log", *label),
            Some(NonTrace::Document) => {
                (FOREIGN_LINE, "this is JSON, but not one object a line", "a document begins here")
            }
        };
        let help = match (id, foreign) {
            (FOREIGN_LINE, _) => ONE_OBJECT_A_LINE.to_owned(),
            (_, Some(NonTrace::Text)) if first && is_table(&self.window) => TABLE.to_owned(),
            (_, Some(NonTrace::Text)) if first => {
                format!("a trace has one JSON object a line; if only this line is wrong, {}", fix_hint(None))
            }
            _ => fix_hint(self.error.help.as_deref()),
        };
        let diagnostic = Diagnostic::error(id, message).at(self.error.span.clone(), label).help(help);
        Report::one(Arc::new(source), diagnostic)
    }
}

/// How to fix or skip a line that cannot be used; `help` says how to fix it, where more is known.
pub fn fix_hint(help: Option<&str>) -> String {
    let skip = format!("fix the line{OR_SKIP}");
    match help {
        None => skip,
        Some(help) => format!("{help} Otherwise {skip}"),
    }
}

/// What helps with a table.
pub(crate) const TABLE: &str = "this looks like a table (CSV), which has no place for nested arguments and results: export JSON Lines \
                     instead, one object a line, as LangSmith and most tools can";

/// Whether a line is the header of a table: names between commas, semicolons or tabs.
pub(crate) fn is_table(line: &str) -> bool {
    let is_name = |cell: &str| {
        let cell = cell.trim().trim_matches('"');
        !cell.is_empty() && cell.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | ' ' | '-'))
    };
    // A sentence has a comma, too.
    let least = |comma| if comma == ',' && !line.starts_with('"') { 2 } else { 1 };
    let has_cells = |comma: char| line.matches(comma).count() >= least(comma) && line.trim().split(comma).all(is_name);
    [',', ';', '\t'].into_iter().any(has_cells)
}

/// `span`, cut at `end`, relative to a window that begins at `start`.
fn shift(span: &Range<usize>, start: usize, end: usize) -> Range<usize> {
    let from = span.start.saturating_sub(start);
    from..end.saturating_sub(start).max(from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::parse_line;

    fn bad(text: &str) -> BadLine {
        BadLine::new(7, text, *parse_line(text).unwrap_err())
    }

    fn underlined(report: &Report) -> &str {
        &report.source.text[report.diagnostics[0].labels[0].span.clone()]
    }

    #[test]
    fn the_window_is_small_and_the_column_is_that_of_the_whole_line() {
        let text = format!(r#"{{"tool":"é{}","at_ms":-5,"args":"{}"}}"#, "x".repeat(5_000), "y".repeat(5_000));
        let report = bad(&text).report("t.jsonl", false);
        assert_eq!(underlined(&report), "-5");
        assert!(report.source.text.len() < 200);
        assert_eq!(report.to_string(), "t.jsonl:7:5021: `at_ms` is negative");
        assert!(report.diagnostics[0].help.as_deref().unwrap().contains("--skip-invalid"));
    }

    #[test]
    fn a_window_tells_on_which_sides_its_line_goes_on() {
        let sides = |before: usize, behind: usize| {
            let text = format!(r#"{{"tool":"{}","at_ms":-5,"x":"{}"}}"#, "x".repeat(before), "y".repeat(behind));
            let source = bad(&text).report("t", false).source;
            (source.begins_before, source.goes_on)
        };
        assert_eq!((sides(9, 9), sides(99, 9)), ((false, false), (true, false)));
        assert_eq!((sides(9, 99), sides(99, 99)), ((false, true), (true, true)));
        let not_utf8 = |behind: usize| {
            let line = [b"\xff".to_vec(), vec![b'x'; behind]].concat();
            BadLine::not_utf8(1, &line, std::str::from_utf8(&line).unwrap_err()).report("t", true).source.goes_on
        };
        assert!(not_utf8(AROUND + 1) && !not_utf8(AROUND));
        assert!(BadLine::too_long(1, b"{", 1).report("t", true).source.goes_on);
        let rules = RedactionRules::new(&["ssn"], &[]).unwrap();
        let x = "x".repeat(99);
        for line in [format!(r#"{{"at_ms":-5,"tool":"{x}"}}"#), format!(r#"{{"tool":"{x}","at_ms":-5}}"#)] {
            let source = bad(&line).redacted(&rules).report("t", false).source;
            assert!(!source.begins_before && !source.goes_on);
        }
    }

    #[test]
    fn a_long_error_is_underlined_in_part() {
        let report = bad(&format!(r#"{{"tool":["{}"]}}"#, "é".repeat(5_000))).report("t", false);
        assert!(underlined(&report).starts_with("[\"é") && report.source.text.len() < 200);
    }

    #[test]
    fn a_byte_that_is_not_utf8_has_the_column_after_the_characters_before_it() {
        let line = [b"\xc3\xa9".repeat(100), b"\xff tail".to_vec()].concat();
        let report = BadLine::not_utf8(3, &line, std::str::from_utf8(&line).unwrap_err()).report("t", true);
        assert_eq!(underlined(&report), "\u{fffd}");
        assert_eq!(report.to_string(), "t:3:101: the line is not UTF-8 text: its byte 201 is 0xff");
    }

    #[test]
    fn foreign_json_at_the_start_is_referred_to_the_importer() {
        let shown = |line: &str, first| {
            let diagnostic = bad(line).report("t", first).diagnostics.remove(0);
            (diagnostic.id, diagnostic.help.unwrap().contains("(`--map FILE`)"), diagnostic.labels[0].text.clone())
        };
        for (line, id, label) in [
            (r#"{"event":1}"#, "missing_field", "expected `tool`, `call_id`, `status`, …"),
            ("[]", "not_json", "expected `{`"),
            ("{", "truncated_line", "the last character"),
        ] {
            assert_eq!(shown(line, false), (id, false, label.to_owned()));
            let (id, is_helped, label) = shown(line, true);
            assert_eq!((id, is_helped, label == "a document begins here"), (FOREIGN_LINE, true, line.len() < 3));
        }
    }

    #[test]
    fn a_first_line_that_is_no_json_at_all_makes_the_file_no_log() {
        let message = |report: Report| report.diagnostics[0].message.clone();
        let image = b"\x89PNG".to_vec();
        let byte = BadLine::not_utf8(1, &image, std::str::from_utf8(&image).unwrap_err());
        assert_eq!(message(bad("order,amount").report("t", true)), "this is not a JSON log");
        assert_eq!(message(byte.report("t", true)), "this is not a JSON log");
        assert_eq!(message(bad("order,amount").report("t", false)), "a line of a trace is a JSON object");
        assert_eq!(message(byte.report("t", false)), "the line is not UTF-8 text: its byte 1 is 0x89");
        assert!(message(bad("{\"tool\":\"a\",}").report("t", true)).starts_with("the line is not JSON"));
    }

    #[test]
    fn a_table_is_told_to_be_exported_as_json_lines() {
        let help = |text: &str| bad(text).report("runs.csv", true).diagnostics[0].help.clone().unwrap();
        for header in ["id,name,run_type,inputs.input", "\"Run ID\";\"Name\";\"Status\"", "id\tname\tinputs"] {
            assert!(help(header).contains("export JSON Lines instead"), "{header}");
        }
        for other in ["order,amount", "it failed, and then: again, and again", "a,b,,c"] {
            assert!(!help(other).contains("export JSON Lines"), "{other}");
        }
    }

    #[test]
    fn nothing_of_a_bad_line_is_shown_where_anything_is_redacted() {
        let rules = RedactionRules::new(&["ssn"], &[]).unwrap();
        let report = bad(r#"{"ssn":"123","at_ms":-5,"tool":"a"}"#).redacted(&rules).report("t", false);
        assert_eq!(report.source.text, "[redacted]");
        assert_eq!(report.to_string(), "t:7:22: `at_ms` is negative");
    }
}
