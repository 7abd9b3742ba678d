//! The keys of the file formats, as their JSON Schemas describe them. Pure.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Topic;

/// What each file format says of the key `typed`: a topic for each description. `schemas` are their names and JSON Schemas.
pub fn keys_of_files(typed: &str, schemas: impl Iterator<Item = (String, String)>) -> Vec<Topic> {
    schemas.flat_map(|(format, schema)| in_schema(&format, &schema, typed)).collect()
}

/// The descriptions of a key in one schema, each once.
fn in_schema(format: &str, schema: &str, typed: &str) -> Vec<Topic> {
    let mut found = BTreeMap::new();
    gather(&serde_json::from_str(schema).unwrap_or_default(), typed, &mut found);
    let topic = |(description, example): (String, Option<String>)| {
        let example = example.map(|example| format!(", for example `{typed}: {example}`")).unwrap_or_default();
        let all = format!("`playproof schema {format}` describes all its keys.");
        let text = format!("A key of the format `{format}`{example}. {all}");
        Topic { id: typed.to_owned().into(), sort: "key", title: description, text: text.into() }
    };
    found.into_iter().map(topic).collect()
}

/// Collects the descriptions of the property `key`, each with its first example.
fn gather(schema: &Value, key: &str, found: &mut BTreeMap<String, Option<String>>) {
    let inner: Vec<&Value> = match schema {
        Value::Object(fields) => fields.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => return,
    };
    if let Some(property) = schema.pointer("/properties").and_then(|all| all.get(key))
        && let Some(description) = property["description"].as_str()
    {
        let example = property["examples"].get(0).map(|example| match example {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        found.entry(description.to_owned()).or_insert(example);
    }
    inner.into_iter().for_each(|inner| gather(inner, key, found));
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r#"{"properties":{"call":{"description":"A call.","properties":{
        "id":{"description":"The id.","examples":["a_1"]}}}},"$defs":{"x":{"properties":{"id":{"description":"Another id."},"id2":{}}}}}"#;

    #[test]
    fn a_key_is_told_once_for_each_description_of_each_file() {
        let told = |key: &str| -> Vec<String> {
            let schemas = ["trace", "mapping"].map(|name| (name.to_owned(), SCHEMA.to_owned()));
            keys_of_files(key, schemas.into_iter())
                .into_iter()
                .map(|topic| format!("{} {}", topic.title, topic.text))
                .collect()
        };
        assert_eq!(told("id").len(), 4);
        let first = "Another id. A key of the format `trace`. `playproof schema trace` describes all its keys.";
        assert_eq!(told("id")[0], first);
        assert!(told("id")[3].starts_with("The id. A key of the format `mapping`, for example `id: a_1`."));
        assert!(told("id2").is_empty() && told("no_such_key").is_empty());
    }
}
