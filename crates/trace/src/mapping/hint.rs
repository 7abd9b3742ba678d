//! Reports a mapping that does not fit its rows: names the paths that the first rows have, and near misses.

use std::collections::BTreeSet;

use super::model::{Mapping, Selector};
use super::path::{Path, child};
use crate::imported::UnusedField;
use crate::json;
use crate::raw_value::RawValue;
use crate::redact::RedactionRules;
use playproof_formats::diagnostic::{Diagnostic, Report, Source, did_you_mean};

/// Rows that are sampled.
const ROWS: usize = 50;
/// Paths that are kept.
const PATHS: usize = 200;
/// Levels of a row that are sampled.
const DEPTH: usize = 4;
/// Paths that a message names.
const NAMED: usize = 20;

/// The paths of the first rows.
#[derive(Debug)]
pub(super) struct RowSample {
    rows: usize,
    paths: BTreeSet<String>,
    redaction: RedactionRules,
}

impl RowSample {
    pub(super) fn new(redaction: &RedactionRules) -> RowSample {
        RowSample { rows: 0, paths: BTreeSet::new(), redaction: redaction.clone() }
    }

    pub(super) fn add(&mut self, row: &str) {
        if self.rows < ROWS
            && let Ok(raw) = json::parse(row)
        {
            self.rows += 1;
            self.enter(raw, "", DEPTH);
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
            if depth > 1 {
                self.enter(value, &path, depth - 1);
            }
        }
    }

    /// The nearest path that rows have, redacted.
    fn near(&self, path: &str) -> Option<String> {
        let paths = || self.paths.iter().map(String::as_str);
        let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
        let deeper = || paths().find(|known| last(known) == last(path)); // `span.id` for `id`
        did_you_mean(path, paths())
            .or_else(deeper)
            .filter(|near| *near != path)
            .map(|near| self.redaction.text(near).into_owned())
    }

    /// The selectors that no row has; those of results only if a row is a result.
    pub(super) fn unused(&self, mapping: &Mapping, hits: &[u64], results: bool) -> Vec<UnusedField> {
        let looked_for = |selector: &&Selector| results || !selector.field.starts_with("result.");
        let unused = |selector: &&Selector| hits.get(selector.number).is_none_or(|&hits| hits == 0);
        let unused_field = |selector: &Selector| {
            let path = selector.written();
            let elsewhere = self.paths.contains(&path);
            let near = if elsewhere { None } else { self.near(&path) };
            UnusedField { field: selector.field.clone(), path, near, elsewhere }
        };
        let is_hit = |selector: &&Selector| !unused(selector);
        // One of several maps that no row fits is for rows that this source does not have.
        let fits = |map: &Vec<&Selector>, several: bool| !several || map.iter().any(is_hit);
        let calls = mapping.calls.iter().map(|call| (call.selectors(), mapping.calls.len() > 1));
        let results = mapping.results.iter().map(|result| (result.selectors(), mapping.results.len() > 1));
        let maps = calls.chain(results).filter(|(map, several)| fits(map, *several)).flat_map(|(map, _)| map);
        mapping
            .unique
            .iter()
            .chain(&mapping.direction)
            .chain(maps)
            .filter(|selector| !selector.is_constant())
            .filter(looked_for)
            .filter(unused)
            .map(unused_field)
            .collect()
    }

    /// The paths of conditions that no result has and that are probably wrong: rows have a path that is written nearly so and
    /// that no condition tests, or nothing failed and no path of `failed` was there to tell. Any other condition may well be
    /// for a failure that this source does not hold.
    pub(super) fn misspelt(
        &self,
        mapping: &Mapping,
        untested: &[(&'static str, Path)],
        has_failures: bool,
    ) -> Vec<UnusedField> {
        let all = mapping.tested_of_results();
        let tested: BTreeSet<String> = all.iter().map(|(_, path)| path.to_string()).collect();
        let of_failed = |paths: &[(&'static str, Path)]| paths.iter().filter(|(field, _)| *field == "failed").count();
        let nothing_tells = !has_failures && of_failed(untested) == of_failed(&all);
        let misspelt = |(field, path): &(&'static str, Path)| {
            let path = path.to_string();
            let near = did_you_mean(&path, self.paths.iter().map(String::as_str));
            let near = near.filter(|near| *near != path && !tested.contains(*near));
            let near = near.map(|near| self.redaction.text(near).into_owned());
            (near.is_some() || *field == "failed" && nothing_tells).then(|| UnusedField {
                field: (*field).to_owned(),
                path,
                near,
                elsewhere: false,
            })
        };
        untested.iter().filter_map(misspelt).collect()
    }

    /// The report of a mapping by which the content alone tells whether a result failed, if no result has any.
    pub(super) fn nothing_tells(&self, mapping: &Mapping, hits: &[u64], name: &str) -> Option<Report> {
        const TELL: [&str; 5] = ["result.body", "result.message", "result.status", "result.code", "result.kind"];
        let conditions = [&mapping.failed.conditions, &mapping.not_failed, &mapping.not_suspected];
        let telling = || {
            let all = mapping.results.iter().flat_map(|result| result.selectors());
            all.filter(|selector| TELL.contains(&selector.field.as_str()))
        };
        let is_hit = |selector: &Selector| hits.get(selector.number).is_some_and(|&hits| hits > 0);
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
    pub(super) fn nothing_fits(&self, mapping: &Mapping, rows: u64, name: &str, fitting: u64) -> Report {
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
