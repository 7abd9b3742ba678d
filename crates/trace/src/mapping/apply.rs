//! Applies a mapping: each row becomes a call line, a result line, both or neither. Streams row by row; pairs
//! nothing, because our reader does that by id and place.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::value::RawValue;

use super::condition::{Picked, any, text};
use super::documents::{Document, Documents};
use super::hint::Sample;
use super::model::{CallMap, Mapping, ResultMap, Selector, TimeUnit};
use super::path::Row;
use super::{rows, time};
use crate::arguments::Arguments;
use crate::emit::{At, CallLine, ErrorPart, Lines, ResultLine};
use crate::foreign::{Imported, LossReport, Missing, Oddity};
use crate::json;
use crate::origin::{LineFinder, Origins, Stands};
use crate::redact::RedactionRules;
use crate::text::Foreign;
use crate::wire;
use playproof_formats::diagnostic::Report;

/// Turns a whole foreign source, called `name`, into lines of our own trace format: JSON Lines, JSON documents one
/// after the other, or one document with an array of rows. They are as recorded; what is said of the source is without what `redaction` takes
/// out.
///
/// # Errors
/// Bytes that are no text or no JSON, with the place; a mapping of which no row is a call, with what the rows have.
pub fn apply(mapping: &Mapping, bytes: &[u8], name: &str, redaction: &RedactionRules) -> Result<Imported, Report> {
    let foreign = Foreign::new(bytes, name).map_err(|report| redaction.report(report))?;
    let mut applier = Applier { finder: foreign.lines(), ..Applier::new(mapping, name, redaction) };
    let mut documents = Documents::new(foreign);
    while let Some(next) = documents.next() {
        match next {
            Ok(Document { raw, line }) => {
                let whole = raw.get().len() == foreign.text.trim().len();
                applier.document(raw, &if whole { String::new() } else { format!("line {line}") });
            }
            Err(broken) if broken.is_line && mapping.skip_invalid => {
                applier.loss.saw(Oddity::NotJson, &format!("line {}", broken.line));
            }
            Err(broken) => return Err(redaction.report(broken.report)),
        }
    }
    let (lines, origins) = (applier.take_lines(), applier.take_origins());
    applier.finish().map(|loss| Imported { lines, origins, loss })
}

/// A mapping at work on a source that comes in parts.
#[derive(Debug)]
pub struct Applier<'m> {
    mapping: &'m Mapping,
    name: String,
    lines: Lines,
    loss: LossReport,
    /// Where the rows stand.
    finder: LineFinder,
    /// How many rows had what each selector looks for.
    hits: Vec<u64>,
    sample: Sample<'m>,
    rows: u64,
    runs: BTreeSet<String>,
}

