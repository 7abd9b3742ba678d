//! Draws what is wrong with a source: each place underlined, at its true line and column. Decides nothing.

use std::fmt;
use std::ops::Range;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan,
    SpanContents, ThemeCharacters, ThemeStyles,
};

use crate::text;
use playproof_explore::CONTRADICTED_CLAIM;
use playproof_formats::diagnostic::{Diagnostic, Report, Severity, Source};

/// What the frame of a drawing takes of the width: line number, bar and blanks.
const FRAME: usize = 10;

/// How many lines on either side of a place are looked at. One is drawn.
const NEAR: usize = 2;

/// The report for people, every diagnostic drawn with its place, without a count at the end.
pub fn render(report: &Report, width: usize, colour: bool) -> String {
    let width = width.max(40);
    let handler = GraphicalReportHandler::new_themed(theme(colour))
        .with_width(width)
        .with_links(false)
        .with_context_lines(1)
        .with_wrap_lines(true);
    let mut out = String::new();
    for diagnostic in &report.diagnostics {
        let drawing = Drawing::new(&report.source, diagnostic, width.saturating_sub(FRAME));
        if handler.render_report(&mut out, &drawing).is_err() {
            out.push_str(&format!("{}: {}\n", report.source.name, diagnostic.message));
        }
    }
    out
}

/// The last line of one or several reports: `2 errors, 1 warning`.
pub fn tally<'a>(reports: impl IntoIterator<Item = &'a Report>) -> String {
    let (mut errors, mut warnings, mut notes) = (0, 0, 0);
    for diagnostic in reports.into_iter().flat_map(|report| &report.diagnostics) {
        match diagnostic.severity {
            Severity::Error => errors += 1,
            Severity::Warning => warnings += 1,
            Severity::Note => notes += 1,
        }
    }
    let parts = [(errors, "error", "errors"), (warnings, "warning", "warnings"), (notes, "note", "notes")];
    let said: Vec<String> =
        parts.into_iter().filter(|part| part.0 > 0).map(|(n, one, many)| text::counted(n, one, many)).collect();
    said.join(", ")
}

fn theme(colour: bool) -> GraphicalTheme {
    let styles = if colour { ThemeStyles::ansi() } else { ThemeStyles::none() };
    let characters =
        ThemeCharacters { error: "×".into(), warning: "!".into(), advice: "-".into(), ..ThemeCharacters::unicode() };
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
    fn new(source: &Source, diagnostic: &'a Diagnostic, room: usize) -> Drawing<'a> {
        let message = text::escape_unprintable(&diagnostic.message).into_owned();
        if diagnostic.labels.is_empty() {
            let message = match &*source.name {
                "" => message, // it names its source itself
                name => format!("{}: {message}", text::escape_unprintable(name)),
            };
            return Drawing { diagnostic, message, text: None, labels: Vec::new() };
        }
        let spans: Vec<Range<usize>> = diagnostic.labels.iter().map(|label| label.span.clone()).collect();
        let marks = usize::from(source.begins_before) + usize::from(source.goes_on);
        let window = window(&source.text, &spans, room - marks);
        let mut drawn = Drawn::new(source, window.clone(), &spans);
        if spans.iter().any(|span| drawn.offset(span.start) >= drawn.text.len()) {
            drawn.text.push(' '); // so that the very end of a source can be underlined
        }
        let labels = diagnostic
            .labels
            .iter()
            .enumerate()
            .filter(|(_, label)| window.start <= label.span.start && label.span.start <= window.end)
            .map(|(n, label)| {
                let span = drawn.span(&label.span);
                let said = (!label.text.is_empty()).then(|| text::escape_unprintable(&label.text).into_owned());
                // What is drawn together is headed by the first of all, what is drawn apart by its own.
                match n {
                    0 => LabeledSpan::new_primary_with_span(said, span),
                    _ => LabeledSpan::new_with_span(said, span),
                }
            })
            .collect();
        let places = diagnostic.labels.iter();
        let places = places.map(|label| (drawn.span(&label.span).start, source.place(label.span.start))).collect();
        let (first_line, _) = source.place(window.start);
        let name = text::escape_unprintable(&source.name).into_owned();
        let text = Text { name, drawn: drawn.text, first_line, places };
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
        // Only the ids of lints are for people: `playproof help ID` explains them.
        let is_lint = self.diagnostic.severity != Severity::Error || self.diagnostic.id == CONTRADICTED_CLAIM;
        is_lint.then(|| Box::new(self.diagnostic.id) as _)
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.diagnostic.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Note => miette::Severity::Advice,
        })
    }

    fn help<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        self.diagnostic.help.as_deref().map(|help| Box::new(text::escape_unprintable(help).into_owned()) as _)
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
    /// Line and column of each label, from 1, by where it is drawn.
    places: Vec<(usize, (usize, usize))>,
}

