//! Lint of `same_if`: an argument that no call has makes no request.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::Value;

use crate::diagnostic::{Diagnostic, nearest};
use crate::playbook::places::Loaded;
use crate::yaml::{MapEntry, NodeKind};
use playproof_engine::glob::Glob;
use playproof_engine::playbook::{ArgumentSchema, ToolRow};

/// The names of the recorded arguments, by tool.
pub type SeenArguments = BTreeMap<String, BTreeSet<String>>;

/// The arguments that make requests of a playbook's tools and are not in the schemas of these.
pub(super) fn unknown_arguments(loaded: &Loaded, found: &mut Vec<Diagnostic>) {
    for (n, row) in loaded.playbook.tools.rows().iter().enumerate() {
        let known = row.schema().and_then(properties);
        let written = known.zip(loaded.places.tool_row(n));
        let said = written.map(|(known, written)| missing(row, written, &known, "its schema"));
        found.extend(said.into_iter().flatten());
    }
}

/// The arguments that make requests of a playbook's tools without a schema and that no recorded call of these has.
pub fn unseen_arguments(loaded: &Loaded, seen: &SeenArguments) -> Vec<Diagnostic> {
    let rows = loaded.playbook.tools.rows().iter().enumerate();
    let rows: Vec<(&ToolRow, &MapEntry)> =
        rows.filter_map(|(n, row)| Some((row, loaded.places.tool_row(n)?))).collect();
    unseen_arguments_of_rows(&rows, seen)
}

/// The same of rows of tool facts, each as it is written.
pub(crate) fn unseen_arguments_of_rows(rows: &[(&ToolRow, &MapEntry)], seen: &SeenArguments) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (row, written) in rows.iter().filter(|(row, _)| row.schema().is_none() && row.identity().is_some()) {
        let glob = Glob::of_tools(&row.pattern).ok().flatten();
        let is_of_row = |tool: &str| glob.as_ref().map_or(row.pattern == tool, |glob| glob.is_match(tool));
        let mut of_row = seen.iter().filter(|(tool, _)| is_of_row(tool)).peekable();
        if of_row.peek().is_some() {
            let known = of_row.flat_map(|(_, names)| names.iter().cloned()).collect();
            found.extend(missing(row, written, &known, "no recorded call of it"));
        }
    }
    found
}

/// The properties that a schema names; none: it names none.
fn properties(schema: &ArgumentSchema) -> Option<BTreeSet<String>> {
    let schema: Value = serde_json::from_str(schema.text()).ok()?;
    Some(schema.get("properties")?.as_object()?.keys().cloned().collect())
}

/// The place of a name in `same_if`, else of the row.
fn place_of(written: &MapEntry, name: &str) -> Range<usize> {
    let Some(same_if) = written.value.entry("same_if").map(|entry| &entry.value) else {
        return written.key_span.clone();
    };
    let items = match &same_if.kind {
        NodeKind::List(items) => items.as_slice(),
        _ => std::slice::from_ref(same_if),
    };
    let is_it = |kind: &NodeKind| matches!(kind, NodeKind::Scalar { text, .. } if **text == *name);
    items.iter().find(|item| is_it(&item.kind)).map_or_else(|| same_if.span.clone(), |item| item.span.clone())
}

fn missing(row: &ToolRow, written: &MapEntry, known: &BTreeSet<String>, of: &str) -> Vec<Diagnostic> {
    let names = row.identity().into_iter().flat_map(|same_if| same_if.names());
    let missing = names.filter(|name| !known.contains(&***name));
    let said = missing.map(|name| {
        let has = if of.starts_with("no ") { format!("{of} has") } else { format!("{of} does not have") };
        let message = format!("`same_if` of `{}` names `{name}`, which {has}", row.pattern);
        let help = match nearest(name, known.iter().map(String::as_str), 3) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "name an argument of its calls: what no call has makes no request".to_owned(),
        };
        Diagnostic::warning("unknown_argument", message)
            .at(place_of(written, name), "makes a request of what no call has")
            .help(help)
    });
    said.collect()
}
