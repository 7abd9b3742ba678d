//! A recording in JSON Lines, line by line: each is read by itself, on any thread, and taken in its order. The trace lines of a
//! long one are written to a file, because the places of all of them and the loss report are needed before the first; so its
//! memory does not grow with its length.

use std::io::{self, BufRead, Read, Write};
use std::ops::Range;

use crate::imported::{Imported, LossReport};
use crate::in_order::in_order;
use crate::limits;
use crate::line_importer::{LineImporter, LineReader};
use crate::origin::Origins;
use crate::pieces::BYTE_ORDER_MARK_BYTES;
use crate::reader_state::ReaderState;
use crate::redact::RedactionRules;
use playproof_formats::diagnostic::Report;

/// The longest line of a recording.
const MAX_LINE: u64 = 256 << 20;

/// The usual bytes of a piece.
const PIECE: usize = 64 << 10;

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
    /// It may say something else if it is read as a whole.
    ToBeReadWhole,
}

/// What a recording holds beside its trace lines.
#[derive(Debug)]
pub struct Account {
    /// What it holds and lacks.
    pub loss: LossReport,
    /// The place of each trace line.
    pub origins: Origins,
}

/// A recording in JSON Lines, and how it is read.
#[derive(Debug)]
pub struct ForeignLines<'a, R> {
    /// Its lines.
    pub source: R,
    /// Its name in messages.
    pub name: &'a str,
    /// What is redacted in messages.
    pub redaction: &'a RedactionRules,
    /// The number of threads.
    pub jobs: usize,
}

impl ForeignLines<'_, &[u8]> {
    /// Reads a recording that is at hand. None: its lines are no documents, or what they say depends on the lines around them, or
    /// there is but one, or something is wrong with it: it is to be read as a whole.
    pub(crate) fn read<I: LineImporter>(mut self, importer: I) -> Option<Imported> {
        let first = memchr::memchr(b'\n', self.source).and_then(|end| self.source.split_at_checked(end + 1));
        first.filter(|(first, rest)| !first.trim_ascii().is_empty() && !rest.trim_ascii_start().is_empty())?;
        self.jobs = self.jobs.min(self.source.len() / PIECE + 1);
        let mut lines = Vec::new();
        let account = self.write_to(importer, Rules { is_strict: true, ..Rules::default() }, &mut lines).ok()?;
        Some(Imported { lines, origins: account.origins, loss: account.loss })
    }
}

impl<R: BufRead> ForeignLines<'_, R> {
    /// Reads it to its end, and writes the trace lines to `lines`.
    pub(crate) fn write_to<I: LineImporter>(
        mut self,
        importer: I,
        rules: Rules,
        lines: &mut dyn Write,
    ) -> Result<Account, JsonLinesError> {
        let (name, redaction, reader) = (self.name, self.redaction, importer.reader());
        let output = Output { lines, origins: Origins::default() };
        let mut taker = Taker { importer, output, name, redaction, rules, documents: 0 };
        let mut next = 1;
        let read = || ForeignPiece::read(&mut self.source, &mut next, rules.piece).map_err(JsonLinesError::Unreadable);
        let worker = || {
            let (reader, mut state) = (&reader, ReaderState::default());
            move |piece: ForeignPiece| piece.said(reader, &mut state, rules)
        };
        in_order(self.jobs, read, worker, |piece| taker.take(piece))?;
        let Taker { mut importer, mut output, documents, .. } = taker;
        if rules.is_strict && documents < 2 {
            return Err(JsonLinesError::ToBeReadWhole);
        }
        importer.end();
        output.add(&importer.lines().take_imported())?;
        let loss = importer.finish().map_err(|report| JsonLinesError::Invalid(Box::new(report)))?;
        Ok(Account { loss, origins: output.origins })
    }
}

/// Some lines of a source.
struct ForeignPiece {
    bytes: Vec<u8>,
    /// Where each line is.
    lines: Vec<Range<usize>>,
    /// The number of the first.
    first: usize,
}

