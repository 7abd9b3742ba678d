//! Tool facts: the `tools` of a playbook, and the tool facts file.

use std::sync::Arc;

use crate::arguments;
use crate::arguments::Schema;
use crate::diagnostic::Diagnostic;
use crate::playbook::places::ToolPlaces;
use crate::playbook::syntax;
use crate::yaml::{Cursor, Key, shorten};
use playproof_engine::playbook::{
    ArgumentSchema, DEFAULT_TIMEOUT, MOST_ATTEMPTS, OmittedFacts, ToolFacts, ToolRow, Tools,
};

/// A tool facts file.
pub(in crate::playbook) fn tools_file(root: Cursor<'_>) -> Option<(Tools, Vec<ToolPlaces>)> {
    let record = root.record("a tool facts file", syntax::TOOLS_FILE)?;
    let format = record.format(syntax::TOOLS_FORMAT)?;
    let tools = record.required("tools").and_then(tools);
    format?;
    tools
}

/// Tool facts by name or glob, with their places.
pub(super) fn tools(at: Cursor<'_>) -> Option<(Tools, Vec<ToolPlaces>)> {
    let entries = at.entries("`tools`")?;
    if entries.clone().count() > syntax::MOST_TOOLS {
        at.wrong("too_many", format!("there are more than {} tools", syntax::MOST_TOOLS), "");
        return None;
    }
    let rows: Vec<Option<(ToolRow, ToolPlaces)>> = entries.map(|(name, facts)| row(&name, facts)).collect();
    let (rows, places) = rows.into_iter().collect::<Option<Vec<_>>>()?.into_iter().unzip();
    Some((Tools::new(rows), places))
}

/// The check of a schema, for the engine.
pub(super) fn argument_schema(schema: Schema) -> ArgumentSchema {
    let text = schema.canonical().to_string();
    ArgumentSchema::new(text, schema.is_loose(), schema.example_object().to_string(), move |args| schema.check(args))
}

fn row(name: &Key<'_>, at: Cursor<'_>) -> Option<(ToolRow, ToolPlaces)> {
    let record = at.record("a tool", syntax::TOOL)?;
    let access = record.required("access").and_then(|access| access.word(&syntax::ACCESS));
    let fact = |key| record.optional(key).map_or(Some(false), Cursor::bool);
    let (idempotent, repeatable) = (fact("idempotent"), fact("repeatable"));
    let timeout = record.optional("timeout_ms").map_or(Some(DEFAULT_TIMEOUT), |t| t.duration_ms(syntax::LONGEST_WAIT));
    let ignores_keys = record.optional("keys").map_or(Some(false), |at| at.word(&syntax::KEYS));
    let needs_key = record.optional("key").map_or(Some(false), |at| at.word(&syntax::KEY));
    let server = record.optional("server").map_or(Some(None), |at| at.words().map(|name| Some(Arc::from(name))));
    let upstream_retries = record.optional("upstream_retries").map_or(Some(0), |at| at.count(0..=MOST_ATTEMPTS));
    let schema = record.optional("schema").map_or(Some(None), |at| arguments::schema(at).map(Some));
    if name.text.trim().is_empty() {
        let message = format!("`{}` is not a tool name", shorten(name.text));
        at.report(Diagnostic::error("bad_name", message).at(name.span.clone(), "not a name"));
        return None;
    }
    let facts = ToolFacts {
        access: access?,
        idempotent: idempotent?,
        repeatable: repeatable?,
        timeout: timeout?,
        ignores_keys: ignores_keys?,
        needs_key: needs_key?,
        resends: false, // `retried_upstream` says it
        declared: true,
        seems_to_read: false,
    };
    let is_omitted = |key| record.optional(key).is_none();
    let omitted = OmittedFacts {
        idempotent: is_omitted("idempotent"),
        repeatable: is_omitted("repeatable"),
        timeout: is_omitted("timeout_ms"),
        keys: is_omitted("keys"),
        key: is_omitted("key"),
    };
    let (server, upstream_retries) = (server?, upstream_retries?);
    let schema = schema?.map(argument_schema);
    let row = ToolRow::new(name.text, facts);
    let row = row.map(|row| row.omitting(omitted).taking(schema).of_server(server).retried_upstream(upstream_retries));
    match row {
        Ok(row) => {
            let place = |key: &'static str| Some((key, record.optional(key)?.span()));
            let facts = syntax::TOOL.iter().filter_map(|key| place(key)).collect();
            Some((row, ToolPlaces { name: name.span.clone(), facts }))
        }
        Err(why) => {
            let message = format!("`{}` is not a valid glob: {why}", shorten(name.text));
            at.report(Diagnostic::error("bad_glob", message).at(name.span.clone(), "not a glob"));
            None
        }
    }
}
