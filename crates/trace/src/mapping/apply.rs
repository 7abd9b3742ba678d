//! Applies a mapping: each row becomes a call line, a result line, both or neither. Streams row by row. Pairs nothing: our
//! reader does that.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::value::RawValue;

use super::condition::{ResultParts, any, text};
use super::documents::{Document, Documents};
use super::hint::RowSample;
use super::model::{CallMap, Mapping, ResultMap, Selector, TimeUnit};
use super::path::SourceRow;
use super::time;
use crate::failure::{Failure, ToolResult, failure_of};
use crate::imported::{ImportWarning, Imported, LossReport, Missing};
use crate::json;
use crate::json::SourceArgs;
use crate::origin::{LineFinder, Origins, SourceSpan};
use crate::redact::RedactionRules;
use crate::source_text::SourceText;
use crate::trace_writer::{At, OutputCall, OutputError, OutputResult, OutputStatus, TraceWriter};
use crate::wire;
use playproof_formats::diagnostic::Report;

/// Converts a foreign source, called `name`, into lines in our own trace format. The source is JSON Lines, JSON documents in a
/// row, or one document with an array of rows. The lines are as recorded; `redaction` applies to reports.
///
/// # Errors
/// Bytes that are not UTF-8 or not JSON, with the place; a mapping by which no row is a call, with the paths of the rows.
pub fn apply(mapping: &Mapping, bytes: &[u8], name: &str, redaction: &RedactionRules) -> Result<Imported, Report> {
    let source = SourceText::new(bytes, name).map_err(|report| redaction.report(report))?;
    let mut applier = Applier { finder: source.lines(), ..Applier::new(mapping, name, redaction) };
    let mut documents = Documents::new(source);
    while let Some(next) = documents.next() {
        match next {
            Ok(Document { raw, line }) => {
                let whole = raw.get().len() == source.text.trim().len();
                applier.document(raw, &if whole { String::new() } else { format!("line {line}") });
            }
            Err(broken) if broken.is_line && mapping.skip_invalid => {
                applier.loss.warn(ImportWarning::NotJson, &format!("line {}", broken.line));
            }
            Err(broken) => return Err(redaction.report(broken.report)),
        }
    }
    let (lines, origins) = (applier.take_lines(), applier.take_origins());
    applier.finish().map(|loss| Imported { lines, origins, loss })
}

/// Applies a mapping to a source that arrives in parts.
#[derive(Debug)]
pub struct Applier<'m> {
    mapping: &'m Mapping,
    name: String,
    lines: TraceWriter,
    loss: LossReport,
    /// Finds the places of rows.
    finder: LineFinder,
    /// The number of rows in which each selector found a value.
    hits: Vec<u64>,
    sample: RowSample<'m>,
    rows: u64,
    runs: BTreeSet<String>,
}

