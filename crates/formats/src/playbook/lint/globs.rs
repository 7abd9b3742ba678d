//! Lint of tool globs whose `*`, `?` or class stops at a dot that it would have to cross to match a known tool.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::diagnostic::Diagnostic;
use crate::playbook::places::Loaded;
use playproof_engine::glob::{Glob, is_glob};
use playproof_engine::ids::RuleId;
use playproof_engine::playbook::ConditionKind;

/// The most tools that one lint names.
const MOST_NAMED: usize = 8;

/// The globs of a playbook's tool facts and rules that miss a tool of `known` because of a dot. A tool with a row of its
/// own in the playbook is not missed, nor, by tool facts, one that is `declared` elsewhere.
pub fn stopped_globs(loaded: &Loaded, known: &BTreeSet<String>, declared: &BTreeSet<String>) -> Vec<Diagnostic> {
    let (tools, places) = (&loaded.playbook.tools, &loaded.places);
    let rows = tools.rows().iter().map(|row| row.pattern.as_str()).enumerate();
    let rows: Vec<(&str, Range<usize>)> = rows.filter_map(|(n, row)| Some((row, places.tool(n)?))).collect();
    let of_rules = (0..).map(RuleId).zip(&loaded.playbook.rules).flat_map(|(id, rule)| {
        let globs = rule.when.texts(ConditionKind::Tool).iter();
        globs.filter_map(move |glob| Some((glob.as_str(), places.when(id)?)))
    });
    let has_row = |tool: &String| tools.rows().iter().any(|row| row.pattern == *tool);
    let missed: BTreeSet<String> = known.union(declared).filter(|tool| !has_row(tool)).cloned().collect();
    let undeclared = missed.difference(declared).cloned().collect();
    let mut found = stopped_globs_of_rows(&rows, &undeclared);
    found.extend(stopped_globs_of_rows(&of_rules.collect::<Vec<_>>(), &missed));
    found
}

/// The same of rows of tool facts, each with its place.
pub fn stopped_globs_of_rows(rows: &[(&str, Range<usize>)], known: &BTreeSet<String>) -> Vec<Diagnostic> {
    let unnamed: Vec<&String> = known.iter().filter(|tool| !rows.iter().any(|(row, _)| row == tool)).collect();
    let mut found = Vec::new();
    for (pattern, place) in rows.iter().filter(|(pattern, _)| is_glob(pattern)) {
        let (Ok(wide), Ok(Some(narrow))) = (Glob::new(pattern), Glob::of_tools(pattern)) else { continue };
        let missed = unnamed.iter().filter(|tool| wide.is_match(tool) && !narrow.is_match(tool));
        let missed: Vec<String> = missed.map(|tool| format!("`{tool}`")).collect();
        let more = missed.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let named = missed.get(..MOST_NAMED).unwrap_or(&missed).join(", ");
        if missed.is_empty() {
            continue;
        }
        found.push(
            Diagnostic::warning("glob_stops_at_dot", format!("`{pattern}` does not match {named}{more}"))
                .at(place.clone(), "stops at a dot")
                .help("write `**` to cross dots, or give each tool a row of its own, which says that it is meant"),
        );
    }
    found
}
