//! A long recording in JSON Lines, line by line: its memory does not grow with its length. Its trace lines are written to a
//! file, because the places of all of them and the loss report are needed before the first.

use std::io::{self, BufRead, Read, Write};

use crate::import::{ChatLines, FormatOptions};
use crate::imported::{Imported, LossReport};
use crate::limits;
use crate::line_importer::LineImporter;
use crate::mapping::{Applier, Mapping};
use crate::origin::Origins;
use crate::redact::RedactionRules;
use playproof_formats::diagnostic::Report;

/// The longest line of a recording.
const MAX_LINE: u64 = 256 << 20;

/// Trace lines of this size, in bytes, are written at once.
const BLOCK: usize = 64 << 10;

/// Why a recording cannot be read to its end.
#[derive(Debug)]
pub enum JsonLinesError {
    /// Its source failed.
    Unreadable(io::Error),
    /// The file for its trace lines failed.
    Unwritable(io::Error),
    /// A line that cannot be used, or no row is a call.
    Invalid(Box<Report>),
}

impl From<io::Error> for JsonLinesError {
    fn from(error: io::Error) -> JsonLinesError {
        JsonLinesError::Unreadable(error)
    }
}

/// What a recording holds beside its trace lines.
#[derive(Debug)]
pub struct Account {
    /// What it holds and lacks.
    pub loss: LossReport,
    /// The place of each trace line.
    pub origins: Origins,
}

/// The trace lines of a recording in JSON Lines.
#[derive(Debug)]
pub struct ForeignLines<R> {
    source: R,
    importer: Box<dyn LineImporter>,
    redaction: RedactionRules,
    name: String,
    skip_invalid: bool,
    /// Trace lines that our reader refuses are found here: they are skipped (true), or an error. None: our reader finds them.
    checks: Option<bool>,
    /// The number of the last line that was read.
    number: u64,
    line: Vec<u8>,
}

impl<R: BufRead> ForeignLines<R> {
    /// The lines of `source`, called `name`, by a mapping.
    pub fn mapped(source: R, mapping: &Mapping, name: &str, redaction: &RedactionRules) -> ForeignLines<R> {
        let importer = Box::new(Applier::new(mapping, name, redaction));
        let skip_invalid = mapping.skips_invalid();
        ForeignLines::new(source, importer, (skip_invalid, Some(skip_invalid)), name, redaction)
    }

    /// The lines of `source`, called `name`, which are OpenAI chat messages.
    pub fn chat(source: R, options: FormatOptions<'_>, name: &str, redaction: &RedactionRules) -> ForeignLines<R> {
        let importer = Box::new(ChatLines::new(name, options));
        let checks = options.overrides.map(Mapping::skips_invalid);
        ForeignLines::new(source, importer, (options.skip_invalid, checks), name, redaction)
    }

    fn new(
        source: R,
        importer: Box<dyn LineImporter>,
        (skip_invalid, checks): (bool, Option<bool>),
        name: &str,
        redaction: &RedactionRules,
    ) -> ForeignLines<R> {
        ForeignLines {
            source,
            importer,
            redaction: redaction.clone(),
            name: name.to_owned(),
            skip_invalid,
            checks,
            number: 0,
            line: Vec::new(),
        }
    }

    /// Reads to the end, and writes the trace lines to `lines`.
    ///
    /// # Errors
    /// A source or a file that fails, a line that cannot be used, a recording without calls.
    pub fn write_to(mut self, lines: &mut dyn Write) -> Result<Account, JsonLinesError> {
        let mut output = Output { lines, origins: Origins::default() };
        while self.read_line()? {
            let may_be_refused = self.checks.filter(|_| limits::may_be_refused(&self.line));
            if may_be_refused.is_some() || self.importer.lines().written() >= BLOCK {
                output.add(&self.importer.lines().take_imported())?;
            }
            let number = usize::try_from(self.number).unwrap_or(usize::MAX);
            match self.importer.line(number, self.line.trim_ascii_end()) {
                Ok(()) => {}
                Err(_) if self.skip_invalid => self.importer.skip(number),
                Err(report) => return Err(self.invalid(report)),
            }
            if let Some(skip) = may_be_refused {
                output.add(&self.checked(skip)?)?;
            }
        }
        self.importer.end();
        output.add(&self.importer.lines().take_imported())?;
        let loss = self.importer.finish().map_err(|report| JsonLinesError::Invalid(Box::new(report)))?;
        Ok(Account { loss, origins: output.origins })
    }

    /// Reads the next line; false at the end.
    fn read_line(&mut self) -> io::Result<bool> {
        self.line.clear();
        self.number += 1;
        Ok(self.source.by_ref().take(MAX_LINE).read_until(b'\n', &mut self.line)? > 0)
    }

    /// The trace lines of the last line alone, without those that our reader refuses.
    fn checked(&mut self, skip: bool) -> Result<Imported, JsonLinesError> {
        let imported = Imported { loss: std::mem::take(self.importer.loss()), ..self.importer.lines().take_imported() };
        let checked = limits::checked_from(self.number, imported, &self.line, &self.name, skip);
        let mut checked = checked.map_err(|report| self.invalid(report))?;
        *self.importer.loss() = std::mem::take(&mut checked.loss);
        Ok(checked)
    }