impl<'m> Applier<'m> {
    /// An applier for the source called `name`.
    pub fn new(mapping: &'m Mapping, name: &str, redaction: &'m RedactionRules) -> Applier<'m> {
        Applier {
            mapping,
            name: name.to_owned(),
            lines: TraceWriter::default(),
            finder: LineFinder::default(),
            loss: LossReport { read_as: "rows of a mapping".into(), ..LossReport::default() },
            hits: vec![0; mapping.selectors],
            sample: RowSample::new(redaction),
            rows: 0,
            runs: BTreeSet::new(),
        }
    }

    /// Takes line `number` (from 1) of a source in JSON Lines; ignores a blank line.
    ///
    /// # Errors
    /// A line that is not UTF-8 or not JSON, with its place. The next line can still be taken.
    pub fn line(&mut self, number: usize, bytes: &[u8]) -> Result<(), Report> {
        if bytes.trim_ascii().is_empty() {
            return Ok(());
        }
        let name = self.name.clone();
        let moved = |mut report: Report| {
            let text = std::sync::Arc::make_mut(&mut report.source);
            text.first_line += number.saturating_sub(1);
            report
        };
        let source = SourceText::new(bytes, &name).map_err(moved)?;
        let document = source.document().map_err(moved)?;
        self.finder = LineFinder::new(source.text, number);
        self.document(document, &format!("line {number}"));
        Ok(())
    }

    /// Takes the trace lines since the last call.
    pub fn take_lines(&mut self) -> Vec<u8> {
        self.lines.take()
    }

    /// Takes the origins of the trace lines since the last call.
    pub fn take_origins(&mut self) -> Origins {
        self.lines.take_origins()
    }

    /// The loss report: what the source lacks, and which fields of the mapping no row has.
    ///
    /// # Errors
    /// No row was a call.
    pub fn finish(mut self) -> Result<LossReport, Report> {
        if self.loss.calls == 0 {
            let fitting = self.loss.count(ImportWarning::CallWithoutTool);
            return Err(self.sample.nothing_fits(self.mapping, self.rows, &self.name, fitting));
        }
        let results = self.loss.results > 0;
        let has_condition = self.mapping.result.as_ref().is_some_and(|result| result.when.is_some());
        self.loss.no_row_is_a_result = has_condition && !results;
        self.loss.unused = self.sample.unused(self.mapping, &self.hits, results || !has_condition);
        self.loss.missing.append(&mut missing(self.mapping));
        self.loss.runs = self.runs.len().max(1) as u64;
        Ok(self.loss)
    }

    fn document(&mut self, document: &RawValue, place: &str) {
        for (place, row) in rows_of(self.mapping, document, place) {
            self.row(row, &place);
        }
    }

    fn row(&mut self, raw: &RawValue, place: &str) {
        self.rows += 1;
        self.sample.add(raw);
        let row = SourceRow::new(raw);
        let span = self.finder.find(raw);
        let call = self.mapping.call.is_for(&row);
        let result = self.mapping.result.as_ref().filter(|result| result.is_for(&row));
        if call {
            self.call(&row, (place, span), result.is_some());
        }
        if let Some(result) = result {
            self.result(result, &row, (place, span), call);
        }
        if !call && result.is_none() {
            self.loss.warn(ImportWarning::UnmatchedRow, place);
        }
    }

    fn call(&mut self, row: &SourceRow<'_>, (place, span): (&str, SourceSpan), answered: bool) {
        let map = &self.mapping.call;
        let Some(tool) = self.scalar(Some(&map.tool), row).filter(|tool| !tool.is_empty()) else {
            self.loss.warn(ImportWarning::CallWithoutTool, place);
            return;
        };
        let (run, id) = (self.scalar(map.run.as_ref(), row), self.call_id(row, place, answered));
        let args = self.find(map.args.as_ref(), row).map(SourceArgs::of);
        if matches!(args, Some(SourceArgs::Text(_))) {
            self.loss.warn(ImportWarning::ArgumentsNotJson, place);
        }
        let at = self.time(map.at.as_ref(), row, place);
        let (key, token) = (self.scalar(map.key.as_ref(), row), self.scalar(map.token.as_ref(), row));
        let evidence = self.find(map.evidence.as_ref(), row).map(listed);
        if let Some(run) = run.as_deref().filter(|run| !self.runs.contains(*run)) {
            self.runs.insert(run.to_owned());
        }
        self.loss.calls += 1;
        self.lines.call(&OutputCall {
            run: run.as_deref(),
            id: id.as_deref(),
            tool: &tool,
            at: at.map(At::Micros),
            args: args.as_ref().and_then(SourceArgs::as_json),
            key: key.as_deref(),
            evidence: evidence.as_deref(),
            token: token.as_deref(),
            source: place,
            span,
            ..OutputCall::default()
        });
    }

    /// The id of a call. A call whose row is also its result needs one: it defaults to the place of the row.
    fn call_id<'a>(&mut self, row: &SourceRow<'a>, place: &str, answered: bool) -> Option<Cow<'a, str>> {
        let selector = self.mapping.call.id.as_ref();
        let id = self.scalar(selector, row);
        if id.is_none() && selector.is_some() {
            self.loss.warn(ImportWarning::CallWithoutId, place);
        }
        id.or_else(|| answered.then(|| Cow::Owned(place.to_owned())))
    }

    fn result(&mut self, map: &ResultMap, row: &SourceRow<'_>, (place, span): (&str, SourceSpan), called: bool) {
        let mapping = self.mapping;
        let run = self.scalar(map.run.as_ref().or(mapping.call.run.as_ref()), row);
        let id = self.scalar(map.id.as_ref().or(mapping.call.id.as_ref()), row);
        let id = id.or_else(|| called.then(|| Cow::Owned(place.to_owned())));
        match &id {
            None if map.id.is_some() => self.loss.warn(ImportWarning::ResultWithoutId, place),
            None if mapping.call.id.is_none() => drop(self.loss.missing.insert(Missing::Ids)),
            _ => {}
        }
        let (started, at) = self.times(map, row, place, called);
        let attempt = self.whole(map.attempt.as_ref(), row, place);
        let parts = self.parts(map, row);
        let failed = any(&mapping.failed, row, &parts).then(|| self.failure(map, row, &parts, at, place));
        self.loss.results += 1;
        self.loss.failures += u64::from(failed.is_some());
        let (at, run, id) = (at.map(At::Micros), run.as_deref(), id.as_deref());
        self.lines.result(&OutputResult {
            run,
            id,
            attempt,
            started,
            at,
            status: failed.as_ref().map_or(OutputStatus::Ok, |failure| OutputStatus::Failed(OutputError::of(failure))),
            row: Some(wire::hash_of_line(row.raw.get())),
            source: place,
            span,
            ..OutputResult::default()
        });
    }

    /// The facts of a failure: what the mapping names, then what the message tells.
    fn failure(
        &mut self,
        map: &ResultMap,
        row: &SourceRow<'_>,
        parts: &ResultParts<'_>,
        at: Option<u64>,
        place: &str,
    ) -> Failure {
        let kind = self.scalar(map.kind.as_ref(), row);
        let status = self.number(map.status.as_ref(), parts.status.as_deref(), place);
        let (code, message) = (parts.code.as_deref(), parts.message.as_deref());
        let told =
            failure_of(&ToolResult { status, code, kind: kind.as_deref(), message, at, ..ToolResult::default() });
        let named = self.mapping.kinds.iter().find(|(_, conditions)| any(conditions, row, parts));
        let kind_from = told.kind_from.filter(|_| named.is_none());
        let kind = named.map_or(told.kind, |(name, _)| name.clone());
        Failure { kind, kind_from, retry_after_ms: self.retry_after(map, row, place).or(told.retry_after_ms), ..told }
    }

    fn parts<'a>(&mut self, map: &ResultMap, row: &SourceRow<'a>) -> ResultParts<'a> {
        let body = self.find(map.body.as_ref(), row);
        let message = self.find(map.message.as_ref(), row).or(body);
        let (status, code) = (self.scalar(map.status.as_ref(), row), self.scalar(map.code.as_ref(), row));
        ResultParts { message: message.map(text), status, code }
    }

    /// The start and the end of an attempt. Of start, end and latency, two determine the third.
    fn times(&mut self, map: &ResultMap, row: &SourceRow<'_>, place: &str, called: bool) -> (Option<u64>, Option<u64>) {
        let call_at = self.mapping.call.at.as_ref().filter(|_| called && map.started.is_none());
        let mut started = self.time(map.started.as_ref(), row, place);
        let mut at = self.time(map.at.as_ref(), row, place);
        if let Some(raw) = self.find(map.latency_ms.as_ref(), row) {
            let Some(latency) = time::span(raw, TimeUnit::Millis) else {
                self.loss.warn(ImportWarning::UnreadableNumber, place);
                return (started, at);
            };
            started = started.or_else(|| call_at.and_then(|call_at| self.time(Some(call_at), row, place)));
            started = started.or_else(|| at.map(|at| at.saturating_sub(latency)));
            at = at.or_else(|| started.map(|started| started.saturating_add(latency)));
        }
        (started, at)
    }

    fn retry_after(&mut self, map: &ResultMap, row: &SourceRow<'_>, place: &str) -> Option<u64> {
        let millis = self.find(map.retry_after_ms.as_ref(), row).map(|raw| time::span(raw, TimeUnit::Millis));
        let seconds = || self.find(map.retry_after_s.as_ref(), row).map(|raw| time::span(raw, TimeUnit::Seconds));
        match millis.or_else(seconds)? {
            Some(micros) => Some(micros / 1_000),
            None => {
                self.loss.warn(ImportWarning::UnreadableNumber, place);
                None
            }
        }
    }

    fn find<'a>(&mut self, selector: Option<&Selector>, row: &SourceRow<'a>) -> Option<&'a RawValue> {
        let selector = selector?;
        let found = row.find(&selector.path)?;
        if let Some(hits) = self.hits.get_mut(selector.number) {
            *hits += 1;
        }
        Some(found)
    }

    fn scalar<'a>(&mut self, selector: Option<&Selector>, row: &SourceRow<'a>) -> Option<Cow<'a, str>> {
        self.find(selector, row).and_then(json::scalar)
    }

    fn time(&mut self, selector: Option<&Selector>, row: &SourceRow<'_>, place: &str) -> Option<u64> {
        let raw = self.find(selector, row)?;
        let micros = time::micros(raw, self.mapping.time);
        if micros.is_none() {
            self.loss.warn(ImportWarning::UnreadableTime, place);
        }
        micros
    }

    fn whole<N: TryFrom<u64>>(&mut self, selector: Option<&Selector>, row: &SourceRow<'_>, place: &str) -> Option<N> {
        let text = self.scalar(selector, row);
        self.number(selector, text.as_deref(), place)
    }

    fn number<N: TryFrom<u64>>(&mut self, selector: Option<&Selector>, text: Option<&str>, place: &str) -> Option<N> {
        let text = text.filter(|_| selector.is_some())?;
        let number = time::whole(text);
        if number.is_none() {
            self.loss.warn(ImportWarning::UnreadableNumber, place);
        }
        number
    }
}