impl ForeignPiece {
    /// The next lines, of which the first has the number `next`, and their bytes; none at the end.
    fn read(source: &mut impl BufRead, next: &mut usize, least: usize) -> io::Result<Option<(ForeignPiece, usize)>> {
        let mut piece = ForeignPiece { bytes: Vec::with_capacity(least), lines: Vec::new(), first: *next };
        while piece.bytes.len() < least {
            let start = piece.bytes.len();
            if source.by_ref().take(MAX_LINE).read_until(b'\n', &mut piece.bytes)? == 0 {
                break;
            }
            piece.lines.push(start..piece.bytes.len());
        }
        *next += piece.lines.len();
        let weight = piece.bytes.len();
        Ok((weight > 0).then_some((piece, weight)))
    }

    fn line(&self, number: usize) -> &[u8] {
        let range = self.lines.get(number).cloned();
        range.and_then(|range| self.bytes.get(range)).unwrap_or_default()
    }

    /// What its lines say, each by itself.
    fn said<R: LineReader>(self, reader: &R, state: &mut ReaderState, rules: Rules) -> SaidOfPiece<R::Read> {
        let mut said = Vec::with_capacity(self.lines.len());
        for number in 0..self.lines.len() {
            let line = self.line(number);
            let read = match line.trim_ascii().is_empty() {
                true => None,
                false => Some(reader.read(state, self.first + number, line.trim_ascii_end())),
            };
            let is_last = matches!(read, Some(Err(_))) && !rules.skip_invalid;
            let may_be_refused = rules.checks.is_some() && limits::may_be_refused(line);
            said.push(SaidOfLine { may_be_refused, read });
            if is_last {
                break;
            }
        }
        let is_odd = rules.is_strict && (0..self.lines.len()).any(|number| self.is_odd(number));
        SaidOfPiece { said, is_odd, piece: self }
    }

    /// Whether a line has what is no white space of JSON, and is passed over at the ends of a line.
    fn is_odd(&self, number: usize) -> bool {
        let line = self.line(number);
        let has_mark = self.first + number > 1 && line.starts_with(BYTE_ORDER_MARK_BYTES);
        has_mark || memchr::memchr(b'\x0c', line).is_some()
    }
}

/// How lines are treated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Lines that are no JSON are skipped.
    pub(crate) skip_invalid: bool,
    /// Trace lines that our reader refuses are found here: they are skipped (true), or an error. None: our reader finds them.
    pub(crate) checks: Option<bool>,
    /// Only what reading the source as a whole gives too is read.
    pub(crate) is_strict: bool,
    /// The bytes of lines that a thread reads at once.
    pub(crate) piece: usize,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules { skip_invalid: false, checks: None, is_strict: false, piece: PIECE }
    }
}

/// What the lines of a piece say.
struct SaidOfPiece<T> {
    piece: ForeignPiece,
    said: Vec<SaidOfLine<T>>,
    is_odd: bool,
}

struct SaidOfLine<T> {
    may_be_refused: bool,
    /// None: it is blank.
    read: Option<Result<T, Report>>,
}

/// Takes what lines say, in their order.
struct Taker<'a, I> {
    importer: I,
    output: Output<'a>,
    name: &'a str,
    redaction: &'a RedactionRules,
    rules: Rules,
    documents: u64,
}

