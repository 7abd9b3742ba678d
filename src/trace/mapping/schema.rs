//! The JSON Schema of mapping files, for editors and for people: with the README it is all that one needs to write a
//! mapping. Written by hand: the reader asks a cursor, not serde.

use serde_json::{Map, Value, json};

const ABOUT: &str = "A mapping says where the parts of a tool call and of its result stand in the rows of your log. A \
row is a JSON object: a line of JSON Lines, or an item of the list that `records` leads to. Of each row it is asked \
whether it is a call (`call`), a result (`result`), both, or neither; rows that are neither are counted and left out. \
`playproof init --from LOG` drafts a mapping; `playproof replay LOG --map FILE` applies one.";

const PATH: &str = "Where a value stands in a row: the keys on the way, with dots between them, `[0]` for the first item \
of a list, and `[\"...\"]` round a key that has dots itself. A path that leads nowhere is no error: the part is \
missing in that row.";

const CONDITIONS: &str = "One condition, or a list of conditions of which one must hold.";

const CONDITION: &str = "Paths into the row, each with what its value must be; all must hold.";

const TESTED: &str = "What a value must be: a value, a list of which it must be one, or tests that must all hold. A \
number may be a range such as 500-599; `true` and `\"true\"`, or 7 and `\"7\"`, are the same.";

/// Parts of `call`: the key, what it is, and an example.
const OF_CALL: [(&str, &str, &str); 8] = [
    (
        "run",
        "The agent run, session or conversation that the call belongs to. Calls of one run are looked at together.",
        "trace_id",
    ),
    ("id", "What its result names it by. Not needed where call and result are one row.", "span_id"),
    ("tool", "The name of the tool that is called.", "attributes[\"tool.name\"]"),
    ("args", "The arguments: an object, or a text that holds one as JSON.", "input.arguments"),
    ("at", "When the call was made; `time` says in which unit.", "ts"),
    ("key", "The idempotency key that was sent with it, if one was.", "headers[\"idempotency-key\"]"),
    ("evidence", "References to what the call was decided on: a list, or a single one.", "evidence_refs"),
    ("token", "The token with which the upstream takes the effect back, if it gives one.", "reversal_token"),
];

/// Parts of `result`, likewise.
const OF_RESULT: [(&str, &str, &str); 13] = [
    (
        "run",
        "The run, where results name it by another path than calls; otherwise that of `call` is used.",
        "context.trace_id",
    ),
    ("id", "The id of the call that it answers, where results name it by another path than calls.", "parent_id"),
    ("attempt", "Which attempt of the call it answers, from 1; without it the results of a call count up.", "try"),
    ("started", "When the attempt began.", "started_at"),
    ("at", "When the answer came.", "ended_at"),
    (
        "latency_ms",
        "How long the attempt took, in milliseconds. Of beginning, end and this, two are enough.",
        "took_ms",
    ),
    ("body", "The whole answer. It is the message of a failure where `message` finds none.", "output"),
    ("message", "The text of the error: what the rules of a playbook look at first.", "error.message"),
    ("status", "The HTTP status, as a number.", "response.status"),
    ("code", "The upstream's own code for the error.", "error.code"),
    (
        "kind",
        "The name of the error where the log has one already; `kinds`, if one of them holds, wins over it.",
        "error.type",
    ),
    ("retry_after_ms", "How long the upstream asked to wait, in milliseconds.", "error.retry_after_ms"),
    ("retry_after_s", "The same in seconds; only one of the two.", "headers[\"retry-after\"]"),
];