impl CallMap {
    /// Whether the row is a call: by `where`, else by whether it names a tool.
    fn is_for(&self, row: &SourceRow<'_>) -> bool {
        match &self.when {
            Some(when) => any(when, row, &ResultParts::default()),
            None => row.find(&self.tool.path).is_some(),
        }
    }
}

impl ResultMap {
    fn is_for(&self, row: &SourceRow<'_>) -> bool {
        self.when.as_ref().is_none_or(|when| any(when, row, &ResultParts::default()))
    }
}

/// The rows of one JSON document at `place`: the values at `records`, the items of an array, or the document itself.
fn rows_of<'a>(mapping: &Mapping, document: &'a RawValue, place: &str) -> Vec<(String, &'a RawValue)> {
    let Some(records) = &mapping.records else {
        return items(document, place).unwrap_or_else(|| vec![(place.to_owned(), document)]);
    };
    let found = records.path.all(document, if place.starts_with("line ") { "" } else { place });
    let within = |(path, raw): (String, &'a RawValue)| items(raw, &path).unwrap_or_else(|| vec![(path, raw)]);
    let rows = found.into_iter().flat_map(within);
    match place.starts_with("line ") {
        true => rows.map(|(path, raw)| (format!("{place}: {path}"), raw)).collect(),
        false => rows.collect(),
    }
}

/// The items of an array; none for any other value.
fn items<'a>(raw: &'a RawValue, place: &str) -> Option<Vec<(String, &'a RawValue)>> {
    let items = json::array(raw)?.into_iter().enumerate();
    Some(items.map(|(n, item)| (format!("{place}[{n}]"), item)).collect())
}