impl<'m> Applier<'m> {
    /// An applier that has seen nothing of the source called `name`.
    pub fn new(mapping: &'m Mapping, name: &str, redaction: &'m RedactionRules) -> Applier<'m> {
        Applier {
            mapping,
            name: name.to_owned(),
            lines: Lines::default(),
            finder: LineFinder::default(),
            loss: LossReport { read_as: "rows of a mapping".into(), ..LossReport::default() },
            hits: vec![0; mapping.selectors],
            sample: Sample::new(redaction),
            rows: 0,
            runs: BTreeSet::new(),
        }
    }

    /// Takes line `number` (from 1) of a source in JSON Lines; a blank line is nothing.
    ///
    /// # Errors
    /// A line that is no text or no JSON, with its place. The next line may be taken all the same.
    pub fn line(&mut self, number: usize, bytes: &[u8]) -> Result<(), Report> {
        if bytes.trim_ascii().is_empty() {
            return Ok(());
        }
        let name = self.name.clone();
        let moved = |mut report: Report| {
            let source = std::sync::Arc::make_mut(&mut report.source);
            source.first_line += number.saturating_sub(1);
            report
        };
        let foreign = Foreign::new(bytes, &name).map_err(moved)?;
        let document = foreign.document().map_err(moved)?;
        self.finder = LineFinder::new(foreign.text, number);
        self.document(document, &format!("line {number}"));
        Ok(())
    }

    /// The trace lines since the last time.
    pub fn take_lines(&mut self) -> Vec<u8> {
        self.lines.take()
    }

    /// Where the trace lines come from, since the last time.
    pub fn take_origins(&mut self) -> Origins {
        self.lines.take_origins()
    }

    /// What the source could not tell, and which parts of the mapping no row had.
    ///
    /// # Errors
    /// No row was a call.
    pub fn finish(mut self) -> Result<LossReport, Report> {
        if self.loss.calls == 0 {
            let fitting = self.loss.count(Oddity::CallWithoutTool);
            return Err(self.sample.nothing_fits(self.mapping, self.rows, &self.name, fitting));
        }
        let results = self.loss.results > 0;
        let told_apart = self.mapping.result.as_ref().is_some_and(|result| result.when.is_some());
        self.loss.no_row_is_a_result = told_apart && !results;
        self.loss.unused = self.sample.unused(self.mapping, &self.hits, results || !told_apart);
        self.loss.missing.append(&mut missing(self.mapping));
        self.loss.runs = self.runs.len().max(1) as u64;
        Ok(self.loss)
    }

    fn document(&mut self, document: &RawValue, place: &str) {
        for (place, row) in rows::of_document(self.mapping, document, place) {
            self.row(row, &place);
        }
    }

    fn row(&mut self, raw: &RawValue, place: &str) {
        self.rows += 1;
        self.sample.see(raw);
        let row = Row::new(raw);
        let stands = self.finder.find(raw);
        let call = self.mapping.call.is_for(&row);
        let result = self.mapping.result.as_ref().filter(|result| result.is_for(&row));
        if call {
            self.call(&row, (place, stands), result.is_some());
        }
        if let Some(result) = result {
            self.result(result, &row, (place, stands), call);
        }
        if !call && result.is_none() {
            self.loss.saw(Oddity::UnmatchedRow, place);
        }
    }

    fn call(&mut self, row: &Row<'_>, (place, stands): (&str, Stands), answered: bool) {
        let map = &self.mapping.call;
        let Some(tool) = self.scalar(Some(&map.tool), row).filter(|tool| !tool.is_empty()) else {
            self.loss.saw(Oddity::CallWithoutTool, place);
            return;
        };
        let (run, id) = (self.scalar(map.run.as_ref(), row), self.call_id(row, place, answered));
        let args = self.find(map.args.as_ref(), row).map(Arguments::of);
        if matches!(args, Some(Arguments::Text(_))) {
            self.loss.saw(Oddity::ArgumentsNotJson, place);
        }
        let at = self.time(map.at.as_ref(), row, place);
        let (key, token) = (self.scalar(map.key.as_ref(), row), self.scalar(map.token.as_ref(), row));
        let evidence = self.find(map.evidence.as_ref(), row).map(listed);
        if let Some(run) = run.as_deref().filter(|run| !self.runs.contains(*run)) {
            self.runs.insert(run.to_owned());
        }
        self.loss.calls += 1;
        self.lines.call(&CallLine {
            run: run.as_deref(),
            id: id.as_deref(),
            tool: &tool,
            at: at.map(At::Micros),
            args: args.as_ref().and_then(Arguments::as_json),
            key: key.as_deref(),
            evidence: evidence.as_deref(),
            token: token.as_deref(),
            source: place,
            stands,
            ..CallLine::default()
        });
    }

    /// A call that its own row answers needs an id, so that the answer finds it: the row's place.
    fn call_id<'a>(&mut self, row: &Row<'a>, place: &str, answered: bool) -> Option<Cow<'a, str>> {
        let selector = self.mapping.call.id.as_ref();
        let id = self.scalar(selector, row);
        if id.is_none() && selector.is_some() {
            self.loss.saw(Oddity::CallWithoutId, place);
        }
        id.or_else(|| answered.then(|| Cow::Owned(place.to_owned())))
    }

    fn result(&mut self, map: &ResultMap, row: &Row<'_>, (place, stands): (&str, Stands), called: bool) {
        let mapping = self.mapping;
        let run = self.scalar(map.run.as_ref().or(mapping.call.run.as_ref()), row);
        let id = self.scalar(map.id.as_ref().or(mapping.call.id.as_ref()), row);
        let id = id.or_else(|| called.then(|| Cow::Owned(place.to_owned())));
        match &id {
            None if map.id.is_some() => self.loss.saw(Oddity::ResultWithoutId, place),
            None if mapping.call.id.is_none() => drop(self.loss.missing.insert(Missing::Ids)),
            _ => {}
        }
        let (started, at) = self.times(map, row, place, called);
        let attempt = self.whole(map.attempt.as_ref(), row, place);
        let picked = self.pick(map, row);
        let kind = self.scalar(map.kind.as_ref(), row);
        let failed = any(&mapping.failed, row, &picked).then(|| {
            let named = mapping.kinds.iter().find(|(_, conditions)| any(conditions, row, &picked));
            ErrorPart {
                kind: named.map(|(name, _)| name.as_str()).or(kind.as_deref()),
                message: picked.message.as_deref(),
                status: self.number(map.status.as_ref(), picked.status.as_deref(), place),
                code: picked.code.as_deref(),
                retry_after_ms: self.retry_after(map, row, place),
            }
        });
        self.loss.results += 1;
        self.loss.failures += u64::from(failed.is_some());
        let (at, run, id) = (at.map(At::Micros), run.as_deref(), id.as_deref());
        self.lines.result(&ResultLine {
            run,
            id,
            attempt,
            started,
            at,
            failed,
            row: Some(wire::hash_of_line(row.raw.get())),
            source: place,
            stands,
            ..ResultLine::default()
        });
    }

    fn pick<'a>(&mut self, map: &ResultMap, row: &Row<'a>) -> Picked<'a> {
        let body = self.find(map.body.as_ref(), row);
        let message = self.find(map.message.as_ref(), row).or(body);
        let (status, code) = (self.scalar(map.status.as_ref(), row), self.scalar(map.code.as_ref(), row));
        Picked { message: message.map(text), status, code }
    }

    /// When the attempt began and when it was answered; of these and the latency, two tell the third.
    fn times(&mut self, map: &ResultMap, row: &Row<'_>, place: &str, called: bool) -> (Option<u64>, Option<u64>) {
        let call_at = self.mapping.call.at.as_ref().filter(|_| called && map.started.is_none());
        let mut started = self.time(map.started.as_ref(), row, place);
        let mut at = self.time(map.at.as_ref(), row, place);
        if let Some(raw) = self.find(map.latency_ms.as_ref(), row) {
            let Some(latency) = time::span(raw, TimeUnit::Millis) else {
                self.loss.saw(Oddity::UnreadableNumber, place);
                return (started, at);
            };
            started = started.or_else(|| call_at.and_then(|call_at| self.time(Some(call_at), row, place)));
            started = started.or_else(|| at.map(|at| at.saturating_sub(latency)));
            at = at.or_else(|| started.map(|started| started.saturating_add(latency)));
        }
        (started, at)
    }

    fn retry_after(&mut self, map: &ResultMap, row: &Row<'_>, place: &str) -> Option<u64> {
        let millis = self.find(map.retry_after_ms.as_ref(), row).map(|raw| time::span(raw, TimeUnit::Millis));
        let seconds = || self.find(map.retry_after_s.as_ref(), row).map(|raw| time::span(raw, TimeUnit::Seconds));
        match millis.or_else(seconds)? {
            Some(micros) => Some(micros / 1_000),
            None => {
                self.loss.saw(Oddity::UnreadableNumber, place);
                None
            }
        }
    }

    fn find<'a>(&mut self, selector: Option<&Selector>, row: &Row<'a>) -> Option<&'a RawValue> {
        let selector = selector?;
        let found = row.find(&selector.path)?;
        if let Some(hits) = self.hits.get_mut(selector.number) {
            *hits += 1;
        }
        Some(found)
    }

    fn scalar<'a>(&mut self, selector: Option<&Selector>, row: &Row<'a>) -> Option<Cow<'a, str>> {
        self.find(selector, row).and_then(json::scalar)
    }

    fn time(&mut self, selector: Option<&Selector>, row: &Row<'_>, place: &str) -> Option<u64> {
        let raw = self.find(selector, row)?;
        let micros = time::micros(raw, self.mapping.time);
        if micros.is_none() {
            self.loss.saw(Oddity::UnreadableTime, place);
        }
        micros
    }

    fn whole<N: TryFrom<u64>>(&mut self, selector: Option<&Selector>, row: &Row<'_>, place: &str) -> Option<N> {
        let text = self.scalar(selector, row);
        self.number(selector, text.as_deref(), place)
    }

    fn number<N: TryFrom<u64>>(&mut self, selector: Option<&Selector>, text: Option<&str>, place: &str) -> Option<N> {
        let text = text.filter(|_| selector.is_some())?;
        let number = time::whole(text);
        if number.is_none() {
            self.loss.saw(Oddity::UnreadableNumber, place);
        }
        number
    }
}

