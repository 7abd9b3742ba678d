//! The JSON Schemas of playbooks and tool facts files, for editors. Not what reads them: reading says more.

use serde_json::{Map, Value, json};

use super::model::{Ask, Form, MOST_ATTEMPTS};
use super::syntax;
use crate::event::{CompensationWord, EffectClaim};
use crate::time::Duration;

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The JSON Schema of a playbook.
pub fn schema() -> Value {
    let mut schema = object(
        &["format", "name", "verdicts", "classify"],
        &[
            ("format", json!({ "const": syntax::FORMAT })),
            ("name", text("Its own name; a `/` is a folder.")),
            ("verdicts", map_of("verdict", "What a failure can mean, by name; each has one compensation.")),
            ("classify", list_of(&reference("rule"), "The first rule that matches gives the verdict.")),
            ("otherwise", text("The verdict of failures that no rule matches; left out: `unclassified`.")),
            ("default_queue", text("Where guards escalate that do not say otherwise.")),
            ("queues", list_of(&json!({ "type": "string" }), "Where calls can wait for a human.")),
            ("tools", map_of("tool", "What is known of tools, by name or glob.")),
            ("limits", limits()),
            ("study", study()),
        ],
    );
    schema["$schema"] = json!(DRAFT);
    schema["title"] = json!("Playproof playbook");
    schema["description"] = json!("What each failure means, what it says about the effect, and what follows.");
    schema["$defs"] = json!({
        "verdict": object(&["means", "effect", "then"], &[
            ("means", text("For people: what has happened.")),
            ("effect", words(&EffectClaim::TABLE, "What this failure says about the effect.")),
            ("then", reference("compensation")),
        ]),
        "rule": object(&["rule", "when", "verdict"], &[
            ("rule", text("Its name, as it appears in events and goldens.")),
            ("when", reference("when")),
            ("verdict", text("The verdict that it gives.")),
        ]),
        "when": when(),
        "message": message(),
        "compensation": one_of(&CompensationWord::WORDS.map(|kind| (kind, reference(kind)))),
        "instead": one_of(&ENDS.map(|kind| (kind, reference(kind)))),
        "end": one_of(&[ENDS[0], ENDS[1]].map(|kind| (kind, reference(kind)))),
        "retry_with_backoff": retry(),
        "refresh_evidence": object(&[], &[
            ("then", words(&syntax::AFTER_REFRESH, "What follows a refresh that worked; left out: `retry`.")),
            ("max_refreshes", whole(1, MOST_ATTEMPTS, "Refreshes that one call may take; left out: 1.")),
            ("on_unsafe", reference("instead")),
        ]),
        "escalate_to_human": object(&["queue"], &[("queue", text("A declared queue."))]),
        "issue_reversal": object(&["reason"], &[
            ("reason", text("Why the effect is taken back.")),
            ("on_refused", reference("end")),
        ]),
        "deprecate_tool_call": object(&["reason"], &[
            ("reason", text("Why the call is given up.")),
            ("replan", json!({ "const": true, "description": "The planner reconciles against the upstream." })),
        ]),
        "tool": tool(),
    });
    schema
}

/// The JSON Schema of a tool facts file.
pub fn tools_schema() -> Value {
    let said =
        "What is known of tools, by name or glob. What a row leaves out stays as the playbook says, if it says it.";
    let mut schema = object(
        &["format", "tools"],
        &[("format", json!({ "const": syntax::TOOLS_FORMAT })), ("tools", map_of("tool", said))],
    );
    schema["$schema"] = json!(DRAFT);
    schema["title"] = json!("Playproof tool facts");
    schema["$defs"] = json!({ "tool": tool() });
    schema
}

/// What can end a call, and what can take its effect back.
const ENDS: [&str; 3] = ["escalate_to_human", "deprecate_tool_call", "issue_reversal"];