impl Text {
    /// Line and column from 0 of the label that is drawn at `at`, else of the first.
    fn place(&self, at: usize) -> (usize, usize) {
        let label = self.places.iter().rev().find(|(drawn, _)| *drawn == at).or(self.places.first());
        label.map_or((0, 0), |(_, (line, column))| (line - 1, column - 1)) // both are counted from 1
    }
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
            0 => self.place(span.offset()),
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

/// The bytes of `text` worth drawing: whole lines, or a part of the first span's line where that is too long.
fn window(text: &str, spans: &[Range<usize>], room: usize) -> Range<usize> {
    let start = floor(text, spans.first().map_or(0, |span| span.start));
    let line = line_at(text, start);
    if drawn_width(&text[line.clone()], room) <= room {
        return clear_of_long_neighbours(text, spans, room);
    }
    // As much of the other places as fits, then as much to the left as to the right.
    let here = spans.iter().filter(|span| line.contains(&span.start));
    let last = here.map(|span| floor(text, span.end.min(line.end))).max().unwrap_or(start).max(start);
    let wanted = drawn_width(&text[start..last], room).min(room * 2 / 3);
    let side = room.saturating_sub(wanted + 2) / 2;
    let left = text[line.start..start].char_indices().rev().scan(0, |used, (at, c)| {
        *used += drawn_width(c.encode_utf8(&mut [0; 4]), room);
        (*used <= side).then_some(line.start + at)
    });
    let right = text[start..line.end].char_indices().scan(0, |used, (at, c)| {
        *used += drawn_width(c.encode_utf8(&mut [0; 4]), room);
        (*used <= wanted + side).then_some(start + at + c.len_utf8())
    });
    left.last().unwrap_or(start)..right.last().unwrap_or(start)
}

/// The lines from the first place to the last and those [`NEAR`] them, less what lies beyond a line that is too long on
/// either side of the spans.
fn clear_of_long_neighbours(text: &str, spans: &[Range<usize>], room: usize) -> Range<usize> {
    let first = spans.iter().map(|span| span.start).min().unwrap_or(0);
    let last = spans.iter().map(|span| span.end).max().unwrap_or(0);
    let near = lines_near(text, first..last);
    let (mut start, mut end, mut at) = (near.start, near.end, near.start);
    for line in text[near].split_inclusive('\n') {
        let next = at + line.len();
        if drawn_width(line, room * 4) > room * 4 {
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

/// The whole lines of `span` and [`NEAR`] lines on either side.
fn lines_near(text: &str, span: Range<usize>) -> Range<usize> {
    let before = text[..floor(text, span.start)].rmatch_indices('\n').nth(NEAR);
    let after = text[floor(text, span.end)..].match_indices('\n').nth(NEAR);
    let start = before.map_or(0, |(newline, _)| newline + 1);
    start..after.map_or(text.len(), |(newline, _)| floor(text, span.end) + newline + 1)
}

/// The columns that `text` takes once it is escaped; anything above `enough` may be less than the truth.
fn drawn_width(text: &str, enough: usize) -> usize {
    let mut width = 0;
    for c in text.chars() {
        let mut escaped = String::new();
        text::push_escaped(&mut escaped, c);
        width += text::width(&escaped);
        if width > enough {
            break;
        }
    }
    width
}

fn line_at(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
    start..end
}

fn floor(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A window of a source with its unprintable characters escaped, and the way from old offsets to new ones.
struct Drawn {
    text: String,
    window: Range<usize>,
    /// Old and new offset after each character that changed its length.
    shifts: Vec<(usize, usize)>,
}

impl Drawn {
    /// Lines that are not near one of `spans` are left empty: nothing of them is drawn.
    fn new(source: &Source, window: Range<usize>, spans: &[Range<usize>]) -> Drawn {
        let (begins_before, goes_on, source) = (source.begins_before, source.goes_on, &*source.text);
        let begins_line = match window.start {
            0 => !begins_before,
            start => source[..start].ends_with('\n'),
        };
        let ends_line = match source.get(window.end..) {
            Some("") | None => !goes_on,
            Some(behind) => behind.starts_with(['\n', '\r']),
        };
        let mut text = String::with_capacity(window.len() + 1);
        let mut shifts = Vec::new();
        if !begins_line {
            text.push('…');
            shifts.push((0, text.len()));
        }
        let mut near: Vec<Range<usize>> = spans.iter().map(|span| lines_near(source, span.clone())).collect();
        near.sort_by_key(|lines| lines.start);
        let mut near = near.into_iter().peekable();
        let mut start = window.start;
        for line in source[window.clone()].split_inclusive('\n') {
            let end = start + line.len();
            while near.next_if(|lines| lines.end <= start).is_some() {}
            if near.peek().is_some_and(|lines| lines.start < end) {
                let mut rest = line.chars();
                while let Some(c) = rest.next() {
                    let before = text.len();
                    match c {
                        '\r' if rest.as_str() == "\n" => {}
                        '\t' => text.push(' '),
                        '\n' => text.push('\n'),
                        c => text::push_escaped(&mut text, c),
                    }
                    if text.len() - before != c.len_utf8() {
                        shifts.push((end - rest.as_str().len() - window.start, text.len()));
                    }
                }
            } else {
                text.push('\n');
                shifts.push((end - window.start, text.len()));
            }
            start = end;
        }
        if !(ends_line || text.ends_with('\n')) {
            text.push('…');
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
