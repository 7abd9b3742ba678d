//! A long recording in JSON Lines, line by line: its memory does not grow with its length. It is read twice, because its
//! places and its loss report are needed before its first line.

use std::io::{self, BufRead, Read};

use crate::import::{ChatLines, FormatOptions};
use crate::imported::{Imported, LossReport};
use crate::limits;
use crate::mapping::{Applier, Mapping};
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

/// What a recording holds, before its trace lines are read.
#[derive(Debug)]
pub struct Survey {
    /// What it holds and lacks.
    pub loss: LossReport,
    /// The place of each trace line.
    pub origins: Origins,
    /// What reading it again need not find out.
    pub oks: KnownOks,
}

/// Of each result, whether it succeeded; empty where that is not kept.
#[derive(Debug, Default)]
pub struct KnownOks(Vec<bool>);

/// How the lines of a recording become trace lines.
#[derive(Debug)]
enum LineReader {
    Mapped(Box<Applier>),
    Chat(Box<ChatLines>),
}

/// The trace lines of a recording in JSON Lines.
#[derive(Debug)]
pub struct ForeignLines<R> {
    source: R,
    reader: LineReader,
    redaction: RedactionRules,
    name: String,
    skip_invalid: bool,
    /// Trace lines that our reader refuses are found here: they are skipped (true), or an error. None: our reader finds them.
    checks: Option<bool>,
    /// The number of the last line that was read.
    number: u64,
    /// There is no further line.
    has_ended: bool,
    line: Vec<u8>,
    /// Trace lines, and how many of their bytes were taken.
    ready: Vec<u8>,
    taken: usize,
}

impl LineReader {
    fn line(&mut self, number: usize, line: &[u8]) -> Result<(), Report> {
        match self {
            LineReader::Mapped(applier) => applier.line(number, line),
            LineReader::Chat(chat) => chat.line(number, line),
        }
    }

    fn skip(&mut self, number: usize) {
        match self {
            LineReader::Mapped(applier) => applier.skip(number),
            LineReader::Chat(chat) => chat.skip(number),
        }
    }

    /// The source has ended.
    fn end(&mut self) {
        match self {
            LineReader::Mapped(_) => {}
            LineReader::Chat(chat) => chat.end(),
        }
    }

    fn loss(&mut self) -> &mut LossReport {
        match self {
            LineReader::Mapped(applier) => applier.loss(),
            LineReader::Chat(chat) => chat.loss(),
        }
    }

    /// The trace lines since the last call.
    fn take(&mut self) -> Imported {
        let (lines, origins) = match self {
            LineReader::Mapped(applier) => (applier.take_lines(), applier.take_origins()),
            LineReader::Chat(chat) => chat.take(),
        };
        Imported { lines, origins, loss: LossReport::default() }
    }

    fn finish(self) -> Result<LossReport, Report> {
        match self {
            LineReader::Mapped(applier) => applier.finish(),
            LineReader::Chat(chat) => chat.finish(),
        }
    }
}

impl<R: BufRead> ForeignLines<R> {
    /// The lines of `source`, called `name`, by a mapping.
    pub fn mapped(source: R, mapping: &Mapping, name: &str, redaction: &RedactionRules) -> ForeignLines<R> {
        let reader = LineReader::Mapped(Box::new(Applier::new(mapping, name, redaction)));
        let skip_invalid = mapping.skips_invalid();
        ForeignLines::new(source, reader, (skip_invalid, Some(skip_invalid)), name, redaction)
    }

    /// The lines of `source`, called `name`, which are OpenAI chat messages.
    pub fn chat(source: R, options: FormatOptions<'_>, name: &str, redaction: &RedactionRules) -> ForeignLines<R> {
        let reader = LineReader::Chat(Box::new(ChatLines::new(name, options)));
        let checks = options.overrides.map(Mapping::skips_invalid);
        ForeignLines::new(source, reader, (options.skip_invalid, checks), name, redaction)
    }

    fn new(
        source: R,
        reader: LineReader,
        (skip_invalid, checks): (bool, Option<bool>),
        name: &str,
        redaction: &RedactionRules,
    ) -> ForeignLines<R> {
        ForeignLines {
            source,
            reader,
            redaction: redaction.clone(),
            name: name.to_owned(),
            skip_invalid,
            checks,
            number: 0,
            has_ended: false,
            line: Vec::new(),
            ready: Vec::new(),
            taken: 0,
        }
    }

    /// Reads for the trace lines alone, after a survey of the same source.
    #[must_use]
    pub fn after(mut self, survey: KnownOks) -> ForeignLines<R> {
        if let (LineReader::Chat(chat), None) = (&mut self.reader, self.checks) {
            chat.reread(survey.0);
        }
        self
    }

    /// Reads to the end without keeping the trace lines: what the recording holds, and the place of each trace line.
    ///
    /// # Errors
    /// A source that fails, a line that cannot be used, a recording without calls.
    pub fn survey(mut self) -> Result<Survey, LinedError> {
        if let (LineReader::Chat(chat), None) = (&mut self.reader, self.checks) {
            chat.survey();
        }
        let mut origins = Origins::default();
        while let Some(imported) = self.next_line()? {
            origins.append(&imported.origins);
        }
        let invalid = |report| LinedError::Invalid(Box::new(report));
        let oks = match &mut self.reader {
            LineReader::Mapped(_) => Vec::new(),
            LineReader::Chat(chat) => chat.oks(),
        };
        Ok(Survey { loss: self.reader.finish().map_err(invalid)?, origins, oks: KnownOks(oks) })
    }

