//! Draws what is wrong with a source: each place underlined, at its true line and column. Decides nothing.

use std::fmt;
use std::ops::Range;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan,
    SpanContents, ThemeCharacters, ThemeStyles,
};

use crate::diagnostic::{Diagnostic, Report, Severity, Source};
use crate::report::text;

/// Longer lines are shown as a window round the place that is named.
const LINE_MAX: usize = 400;

/// What is shown of a longer line on either side of the place.
const MARGIN: usize = 60;

/// The report for people, every diagnostic drawn with its place, without a count at the end.
pub fn render(report: &Report, width: usize, colour: bool) -> String {
    let handler = GraphicalReportHandler::new_themed(theme(colour))
        .with_width(width.max(40))
        .with_links(false)
        .with_context_lines(1)
        .with_wrap_lines(true);
    let mut out = String::new();
    for diagnostic in &report.diagnostics {
        let drawing = Drawing::new(&report.source, diagnostic);
        if handler.render_report(&mut out, &drawing).is_err() {
            out.push_str(&format!("{}: {}\n", report.source.name, diagnostic.message));
        }
    }
    out
}

/// The last line of one or several reports: `2 errors, 1 warning`.
pub fn tally<'a>(reports: impl IntoIterator<Item = &'a Report>) -> String {
    let (mut errors, mut warnings) = (0, 0);
    for diagnostic in reports.into_iter().flat_map(|report| &report.diagnostics) {
        match diagnostic.severity {
            Severity::Error => errors += 1,
            Severity::Warning => warnings += 1,
        }
    }
    let parts = [(errors, "error", "errors"), (warnings, "warning", "warnings")];
    let said: Vec<String> =
        parts.into_iter().filter(|part| part.0 > 0).map(|(n, one, many)| text::counted(n, one, many)).collect();
    said.join(", ")
}

fn theme(colour: bool) -> GraphicalTheme {
    let styles = if colour { ThemeStyles::ansi() } else { ThemeStyles::none() };
    let characters = ThemeCharacters { error: "×".into(), warning: "!".into(), ..ThemeCharacters::unicode() };
    GraphicalTheme { characters, styles }
}

/// One diagnostic with the text that is drawn for it.
#[derive(Debug)]
struct Drawing<'a> {
    diagnostic: &'a Diagnostic,
    message: String,
    text: Option<Text>,
    labels: Vec<LabeledSpan>,
}

impl<'a> Drawing<'a> {
    fn new(source: &Source, diagnostic: &'a Diagnostic) -> Drawing<'a> {
        let message = text::visible(&diagnostic.message).into_owned();
        let Some(first) = diagnostic.labels.first() else {
            let message = format!("{}: {message}", text::visible(&source.name));
            return Drawing { diagnostic, message, text: None, labels: Vec::new() };
        };
        let spans: Vec<Range<usize>> = diagnostic.labels.iter().map(|label| label.span.clone()).collect();
        let window = window(&source.text, &spans);
        let mut drawn = Drawn::new(&source.text, window.clone());
        if spans.iter().any(|span| drawn.offset(span.start) >= drawn.text.len()) {
            drawn.text.push(' '); // so that the very end of a source can be underlined
        }
        let labels = diagnostic
            .labels
            .iter()
            .filter(|label| window.start <= label.span.start && label.span.start <= window.end)
            .map(|label| {
                let span = drawn.span(&label.span);
                let said = (!label.text.is_empty()).then(|| text::visible(&label.text).into_owned());
                LabeledSpan::new(said, span.start, span.len())
            })
            .collect();
        let (line, column) = source.place(first.span.start);
        let (first_line, _) = source.place(window.start);
        let name = text::visible(&source.name).into_owned();
        let text = Text { name, drawn: drawn.text, first_line, line, column };
        Drawing { diagnostic, message, text: Some(text), labels }
    }
}

impl fmt::Display for Drawing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Drawing<'_> {}

impl miette::Diagnostic for Drawing<'_> {
    fn code<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        // Only the ids of warnings are for people: `playproof help ID` explains them.
        (self.diagnostic.severity == Severity::Warning).then(|| Box::new(self.diagnostic.id) as _)
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.diagnostic.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
    }

    fn help<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        self.diagnostic.help.as_deref().map(|help| Box::new(text::visible(help).into_owned()) as _)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.text.as_ref().map(|text| text as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}

