//! The JSON Schema of mapping files, for editors. Written by hand: the reader asks a cursor, not serde.

use serde_json::{Value, json};

/// The JSON Schema of `format: mapping/1`.
pub fn schema() -> Value {
    let path = || json!({ "$ref": "#/$defs/path" });
    let conditions = || json!({ "$ref": "#/$defs/conditions" });
    let section = |required: &[&str], paths: &[&str]| {
        let mut properties: serde_json::Map<String, Value> =
            paths.iter().map(|name| ((*name).to_owned(), path())).collect();
        properties.insert("where".into(), conditions());
        json!({ "type": "object", "additionalProperties": false, "required": required, "properties": properties })
    };
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Playproof mapping: how the rows of a foreign log become a trace",
        "type": "object",
        "additionalProperties": false,
        "required": ["format", "call"],
        "properties": {
            "format": { "const": "mapping/1" },
            "records": path(),
            "time": { "enum": ["s", "ms", "us", "ns", "iso"] },
            "call": section(&["tool"], &["run", "id", "tool", "args", "at", "key", "evidence", "token"]),
            "result": section(&[], &[
                "run", "id", "attempt", "started", "at", "latency_ms", "body", "message", "status", "code", "kind",
                "retry_after_ms", "retry_after_s",
            ]),
            "failed": conditions(),
            "kinds": { "type": "object", "additionalProperties": conditions() },
        },
        "dependentRequired": { "result": ["failed"] },
        "$defs": {
            "path": { "type": "string", "description": "such as `error.code`, `calls[0].name`, `attributes[\"http.status\"]`" },
            "conditions": {
                "oneOf": [
                    { "$ref": "#/$defs/condition" },
                    { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/condition" } },
                ],
            },
            "condition": { "type": "object", "minProperties": 1, "additionalProperties": { "$ref": "#/$defs/test" } },
            "value": { "type": ["string", "number", "boolean", "null"] },
            "test": {
                "oneOf": [
                    { "$ref": "#/$defs/value" },
                    { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/value" } },
                    {
                        "type": "object",
                        "additionalProperties": false,
                        "minProperties": 1,
                        "properties": {
                            "equals": { "$ref": "#/$defs/texts" },
                            "contains": { "$ref": "#/$defs/texts" },
                            "starts_with": { "$ref": "#/$defs/texts" },
                            "matches": { "$ref": "#/$defs/texts" },
                            "absent": { "type": "boolean" },
                            "case": { "enum": ["sensitive", "ignored"] },
                        },
                    },
                ],
            },
            "texts": {
                "oneOf": [
                    { "type": ["string", "number", "boolean"] },
                    { "type": "array", "minItems": 1, "items": { "type": ["string", "number", "boolean"] } },
                ],
            },
        },
    })
}
