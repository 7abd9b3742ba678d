//! Applies a mapping: each row becomes a call line, a result line, both or neither. Streams row by row. Pairs nothing: our
//! reader does that.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::call_reader::{OtherRequest, ReadCall};
use super::document_reader::{DocumentReader, ReadDocument, ReadRow, SaidOfRow, SourceRows, place_of_line};
use super::documents::{Document, Documents};
use super::hint::RowSample;
use super::known::Known;
use super::model::{Mapping, Pairing, SkippedRows};
use super::pairing::{CalledTools, WaitingCalls};
use super::requests::{OpenRequests, Requested};
use super::row_reader::{Noted, ReadRun, ReadValue};
use super::values::missing;
use crate::failure::FailureCache;
use crate::foreign_lines::ForeignLines;
use crate::hash;
use crate::histories::{Histories, History};
use crate::imported::{ImportWarning, Imported, LossReport, Missing};
use crate::json::Parsed;
use crate::line_importer::{LineImporter, LineReader};
use crate::origin::{LineFinder, SourceSpan};
use crate::prefixed;
use crate::raw_value::{RawValue, Tape};
use crate::reader_state::ReaderState;
use crate::redact::RedactionRules;
use crate::source_text::SourceText;
use crate::tool_hints;
use crate::trace_writer::{At, OutputAct, OutputCall, TraceWriter};
use playproof_formats::diagnostic::{Diagnostic, Report};

/// Converts a foreign source, called `name`, into lines in our own trace format. The source is JSON Lines, JSON documents in a
/// row, or one document with an array of rows. The lines are as recorded; `redaction` applies to reports.
///
/// # Errors
/// Bytes that are not UTF-8 or not JSON, with the place; a mapping by which no row is a call, with the paths of the rows.
pub fn apply(mapping: &Mapping, bytes: &[u8], name: &str, redaction: &RedactionRules) -> Result<Imported, Report> {
    apply_on(1, mapping, bytes, name, redaction)
}

/// [`apply`] on `jobs` threads; the result is the same for any number.
///
/// # Errors
/// As [`apply`].
pub fn apply_on(
    jobs: usize,
    mapping: &Mapping,
    bytes: &[u8],
    name: &str,
    redaction: &RedactionRules,
) -> Result<Imported, Report> {
    let (bytes, others, first_other) = prefixed::objects(bytes);
    let lines = ForeignLines { source: &*bytes, name, redaction, jobs };
    let mut imported = match lines.read(Applier::new(mapping, name, redaction)) {
        Some(imported) => imported,
        None => apply_whole(mapping, &bytes, name, redaction)?,
    };
    imported.loss.warn_of(ImportWarning::UnmatchedRow, others, || format!("line {first_other}"));
    Ok(imported)
}

/// [`apply`] to one document after the other.
pub(crate) fn apply_whole(
    mapping: &Mapping,
    bytes: &[u8],
    name: &str,
    redaction: &RedactionRules,
) -> Result<Imported, Report> {
    let source = SourceText::new(bytes, name).map_err(|report| redaction.report(report))?;
    let mut applier = Applier::new(mapping, name, redaction);
    let (finder, mut state) = (source.lines(), ReaderState::default());
    let mut documents = Documents::new(source);
    while let Some(next) = documents.next() {
        match next {
            Ok(Document { value, line }) => {
                let is_all = value.text.len() == source.text.trim().len();
                let place = if is_all { String::new() } else { place_of_line(line) };
                let mut tape = Tape::default();
                let raw = tape.read(value.text).unwrap_or(RawValue::of_checked(value.text));
                let value = Parsed::from(raw);
                let rows = applier.reader.rows_of(&value);
                let read = applier.reader.document((&value, &rows), place, &finder, &mut state);
                applier.document(read, (&value, &rows), &finder);
            }
            Err(broken) if broken.is_line && mapping.skip_invalid => {
                applier.loss.warn(ImportWarning::NotJson, &format!("line {}", broken.line));
            }
            Err(broken) => return Err(redaction.report(broken.report)),
        }
    }
    let imported = applier.lines.take_imported();
    Ok(Imported { loss: applier.report()?, ..imported })
}

