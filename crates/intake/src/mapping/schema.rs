//! The JSON Schema of mapping files, by which they are read: the only place of their keys, words and bounds.

use std::sync::LazyLock;

use playproof_formats::schema::{MAPPING_SCHEMA, Schema};

/// The JSON Schema of `format: mapping/1`.
pub const SCHEMA: &str = MAPPING_SCHEMA;

/// The same, compiled.
pub static MAPPING: LazyLock<Schema> = LazyLock::new(|| Schema::compile(SCHEMA));

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::mapping::parse;
    use playproof_formats::diagnostic::Source;

    fn schema() -> Value {
        serde_json::from_str(SCHEMA).unwrap()
    }

    /// Collects the names of all properties, each of which must have a description and an example.
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
        assert!(found.len() > 50, "{found:?}");
    }

    #[test]
    fn the_schema_has_nothing_that_is_not_understood() {
        assert_eq!(MAPPING.unknown(), [] as [&str; 0]);
    }

    #[test]
    fn the_reader_accepts_every_example() {
        let read = |mapping: Value| parse(Source::whole("m", mapping.to_string())).map_err(|report| report.to_string());
        assert_eq!(read(schema()["examples"][0].take()).map(drop), Ok(()));
        let shown = schema();
        for (key, property) in shown["properties"].as_object().expect("properties") {
            let mut mapping = match key.as_str() {
                "run" | "tool" => json!({ "format": "mapping/1" }), // only without `call`
                _ => shown["examples"][0].clone(),
            };
            mapping[key] = property["examples"][0].clone();
            assert_eq!(read(mapping).map(drop), Ok(()), "{key}");
        }
        for key in ["call", "result"] {
            let mut mapping = shown["examples"][0].clone();
            let parts = shown["$defs"][key]["properties"].as_object().expect("parts");
            for (part, about) in
                parts.iter().filter(|(part, _)| !["retry_after_s", "latency_ms"].contains(&part.as_str()))
            {
                mapping[key][part] = about["examples"][0].clone();
            }
            assert_eq!(read(mapping).map(drop), Ok(()), "{key}");
        }
        for (part, about) in shown["$defs"]["part"]["oneOf"][2]["properties"].as_object().expect("parts") {
            let mut mapping = shown["examples"][0].clone();
            mapping["call"]["at"] = match part.as_str() {
                "path" | "value" => json!({ part: about["examples"][0] }),
                "strip" => json!({ "path": "a", "strip": { "prefix": about["properties"]["prefix"]["examples"][0] } }),
                _ => json!({ "path": "a", part: about["examples"][0] }),
            };
            assert_eq!(read(mapping).map(drop), Ok(()), "{part}");
        }
        for test in shown["$defs"]["test"]["examples"].as_array().expect("examples") {
            let mut mapping = shown["examples"][0].clone();
            mapping["failed"] = json!({ "x": test });
            assert_eq!(read(mapping).map(drop), Ok(()), "{test}");
        }
        for (name, test) in shown["$defs"]["test"]["oneOf"][2]["properties"].as_object().expect("tests") {
            let mut mapping = shown["examples"][0].clone();
            mapping["failed"] = json!({ "x": { "contains": "y", name: test["examples"][0] } });
            assert_eq!(read(mapping).map(drop), Ok(()), "{name}");
        }
    }
}