fn retry() -> Value {
    let wait = millis(syntax::LONGEST_WAIT, "");
    let waits = json!({
        "type": "array", "minItems": 1, "maxItems": syntax::MOST_WAITS, "items": wait,
        "description": "The waits before the retries, in milliseconds; the last one holds for all further retries.",
    });
    object(
        &["backoff_ms"],
        &[
            ("backoff_ms", waits),
            ("max_retries", whole(1, MOST_ATTEMPTS, "Retries of one call; left out: the length of the list.")),
            ("after", words(&syntax::AFTER, "Whether the upstream's wish lengthens the wait; left out: `backoff`.")),
            ("max_wait_ms", millis(syntax::LONGEST_WAIT, "The longest wait that the upstream may ask for.")),
            ("on_unsafe", reference("instead")),
        ],
    )
}

fn when() -> Value {
    let mut when = object(&[], &Ask::ALL.map(|ask| (ask.as_str(), condition(ask))));
    when["minProperties"] = json!(1);
    when["description"] = json!("All that is written must hold; lists are \"any of\".");
    when
}

fn condition(ask: Ask) -> Value {
    let string = json!({ "type": "string", "minLength": 1 });
    match ask.form() {
        Form::Texts | Form::Globs => any_of(&string, ask.means()),
        Form::Ranges(first, last) => {
            let range = json!({ "anyOf": [
                { "type": "integer", "minimum": first, "maximum": last },
                { "type": "string", "pattern": "^\\s*\\d+\\s*-\\s*\\d+\\s*$" },
            ] });
            any_of(&range, ask.means())
        }
        Form::Messages => reference("message"),
        Form::Access => words(&syntax::ACCESS, ask.means()),
        Form::Bool => boolean(ask.means()),
        Form::Presence => words(&syntax::PRESENCE, ask.means()),
        Form::Absence => json!({ "const": "absent", "description": ask.means() }),
    }
}

fn message() -> Value {
    let string = json!({ "type": "string", "minLength": 1 });
    let mut message = object(
        &[],
        &[
            ("contains", any_of(&string, "One of these is somewhere in the message.")),
            ("starts_with", any_of(&string, "The message begins with one of these.")),
            ("equals", any_of(&string, "The message is one of these.")),
            ("matches", any_of(&string, "One of these regular expressions matches somewhere.")),
            ("case", words(&syntax::CASE_SENSITIVE, "Whether letters must agree in case; left out: they need not.")),
        ],
    );
    message["anyOf"] = ["contains", "starts_with", "equals", "matches"].map(|op| json!({ "required": [op] })).into();
    message
}

fn tool() -> Value {
    object(
        &["access"],
        &[
            ("access", words(&syntax::ACCESS, "Whether it changes the upstream.")),
            ("idempotent", boolean("Whether doing it twice is doing it once; said nowhere: no.")),
            ("repeatable", boolean("Whether each call is meant anew, even with the same arguments; said nowhere: no.")),
            ("timeout_ms", millis(syntax::LONGEST_WAIT, "The timeout of an attempt; said nowhere: 30000.")),
        ],
    )
}

fn limits() -> Value {
    let most = format!("Attempts of one call, the first included; left out: {}.", syntax::DEFAULT_MAX_ATTEMPTS);
    let deadline = "From the call's start to the last moment at which an attempt may start; left out: no bound.";
    object(
        &[],
        &[
            ("max_attempts", whole(1, MOST_ATTEMPTS, &most)),
            ("deadline_ms", millis(syntax::LONGEST_DEADLINE, deadline)),
        ],
    )
}