/// Applies a mapping to a source that arrives in parts.
#[derive(Debug)]
pub struct Applier {
    pub(super) reader: DocumentReader,
    pub(super) lines: TraceWriter,
    pub(super) loss: LossReport,
    /// The lists of paths that have led to no row so far.
    no_rows: Vec<usize>,
    sample: RowSample,
    rows: u64,
    /// The hashes of the names of runs.
    runs: BTreeSet<u64>,
    pub(super) waiting: WaitingCalls,
    pub(super) called: CalledTools,
    pub(super) requests: OpenRequests,
    /// The conversations so far, each with its run.
    histories: Histories<Option<String>>,
    /// While a request is read: the run of its conversation, as far as that is known.
    request: Option<Option<String>>,
    pub(super) failures: FailureCache,
    /// The hashes of the values of `unique`.
    seen: BTreeSet<u64>,
    /// The run that the last row for `new_run` began.
    begun_run: Option<String>,
    /// The place of a duration in the mapping that is a number without a unit.
    unitless: Option<Range<usize>>,
}

/// The place of a row.
#[derive(Clone, Copy)]
pub(super) struct RowPlace<'r> {
    pub(super) place: &'r str,
    pub(super) span: SourceSpan,
}

impl LineImporter for Applier {
    type Reader = DocumentReader;

    fn reader(&self) -> DocumentReader {
        self.reader.clone()
    }

    fn take(&mut self, read: ReadDocument, number: usize, line: &[u8]) {
        let name = Arc::clone(&self.reader.name);
        let mut tape = Tape::default();
        let at_hand = match self.wants_rows() {
            true => SourceText::line(line, &name, number, |source| source.on_tape(&mut tape)).ok(),
            false => None,
        };
        match at_hand {
            Some((source, document)) => {
                let document = Parsed::from(document);
                let rows = self.reader.rows_of(&document);
                self.document(read, (&document, &rows), &LineFinder::new(source.text, number));
            }
            None => {
                let read_again =
                    |applier: &Applier| applier.reader.read(&mut ReaderState::default(), number, line).ok();
                self.take_document(read, |_, _| {}, read_again);
            }
        }
    }

    fn loss(&mut self) -> &mut LossReport {
        &mut self.loss
    }

    fn lines(&mut self) -> &mut TraceWriter {
        &mut self.lines
    }

    fn finish(self) -> Result<LossReport, Report> {
        self.report()
    }
}

impl Applier {
    /// An applier for the source called `name`.
    pub fn new(mapping: &Mapping, name: &str, redaction: &RedactionRules) -> Applier {
        let sample = RowSample::new(redaction);
        let known = Arc::new(Known::of(mapping));
        let (is_quoted, of, name) = (sample.is_quoted(), Arc::new(mapping.clone()), name.into());
        Applier {
            reader: DocumentReader { mapping: of, name, is_quoted, known },
            lines: if mapping.title.is_some() { TraceWriter::of_format() } else { TraceWriter::default() },
            loss: LossReport {
                read_as: mapping.title.unwrap_or("rows of a mapping").into(),
                is_overridden: mapping.overrides.is_some(),
                ..LossReport::default()
            },
            no_rows: (0..mapping.records.len()).filter(|_| mapping.title.is_none()).collect(),
            sample,
            rows: 0,
            runs: BTreeSet::new(),
            waiting: WaitingCalls::default(),
            called: CalledTools::default(),
            requests: OpenRequests::default(),
            histories: Histories::default(),
            request: None,
            failures: FailureCache::default(),
            seen: BTreeSet::new(),
            begun_run: None,
            unitless: None,
        }
    }

    /// Reads and takes line `number`; ignores a blank one. After an error, the next line can still be taken.
    ///
    /// # Errors
    /// A line that is not JSON.
    pub(crate) fn line(&mut self, state: &mut ReaderState, number: usize, line: &[u8]) -> Result<(), Report> {
        if !line.trim_ascii().is_empty() {
            let read = self.reader.read(state, number, line)?;
            self.take(read, number, line);
        }
        Ok(())
    }

    /// What the source holds so far.
    pub(crate) const fn loss_so_far(&self) -> &LossReport {
        &self.loss
    }