/// The text that is drawn, and where it truly stands.
#[derive(Debug)]
struct Text {
    name: String,
    drawn: String,
    /// Of the drawn text's first line, from 1.
    first_line: usize,
    /// Of the first label, from 1.
    line: usize,
    column: usize,
}

impl SourceCode for Text {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let seen = self.drawn.as_bytes().read_span(span, before, after)?;
        // Without context miette asks for the place that it names in the header; the window may begin mid-line.
        let (line, column) = match before + after {
            0 => (self.line - 1, self.column - 1),
            _ => (seen.line() + self.first_line - 1, seen.column()),
        };
        let contents = MietteSpanContents::new_named(
            self.name.clone(),
            seen.data(),
            *seen.span(),
            line,
            column,
            seen.line_count(),
        );
        Ok(Box::new(contents))
    }
}

/// The bytes of `text` worth drawing: all of it, or the surroundings of the first span where lines are very long.
fn window(text: &str, spans: &[Range<usize>]) -> Range<usize> {
    let start = spans.first().map_or(0, |span| span.start.min(text.len()));
    let line_start = text[..floor(text, start)].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[line_start..].find('\n').map_or(text.len(), |at| line_start + at);
    if line_end - line_start <= LINE_MAX {
        return clear_of_long_neighbours(text, spans);
    }
    let end = spans.first().map_or(start, |span| span.end.min(start + LINE_MAX / 2));
    floor(text, start.saturating_sub(MARGIN).max(line_start))..floor(text, (end + MARGIN).min(line_end))
}

/// All of `text`, less what lies beyond a very long line on either side of the spans.
fn clear_of_long_neighbours(text: &str, spans: &[Range<usize>]) -> Range<usize> {
    let first = spans.iter().map(|span| span.start).min().unwrap_or(0);
    let last = spans.iter().map(|span| span.end).max().unwrap_or(0);
    let (mut start, mut end, mut at) = (0, text.len(), 0);
    for line in text.split_inclusive('\n') {
        let next = at + line.len();
        if line.len() > LINE_MAX {
            if next <= first {
                start = next;
            } else if at >= last && at > 0 {
                end = at;
                break;
            }
        }
        at = next;
    }
    start..end
}

fn floor(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A window of a source with its treacherous characters made visible, and the way from old offsets to new ones.
struct Drawn {
    text: String,
    window: Range<usize>,
    /// Old and new offset after each character that changed its length.
    shifts: Vec<(usize, usize)>,
}

impl Drawn {
    fn new(source: &str, window: Range<usize>) -> Drawn {
        let mut text = String::with_capacity(window.len() + 1);
        let mut shifts = Vec::new();
        for (at, c) in source[window.clone()].char_indices() {
            match c {
                '\n' => text.push('\n'),
                '\r' if source[window.start + at + 1..].starts_with('\n') => {
                    shifts.push((at + 1, text.len()));
                }
                '\t' => {
                    text.push(' ');
                }
                c => {
                    let before = text.len();
                    text::push_visible(&mut text, c);
                    if text.len() - before != c.len_utf8() {
                        shifts.push((at + c.len_utf8(), text.len()));
                    }
                }
            }
        }
        Drawn { text, window, shifts }
    }

    fn offset(&self, old: usize) -> usize {
        let old = old.clamp(self.window.start, self.window.end) - self.window.start;
        let shift = self.shifts.partition_point(|&(from, _)| from <= old);
        match shift.checked_sub(1).and_then(|at| self.shifts.get(at)) {
            Some(&(from, to)) => to + (old - from),
            None => old,
        }
    }

    /// Never empty, and never past the end of its first line.
    fn span(&self, old: &Range<usize>) -> Range<usize> {
        let start = floor(&self.text, self.offset(old.start).min(self.text.len().saturating_sub(1)));
        let line_end = self.text[start..].find('\n').map_or(self.text.len(), |at| start + at);
        let end = floor(&self.text, self.offset(old.end).min(line_end));
        start..end.max(start + 1).min(self.text.len())
    }
}