impl CallMap {
    /// Whether the row is a call: as `where` says, or else whether it names a tool.
    fn is_for(&self, row: &Row<'_>) -> bool {
        match &self.when {
            Some(when) => any(when, row, &Picked::default()),
            None => row.find(&self.tool.path).is_some(),
        }
    }
}

impl ResultMap {
    fn is_for(&self, row: &Row<'_>) -> bool {
        self.when.as_ref().is_none_or(|when| any(when, row, &Picked::default()))
    }
}

/// Evidence is a list; a single reference is a list of one.
fn listed(raw: &RawValue) -> Cow<'_, str> {
    match raw.get().starts_with('[') {
        true => Cow::Borrowed(raw.get()),
        false => Cow::Owned(format!("[{}]", raw.get())),
    }
}

/// What a source cannot tell because its mapping names no place for it.
fn missing(mapping: &Mapping) -> BTreeSet<Missing> {
    let (call, result) = (&mapping.call, mapping.result.as_ref());
    let part = |part: fn(&ResultMap) -> &Option<Selector>| result.is_some_and(|result| part(result).is_some());
    let timed = part(|result| &result.at) || part(|result| &result.latency_ms);
    let told = [
        (Missing::Times, call.at.is_some()),
        (Missing::Latencies, timed),
        (Missing::Kinds, !mapping.kinds.is_empty() || part(|result| &result.kind)),
        (Missing::Status, part(|result| &result.status) || part(|result| &result.code)),
        (Missing::Attempts, part(|result| &result.attempt)),
        (Missing::Keys, call.key.is_some()),
        (Missing::Tokens, call.evidence.is_some() && call.token.is_some()),
        (Missing::Effects, false),
    ];
    told.into_iter().filter(|(_, told)| !told).map(|(missing, _)| missing).collect()
}
