//! What to say where a mapping does not fit its rows: which paths the first rows have, and which were meant.

use std::collections::BTreeSet;

use serde_json::value::RawValue;

use super::model::{Mapping, Selector};
use super::path::child;
use crate::foreign::Unused;
use crate::json;
use crate::redact::RedactionRules;
use playproof_formats::diagnostic::{Diagnostic, Report, did_you_mean};

/// Rows that are looked at.
const ROWS: usize = 50;
/// Paths that are remembered.
const PATHS: usize = 200;
/// How deep rows are looked into.
const DEPTH: usize = 4;
/// Paths that a message names.
const NAMED: usize = 20;

/// The paths that the first rows have.
#[derive(Debug)]
pub(super) struct Sample<'r> {
    rows: usize,
    paths: BTreeSet<String>,
    /// What of them must not be shown.
    redaction: &'r RedactionRules,
}

impl<'r> Sample<'r> {
    pub(super) fn new(redaction: &'r RedactionRules) -> Sample<'r> {
        Sample { rows: 0, paths: BTreeSet::new(), redaction }
    }

    pub(super) fn see(&mut self, raw: &RawValue) {
        if self.rows < ROWS {
            self.rows += 1;
            self.enter(raw, "", DEPTH);
        }
    }

    fn enter(&mut self, raw: &RawValue, path: &str, depth: usize) {
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

    /// The nearest path to one that no row has, as it is shown.
    fn near(&self, path: &str) -> Option<String> {
        let paths = || self.paths.iter().map(String::as_str);
        let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
        let deeper = || paths().find(|known| last(known) == last(path)); // `id` where `span.id` is meant
        did_you_mean(path, paths())
            .or_else(deeper)
            .filter(|near| *near != path)
            .map(|near| self.redaction.text(near).into_owned())
    }

    /// The selectors that no row had; those of results only where a row is one.
    pub(super) fn unused(&self, mapping: &Mapping, hits: &[u64], results: bool) -> Vec<Unused> {
        let looked_for = |selector: &&Selector| results || !selector.field.starts_with("result.");
        let unused = |selector: &&Selector| hits.get(selector.number).is_none_or(|&hits| hits == 0);
        let said = |selector: &Selector| {
            let path = selector.path.to_string();
            let elsewhere = self.paths.contains(&path);
            let near = if elsewhere { None } else { self.near(&path) };
            Unused { field: selector.field.clone(), path, near, elsewhere }
        };
        mapping.all_selectors().into_iter().filter(looked_for).filter(unused).map(said).collect()
    }

    /// The report of a mapping of which no row was a call.
    /// `fitting` rows fit, but name no tool.
    pub(super) fn nothing_fits(&self, mapping: &Mapping, rows: u64, name: &str, fitting: u64) -> Report {
        let call = &mapping.call;
        let diagnostic = match rows {
            0 => {
                let span = mapping.records.as_ref().map_or(call.span.clone(), |records| records.span.clone());
                Diagnostic::error("no_rows", format!("`{name}` has no rows")).at(span, "this finds nothing in it")
            }
            _ => {
                let message = format!("none of the {rows} rows of `{name}` is a call");
                let diagnostic = Diagnostic::error("nothing_fits", message);
                match (&call.when, fitting) {
                    (Some(_), 0) => diagnostic.at(call.span.clone(), "no row fits this"),
                    (None, 0) => diagnostic.at(call.tool.span.clone(), "no row has this"),
                    (_, 1) => diagnostic.at(call.tool.span.clone(), "the row that fits names no tool here"),
                    _ => {
                        let said = format!("none of the {fitting} rows that fit names a tool here");
                        diagnostic.at(call.tool.span.clone(), said)
                    }
                }
            }
        };
        let help = self.help(mapping);
        let diagnostic = if help.is_empty() { diagnostic } else { diagnostic.help(help) };
        Report::one(mapping.source.clone(), diagnostic)
    }

    fn help(&self, mapping: &Mapping) -> String {
        let mut said = Vec::new();
        for path in mapping.asked_of_calls().into_iter().filter(|path| !self.paths.contains(path)) {
            if let Some(near) = self.near(&path) {
                said.push(format!("no row has `{path}` (did you mean `{near}`?)"));
            }
        }
        let shown: Vec<String> =
            self.paths.iter().take(NAMED).map(|path| format!("`{}`", self.redaction.text(path))).collect();
        if !shown.is_empty() {
            let more = if self.paths.len() > NAMED { ", ..." } else { "" };
            said.push(format!("the first rows have {}{more}", shown.join(", ")));
        }
        said.join("; ")
    }
}