/// The JSON Schema of `format: mapping/1`.
pub fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Playproof mapping: how the rows of a foreign log become a trace",
        "description": ABOUT,
        "examples": [example()],
        "type": "object",
        "additionalProperties": false,
        "required": ["format", "call"],
        "properties": {
            "format": { "const": "mapping/1", "description": "What this file is.", "examples": ["mapping/1"] },
            "records": path(
                "Where the rows lie, for a log that is one JSON document (or documents) and not a row a line; `[*]` \
                 stands for every item of a list.",
                "runs[*].events[*]",
            ),
            "time": {
                "enum": ["s", "ms", "us", "ns", "iso"],
                "description": "What a time in the log is: seconds, milliseconds, microseconds or nanoseconds since any \
                                moment, or ISO 8601. Without it a number is milliseconds, and a text is ISO 8601.",
                "examples": ["ms"],
            },
            "call": section(
                "Which rows are calls, and where the parts of a call stand.",
                &["tool"],
                where_(
                    "Which rows are calls; without it every row in which `tool` leads to something.",
                    json!({ "event": "tool_start" }),
                ),
                &OF_CALL,
            ),
            "result": section(
                "Which rows are results, and where the parts of a result stand. A row may be both, call and result. \
                 With this, `failed` is needed too.",
                &[],
                where_("Which rows are results; without it every row.", json!({ "event": "tool_end" })),
                &OF_RESULT,
            ),
            "failed": conditions(
                "Which results are failures. All others went well.",
                json!([{ "ok": false }, { "output": { "starts_with": "Error:" } }]),
            ),
            "kinds": {
                "type": "object",
                "additionalProperties": { "$ref": "#/$defs/conditions" },
                "description": "Names for failures, such as those that the rules of a playbook ask for: of those whose \
                                condition holds, the first. In these conditions `message`, `status` and `code` are what \
                                `result` found under that name; anything else is a path into the row. The rules of the \
                                playbook `standard` know timeout, 5xx, rate_limited, 409_conflict, 403_forbidden, \
                                412_precondition, schema_validation, tool_error and more: see `classify` in the \
                                playbook that `playproof init` writes.",
                "examples": [{ "timeout": { "message": { "contains": "timed out" } }, "rate_limited": { "status": 429 } }],
            },
        },
        "dependentRequired": { "result": ["failed"] },
        "$defs": definitions(),
    })
}