fn study() -> Value {
    // Editors that read YAML 1.1 take `off` for `false`.
    let off = |description: &str| json!({ "enum": ["off", false], "description": description });
    let only = |word: &str, description: &str| json!({ "const": word, "description": description });
    let mut study = object(
        &["why"],
        &[
            ("why", text("Why the playbook exists.")),
            ("reclassify", only("first_failure", "Later failures are classified and shown, but not obeyed.")),
            ("retry_guard", off("Unsafe retries are sent.")),
            ("token_guard", off("Reversals are sent without a token.")),
            ("refused_reversal", only("exhausted", "A refused reversal ends the call without anyone being told.")),
            ("futile_refresh", only("deprecated", "A call is given up after its last refresh did not help.")),
            ("stale_evidence", only("resent", "The retry after a refresh carries the refused evidence.")),
            ("final_error", only("first", "The outcome carries the first error only.")),
        ],
    );
    study["description"] = json!("Unsafe switches: a playbook with this block is for study, not for use.");
    study
}

fn object(required: &[&str], properties: &[(&str, Value)]) -> Value {
    let properties: Map<String, Value> =
        properties.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    json!({ "type": "object", "additionalProperties": false, "required": required, "properties": properties })
}

/// A map with exactly one of the entries.
fn one_of(entries: &[(&str, Value)]) -> Value {
    let mut object = object(&[], entries);
    object["minProperties"] = json!(1);
    object["maxProperties"] = json!(1);
    object
}

fn reference(definition: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{definition}") })
}

fn map_of(definition: &str, description: &str) -> Value {
    json!({ "type": "object", "additionalProperties": reference(definition), "description": description })
}

fn list_of(item: &Value, description: &str) -> Value {
    json!({ "type": "array", "items": item, "description": description })
}

fn any_of(item: &Value, description: &str) -> Value {
    json!({ "anyOf": [item, { "type": "array", "minItems": 1, "items": item }], "description": description })
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "description": description })
}

fn boolean(description: &str) -> Value {
    json!({ "type": "boolean", "description": description })
}

fn words<T>(table: &[(&str, T)], description: &str) -> Value {
    let words: Vec<&str> = table.iter().map(|(word, _)| *word).collect();
    json!({ "enum": words, "description": description })
}

fn whole(least: u64, most: u64, description: &str) -> Value {
    json!({ "type": "integer", "minimum": least, "maximum": most, "description": description })
}

fn millis(longest: Duration, description: &str) -> Value {
    whole(0, longest.as_millis(), format!("{description} In milliseconds.").trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schema: &Value, known: &[&str]) {
        let keys = schema["properties"].as_object().expect("properties").keys();
        let mut known = known.to_vec();
        known.sort_unstable();
        assert_eq!(keys.collect::<Vec<_>>(), known);
    }

    #[test]
    fn the_schema_has_every_key_that_the_reader_knows() {
        let schema = schema();
        let defs = &schema["$defs"];
        check(&schema, syntax::PLAYBOOK);
        check(&defs["verdict"], syntax::VERDICT);
        check(&defs["rule"], syntax::RULE);
        check(&defs["when"], &Ask::WORDS);
        check(&defs["message"], syntax::MESSAGE);
        check(&defs["compensation"], &CompensationWord::WORDS);
        check(&defs["retry_with_backoff"], syntax::RETRY);
        check(&defs["refresh_evidence"], syntax::REFRESH);
        check(&defs["escalate_to_human"], syntax::ESCALATE);
        check(&defs["issue_reversal"], syntax::REVERSAL);
        check(&defs["deprecate_tool_call"], syntax::DEPRECATE);
        check(&defs["tool"], syntax::TOOL);
        check(&schema["properties"]["limits"], syntax::LIMITS);
        check(&schema["properties"]["study"], syntax::STUDY);
        check(&tools_schema(), syntax::TOOLS_FILE);
    }

    #[test]
    fn every_reference_of_a_schema_is_defined() {
        for schema in [schema(), tools_schema()] {
            let text = schema.to_string();
            for reference in text.split("#/$defs/").skip(1) {
                let name = reference.split('"').next().unwrap_or_default();
                assert!(schema["$defs"].get(name).is_some(), "{name}");
            }
        }
    }
}
