//! The JSON Schema of proposals, for editors. Not what reads them: reading says more.

use serde_json::{Value, json};

use crate::golden::Class;
use crate::playbook;

/// The JSON Schema of a `proposal.yaml`; verdicts and rules are those of a playbook.
pub fn schema() -> Value {
    let mut of_playbook = playbook::schema();
    let mut defs = of_playbook["$defs"].take();
    defs["operation"] = operation(&of_playbook["properties"]["limits"]["properties"]);
    let classes = Class::WORDS;
    json!({
        "$schema": of_playbook["$schema"],
        "title": "Playproof proposal",
        "description": "A change of a playbook that waits for review.",
        "type": "object",
        "additionalProperties": false,
        "required": ["format", "playbook", "base", "operations"],
        "properties": {
            "format": { "const": "proposal/1" },
            "playbook": words("The playbook that it changes: a name, or a path."),
            "base": {
                "type": "string",
                "pattern": "^[0-9a-f]{64}$",
                "description": "The fingerprint of the playbook that it was made for; `propose rebase` writes another.",
            },
            "operations": {
                "type": "array",
                "minItems": 1,
                "items": { "$ref": "#/$defs/operation" },
                "description": "What it does, in order.",
            },
            "expect": {
                "type": "object",
                "additionalProperties": { "enum": classes },
                "description": "The goldens that it changes, as PLAYBOOK/FIXTURE, and the worst that may change in each.",
            },
            "reason": words("Why a guard that it weakens may be weaker."),
        },
        "$defs": defs,
    })
}

fn operation(limits: &Value) -> Value {
    let known: Vec<&String> = limits.as_object().into_iter().flat_map(|limits| limits.keys()).collect();
    let verdict = json!({
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": { "$ref": "#/$defs/verdict" },
        "description": "A verdict that was not there, by its name.",
    });
    let parts: Vec<Value> = PARTS.iter().map(|part| json!({ "required": [part] })).collect();
    let places = json!([{ "required": ["before"] }, { "required": ["after"] }]);
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "add_verdict": verdict,
            "add_rule": { "$ref": "#/$defs/rule" },
            "move_rule": words("The rule that goes to another place."),
            "remove_rule": words("The rule that goes, with the comment above it."),
            "remove_verdict": words("The verdict that goes, with the comment above it; no rule gives it any more."),
            "add_queue": words("A queue that was not there."),
            "change_verdict": words("The verdict that changes, with its new `means`, `effect` or `then` beside it."),
            "change_limit": { "enum": known, "description": "The limit that changes, with `to` beside it." },
            "comment": words("For people who read the playbook; written above what is added."),
            "before": words("The rule before which this one goes."),
            "after": words("The rule after which this one goes."),
            "to": { "type": "integer", "minimum": 0, "description": "The new value of the limit." },
            "means": { "$ref": "#/$defs/verdict/properties/means" },
            "effect": { "$ref": "#/$defs/verdict/properties/effect" },
            "then": { "$ref": "#/$defs/verdict/properties/then" },
        },
        "oneOf": [
            with("add_verdict", &["comment"]),
            with("add_rule", &["comment", "before", "after"]),
            { "allOf": [with("move_rule", &["before", "after"]), { "oneOf": places }] },
            with("remove_rule", &[]),
            with("remove_verdict", &[]),
            with("add_queue", &[]),
            { "allOf": [with("change_verdict", PARTS), { "anyOf": parts }] },
            { "allOf": [with("change_limit", &["to"]), { "required": ["to"] }] },
        ],
        "not": { "required": ["before", "after"] },
    })
}

const PARTS: &[&str] = &["means", "effect", "then"];

/// An operation of this kind: these keys may stand beside it.
fn with(step: &str, beside: &[&str]) -> Value {
    let known = std::iter::once(&step).chain(beside);
    json!({ "required": [step], "propertyNames": { "enum": known.collect::<Vec<_>>() } })
}

fn words(description: &str) -> Value {
    json!({ "type": "string", "pattern": "\\S", "description": description })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposal::parse::{KEYS, STEP, STEPS};

    fn keys(of: &Value) -> Vec<&str> {
        of["properties"].as_object().into_iter().flat_map(|known| known.keys()).map(String::as_str).collect()
    }

    fn sorted(known: &[&'static str]) -> Vec<&'static str> {
        let mut known = known.to_vec();
        known.sort_unstable();
        known
    }

    #[test]
    fn the_schema_has_every_key_that_the_reader_knows() {
        let schema = schema();
        let operation = &schema["$defs"]["operation"];
        assert_eq!(keys(&schema), sorted(KEYS));
        assert_eq!(keys(operation), sorted(STEP));
        assert_eq!(operation["oneOf"].as_array().map(Vec::len), Some(STEPS.len()));
        let limits = operation["properties"]["change_limit"]["enum"].as_array();
        assert_eq!(limits.map(Vec::len), Some(2), "{limits:?}");
    }

    #[test]
    fn every_reference_of_the_schema_is_defined() {
        let schema = schema();
        for reference in schema.to_string().split("\"#/").skip(1) {
            let place = format!("/{}", reference.split('"').next().unwrap_or_default());
            assert!(schema.pointer(&place).is_some(), "{place}");
        }
    }
}