    /// The loss report: what the source lacks, and which fields of the mapping no row has.
    ///
    /// # Errors
    /// No row was a call, or no result has what would tell whether it failed.
    fn report(mut self) -> Result<LossReport, Report> {
        if self.loss.calls == 0 {
            let fitting = self.loss.count(ImportWarning::CallWithoutTool);
            let (rows, no_rows) = (self.rows, &self.no_rows);
            return Err(self.sample.nothing_fits(&self.reader.mapping, rows, no_rows, &self.reader.name, fitting));
        }
        let mapping = Arc::clone(&self.reader.mapping);
        let (hits, unseen) = (self.reader.known.hits(), &self.reader.known.unseen);
        if mapping.title.is_none() {
            let results = self.loss.results > 0;
            if results && let Some(report) = self.sample.nothing_tells(&mapping, &hits, &self.reader.name) {
                return Err(report);
            }
            let has_condition = mapping.results.iter().any(|result| result.when.is_some());
            self.loss.no_row_is_a_result = has_condition && !results;
            let unfound = match self.sample.without_rows(&mapping, &self.no_rows) {
                Some(unused) => {
                    self.loss.unused.push(unused);
                    Vec::new()
                }
                None => self.sample.unfound(&mapping, &hits, unseen, results || !has_condition),
            };
            if let Some(report) = self.mistakes(self.sample.errors(&unfound)) {
                return Err(report);
            }
            let has_failures = self.loss.failures + self.loss.suspected > 0 || !results;
            self.loss.unused.append(&mut self.sample.warnings(&mapping, &unfound, has_failures));
        }
        let of_user = mapping.title.is_none().then_some(&*mapping).or(mapping.overrides.as_deref());
        self.loss.unknown_kinds.extend(of_user.into_iter().flat_map(|mapping| mapping.misspelt_kinds()));
        self.loss.missing.append(&mut missing(&mapping));
        self.lines.report(&mut self.loss);
        self.loss.runs = self.runs.len().max(1) as u64;
        Ok(self.loss)
    }

    /// The mistakes that were `found` in the mapping, and a duration without a unit.
    fn mistakes(&self, mut found: Vec<Diagnostic>) -> Option<Report> {
        found.extend(self.unitless.clone().map(|span| {
            let said = Diagnostic::error("no_unit", "a duration has no unit").at(span, "its values are numbers");
            said.help("say the unit, such as `{ path: PATH, unit: ms }`")
        }));
        (!found.is_empty()).then(|| Report { source: self.reader.mapping.source.clone(), diagnostics: found })
    }

    /// Whether the first rows are still to be sampled: a report about the user's mapping names their paths.
    fn wants_rows(&self) -> bool {
        self.reader.mapping.title.is_none() && self.sample.wants_rows()
    }

    /// Takes a document that is at hand, with its rows.
    fn document(&mut self, read: ReadDocument, (document, rows): (&Parsed<'_>, &SourceRows<'_>), finder: &LineFinder) {
        if !self.no_rows.is_empty() {
            self.sample.add_document(document);
        }
        let sample = |applier: &mut Applier, number: usize| {
            let row = rows.get(number).filter(|_| applier.wants_rows());
            row.into_iter().for_each(|(row, _)| applier.sample.add(row));
        };
        let place = read.place.clone();
        let read_again = |applier: &Applier| {
            Some(applier.reader.document((document, rows), place.clone(), finder, &mut ReaderState::default()))
        };
        self.take_document(read, sample, read_again);
    }

    /// Takes a document. `sample` gets the number of each row that is taken; `read_again` reads it without leaving anything out.
    fn take_document(
        &mut self,
        mut read: ReadDocument,
        sample: impl Fn(&mut Applier, usize),
        read_again: impl Fn(&Applier) -> Option<ReadDocument>,
    ) {
        tool_hints::add_all(&read.tools, &mut self.loss.hints);
        self.no_rows.retain(|list| !read.lists.contains(list));
        let mut known = 0;
        let hash = read.conversation.as_ref().map(|next| next.whole);
        if let Some(next) = &read.conversation {
            let history = self.histories.compare(next);
            self.loss.warn_of_history(&history, &read.place);
            let earlier = match history {
                History::GoesOn(count, run) => {
                    known = count;
                    run
                }
                History::New | History::Branches | History::Repeats => None,
            };
            self.request = Some(earlier);
        }
        if known < read.unread
            && let Some(again) = read_again(self)
        {
            read = again;
        }
        for (number, ReadRow { message, said }) in read.rows.into_iter().enumerate() {
            if let Some(said) = said.filter(|_| message.is_none_or(|message| message >= known)) {
                self.rows += 1;
                sample(self, number);
                self.row(*said);
            }
        }
        if let Some(hash) = hash {
            self.histories.remember(hash, self.request.take().flatten());
        }
    }

