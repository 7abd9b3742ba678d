//! Reports a mapping that does not fit its rows: names the paths that the first rows have, and near misses.

use std::collections::BTreeSet;
use std::ops::Range;

use super::model::{Mapping, ResultMap, Selector, ValueSource};
use super::path::{FILE, Path, child};
use super::row::SourceRow;
use super::unseen::{UnseenTest, UnseenTests};
use crate::json::{self, Fields, Parsed};
use crate::raw_value::RawValue;
use crate::redact::RedactionRules;
use crate::unused::UnusedField;
use playproof_formats::diagnostic::{Diagnostic, Report, Source, did_you_mean};

/// Rows that are sampled.
const ROWS: usize = 50;
/// Paths that are kept.
const PATHS: usize = 200;
/// Levels of a row that are sampled.
const DEPTH: usize = 4;
/// Paths that a message names.
const NAMED: usize = 20;

/// A path that the mapping looks for and no row has.
#[derive(Debug)]
pub(super) struct Unfound {
    /// The key of the mapping, such as `call.args` or `failed`.
    field: String,
    path: String,
    /// Its place in the mapping file.
    span: Range<usize>,
    /// Each row needs it.
    is_needed: bool,
    /// A condition tests it.
    is_test: bool,
}

/// The paths of the first rows, and those to rows.
#[derive(Debug)]
pub(super) struct RowSample {
    rows: usize,
    paths: BTreeSet<String>,
    /// Those of them at which a row has null.
    nulls: BTreeSet<String>,
    /// The paths of objects around the rows, as seen from a row.
    around: BTreeSet<String>,
    /// The paths of lists in the first document.
    lists: BTreeSet<String>,
    redaction: RedactionRules,
}

impl RowSample {
    pub(super) fn new(redaction: &RedactionRules) -> RowSample {
        let [paths, nulls, around, lists] = [const { BTreeSet::new() }; 4];
        RowSample { rows: 0, paths, nulls, around, lists, redaction: redaction.clone() }
    }

    /// Whether there are rows to be sampled.
    pub(super) const fn wants_rows(&self) -> bool {
        self.rows < ROWS
    }

    pub(super) fn add(&mut self, row: &SourceRow<'_>) {
        if self.wants_rows()
            && let Ok(raw) = json::parse(row.value.text)
        {
            self.rows += 1;
            self.enter(raw, "", DEPTH);
            for (ups, fields) in (1..).zip(row.fields_around()) {
                let names = fields.iter().map(|(name, _)| child(&"^".repeat(ups), name));
                self.around.extend(names.take(PATHS));
            }
        }
    }

    /// Takes the document in which the first rows should be.
    pub(super) fn add_document(&mut self, document: &Parsed<'_>) {
        if self.rows == 0 && self.lists.is_empty() && self.is_quoted() {
            self.enter_lists(document.fields.as_ref(), document.items().unwrap_or_default(), "", DEPTH);
        }
    }

    fn enter_lists(&mut self, fields: Option<&Fields<'_>>, items: Vec<RawValue<'_>>, path: &str, depth: usize) {
        let inside = fields.iter().flat_map(|fields| fields.iter()).map(|(name, value)| (child(path, name), value));
        let first = items.first().map(|first| (format!("{path}[*]"), *first));
        for (path, value) in inside.chain(first) {
            let is_container = value.get().starts_with(['{', '[']);
            if is_container && depth > 0 && self.lists.len() < PATHS {
                // A list and its items are one level.
                let depth = depth - usize::from(value.get().starts_with('{'));
                self.enter_lists(json::object(value).as_ref(), json::array(value).unwrap_or_default(), &path, depth);
                self.lists.insert(path);
            }
        }
    }

    fn enter(&mut self, raw: RawValue<'_>, path: &str, depth: usize) {
        let Some(fields) = json::object(raw) else { return };
        for (name, value) in fields.iter() {
            if self.paths.len() >= PATHS {
                return;
            }
            let path = child(path, name);
            self.paths.insert(path.clone());
            if value.get() == "null" {
                self.nulls.insert(path.clone());
            }
            if depth > 1 && !self.redaction.hides(name) {
                self.enter(value, &path, depth - 1);
            }
        }
    }