fn definitions() -> Value {
    json!({
        "path": { "type": "string", "description": PATH, "examples": ["error.code", "calls[0].name", "attributes[\"http.status\"]"] },
        "conditions": {
            "description": CONDITIONS,
            "oneOf": [
                { "$ref": "#/$defs/condition" },
                { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/condition" } },
            ],
        },
        "condition": {
            "type": "object",
            "description": CONDITION,
            "examples": [{ "event": "tool_end", "try": 1 }],
            "minProperties": 1,
            "additionalProperties": { "$ref": "#/$defs/test" },
        },
        "value": { "type": ["string", "number", "boolean", "null"], "description": "A single value; `null` is one that is not there." },
        "test": {
            "description": TESTED,
            "examples": ["tool_end", [408, 504], "500-599", { "contains": ["timed out", "timeout"] }, { "absent": true }],
            "oneOf": [
                { "$ref": "#/$defs/value" },
                { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/value" } },
                { "type": "object", "additionalProperties": false, "minProperties": 1, "properties": tests() },
            ],
        },
        "texts": {
            "description": "A text, or a list of texts of which one must fit.",
            "oneOf": [
                { "type": ["string", "number", "boolean"] },
                { "type": "array", "minItems": 1, "items": { "type": ["string", "number", "boolean"] } },
            ],
        },
    })
}

fn tests() -> Value {
    let text =
        |about: &str, example: &str| json!({ "$ref": "#/$defs/texts", "description": about, "examples": [example] });
    json!({
        "equals": text("It is this text.", "gave up"),
        "contains": text("It has this text in it.", "timed out"),
        "starts_with": text("It begins with this text.", "Error:"),
        "matches": text("This regular expression matches in it.", "^HTTP 5\\d\\d"),
        "absent": {
            "type": "boolean",
            "description": "`true`: it is not there, or null; `false`: it is.",
            "examples": [true],
        },
        "case": {
            "enum": ["sensitive", "ignored"],
            "description": "Whether the texts beside it must be written alike; without it case is ignored.",
            "examples": ["sensitive"],
        },
    })
}

fn path(about: &str, example: &str) -> Value {
    json!({ "$ref": "#/$defs/path", "description": about, "examples": [example] })
}

fn conditions(about: &str, example: Value) -> Value {
    json!({ "$ref": "#/$defs/conditions", "description": about, "examples": [example] })
}

fn where_(about: &str, example: Value) -> (String, Value) {
    ("where".to_owned(), conditions(about, example))
}

fn section(about: &str, required: &[&str], first: (String, Value), parts: &[(&str, &str, &str)]) -> Value {
    let parts = parts.iter().map(|(key, about, example)| ((*key).to_owned(), path(about, example)));
    let properties: Map<String, Value> = std::iter::once(first).chain(parts).collect();
    json!({
        "type": "object",
        "description": about,
        "additionalProperties": false,
        "required": required,
        "properties": properties,
    })
}

/// A whole mapping: of a log in which a call is one row and its result another.
fn example() -> Value {
    json!({
        "format": "mapping/1",
        "time": "ms",
        "call": {
            "where": { "event": "tool_start" },
            "run": "trace_id",
            "id": "span_id",
            "tool": "name",
            "args": "input",
            "at": "ts",
        },
        "result": { "where": { "event": "tool_end" }, "id": "span_id", "at": "ts", "body": "output", "status": "http.status" },
        "failed": [{ "ok": false }, { "output": { "starts_with": "Error:" } }],
        "kinds": { "timeout": { "message": { "contains": "timed out" } }, "rate_limited": { "status": 429 } },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Source;
    use crate::trace::mapping::lower::{CALL, RESULT, TEST, TOP};
    use crate::trace::mapping::parse;

    /// Every map of properties, and what is described in it.
    fn described(schema: &Value, at: &str, found: &mut Vec<String>) {
        let Value::Object(fields) = schema else {
            if let Value::Array(items) = schema {
                items.iter().for_each(|item| described(item, at, found));
            }
            return;
        };
        for (key, value) in fields {
            let at = format!("{at}/{key}");
            if key == "properties" {
                for (name, property) in value.as_object().expect("properties") {
                    let at = format!("{at}/{name}");
                    assert!(property["description"].as_str().is_some_and(|text| text.len() > 10), "{at}");
                    let example = property["examples"].as_array().is_some_and(|all| !all.is_empty());
                    assert!(example || property["properties"].is_object(), "{at} has no example");
                    found.push(name.clone());
                }
            }
            described(value, &at, found);
        }
    }

    #[test]
    fn every_property_is_described_with_an_example() {
        let mut found = Vec::new();
        described(&schema(), "", &mut found);
        for key in TOP.iter().chain(&CALL).chain(&RESULT).chain(&TEST) {
            assert!(found.iter().any(|name| name == key), "{key}");
        }
    }

    #[test]
    fn every_example_is_one_that_the_reader_takes() {
        let read = |mapping: Value| parse(Source::whole("m", mapping.to_string())).map_err(|report| report.to_string());
        assert_eq!(read(example()).map(drop), Ok(()));
        let shown = schema();
        for (key, property) in shown["properties"].as_object().expect("properties") {
            let mut mapping = example();
            match property["properties"].as_object() {
                None => mapping[key] = property["examples"][0].clone(),
                Some(parts) => {
                    for (part, about) in parts.iter().filter(|(part, _)| *part != "retry_after_s") {
                        mapping[key][part] = about["examples"][0].clone();
                    }
                }
            }
            assert_eq!(read(mapping).map(drop), Ok(()), "{key}");
        }
        for test in shown["$defs"]["test"]["examples"].as_array().expect("examples") {
            let mut mapping = example();
            mapping["failed"] = json!({ "x": test });
            assert_eq!(read(mapping).map(drop), Ok(()), "{test}");
        }
        for (name, test) in shown["$defs"]["test"]["oneOf"][2]["properties"].as_object().expect("tests") {
            let mut mapping = example();
            mapping["failed"] = json!({ "x": { "contains": "y", name: test["examples"][0] } });
            assert_eq!(read(mapping).map(drop), Ok(()), "{name}");
        }
    }
}