/// Evidence as a list: a single reference becomes a list of one.
fn listed(raw: &RawValue) -> Cow<'_, str> {
    match raw.get().starts_with('[') {
        true => Cow::Borrowed(raw.get()),
        false => Cow::Owned(format!("[{}]", raw.get())),
    }
}

/// What the source lacks because the mapping has no path for it.
fn missing(mapping: &Mapping) -> BTreeSet<Missing> {
    let (call, result) = (&mapping.call, mapping.result.as_ref());
    let part = |part: fn(&ResultMap) -> &Option<Selector>| result.is_some_and(|result| part(result).is_some());
    let timed = part(|result| &result.at) || part(|result| &result.latency_ms);
    let provided = [
        (Missing::Times, call.at.is_some()),
        (Missing::Latencies, timed),
        (Missing::Kinds, !mapping.kinds.is_empty() || part(|result| &result.kind)),
        (Missing::Status, part(|result| &result.status) || part(|result| &result.code)),
        (Missing::Attempts, part(|result| &result.attempt)),
        (Missing::Keys, call.key.is_some()),
        (Missing::Tokens, call.evidence.is_some() && call.token.is_some()),
        (Missing::Effects, false),
        (Missing::Runs, call.run.is_some()),
    ];
    provided.into_iter().filter(|(_, provided)| !provided).map(|(missing, _)| missing).collect()
}
