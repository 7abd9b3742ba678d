//! From a mapping file to a valid mapping, or to errors with their places. Reads no rows.

use std::sync::Arc;

use super::condition::ResultPart;
use super::lower_condition::{PartNames, bad_path, collect, conditions, failed_when, kinds_of, optional, skipped};
use super::model::{
    CallMap, FailedWhen, Mapping, Pairing, Prefix, ResultMap, Selector, StepMap, TimeUnit, ValueSource,
};
use super::path::Path;
use crate::failure::WordTable;
use playproof_formats::diagnostic::{Diagnostic, Report, Source};
use playproof_formats::yaml;
use playproof_formats::yaml::{Cursor, MapReader};

pub(super) const TOP: [&str; 20] = [
    "format",
    "records",
    "time",
    "skip",
    "unique",
    "new_run",
    "pair",
    "other_request",
    "direction",
    "unfinished",
    "call",
    "result",
    "failed",
    "not_failed",
    "not_suspected",
    "kinds",
    "words",
    "run",
    "tool",
    "detect",
];
/// The keys that say something else of a recognised format; a mapping without `call` has no others.
const OVERRIDES: [&str; 8] = ["format", "failed", "not_failed", "not_suspected", "kinds", "words", "run", "tool"];
pub(super) const CALL: [&str; 14] = [
    "records", "where", "run", "id", "tool", "server", "args", "at", "timeout", "key", "evidence", "token", "parent",
    "step",
];
pub(super) const RESULT: [&str; 20] = [
    "records",
    "where",
    "run",
    "id",
    "tool",
    "attempt",
    "started",
    "at",
    "latency",
    "latency_ms",
    "body",
    "message",
    "status",
    "code",
    "kind",
    "retry_after_ms",
    "retry_after_s",
    "headers",
    "retriable",
    "from_caller",
];
pub(super) const VALUE: [&str; 5] = ["path", "value", "strip", "unit", "optional"];
pub(super) const STRIP: [&str; 1] = ["prefix"];
pub(super) const UNITS: [(&str, TimeUnit); 5] = [
    ("s", TimeUnit::Seconds),
    ("ms", TimeUnit::Millis),
    ("us", TimeUnit::Micros),
    ("ns", TimeUnit::Nanos),
    ("iso", TimeUnit::Iso),
];
pub(super) const PAIRS: [(&str, Pairing); 3] =
    [("id", Pairing::Id), ("order", Pairing::Order), ("known", Pairing::Known)];
/// The parts of a call or result that are times or durations.
const TIMES: [&str; 5] = ["call.at", "call.timeout", "result.started", "result.at", "result.latency"];
/// The parts of a result that conditions on a recognised format can name.
pub(super) const RESULT_PARTS: [(&str, ResultPart); 3] =
    [("message", ResultPart::Message), ("status", ResultPart::Status), ("code", ResultPart::Code)];

/// Reads a mapping file.
///
/// # Errors
/// All errors of the file, each with its place.
pub fn parse(source: Arc<Source>) -> Result<Mapping, Report> {
    yaml::parse(Arc::clone(&source), |root| MappingLowering::default().mapping(root, source))
}

/// A mapping that changes nothing of a recognised format; none: it cannot be read, which a test excludes.
pub fn unchanging() -> Option<Mapping> {
    parse(Source::whole("playproof.yaml", "format: mapping/1\nwords: []\n")).ok()
}

/// Lowers a mapping file, and numbers its selectors and its lists of paths to rows.
#[derive(Default)]
struct MappingLowering {
    selectors: usize,
    records: Vec<Vec<Path>>,
    /// The list of calls and results that have none of their own.
    common: Option<usize>,
}

