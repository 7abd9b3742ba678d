//! The JSON Schemas of playbooks and tool facts files, for editors, held to the syntax. Not what reads them: reading says
//! more.

/// The JSON Schema of a playbook.
pub const SCHEMA: &str = include_str!("../../../../schemas/playbook.json");

/// The JSON Schema of a tool facts file.
pub const TOOLS_SCHEMA: &str = include_str!("../../../../schemas/tools.json");

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::playbook::syntax;
    use playproof_engine::event::{CompensationWord, EffectClaim};
    use playproof_engine::playbook::{ConditionKind, ConditionSyntax, MOST_ATTEMPTS};
    use playproof_engine::time::Duration;

    fn read(schema: &str) -> Value {
        serde_json::from_str(schema).unwrap()
    }

    /// Lists of keys in a schema.
    fn keyed(schema: &Value) -> usize {
        match schema {
            Value::Object(fields) => {
                usize::from(fields.get("properties").is_some_and(Value::is_object))
                    + fields.values().map(keyed).sum::<usize>()
            }
            Value::Array(items) => items.iter().map(keyed).sum(),
            _ => 0,
        }
    }

    fn words<T>(table: &[(&str, T)]) -> Value {
        table.iter().map(|(word, _)| *word).collect()
    }

    fn one_or_several(item: &Value) -> Value {
        json!([item, { "type": "array", "minItems": 1, "items": item }])
    }

    #[test]
    fn the_schema_has_every_key_that_the_reader_knows_and_no_other() {
        let schema = read(SCHEMA);
        let ends = ["escalate_to_human", "deprecate_tool_call", "issue_reversal"];
        let known = [
            ("", syntax::PLAYBOOK),
            ("/$defs/verdict", syntax::VERDICT),
            ("/$defs/rule", syntax::RULE),
            ("/$defs/when", &ConditionKind::WORDS),
            ("/$defs/message", syntax::MESSAGE),
            ("/$defs/compensation", &CompensationWord::WORDS),
            ("/$defs/instead", &ends),
            ("/$defs/end", &ends[..2]),
            ("/$defs/retry_with_backoff", syntax::RETRY),
            ("/$defs/refresh_evidence", syntax::REFRESH),
            ("/$defs/escalate_to_human", syntax::ESCALATE),
            ("/$defs/issue_reversal", syntax::REVERSAL),
            ("/$defs/deprecate_tool_call", syntax::DEPRECATE),
            ("/$defs/tool", syntax::TOOL),
            ("/properties/limits", syntax::LIMITS),
            ("/properties/study", syntax::STUDY),
        ];
        for (at, known) in known {
            check(&schema, at, known);
        }
        assert_eq!(keyed(&schema), known.len(), "a list of keys that this test does not know");
        let tools = read(TOOLS_SCHEMA);
        check(&tools, "", syntax::TOOLS_FILE);
        assert_eq!(keyed(&tools), 2);
        assert_eq!(tools["$defs"]["tool"], schema["$defs"]["tool"]);
    }

    fn check(schema: &Value, at: &str, known: &[&str]) {
        let part = schema.pointer(at).unwrap();
        let mut known = known.to_vec();
        known.sort_unstable();
        assert_eq!(part["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), known, "{at}");
        assert_eq!(part["additionalProperties"], false, "{at}");
    }

    #[test]
    fn the_schema_has_the_words_and_bounds_of_the_reader() {
        let schema = read(SCHEMA);
        let held = |at: &str, what: Value| assert_eq!(schema.pointer(at), Some(&what), "{at}");
        let bounds = |at: &str, least: u64, most: u64| {
            held(&format!("{at}/minimum"), json!(least));
            held(&format!("{at}/maximum"), json!(most));
        };
        let millis = |at: &str, longest: Duration| bounds(at, 0, longest.as_millis());
        held("/properties/format/const", json!(syntax::FORMAT));
        assert_eq!(read(TOOLS_SCHEMA)["properties"]["format"]["const"], syntax::TOOLS_FORMAT);
        held("/$defs/verdict/properties/effect/enum", words(&EffectClaim::TABLE));
        held("/$defs/message/properties/case/enum", words(&syntax::CASE_SENSITIVE));
        held("/$defs/tool/properties/access/enum", words(&syntax::ACCESS));
        held("/$defs/retry_with_backoff/properties/after/enum", words(&syntax::AFTER));
        held("/$defs/refresh_evidence/properties/then/enum", words(&syntax::AFTER_REFRESH));
        bounds("/$defs/refresh_evidence/properties/max_refreshes", 1, MOST_ATTEMPTS);
        bounds("/$defs/retry_with_backoff/properties/max_retries", 1, MOST_ATTEMPTS);
        millis("/$defs/retry_with_backoff/properties/max_wait_ms", syntax::LONGEST_WAIT);
        millis("/$defs/retry_with_backoff/properties/backoff_ms/items", syntax::LONGEST_WAIT);
        held("/$defs/retry_with_backoff/properties/backoff_ms/maxItems", json!(syntax::MOST_WAITS));
        millis("/$defs/tool/properties/timeout_ms", syntax::LONGEST_WAIT);
        bounds("/properties/limits/properties/max_attempts", 1, MOST_ATTEMPTS);
        millis("/properties/limits/properties/deadline_ms", syntax::LONGEST_DEADLINE);
        for guard in ["retry_guard", "token_guard"] {
            // Editors that read YAML 1.1 take `off` for `false`.
            held(&format!("/properties/study/properties/{guard}/enum"), json!([syntax::OFF[0].0, false]));
        }
        let default = format!("left out: {}.", syntax::DEFAULT_MAX_ATTEMPTS);
        let most = schema.pointer("/properties/limits/properties/max_attempts/description").unwrap();
        assert!(most.as_str().unwrap().ends_with(&default), "{most}");
    }

    #[test]
    fn the_schema_takes_each_condition_in_the_form_in_which_it_is_read() {
        let schema = read(SCHEMA);
        let text = json!({ "type": "string", "minLength": 1 });
        for ask in ConditionKind::ALL {
            let condition = &schema["$defs"]["when"]["properties"][ask.as_str()];
            let (key, wanted) = match ask.form() {
                ConditionSyntax::Texts | ConditionSyntax::Globs => ("anyOf", one_or_several(&text)),
                ConditionSyntax::Ranges(first, last) => {
                    let number = json!({ "type": "integer", "minimum": first, "maximum": last });
                    let range = json!({ "type": "string", "pattern": "^\\s*\\d+\\s*-\\s*\\d+\\s*$" });
                    ("anyOf", one_or_several(&json!({ "anyOf": [number, range] })))
                }
                ConditionSyntax::Messages => ("$ref", json!("#/$defs/message")),
                ConditionSyntax::Access => ("enum", words(&syntax::ACCESS)),
                ConditionSyntax::Bool => ("type", json!("boolean")),
                ConditionSyntax::Presence => ("enum", words(&syntax::PRESENCE)),
                ConditionSyntax::Absence => ("const", json!("absent")),
            };
            assert_eq!(condition[key], wanted, "{ask:?}");
            assert!(key == "$ref" || condition["description"].is_string(), "{ask:?}");
        }
    }

    #[test]
    fn every_reference_of_a_schema_is_defined() {
        for text in [SCHEMA, TOOLS_SCHEMA] {
            let schema = read(text);
            for reference in text.split("#/$defs/").skip(1) {
                let name = reference.split('"').next().unwrap_or_default();
                assert!(schema["$defs"].get(name).is_some(), "{name}");
            }
        }
    }
}
