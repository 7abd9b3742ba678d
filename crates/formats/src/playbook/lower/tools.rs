//! Tool facts: the `tools` of a playbook, and of the tool facts file.

use std::sync::Arc;

use crate::arguments;
use crate::arguments::Schema;
use crate::diagnostic::Diagnostic;
use crate::named_arguments;
use crate::schema::At;
use crate::yaml::{Key, shorten};
use playproof_engine::glob::is_glob;
use playproof_engine::playbook::{Access, ArgumentSchema, OmittedFacts, SameIf, ToolFacts, ToolRow, Tools};

/// The most globs among the tools of a file; there may be many more names.
const MOST_GLOBS: usize = 1_000;

/// The `tools` of a file, by name or glob.
pub(in crate::playbook) fn tools(root: At<'_>) -> Option<Tools> {
    let entries = root.get("tools").into_iter().flat_map(At::entries);
    if let Some((name, at)) = entries.clone().filter(|(name, _)| is_glob(name.text)).nth(MOST_GLOBS) {
        let message = format!("more than {MOST_GLOBS} globs; each tool of a recording is compared with every one");
        at.report(Diagnostic::error("too_many", message).at(name.span, "one too many").help("write names"));
        return None;
    }
    let rows: Vec<Option<ToolRow>> = entries.map(|(name, facts)| row(&name, facts)).collect();
    rows.into_iter().collect::<Option<_>>().map(Tools::new)
}

/// The check of a schema, for the engine.
pub(super) fn argument_schema(schema: Schema) -> ArgumentSchema {
    let text = schema.canonical().to_string();
    ArgumentSchema::new(text, schema.is_loose(), schema.example_object().to_string(), move |args| schema.check(args))
}

fn row(name: &Key<'_>, at: At<'_>) -> Option<ToolRow> {
    let schema = at.optional("schema", arguments::schema);
    let facts = ToolFacts {
        access: at.word("access", Access::parse)?,
        idempotent: at.field("idempotent")?.flag()?,
        repeatable: at.field("repeatable")?.flag()?,
        timeout: at.field("timeout_ms")?.millis()?,
        ignores_keys: at.says("keys", "ignored")?,
        needs_key: at.says("key", "required")?,
        never_retried: at.says("retry", "never")?,
        across_runs: at.optional("same_across", At::text)?.is_some_and(|word| word == "runs"),
        once: at.says("once", "transaction")?,
        resends: false, // `retried_upstream` says it
        declared: true,
        seems_to_read: false,
    };
    if facts.never_retried && !facts.adds_effects() {
        let message = "`retry: never` is for a write that is not idempotent: any other request can be sent again";
        let span = at.key_span("retry").unwrap_or_default();
        at.report(Diagnostic::error("retry_never", message).at(span, "of what can be sent again"));
        return None;
    }
    let same_if = at.optional("same_if", same_if)?;
    if facts.repeatable && !refuse_repeatable(at) {
        return None;
    }
    let is_omitted = |key| at.get(key).is_none();
    let omitted = OmittedFacts {
        idempotent: is_omitted("idempotent"),
        repeatable: is_omitted("repeatable"),
        timeout: is_omitted("timeout_ms"),
        keys: is_omitted("keys"),
        key: is_omitted("key"),
        retry: is_omitted("retry"),
        across: is_omitted("same_across"),
        once: is_omitted("once"),
    };
    let server = at.optional("server", At::text)?.map(Arc::from);
    let upstream_retries = at.number("upstream_retries")?;
    let schema = schema?.map(argument_schema);
    let row = ToolRow::new(name.text, facts);
    let row = row.map(|row| row.omitting(omitted).taking(schema).of_server(server).same_if(same_if));
    match row.map(|row| row.retried_upstream(upstream_retries)) {
        Ok(row) => Some(row),
        Err(why) => {
            let message = format!("`{}` is not a valid glob: {why}", shorten(name.text));
            at.report(Diagnostic::error("bad_glob", message).at(name.span.clone(), "not a glob"));
            None
        }
    }
}

/// The arguments that make a request.
pub(crate) fn same_if(at: At<'_>) -> Option<SameIf> {
    let names: Vec<Box<str>> = at.all(|at| at.text().map(Box::from))?;
    let twice = at.one_or_many().into_iter().enumerate().find(|(n, at)| {
        let before = names.get(..*n).unwrap_or_default();
        at.text().is_some_and(|name| before.iter().any(|known| **known == *name))
    });
    if let Some((_, again)) = twice {
        let name = shorten(again.text().unwrap_or_default());
        let message = format!("`same_if` names `{name}` twice");
        let said = Diagnostic::error("duplicate_name", message).at(again.span(), "named before");
        again.report(said.help("leave one of both out"));
        return None;
    }
    Some(SameIf::new(names, named_arguments::normal))
}

/// Refuses to say what makes a request of a tool of which each call is one.
pub(crate) fn refuse_repeatable(at: At<'_>) -> bool {
    let Some(key) = ["same_if", "same_across", "once"].into_iter().find(|key| at.get(key).is_some()) else {
        return true;
    };
    let message = format!("each call of a `repeatable` tool is a request of its own: `{key}` says nothing");
    let said = Diagnostic::error("same_if_repeatable", message);
    at.report(said.at(at.key_span(key).unwrap_or_default(), "of a `repeatable` tool").help("keep one of both"));
    false
}
