//! The JSON Schema of proposals, for editors, held to the syntax. Not what reads them: reading says more.

/// The JSON Schema of a `proposal.yaml`; verdicts and rules are those of a playbook.
pub const SCHEMA: &str = include_str!("../../../../schemas/proposal.json");

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::proposal::parse::{FORMAT, KEYS, OF_STEPS, STEP, STEPS};
    use playproof_formats::golden::Class;
    use playproof_formats::playbook;
    use playproof_formats::schema::inlined;

    fn schema() -> Value {
        serde_json::from_str(&inlined(SCHEMA)).unwrap()
    }

    fn keys(of: &Value) -> Vec<&str> {
        of["properties"].as_object().into_iter().flat_map(|known| known.keys()).map(String::as_str).collect()
    }

    fn sorted(known: &[&'static str]) -> Vec<&'static str> {
        let mut known = known.to_vec();
        known.sort_unstable();
        known
    }

    #[test]
    fn the_schema_has_every_key_that_the_reader_knows_and_no_other() {
        let schema = schema();
        let operation = &schema["$defs"]["operation"];
        assert_eq!(keys(&schema), sorted(KEYS));
        assert_eq!(keys(operation), sorted(&STEP));
        assert_eq!(schema["properties"]["format"]["const"], FORMAT);
        assert_eq!(schema["properties"]["expect"]["additionalProperties"]["enum"], json!(Class::WORDS));
        assert_eq!(
            (&schema["additionalProperties"], &operation["additionalProperties"]),
            (&json!(false), &json!(false))
        );
    }

    #[test]
    fn each_step_takes_the_keys_beside_it_that_the_reader_takes() {
        let schema = schema();
        let steps = schema["$defs"]["operation"]["oneOf"].as_array().unwrap();
        assert_eq!(steps.len(), STEPS.len());
        for (step, name) in steps.iter().zip(STEPS) {
            let step = step.pointer("/allOf/0").unwrap_or(step);
            let beside = OF_STEPS.iter().filter(|(_, steps)| steps.contains(name)).map(|(key, _)| *key);
            let known: Vec<&str> = [*name].into_iter().chain(beside).collect();
            assert_eq!(step["required"], json!([name]));
            assert_eq!(step["propertyNames"]["enum"], json!(known));
        }
    }

    #[test]
    fn limits_are_those_of_playbooks() {
        let schema = schema();
        let of_playbook: Value = serde_json::from_str(playbook::SCHEMA).unwrap();
        let limits = keys(&of_playbook["properties"]["limits"]);
        assert_eq!(schema["$defs"]["operation"]["properties"]["change_limit"]["enum"], json!(limits));
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