    fn invalid(&self, report: Report) -> JsonLinesError {
        JsonLinesError::Invalid(Box::new(self.redaction.report(report)))
    }
}

/// Where trace lines and their places go.
struct Output<'a> {
    lines: &'a mut dyn Write,
    origins: Origins,
}

impl Output<'_> {
    fn add(&mut self, imported: &Imported) -> Result<(), JsonLinesError> {
        self.origins.append(&imported.origins);
        self.lines.write_all(&imported.lines).map_err(JsonLinesError::Unwritable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin;
    use crate::mapping::{apply, parse};
    use playproof_formats::diagnostic::Source;

    fn map(skip: bool) -> Mapping {
        let text = "format: mapping/1\nrecords: 'm[*]'\ncall: { tool: t, args: a, run: ^ }\n";
        let map = parse(Source::whole("m.yaml", text)).unwrap_or_else(|report| panic!("{report}"));
        map.skipping_invalid(skip, None)
    }

    fn by_lines(log: &str, skip: bool) -> ForeignLines<&[u8]> {
        ForeignLines::mapped(log.as_bytes(), &map(skip), "log", &RedactionRules::default())
    }

    #[test]
    fn a_recording_read_by_lines_gives_the_same_as_one_read_whole() {
        let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
        let hidden = deep.replace('[', "\\u005b");
        let log = format!(
            "{{\"m\":[{{\"t\":\"a\"}},{{\"t\":\"b\"}}]}}\n\noops\r\n{{\"m\":[{{\"t\":\"c\",\"a\":{deep}}},{{\"t\":\"d\"}}]}}\n{{\"m\":[{{\"t\":\"e\",\"a\":\"{hidden}\"}}]}}"
        );
        let redaction = RedactionRules::default();
        let whole = apply(&map(true), log.as_bytes(), "log", &redaction).unwrap_or_else(|report| panic!("{report}"));
        let whole = limits::checked(whole, log.as_bytes(), "log", true).unwrap_or_else(|report| panic!("{report}"));
        let mut lines = Vec::new();
        let Account { loss, origins } = by_lines(&log, true).write_to(&mut lines).expect("an account");
        assert_eq!(String::from_utf8(lines), String::from_utf8(whole.lines));
        assert_eq!((&loss, &origins), (&whole.loss, &whole.origins));
        assert_eq!(
            origins.find(3).map(|origin| (origin.line, origin.path.map(|path| path.to_string()))),
            Some((4, Some("m[1]".to_owned())))
        );
    }

    /// What is lost of a chat log, read by lines and whole alike.
    fn read_both_ways(log: &str) -> LossReport {
        let (options, redaction) = (FormatOptions::default(), RedactionRules::default());
        let whole = builtin::find("openai-chat").expect("a format").read(log.as_bytes(), "log", options, &redaction);
        let whole = whole.unwrap_or_else(|report| panic!("{report}"));
        let mut lines = Vec::new();
        let account = ForeignLines::chat(log.as_bytes(), options, "log", &redaction).write_to(&mut lines);
        let Account { loss, origins } = account.expect("an account");
        assert_eq!((&loss, &origins), (&whole.loss, &whole.origins));
        assert_eq!(String::from_utf8(lines), String::from_utf8(whole.lines));
        loss
    }

    #[test]
    fn chat_messages_read_by_lines_give_the_same_as_read_whole() {
        let body = |n: usize| ["done", "Error: timed out", "{\\\"error\\\":\\\"x\\\"}", "fine"][n % 4];
        let chat = |n: usize| {
            let call =
                r#"{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"é\u0007","arguments":"{}"}}]}"#;
            let result = format!(r#"{{"role":"tool","tool_call_id":"a","content":"{}"}}"#, body(n));
            format!("{{\"messages\":[{call},{result}],\"tools\":[{{\"name\":\"t{n}\",\"parameters\":{{}}}}]}}\n")
        };
        let log: String = (0..100).map(chat).collect();
        read_both_ways(&log);
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
        let loss = read_both_ways(&log);
        assert_eq!((loss.calls, loss.results, loss.runs), (4, 1, 3), "a copy counts");
    }

    #[test]
    fn a_bad_line_is_reported_at_its_place() {
        let report = |log: &str| match by_lines(log, false).write_to(&mut io::sink()) {
            Err(JsonLinesError::Invalid(report)) => report.to_string(),
            other => format!("{other:?}"),
        };
        let good = "{\"m\":[{\"t\":\"a\"}]}\n";
        assert_eq!(report(&format!("{good}{{\"m\": \n")), "log:2:5: the JSON ends before it is complete");
        let deep = format!("{good}{{\"m\":[{{\"t\":\"a\",\"a\":{}1{}}}]}}\n", "[".repeat(500), "]".repeat(500));
        assert!(report(&deep).starts_with("log:2:1: this row makes no valid trace line"), "{}", report(&deep));
        assert!(report("{}\n").contains("is a call") || report("{}\n").contains("no rows"), "{}", report("{}\n"));
    }
}