impl MappingLowering {
    fn mapping(&mut self, root: Cursor<'_>, source: Arc<Source>) -> Option<Mapping> {
        let record = root.record("a mapping", &TOP)?;
        let format = record.format("mapping/1")?;
        let has = |key: &str| record.key_span(key).is_some();
        let is_override = !has("call")
            && OVERRIDES[1..].iter().any(|key| has(key))
            && TOP.iter().all(|key| OVERRIDES.contains(key) || !has(key));
        let records = record.optional("records").map(|records| self.records(records));
        let time = record.optional("time").map(|time| time.word(&UNITS));
        let skip = record.optional("skip").map(skipped);
        let unique = self.part(&record, "", "unique");
        let new_run = record.optional("new_run").map(|when| conditions(when, PartNames::Fields));
        let pair = record.optional("pair").map(|pair| pair.word(&PAIRS));
        let other_request = record.optional("other_request").map(|when| conditions(when, PartNames::Fields));
        let direction = self.part(&record, "", "direction");
        let unfinished = record.optional("unfinished").map(|when| conditions(when, PartNames::Fields));
        let (mut calls, mut results) = (Some(Vec::new()), Some(Vec::new()));
        if !is_override {
            let maps = call_or_refusal(&record).map(Cursor::one_or_many);
            calls = maps.and_then(|maps| collect(maps.into_iter().map(|call| self.call(call))));
            let maps = record.optional("result").map(Cursor::one_or_many).unwrap_or_default();
            results = collect(maps.into_iter().map(|result| self.result(result)));
            let of_call = ["run", "tool"].into_iter().filter(|_| has("call"));
            for (name, span) in of_call.filter_map(|key| Some((key, record.key_span(key)?))) {
                let message = format!("`{name}` of a mapping with `call` belongs into `call`");
                root.report(Diagnostic::error("misplaced_key", message).at(span, "not here"));
            }
        }
        let parts = match is_override {
            true => RESULT_PARTS.to_vec(),
            false => results.iter().flatten().flat_map(ResultMap::parts).collect(),
        };
        let decisive = if is_override { PartNames::Parts(&parts) } else { PartNames::FieldsElseParts(&parts) };
        let failed = match record.optional("failed") {
            Some(failed) => failed_when(failed, decisive),
            None if is_override => Some(FailedWhen::default()),
            None => no_failed(&record, has("result")),
        };
        let denied = |key: &str| record.optional(key).map(|when| conditions(when, decisive));
        let (not_failed, not_suspected) = (denied("not_failed"), denied("not_suspected"));
        let kinds =
            record.optional("kinds").map_or(Some(Vec::new()), |kinds| kinds_of(kinds, PartNames::Parts(&parts)));
        let words = record.optional("words").map_or_else(|| Some(WordTable::default()), WordTable::read_own);
        let detect = record.optional("detect").map(|when| conditions(when, PartNames::Fields));
        let mut overridden = |key: &str| if is_override { self.part(&record, "", key) } else { Some(None) };
        let (run, tool) = (overridden("run"), overridden("tool"));
        format?;
        all_or_none(records)?;
        Some(Mapping {
            source,
            records: std::mem::take(&mut self.records),
            records_span: record.optional("records").map(Cursor::span),
            time: all_or_none(time)?,
            skip: all_or_none(skip)?.unwrap_or_default(),
            unique: unique?,
            new_run: all_or_none(new_run)?.unwrap_or_default(),
            pair: all_or_none(pair)?.unwrap_or_default(),
            other_request: all_or_none(other_request)?.unwrap_or_default(),
            direction: direction?,
            unfinished: all_or_none(unfinished)?.unwrap_or_default(),
            calls: calls?,
            results: results?,
            failed: failed?,
            not_failed: all_or_none(not_failed)?.unwrap_or_default(),
            not_suspected: all_or_none(not_suspected)?.unwrap_or_default(),
            kinds: kinds?,
            words: words?,
            detect: all_or_none(detect)?.unwrap_or_default(),
            run: run?,
            tool: tool?,
            overrides: None,
            title: None,
            selectors: self.selectors,
            skip_invalid: false,
            allow_skipped: None,
        })
    }

    /// The number of a list of paths to rows.
    fn list(&mut self, paths: Vec<Path>) -> usize {
        self.records.iter().position(|known| *known == paths).unwrap_or_else(|| {
            self.records.push(paths);
            self.records.len() - 1
        })
    }

    /// Reads `records` of the mapping: the rows of calls and results without their own.
    fn records(&mut self, cursor: Cursor<'_>) -> Option<()> {
        let paths = row_paths(cursor)?;
        self.common = Some(self.list(paths));
        Some(())
    }

    fn records_of(&mut self, record: &MapReader<'_>) -> Option<usize> {
        match record.optional("records") {
            Some(records) => row_paths(records).map(|paths| self.list(paths)),
            None => Some(self.common.unwrap_or_else(|| self.list(Vec::new()))),
        }
    }