    /// Whether rows have null at the path or around it: they have the field, and nothing in it.
    fn is_null(&self, path: &Path) -> bool {
        let path = path.to_string();
        let mut rest = self.nulls.iter().filter_map(|null| path.strip_prefix(null.as_str()));
        rest.any(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    }

    /// The nearest path that rows have, redacted.
    fn near(&self, path: &str) -> Option<String> {
        let paths = || self.paths.iter().chain(&self.around).map(String::as_str).chain([FILE]);
        let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
        let deeper = || paths().find(|known| last(known) == last(path)); // `span.id` for `id`
        did_you_mean(path, paths()).or_else(deeper).filter(|near| *near != path).map(|near| self.shown(near))
    }

    /// A path, redacted.
    fn shown(&self, path: &str) -> String {
        self.redaction.text(path).into_owned()
    }

    /// Whether reports quote values of the rows.
    pub(super) fn is_quoted(&self) -> bool {
        self.redaction.is_empty()
    }

    /// What the mapping looks for and no row has; what only results have, only if a row is a result.
    pub(super) fn unfound(
        &self,
        mapping: &Mapping,
        hits: &[bool],
        unseen: &UnseenTests,
        results: bool,
    ) -> Vec<Unfound> {
        let needed = mapping.needed_tests();
        let needs = |test: &UnseenTest| needed.iter().any(|(key, one)| *key == test.key && one.span == test.span);
        let of_selector = |part: &Selector| Unfound {
            field: part.field.clone(),
            path: part.written(),
            span: part.span.clone(),
            is_needed: part.is_needed(),
            is_test: false,
        };
        let of_test = |test: &UnseenTest| Unfound {
            field: test.key.to_owned(),
            path: test.path.to_string(),
            span: test.span.clone(),
            is_needed: needs(test),
            is_test: true,
        };
        let parts = self.unused_selectors(mapping, hits, results).into_iter().filter(|part| !part.is_optional);
        let tests = unseen.paths().filter(|test| !self.is_null(&test.path));
        parts.map(of_selector).chain(tests.map(of_test)).collect()
    }

    /// The warnings about what is not needed. A path of a condition is probably wrong where rows have a path that is written
    /// nearly so and that is not tested too, or where nothing failed and no path of `failed` was there to tell. Any other one
    /// may well be for a failure that this source does not hold.
    pub(super) fn warnings(&self, mapping: &Mapping, unfound: &[Unfound], has_failures: bool) -> Vec<UnusedField> {
        let of_failed = unfound.iter().filter(|part| part.field == "failed").count();
        let failed = mapping.failed.conditions.iter().flat_map(|condition| condition.paths());
        let nothing_tells = !has_failures && of_failed == failed.count();
        let warning = |part: &Unfound| {
            let elsewhere = !part.is_test && self.paths.contains(&part.path);
            let near = match part.is_test {
                true => self.near_untested(mapping, part),
                false => self.near(&part.path).filter(|_| !elsewhere),
            };
            let is_wrong = !part.is_test || near.is_some() || (part.field == "failed" && nothing_tells);
            let (field, path, place) = (part.field.clone(), part.path.clone(), mapping.place(&part.span));
            is_wrong.then_some(UnusedField { field, path, near, elsewhere, place })
        };
        let is_named =
            |part: &&Unfound| !part.is_test || unfound.iter().all(|other| other.is_test || other.path != part.path);
        unfound.iter().filter(is_named).filter_map(warning).collect()
    }

    fn unused_selectors<'m>(&self, mapping: &'m Mapping, hits: &[bool], results: bool) -> Vec<&'m Selector> {
        let looked_for = |selector: &&Selector| results || !selector.field.starts_with("result.");
        let unused = |selector: &&Selector| !hits.get(selector.number).is_some_and(|hit| *hit);
        let is_null =
            |selector: &&Selector| selector.sources.iter().filter_map(ValueSource::path).any(|path| self.is_null(path));
        let is_hit = |selector: &&Selector| !unused(selector);
        // One of several maps that no row fits is for rows that this source does not have.
        let fits = |map: &Vec<&Selector>, several: bool| !several || map.iter().any(is_hit);
        let calls = mapping.calls.iter().map(|call| (call.selectors(), mapping.calls.len() > 1));
        let results = mapping.results.iter().map(|result| (result.selectors(), mapping.results.len() > 1));
        let maps = calls.chain(results).filter(|(map, several)| fits(map, *several)).flat_map(|(map, _)| map);
        let all = mapping.unique.iter().chain(&mapping.direction).chain(maps);
        let all = all.filter(|selector| !selector.is_constant()).filter(looked_for);
        all.filter(|selector| unused(selector) && !is_null(selector)).collect()
    }

    /// The errors about what each row needs, each with its place in the mapping.
    pub(super) fn errors(&self, unfound: &[Unfound]) -> Vec<Diagnostic> {
        let said = |part: &Unfound| {
            let elsewhere = self.paths.contains(&part.path);
            let kind = if elsewhere { "of its kind " } else { "" };
            let message = format!("no row {kind}has `{}`, which `{}` needs", part.path, part.field);
            let near = self.near(&part.path).filter(|_| !elsewhere).map(|near| format!("did you mean `{near}`?"));
            let help = near.unwrap_or_else(|| "where rows may lack it, write `optional: true` beside it".to_owned());
            Diagnostic::error("unknown_path", message).at(part.span.clone(), "no row has this").help(help)
        };
        unfound.iter().filter(|part| part.is_needed).map(said).collect()
    }

    /// The `records` of results that find no rows: then no path of a result is looked for.
    pub(super) fn without_rows(&self, mapping: &Mapping, no_rows: &[usize]) -> Option<UnusedField> {
        let [result] = mapping.results.as_slice() else { return None };
        let span = result.records_span.clone().filter(|_| no_rows.contains(&result.records))?;
        let path = mapping.written_records(result.records);
        let (near, place) = (self.near_list(&path), mapping.place(&span));
        Some(UnusedField { field: "result.records".into(), near, path, elsewhere: false, place })
    }

    fn near_list(&self, path: &str) -> Option<String> {
        let near = did_you_mean(path, self.lists.iter().map(String::as_str)).filter(|near| *near != path);
        near.map(|near| self.shown(near))
    }

    /// The path that a condition for a path which no row has probably means. A path that is tested too is another one.
    fn near_untested(&self, mapping: &Mapping, part: &Unfound) -> Option<String> {
        let (of_results, of_rows) = (mapping.tests_of_results(), mapping.tests_of_rows());
        let is_of_result = of_results.iter().any(|(key, _)| *key == part.field);
        let parts = mapping.results.iter().flat_map(ResultMap::parts).map(|(name, _)| name).filter(|_| is_of_result);
        let near = did_you_mean(&part.path, self.paths.iter().map(String::as_str).chain(parts))?;
        let mut tests = of_results.iter().chain(&of_rows);
        let is_tested = tests.any(|(_, other)| other.subject.named().is_some_and(|named| named == near));
        (near != part.path && !is_tested).then(|| self.shown(near))
    }

    /// The report of a mapping by which the content alone tells whether a result failed, if no result has any.
    pub(super) fn nothing_tells(&self, mapping: &Mapping, hits: &[bool], name: &str) -> Option<Report> {
        const TELL: [&str; 5] = ["result.body", "result.message", "result.status", "result.code", "result.kind"];
        let conditions = [&mapping.failed.conditions, &mapping.not_failed, &mapping.not_suspected];
        let telling = || {
            let all = mapping.results.iter().flat_map(|result| result.selectors());
            all.filter(|selector| TELL.contains(&selector.field.as_str()))
        };
        let is_hit = |selector: &Selector| hits.get(selector.number).is_some_and(|hit| *hit);
        if conditions.iter().any(|conditions| !conditions.is_empty()) || telling().any(is_hit) {
            return None;
        }
        let message =
            format!("no result of `{name}` has what `failed: text` reads, so nothing tells whether it failed");
        let said = Diagnostic::error("nothing_tells", message);
        let Some(selector) = telling().next() else {
            return Some(Report::one(mapping.source.clone(), said.help("name the content: `body` in `result`")));
        };
        let said = said.at(selector.span.clone(), "no row has this");
        let near = self.near(&selector.written());
        let said = near.into_iter().fold(said, |said, near| said.help(format!("did you mean `{near}`?")));
        Some(Report::one(mapping.source.clone(), said))
    }

    /// The report of a mapping by which no row is a call. `fitting` rows fit `where`, but name no tool.
    pub(super) fn nothing_fits(
        &self,
        mapping: &Mapping,
        rows: u64,
        no_rows: &[usize],
        name: &str,
        fitting: u64,
    ) -> Report {
        let Some(call) = mapping.calls.first() else {
            return Report::one(
                mapping.source.clone(),
                Diagnostic::error("nothing_fits", "this mapping has no `call`"),
            );
        };
        if let Some(format) = mapping.title {
            let said = Diagnostic::error("nothing_fits", format!("`{name}` has no calls, read as {format}"));
            let tool = call.tool.inside().into_iter().next().filter(|_| fitting > 0);
            let help = tool.map(|tool| {
                format!("rows that would be calls lack `{tool}`, the name of the tool: export that field too")
            });
            let said = help.into_iter().fold(said, Diagnostic::help);
            return Report::one(Source::whole(name, ""), said);
        }
        if let Some(span) = call.records_span.clone().filter(|_| no_rows.contains(&call.records)) {
            let said = Diagnostic::error("no_rows", format!("`{name}` has no rows that could be calls"));
            let said = said.at(span, "this path finds no rows");
            let near = self.near_list(&mapping.written_records(call.records));
            let said = near.into_iter().fold(said, |said, near| said.help(format!("did you mean `{near}`?")));
            return Report::one(mapping.source.clone(), said);
        }
        let diagnostic = match rows {
            0 => {
                let span = mapping.records_span.clone().unwrap_or(call.span.clone());
                Diagnostic::error("no_rows", format!("`{name}` has no rows")).at(span, "this path finds no rows")
            }
            _ => {
                let message = format!("none of the {rows} rows of `{name}` is a call");
                let diagnostic = Diagnostic::error("nothing_fits", message);
                match (&call.when, fitting) {
                    (Some(_), 0) => diagnostic.at(call.span.clone(), "no row fits this"),
                    (None, 0) => diagnostic.at(call.tool.span.clone(), "no row has this"),
                    (_, 1) => diagnostic.at(call.tool.span.clone(), "the row that fits has no tool here"),
                    _ => {
                        let label = format!("none of the {fitting} rows that fit has a tool here");
                        diagnostic.at(call.tool.span.clone(), label)
                    }
                }
            }
        };
        let help = self.help(mapping);
        let diagnostic = if help.is_empty() { diagnostic } else { diagnostic.help(help) };
        Report::one(mapping.source.clone(), diagnostic)
    }

    fn help(&self, mapping: &Mapping) -> String {
        let mut hints = Vec::new();
        for path in mapping.required_of_calls().into_iter().filter(|path| !self.paths.contains(path)) {
            if let Some(near) = self.near(&path) {
                hints.push(format!("no row has `{path}` (did you mean `{near}`?)"));
            }
        }
        let shown: Vec<String> =
            self.paths.iter().take(NAMED).map(|path| format!("`{}`", self.redaction.text(path))).collect();
        if !shown.is_empty() {
            let more = if self.paths.len() > NAMED { ", ..." } else { "" };
            hints.push(format!("the first rows have {}{more}", shown.join(", ")));
        }
        hints.join("; ")
    }
}
