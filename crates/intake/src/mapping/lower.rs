//! From a mapping file to a valid mapping, or to errors with their places. Reads no rows.

use std::sync::Arc;

use super::condition::ResultPart;
use super::lower_condition::{PartNames, bad_path, conditions, failed_when, kinds_of, skipped};
use super::model::{CallMap, Mapping, Pairing, Prefix, ResultMap, Selector, StepMap, TimeUnit, ValueSource};
use super::path::Path;
use super::schema::MAPPING;
use crate::failure::WordTable;
use playproof_formats::diagnostic::{Diagnostic, Report, Source};
use playproof_formats::schema;
use playproof_formats::schema::At;
use playproof_formats::yaml::Key;

/// The keys that say something else of a recognised format; a mapping without `call` has no others.
const OVERRIDES: [&str; 7] = ["failed", "not_failed", "not_suspected", "kinds", "words", "run", "tool"];
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
    schema::read(Arc::clone(&source), &MAPPING, |root| MappingLowering::default().mapping(root, source))
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
    fn mapping(&mut self, root: At<'_>, source: Arc<Source>) -> Option<Mapping> {
        let has = |key: &str| root.get(key).is_some();
        let mut says_otherwise = root.entries().filter(|(key, _)| key.text != "format").peekable();
        let is_override =
            says_otherwise.peek().is_some() && says_otherwise.all(|(key, _)| OVERRIDES.contains(&key.text));
        let records = root.optional("records", |records| self.records(records));
        let fields = |key| root.optional(key, |when| conditions(when, PartNames::Fields));
        let unique = self.part(root, "", "unique");
        let direction = self.part(root, "", "direction");
        let (mut calls, mut results) = (Some(Vec::new()), Some(Vec::new()));
        if !is_override {
            calls = call_or_refusal(root).and_then(|calls| calls.all(|call| self.call(call)));
            results = root.get("result").map_or(Some(Vec::new()), |results| results.all(|result| self.result(result)));
            let of_call = ["run", "tool"].into_iter().filter(|_| has("call"));
            for (name, span) in of_call.filter_map(|key| Some((key, root.key_span(key)?))) {
                let message = format!("`{name}` of a mapping with `call` belongs into `call`");
                root.report(Diagnostic::error("misplaced_key", message).at(span, "not here"));
            }
        }
        let parts = match is_override {
            true => RESULT_PARTS.to_vec(),
            false => results.iter().flatten().flat_map(ResultMap::parts).collect(),
        };
        let decisive = if is_override { PartNames::Parts(&parts) } else { PartNames::FieldsElseParts(&parts) };
        // Without it every result would be a success: the schema asks for it beside `result`.
        let failed = root.optional("failed", |failed| failed_when(failed, decisive));
        let denied = |key| root.optional(key, |when| conditions(when, decisive));
        let kinds = root.optional("kinds", |kinds| kinds_of(kinds, PartNames::Parts(&parts)));
        let words = root.optional("words", WordTable::read_own);
        let mut overridden = |key: &str| if is_override { self.part(root, "", key) } else { Some(None) };
        let (run, tool) = (overridden("run"), overridden("tool"));
        let skip = root.optional("skip", skipped);
        let [new_run, begin, commit, other_request, unfinished, cancelled, continues, detect] =
            ["new_run", "begin", "commit", "other_request", "unfinished", "cancelled", "continues", "detect"]
                .map(fields);
        let [not_failed, not_suspected] = ["not_failed", "not_suspected"].map(denied);
        records?;
        Some(Mapping {
            source,
            records: std::mem::take(&mut self.records),
            records_span: root.get("records").map(At::span),
            time: root.optional("time", |time| TimeUnit::parse(time.text()?))?,
            skip: skip?.unwrap_or_default(),
            unique: unique?,
            new_run: new_run?.unwrap_or_default(),
            begin: begin?.unwrap_or_default(),
            commit: commit?.unwrap_or_default(),
            pair: root.optional("pair", |pair| Pairing::parse(pair.text()?))?.unwrap_or_default(),
            other_request: other_request?.unwrap_or_default(),
            direction: direction?,
            unfinished: unfinished?.unwrap_or_default(),
            cancelled: cancelled?.unwrap_or_default(),
            continues: continues?.unwrap_or_default(),
            calls: calls?,
            results: results?,
            failed: failed?.unwrap_or_default(),
            not_failed: not_failed?.unwrap_or_default(),
            not_suspected: not_suspected?.unwrap_or_default(),
            kinds: kinds?.unwrap_or_default(),
            words: words?.unwrap_or_default(),
            detect: detect?.unwrap_or_default(),
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
    fn records(&mut self, at: At<'_>) -> Option<()> {
        let paths = row_paths(at)?;
        self.common = Some(self.list(paths));
        Some(())
    }

    fn records_of(&mut self, of: At<'_>) -> Option<usize> {
        match of.get("records") {
            Some(records) => row_paths(records).map(|paths| self.list(paths)),
            None => Some(self.common.unwrap_or_else(|| self.list(Vec::new()))),
        }
    }

    fn call(&mut self, call: At<'_>) -> Option<CallMap> {
        let records = self.records_of(call);
        let when = call.optional("where", |when| conditions(when, PartNames::Fields));
        let tool = call.get("tool").and_then(|tool| self.selector(tool, "call.tool"));
        // Reads all parts before it gives up, so that all errors are reported.
        let keys = ["run", "id", "server", "args", "at", "timeout", "key", "evidence", "token"];
        let [run, id, server, args, at, timeout, key, evidence, token] = keys.map(|key| self.part(call, "call.", key));
        let [transaction, parent, step] = ["transaction", "parent", "step"].map(|key| self.part(call, "call.", key));
        Some(CallMap {
            records: records?,
            records_span: call.get("records").map(At::span),
            run: run?,
            id: id?,
            server: server?,
            args: args?,
            at: at?,
            timeout: timeout?,
            key: key?,
            evidence: evidence?,
            token: token?,
            transaction: transaction?,
            step_of: parent?.zip(step?).map(|(parent, step)| StepMap { parent, step }),
            when: when?,
            tool: tool?,
            span: call.key_span("where").unwrap_or_else(|| call.span()),
        })
    }

    fn result(&mut self, result: At<'_>) -> Option<ResultMap> {
        let records = self.records_of(result);
        let when = result.optional("where", |when| conditions(when, PartNames::Fields));
        let mut part = |key: &str| self.part(result, "result.", key);
        let [run, id, tool, attempt, started, at] = ["run", "id", "tool", "attempt", "started", "at"].map(&mut part);
        let [latency, latency_ms, body, message] = ["latency", "latency_ms", "body", "message"].map(&mut part);
        let [status, code, kind] = ["status", "code", "kind"].map(&mut part);
        let [after_ms, after_s, headers] = ["retry_after_ms", "retry_after_s", "headers"].map(&mut part);
        let retriable = part("retriable");
        Some(ResultMap {
            records: records?,
            records_span: result.get("records").map(At::span),
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
            is_from_caller: result.optional("from_caller", At::flag)?.unwrap_or_default(),
            when: when?,
        })
    }

    /// The part `key`, if it is present; `prefix` is `call.`, `result.` or nothing.
    #[expect(clippy::option_option, reason = "absent, invalid and valid are three cases")]
    fn part(&mut self, of: At<'_>, prefix: &str, key: &str) -> Option<Option<Selector>> {
        of.optional(key, |value| self.selector(value, &format!("{prefix}{key}")))
    }

    /// A path, a list of paths of which the first that is present counts, or a map with more.
    fn selector(&mut self, at: At<'_>, field: &str) -> Option<Selector> {
        if let Some(span) = at.is_map().then(|| at.key_span("unit")).flatten().filter(|_| !TIMES.contains(&field)) {
            at.report(no_unit(field).at(span, "not here"));
        }
        let sources = match (at.is_map(), at.is_map().then(|| at.get("value")).flatten()) {
            (false, _) => paths(at),
            (true, Some(constant)) => {
                let before = at.get("path").map_or(Some(Vec::new()), paths);
                before.zip(constant.text()).map(|(mut sources, text)| {
                    sources.push(ValueSource::Constant(text.to_owned()));
                    sources
                })
            }
            (true, None) => at.get("path").and_then(paths),
        };
        let extra = |key| at.is_map().then(|| at.get(key)).flatten();
        let strip = extra("strip").map_or(Some(Vec::new()), prefixes);
        let number = self.selectors;
        self.selectors += 1;
        Some(Selector {
            sources: sources?,
            strip: strip?,
            unit: extra("unit").and_then(|unit| TimeUnit::parse(unit.text()?)),
            is_optional: extra("optional").and_then(At::flag).unwrap_or_default(),
            has_unit_in_name: field.ends_with("_ms") || field.ends_with("_s"),
            field: field.to_owned(),
            span: at.span(),
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
fn paths(at: At<'_>) -> Option<Vec<ValueSource>> {
    at.all(|one| {
        let path = path(one, one.text()?)?;
        if path.is_many() {
            one.wrong("many_values", "`[*]` is allowed only in `records`", "this must lead to one value");
            return None;
        }
        Some(ValueSource::Path(path))
    })
}

/// One path or a list of paths, all of which lead to rows.
fn row_paths(at: At<'_>) -> Option<Vec<Path>> {
    at.all(|one| {
        let text = one.text()?;
        let path = Path::parse_to_rows(text);
        path.map_err(|why| one.report(bad_path(text, &why).at(one.span(), "not a path"))).ok()
    })
}

fn prefixes(strip: At<'_>) -> Option<Vec<Prefix>> {
    strip.get("prefix")?.all(|one| Some(Prefix(one.text()?.to_owned())))
}

fn path(at: At<'_>, text: &str) -> Option<Path> {
    Path::parse(text).map_err(|why| at.report(bad_path(text, &why).at(at.span(), "not a path"))).ok()
}

/// `call`; without it and without `result`, keys that need rows of the mapping's own are refused.
fn call_or_refusal(root: At<'_>) -> Option<At<'_>> {
    let call = root.get("call");
    if call.is_some() || !root.knows_all_keys() {
        return call; // an unknown key has been reported, and may be `call`
    }
    let is_of_rows = |key: &Key<'_>| key.text != "format" && !OVERRIDES.contains(&key.text);
    let of_rows: Vec<_> = root.entries().map(|(key, _)| key).filter(is_of_rows).collect();
    let said = match of_rows.is_empty() || root.get("result").is_some() {
        true => Diagnostic::error("missing_key", "a mapping needs `call`").at(root.span(), "`call` is missing"),
        false => of_rows.into_iter().fold(
            Diagnostic::error("missing_key", "a mapping without `call` only changes a recognised format"),
            |said, key| said.at(key.span, "this needs `call`"),
        ),
    };
    let keys: Vec<_> = OVERRIDES.iter().map(|key| format!("`{key}`")).collect();
    root.report(said.help(format!("say how rows become calls (`call`), or use only {}", keys.join(", "))));
    None
}
