//! A long recording in JSON Lines, line by line: its memory does not grow with its length. It is read twice, because its
//! places and its loss report are needed before its first line.

use std::io::{self, BufRead, Read};

use super::apply::Applier;
use super::model::Mapping;
use crate::imported::{Imported, LossReport};
use crate::limits;
use crate::origin::Origins;
use crate::redact::RedactionRules;
use playproof_formats::diagnostic::Report;

/// The longest line of a recording.
const MAX_LINE: u64 = 256 << 20;

/// Why a recording cannot be read to its end.
#[derive(Debug)]
pub enum LinedError {
    /// Its source failed.
    Unreadable(io::Error),
    /// A line that cannot be used, or no row is a call.
    Invalid(Box<Report>),
}

impl From<io::Error> for LinedError {
    fn from(error: io::Error) -> LinedError {
        LinedError::Unreadable(error)
    }
}

/// The trace lines of a recording in JSON Lines.
#[derive(Debug)]
pub struct MappedLines<R> {
    source: R,
    applier: Applier,
    redaction: RedactionRules,
    name: String,
    skip_invalid: bool,
    /// The number of the last line that was read.
    number: u64,
    line: Vec<u8>,
    /// Trace lines, and how many of their bytes were taken.
    ready: Vec<u8>,
    taken: usize,
}

impl<R: BufRead> MappedLines<R> {
    /// The lines of `source`, called `name`.
    pub fn new(source: R, mapping: &Mapping, name: &str, redaction: &RedactionRules) -> MappedLines<R> {
        MappedLines {
            source,
            applier: Applier::new(mapping, name, redaction),
            redaction: redaction.clone(),
            name: name.to_owned(),
            skip_invalid: mapping.skips_invalid(),
            number: 0,
            line: Vec::new(),
            ready: Vec::new(),
            taken: 0,
        }
    }

    /// Reads to the end without keeping the trace lines: what the recording holds, and the place of each trace line.
    ///
    /// # Errors
    /// A source that fails, a line that cannot be used, a recording without calls.
    pub fn survey(mut self) -> Result<(LossReport, Origins), LinedError> {
        let mut origins = Origins::default();
        while let Some(imported) = self.next_line()? {
            origins.append(&imported.origins);
        }
        let invalid = |report| LinedError::Invalid(Box::new(report));
        Ok((self.applier.finish().map_err(invalid)?, origins))
    }

    /// The trace lines of the next line; none at the end.
    fn next_line(&mut self) -> Result<Option<Imported>, LinedError> {
        self.line.clear();
        if self.source.by_ref().take(MAX_LINE).read_until(b'\n', &mut self.line)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        let number = usize::try_from(self.number).unwrap_or(usize::MAX);
        let end = self.line.trim_ascii_end().len();
        let line = self.line.get(..end).unwrap_or_default();
        match self.applier.line(number, line) {
            Ok(()) => {}
            Err(_) if self.skip_invalid => self.applier.skip(number),
            Err(report) => return Err(LinedError::Invalid(Box::new(self.redaction.report(report)))),
        }
        let loss = std::mem::take(self.applier.loss());
        let imported = Imported { lines: self.applier.take_lines(), origins: self.applier.take_origins(), loss };
        let mut checked = limits::checked_from(self.number, imported, line, &self.name, self.skip_invalid)
            .map_err(|report| LinedError::Invalid(Box::new(self.redaction.report(report))))?;
        *self.applier.loss() = std::mem::take(&mut checked.loss);
        Ok(Some(checked))
    }
}

impl<R: BufRead> Read for MappedLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.ready.len() {
            self.taken = 0;
            self.ready = match self.next_line() {
                Ok(Some(imported)) => imported.lines,
                Ok(None) => return Ok(0),
                Err(LinedError::Unreadable(error)) => return Err(error),
                Err(LinedError::Invalid(report)) => return Err(io::Error::other(report.to_string())),
            };
        }
        let rest = self.ready.get(self.taken..).unwrap_or_default();
        let size = rest.len().min(buffer.len());
        let (Some(to), Some(from)) = (buffer.get_mut(..size), rest.get(..size)) else { return Ok(0) };
        to.copy_from_slice(from);
        self.taken += size;
        Ok(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{apply, parse};
    use playproof_formats::diagnostic::Source;

    fn map(skip: bool) -> Mapping {
        let text = "format: mapping/1\nrecords: 'm[*]'\ncall: { tool: t, args: a, run: ^ }\n";
        let map = parse(Source::whole("m.yaml", text)).unwrap_or_else(|report| panic!("{report}"));
        map.skipping_invalid(skip, None)
    }

    fn lined(log: &str, skip: bool) -> MappedLines<&[u8]> {
        MappedLines::new(log.as_bytes(), &map(skip), "log", &RedactionRules::default())
    }

    #[test]
    fn a_recording_read_by_lines_gives_the_same_as_one_read_whole() {
        let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
        let log = format!(
            "{{\"m\":[{{\"t\":\"a\"}},{{\"t\":\"b\"}}]}}\n\noops\r\n{{\"m\":[{{\"t\":\"c\",\"a\":{deep}}},{{\"t\":\"d\"}}]}}"
        );
        let redaction = RedactionRules::default();
        let whole = apply(&map(true), log.as_bytes(), "log", &redaction).unwrap_or_else(|report| panic!("{report}"));
        let whole = limits::checked(whole, log.as_bytes(), "log", true).unwrap_or_else(|report| panic!("{report}"));
        let mut lines = Vec::new();
        lined(&log, true).read_to_end(&mut lines).expect("lines");
        assert_eq!(String::from_utf8(lines), String::from_utf8(whole.lines));
        let (loss, origins) = lined(&log, true).survey().expect("a survey");
        assert_eq!((&loss, &origins), (&whole.loss, &whole.origins));
        assert_eq!(origins.of(3).map(|origin| (origin.line, origin.path)), Some((4, Some("m[1]"))));
    }

    #[test]
    fn a_bad_line_is_reported_at_its_place() {
        let report = |log: &str| match lined(log, false).survey() {
            Err(LinedError::Invalid(report)) => report.to_string(),
            other => format!("{other:?}"),
        };
        let good = "{\"m\":[{\"t\":\"a\"}]}\n";
        assert_eq!(report(&format!("{good}{{\"m\": \n")), "log:2:5: the JSON ends before it is complete");
        let deep = format!("{good}{{\"m\":[{{\"t\":\"a\",\"a\":{}1{}}}]}}\n", "[".repeat(500), "]".repeat(500));
        assert!(report(&deep).starts_with("log:2:1: this row makes no valid trace line"), "{}", report(&deep));
        assert!(report("{}\n").contains("is a call") || report("{}\n").contains("no rows"), "{}", report("{}\n"));
    }
}