    fn call(&mut self, call: Cursor<'_>) -> Option<CallMap> {
        let record = call.record("`call`", &CALL)?;
        let records = self.records_of(&record);
        let when = record.optional("where").map(|when| conditions(when, PartNames::Fields));
        let span = record.key_span("where").unwrap_or_else(|| record.span());
        let tool = record.required("tool").and_then(|tool| self.selector(tool, "call.tool"));
        // Reads all parts before it gives up, so that all errors are reported.
        let keys = ["run", "id", "server", "args", "at", "timeout", "key", "evidence", "token"];
        let [run, id, server, args, at, timeout, key, evidence, token] =
            keys.map(|key| self.part(&record, "call.", key));
        let step_of = StepMap::of(["parent", "step"].map(|key| self.part(&record, "call.", key)), &record);
        Some(CallMap {
            records: records?,
            records_span: record.optional("records").map(Cursor::span),
            run: run?,
            id: id?,
            server: server?,
            args: args?,
            at: at?,
            timeout: timeout?,
            key: key?,
            evidence: evidence?,
            token: token?,
            step_of: step_of?,
            when: all_or_none(when)?,
            tool: tool?,
            span,
        })
    }

    fn result(&mut self, result: Cursor<'_>) -> Option<ResultMap> {
        let record = result.record("`result`", &RESULT)?;
        let records = self.records_of(&record);
        let when = record.optional("where").map(|when| conditions(when, PartNames::Fields));
        for (one, another) in [("retry_after_ms", "retry_after_s"), ("latency", "latency_ms")] {
            if let (Some(first), Some(second)) = (record.key_span(one), record.key_span(another)) {
                let message = format!("`{one}` and `{another}` are the same value in two units");
                let diagnostic = Diagnostic::error("several_chosen", message);
                result.report(diagnostic.at(first, "one").at(second, "another"));
            }
        }
        let mut part = |key: &str| self.part(&record, "result.", key);
        let [run, id, tool, attempt, started, at] = ["run", "id", "tool", "attempt", "started", "at"].map(&mut part);
        let [latency, latency_ms, body, message] = ["latency", "latency_ms", "body", "message"].map(&mut part);
        let [status, code, kind] = ["status", "code", "kind"].map(&mut part);
        let [after_ms, after_s, headers] = ["retry_after_ms", "retry_after_s", "headers"].map(&mut part);
        let retriable = part("retriable");
        let is_from_caller = record.optional("from_caller").map(|said| said.bool());
        Some(ResultMap {
            records: records?,
            records_span: record.optional("records").map(Cursor::span),
            run: run?,
            id: id?,
            tool: tool?,
            attempt: attempt?,
            started: started?,
            at: at?,
            latency: latency?.or(latency_ms?),
            body: body?,
            message: message?,
            status: status?,
            code: code?,
            kind: kind?,
            retry_after_ms: after_ms?,
            retry_after_s: after_s?,
            headers: headers?,
            retriable: retriable?,
            is_from_caller: all_or_none(is_from_caller)?.unwrap_or_default(),
            when: all_or_none(when)?,
        })
    }

    /// The part `key`, if it is present; `of` is `call.`, `result.` or nothing.
    #[expect(clippy::option_option, reason = "absent, invalid and valid are three cases")]
    fn part(&mut self, record: &MapReader<'_>, of: &str, key: &str) -> Option<Option<Selector>> {
        all_or_none(record.optional(key).map(|value| self.selector(value, &format!("{of}{key}"))))
    }

    /// A path, a list of paths of which the first that is present counts, or a map with more.
    fn selector(&mut self, cursor: Cursor<'_>, field: &str) -> Option<Selector> {
        let (sources, strip, unit) = match cursor.is_map() {
            false => (paths(cursor), Some(Vec::new()), Some(None)),
            true => {
                let record = cursor.record("a value", &VALUE)?;
                let strip = record.optional("strip").map(prefixes);
                let unit = record.optional("unit").map(|unit| unit.word(&UNITS));
                if let Some(span) = record.key_span("unit").filter(|_| !TIMES.contains(&field)) {
                    cursor.report(no_unit(field).at(span, "not here"));
                }
                let constant = record.optional("value").map(|value| value.words().map(str::to_owned));
                let sources = match (record.key_span("path"), record.key_span("value"), constant) {
                    (Some(path), Some(value), _) => {
                        let diagnostic =
                            Diagnostic::error("several_chosen", "a value comes from a path or is constant");
                        cursor.report(diagnostic.at(path, "one").at(value, "another"));
                        None
                    }
                    (None, Some(_), Some(constant)) => constant.map(|text| vec![ValueSource::Constant(text)]),
                    _ => record.required("path").and_then(paths),
                };
                (sources, all_or_none(strip).map(Option::unwrap_or_default), all_or_none(unit))
            }
        };
        let number = self.selectors;
        self.selectors += 1;
        let has_unit_in_name = field.ends_with("_ms") || field.ends_with("_s");
        let (field, span) = (field.to_owned(), cursor.span());
        let is_optional = optional(cursor);
        Some(Selector {
            sources: sources?,
            strip: strip?,
            unit: unit?,
            is_optional: is_optional?,
            has_unit_in_name,
            field,
            span,
            number,
        })
    }
}