    fn row(&mut self, said: SaidOfRow) {
        let mapping = Arc::clone(&self.reader.mapping);
        let SaidOfRow { place, span, unique, call, result, .. } = said;
        let at = RowPlace { place: &place, span };
        self.reader.known.unseen.see(&said.seen);
        let is_copy = unique.is_some_and(|(value, selector)| {
            self.reader.known.hit(selector);
            !self.seen.insert(value)
        });
        if is_copy && (result.is_none() || mapping.title.is_none()) {
            self.loss.warn(ImportWarning::Copy, &place);
            return;
        }
        if said.begins_run {
            self.begun_run = Some(place.clone());
        }
        if said.is_skipped {
            return;
        }
        if let Some((act, ReadValue { value: (label, run), noted })) = said.act {
            self.note(noted);
            let run = self.run_of(run);
            let (run, label) = (run.as_deref(), Some(&*label));
            self.lines.act(&OutputAct { act, run, label, at: None, state: None, source: &place, span });
        }
        let is_call = call.is_some();
        // Of a row that is there again, the result may be another one.
        if let Some(ReadValue { value, noted }) = call.filter(|_| !is_copy) {
            self.note(noted);
            value.into_iter().for_each(|call| self.call(call, at, result.is_some()));
        }
        let is_other = !is_call && result.is_none();
        if let Some(result) = result {
            self.reader.known.unseen.see(&said.seen_in_result);
            self.result(result, at);
        }
        if let Some(ReadValue { value, noted }) = said.other_request {
            self.note(noted);
            if let Some(OtherRequest { source_id, run, way }) = value {
                let run = self.run_of(run).unwrap_or_default();
                self.requests.other(&run, &source_id, way.as_deref());
            }
            return;
        }
        match mapping.skip {
            _ if !is_other => {}
            SkippedRows::Rest => self.loss.passed += u64::from(mapping.title.is_none()),
            SkippedRows::None | SkippedRows::Where(_) => self.loss.warn(ImportWarning::UnmatchedRow, &place),
        }
    }

    /// Takes what was noted beside values.
    pub(super) fn note(&mut self, noted: Noted) {
        noted.warnings.iter().for_each(|(warning, place)| self.loss.warn(*warning, place));
        noted.hits.iter().for_each(|selector| self.reader.known.hit(*selector));
        self.unitless = self.unitless.take().or(noted.unitless);
        self.loss.changed.add(&noted.changed);
    }

    /// Writes the call of a row, which `is_answered` there.
    fn call(&mut self, call: ReadCall, RowPlace { place, span }: RowPlace<'_>, is_answered: bool) {
        let ReadCall { run, tool, named, mut id, request, .. } = call;
        let run = self.run_of(run);
        match &run {
            Some(run) => drop(self.runs.insert(hash::half(hash::bytes(run.as_bytes(), 0)))),
            None => drop(self.loss.missing.insert(Missing::Runs)),
        }
        if !is_answered {
            // A result names the tool as the source does.
            let named = named.as_deref().unwrap_or(&tool);
            let (run, wanted) = (run.as_deref().unwrap_or_default(), id.as_deref().unwrap_or_default());
            match (self.reader.mapping.pair, request) {
                (Pairing::Id, _) => self.called.add(run, wanted, named),
                (Pairing::Order, _) => self.waiting.add(run, wanted, named),
                (Pairing::Known, None) => {}
                (Pairing::Known, Some(request)) => match self.requests.request(run, &request, wanted, named) {
                    Requested::Again => return,
                    Requested::New(written) => id = Some(written),
                },
            }
        }
        self.loss.calls += 1;
        self.lines.call(&OutputCall {
            run: run.as_deref(),
            id: id.as_deref(),
            tool: &tool,
            at: call.at.map(At::Micros),
            args: call.args.as_ref(),
            key: call.key.as_deref(),
            evidence: call.evidence.as_deref(),
            token: call.token.as_deref(),
            transaction: call.transaction.as_deref(),
            step: call.step.as_ref().map(|(parent, step)| (&**parent, &**step)),
            timeout: call.timeout,
            source: place,
            span,
            ..OutputCall::default()
        });
    }

    /// The run of a row: a value, else that of the conversation, else the place of an object around the row, else the run that
    /// was begun last.
    pub(super) fn run_of(&mut self, read: ReadRun) -> Option<String> {
        let ReadRun { value, around, is_of_request, selector, own } = read;
        let run = match &mut self.request {
            Some(known) if value.is_none() || is_of_request => {
                *known = known.take().or(value).or(around);
                known.clone()
            }
            _ => value.or(around),
        };
        if let Some(selector) = selector.filter(|_| run.is_some()) {
            self.reader.known.hit(selector);
        }
        let run = run.or_else(|| self.begun_run.clone());
        let own = own.filter(|own| run.as_ref() != Some(own));
        self.loss.changed.runs += u64::from(own.is_some());
        own.or(run)
    }
}