    /// The trace lines of the next line; none at the end.
    fn next_line(&mut self) -> Result<Option<Imported>, LinedError> {
        self.line.clear();
        if self.source.by_ref().take(MAX_LINE).read_until(b'\n', &mut self.line)? == 0 {
            if std::mem::replace(&mut self.has_ended, true) {
                return Ok(None);
            }
            self.reader.end();
            return Ok(Some(self.reader.take()));
        }
        self.number += 1;
        let number = usize::try_from(self.number).unwrap_or(usize::MAX);
        let end = self.line.trim_ascii_end().len();
        let line = self.line.get(..end).unwrap_or_default();
        match self.reader.line(number, line) {
            Ok(()) => {}
            Err(_) if self.skip_invalid => self.reader.skip(number),
            Err(report) => return Err(LinedError::Invalid(Box::new(self.redaction.report(report)))),
        }
        let taken = self.reader.take();
        let Some(skip) = self.checks else { return Ok(Some(taken)) };
        let imported = Imported { loss: std::mem::take(self.reader.loss()), ..taken };
        let mut checked = limits::checked_from(self.number, imported, line, &self.name, skip)
            .map_err(|report| LinedError::Invalid(Box::new(self.redaction.report(report))))?;
        *self.reader.loss() = std::mem::take(&mut checked.loss);
        Ok(Some(checked))
    }
}

impl<R: BufRead> Read for ForeignLines<R> {
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
    use crate::known;
    use crate::mapping::{apply, parse};
    use playproof_formats::diagnostic::Source;

    fn map(skip: bool) -> Mapping {
        let text = "format: mapping/1\nrecords: 'm[*]'\ncall: { tool: t, args: a, run: ^ }\n";
        let map = parse(Source::whole("m.yaml", text)).unwrap_or_else(|report| panic!("{report}"));
        map.skipping_invalid(skip, None)
    }

    fn lined(log: &str, skip: bool) -> ForeignLines<&[u8]> {
        ForeignLines::mapped(log.as_bytes(), &map(skip), "log", &RedactionRules::default())
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
        let Survey { loss, origins, .. } = lined(&log, true).survey().expect("a survey");
        assert_eq!((&loss, &origins), (&whole.loss, &whole.origins));
        assert_eq!(
            origins.of(3).map(|origin| (origin.line, origin.path.map(|path| path.to_string()))),
            Some((4, Some("m[1]".to_owned())))
        );
    }

    #[test]
    fn a_survey_and_the_lines_after_it_are_a_reading_of_both() {
        let body = |n: usize| ["done", "Error: timed out", "{\\\"error\\\":\\\"x\\\"}", "fine"][n % 4];
        let chat = |n: usize| {
            let call =
                r#"{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"é\u0007","arguments":"{}"}}]}"#;
            let result = format!(r#"{{"role":"tool","tool_call_id":"a","content":"{}"}}"#, body(n));
            format!("{{\"messages\":[{call},{result}],\"tools\":[{{\"name\":\"t{n}\",\"parameters\":{{}}}}]}}\n")
        };
        let log: String = (0..100).map(chat).collect();
        let options = FormatOptions::default();
        let open = || ForeignLines::chat(log.as_bytes(), options, "log", &RedactionRules::default());
        let text = |mut lines: ForeignLines<&[u8]>| {
            let mut text = String::new();
            lines.read_to_string(&mut text).expect("lines");
            text
        };
        let survey = open().survey().expect("a survey");
        let whole = known::find("openai-chat").expect("a format");
        let whole = whole.read(log.as_bytes(), "log", options, &RedactionRules::default()).expect("an import");
        assert_eq!((&survey.loss, &survey.origins), (&whole.loss, &whole.origins));
        assert_eq!(survey.oks.0.iter().filter(|ok| **ok).count(), 50);
        let lines = text(open().after(survey.oks));
        assert_eq!((lines.as_bytes(), text(open())), (whole.lines.as_slice(), lines.clone()));
    }

    #[test]
    fn a_log_that_repeats_its_history_is_read_by_lines_as_it_is_whole() {
        let call = |id: &str| {
            format!(
                r#"{{"role":"assistant","tool_calls":[{{"id":"{id}","function":{{"name":"f","arguments":"{{}}"}}}}]}}"#
            )
        };
        let result = |id: &str| format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"Error: timed out"}}"#);
        let (first, answered, other) = (call("a"), format!("{},{}", call("a"), result("a")), call("c"));
        let requests = [first, other.clone(), answered.clone(), format!("{answered},{}", call("b")), other];
        let log: String = requests.iter().map(|messages| format!("{{\"messages\":[{messages}]}}\n")).collect();
        let (options, redaction) = (FormatOptions::default(), RedactionRules::default());
        let whole = known::find("openai-chat").expect("a format").read(log.as_bytes(), "log", options, &redaction);
        let whole = whole.unwrap_or_else(|report| panic!("{report}"));
        assert_eq!((whole.loss.calls, whole.loss.results, whole.loss.runs), (4, 1, 3), "a copy counts");
        let open = || ForeignLines::chat(log.as_bytes(), options, "log", &redaction);
        let survey = open().survey().expect("a survey");
        assert_eq!((&survey.loss, &survey.origins), (&whole.loss, &whole.origins));
        let mut lines = Vec::new();
        open().after(survey.oks).read_to_end(&mut lines).expect("lines");
        assert_eq!(String::from_utf8(lines), String::from_utf8(whole.lines));
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