impl ResultMap {
    /// The parts of a result that a condition can name.
    pub(super) fn parts(&self) -> Vec<(&'static str, ResultPart)> {
        let found = [self.message.is_some() || self.body.is_some(), self.status.is_some(), self.code.is_some()];
        RESULT_PARTS.into_iter().zip(found).filter_map(|(part, found)| found.then_some(part)).collect()
    }
}

/// Refuses a unit.
fn no_unit(field: &str) -> Diagnostic {
    let of_name = || Diagnostic::error("misplaced_key", format!("`{field}` has its unit in its name"));
    match field {
        "result.latency_ms" => of_name().help("a duration in another unit is `latency`, with this `unit`"),
        "result.retry_after_ms" | "result.retry_after_s" => {
            of_name().help("milliseconds are `retry_after_ms`, seconds `retry_after_s`")
        }
        _ => {
            let said = format!("`{field}` is neither a time nor a duration, and has no unit");
            Diagnostic::error("misplaced_key", said)
        }
    }
}

/// One path or a list of paths, each to one value.
fn paths(cursor: Cursor<'_>) -> Option<Vec<ValueSource>> {
    let read = cursor.one_or_many().into_iter().map(|one| {
        let path = path(one, one.string()?)?;
        if path.is_many() {
            one.wrong("many_values", "`[*]` is allowed only in `records`", "this must lead to one value");
            return None;
        }
        Some(ValueSource::Path(path))
    });
    collect(read).filter(|paths| !paths.is_empty())
}

/// One path or a list of paths, all of which lead to rows.
fn row_paths(cursor: Cursor<'_>) -> Option<Vec<Path>> {
    collect(cursor.one_or_many().into_iter().map(|one| {
        let text = one.string()?;
        let path = Path::parse_to_rows(text);
        path.map_err(|why| one.report(bad_path(text, &why).at(one.span(), "not a path"))).ok()
    }))
}

fn prefixes(cursor: Cursor<'_>) -> Option<Vec<Prefix>> {
    let record = cursor.record("`strip`", &STRIP)?;
    let all = record.required("prefix")?.one_or_many();
    collect(all.into_iter().map(|one| one.string().map(|prefix| Prefix(prefix.to_owned()))))
}

fn path(cursor: Cursor<'_>, text: &str) -> Option<Path> {
    Path::parse(text).map_err(|why| cursor.report(bad_path(text, &why).at(cursor.span(), "not a path"))).ok()
}

/// `None` if the value is present and invalid.
#[expect(clippy::option_option, reason = "absent, invalid and valid are three cases")]
fn all_or_none<T>(value: Option<Option<T>>) -> Option<Option<T>> {
    match value {
        Some(None) => None,
        Some(Some(value)) => Some(Some(value)),
        None => Some(None),
    }
}

/// `call`; without it and without `result`, keys that need rows of the mapping's own are refused.
fn call_or_refusal<'a>(record: &MapReader<'a>) -> Option<Cursor<'a>> {
    let spans = TOP.iter().filter(|key| !OVERRIDES.contains(key)).filter_map(|key| record.key_span(key));
    let spans: Vec<_> = spans.collect();
    let is_misspelt = record.cursor().entries("a mapping")?.any(|(key, _)| !TOP.contains(&key.text));
    if record.key_span("call").is_some() || record.key_span("result").is_some() || is_misspelt || spans.is_empty() {
        return record.required("call");
    }
    let said = Diagnostic::error("missing_key", "a mapping without `call` only changes a recognised format");
    let said = spans.into_iter().fold(said, |said, span| said.at(span, "this needs `call`"));
    let keys: Vec<_> = OVERRIDES.iter().filter(|key| **key != "format").map(|key| format!("`{key}`")).collect();
    record.cursor().report(said.help(format!("say how rows become calls (`call`), or use only {}", keys.join(", "))));
    None
}

/// Requires `failed` where there are results: without it, every result would count as a success.
fn no_failed(record: &MapReader<'_>, has_results: bool) -> Option<FailedWhen> {
    if !has_results {
        return Some(FailedWhen::default());
    }
    record.required("failed").map(|_| FailedWhen::default())
}