impl<I: LineImporter> Taker<'_, I> {
    fn take(&mut self, read: SaidOfPiece<<I::Reader as LineReader>::Read>) -> Result<(), JsonLinesError> {
        let SaidOfPiece { piece, said, is_odd } = read;
        if is_odd {
            return Err(JsonLinesError::ToBeReadWhole);
        }
        for (n, said) in said.into_iter().enumerate() {
            let (number, line) = (piece.first + n, piece.line(n));
            let may_be_refused = self.rules.checks.filter(|_| said.may_be_refused);
            if may_be_refused.is_some() || self.importer.lines().written() >= BLOCK {
                self.output.add(&self.importer.lines().take_imported())?;
            }
            match said.read {
                None => {}
                Some(Ok(read)) => {
                    self.documents += 1;
                    self.importer.take(read, number, line.trim_ascii_end());
                }
                Some(Err(_)) if self.rules.skip_invalid => self.importer.skip(number),
                Some(Err(report)) => return Err(self.invalid(report)),
            }
            if self.rules.is_strict && self.importer.needs_whole() {
                return Err(JsonLinesError::ToBeReadWhole);
            }
            if let Some(skip) = may_be_refused {
                let checked = self.checked(number, line, skip)?;
                self.output.add(&checked)?;
            }
        }
        Ok(())
    }

    /// The trace lines of the last line alone, without those that our reader refuses.
    fn checked(&mut self, number: usize, line: &[u8], skip: bool) -> Result<Imported, JsonLinesError> {
        let imported = Imported { loss: std::mem::take(self.importer.loss()), ..self.importer.lines().take_imported() };
        let checked = limits::checked_from(number as u64, imported, line, self.name, skip);
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
    use crate::import::{ChatLines, FormatOptions, SourceFormat, import_whole};
    use crate::mapping::{Applier, Mapping, apply_whole, parse};
    use playproof_formats::diagnostic::Source;
    use proptest::prelude::*;

    /// The trace lines of a log, its places and its loss report, or why it cannot be read.
    type Outcome = Result<(String, Origins, LossReport), String>;

    fn outcome(
        log: &str,
        jobs: usize,
        piece: usize,
        read: impl Fn(ForeignLines<'_, &[u8]>, Rules, &mut Vec<u8>) -> Result<Account, JsonLinesError>,
    ) -> Outcome {
        let (redaction, mut lines) = (RedactionRules::default(), Vec::new());
        let source = ForeignLines { source: log.as_bytes(), name: "log", redaction: &redaction, jobs };
        match read(source, Rules { piece, ..Rules::default() }, &mut lines) {
            Ok(Account { loss, origins }) => Ok((String::from_utf8(lines).expect("text"), origins, loss)),
            Err(JsonLinesError::Invalid(report)) => Err(report.to_string()),
            Err(error) => panic!("{error:?}"),
        }
    }

    fn chat(log: &str, jobs: usize, piece: usize) -> Outcome {
        outcome(log, jobs, piece, |source, rules, lines| {
            source.write_to(ChatLines::new("log", FormatOptions::default()), rules, lines)
        })
    }

    fn mapped(mapping: &Mapping, log: &str, jobs: usize, piece: usize) -> Outcome {
        outcome(log, jobs, piece, |source, rules, lines| {
            let (skip_invalid, redaction) = (mapping.skips_invalid(), source.redaction);
            let rules = Rules { skip_invalid, checks: Some(skip_invalid), ..rules };
            source.write_to(Applier::new(mapping, "log", redaction), rules, lines)
        })
    }

    fn mapped_whole(mapping: &Mapping, log: &str) -> Outcome {
        let whole = apply_whole(mapping, log.as_bytes(), "log", &RedactionRules::default());
        let whole = whole.map_err(|report| report.to_string())?;
        Ok((String::from_utf8(whole.lines).expect("text"), whole.origins, whole.loss))
    }

    /// A conversation of a request: some calls, each with its answer, one of which comes late or never.
    fn request(of: u32, calls: u32) -> String {
        let messages = (0..calls).map(|n| {
            let tool = ["pay", "find", "bash"][((of + n) % 3) as usize];
            let body = ["done", "Error: timed out", "exit code 1", "{\\\"error\\\":\\\"x\\\"}"][((of * 7 + n) % 4) as usize];
            let call = format!(r#"{{"role":"assistant","tool_calls":[{{"id":"c{n}","function":{{"name":"{tool}","arguments":"{{}}"}}}}]}}"#);
            let answer = format!(r#"{{"role":"tool","tool_call_id":"c{}","content":"{body}"}}"#, if n % 5 == 4 { 0 } else { n });
            format!("{call},{answer}")
        });
        format!("{{\"thread_id\":\"t{of}\",\"messages\":[{}]}}", messages.collect::<Vec<_>>().join(","))
    }

    /// A line of a log of calls and results, which may name one another over any distance.
    fn row(kind: u32, id: u32) -> String {
        let tool = ["pay", "find", "bash"][(id % 3) as usize];
        match kind {
            0 | 1 => {
                format!(r#"{{"e":"call","r":"r{}","id":"{id}","t":"{tool}","a":{{"n":{id}}},"u":"c{id}"}}"#, id % 2)
            }
            2 | 3 => {
                format!(r#"{{"e":"end","r":"r{}","id":"{id}","b":"exit code 1: no such file","u":"e{id}"}}"#, id % 2)
            }
            4 => format!(r#"{{"e":"end","r":"r{}","id":"{id}","b":"Error: timed out","ms":"x"}}"#, id % 2),
            5 => r#"{"e":"other"}"#.to_owned(),
            6 => " ".to_owned(),
            _ => "{oops".to_owned(),
        }
    }

    const ROWS: &str = "format: mapping/1\nunique: u\ncall: { where: { e: call }, tool: t, args: a, run: r, id: id }\n\
                        result: { where: { e: end }, run: r, id: id, body: b, latency_ms: ms }\nfailed: [{ x: 1 }, text]\n";

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn requests_say_the_same_wherever_they_are_cut_and_read_as_a_whole(
            requests in prop::collection::vec((0..3_u32, 0..9_u32), 2..14), piece in 1..3_000_usize,
        ) {
            let log: String = requests.iter().map(|(of, calls)| request(*of, *calls) + "\n").collect();
            let whole = import_whole(SourceFormat::OpenAi, log.as_bytes(), "log", FormatOptions::default()).expect("an import");
            let whole = Ok((String::from_utf8(whole.lines).expect("text"), whole.origins, whole.loss));
            for jobs in [1, 3] {
                prop_assert_eq!(&chat(&log, jobs, piece), &whole);
            }
        }

        #[test]
        fn rows_say_the_same_wherever_they_are_cut_and_read_as_a_whole(
            rows in prop::collection::vec((0..7_u32, 0..9_u32), 2..60), piece in 1..3_000_usize, bad in any::<bool>(),
        ) {
            let mapping = parse(Source::whole("m.yaml", ROWS)).expect("a mapping").skipping_invalid(bad, None);
            let log: String = rows.iter().map(|(kind, id)| row(*kind, *id) + "\n").collect();
            let log = if bad { format!("{log}{}\n{log}", row(7, 0)) } else { log };
            let whole = mapped_whole(&mapping, &log);
            for jobs in [1, 3] {
                prop_assert_eq!(&mapped(&mapping, &log, jobs, piece), &whole);
            }
        }

        #[test]
        fn requests_of_a_mapping_say_the_same_wherever_they_are_cut(
            requests in prop::collection::vec((0..2_u32, 0..6_u32), 2..14), piece in 1..3_000_usize,
        ) {
            let message = |of: u32, n: u32| format!(
                r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"toolu_{of}_{n}_0123456789","name":"bash","input":{{}}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{of}_{n}_0123456789","content":"exit code 1"}}]}}"#
            );
            let request = |(of, calls): &(u32, u32)| {
                let messages: Vec<String> = (0..*calls).map(|n| message(*of, n)).collect();
                format!("{{\"session_id\":\"s{of}\",\"messages\":[{}]}}\n", messages.join(","))
            };
            let log: String = requests.iter().map(request).collect();
            let options = FormatOptions::default();
            let mapping = builtin::find("anthropic-messages").and_then(|format| format.applied(options)).expect("a mapping");
            let whole = mapped_whole(&mapping, &log);
            for jobs in [1, 3] {
                prop_assert_eq!(&mapped(&mapping, &log, jobs, piece), &whole);
            }
        }
    }

    #[test]
    fn what_is_no_log_in_lines_is_read_as_a_whole() {
        let is_read = |log: &str| {
            let redaction = RedactionRules::default();
            let source = ForeignLines { source: log.as_bytes(), name: "log", redaction: &redaction, jobs: 2 };
            source.read(ChatLines::new("log", FormatOptions::default())).is_some()
        };
        let (one, message) = (request(0, 1), r#"{"role":"user","content":"x"}"#);
        assert!(is_read(&format!("{one}\n{one}\n")));
        for log in [
            one.clone(),
            format!("{one}\n\n"),
            format!("\n{one}\n{one}"),
            format!("{one}{one}\n{one}"),
            format!("{one}\n{{\n}}\n"),
            format!("{one}\n\u{feff}{one}\n"),
            format!("{one}\n\u{c}{one}\n"),
            format!("{one}\n{message}\n"),
            format!("{one}\n7\n"),
        ] {
            assert!(!is_read(&log), "{log}");
        }
    }
}
