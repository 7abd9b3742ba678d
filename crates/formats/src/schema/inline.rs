//! Makes a schema whole that refers to the schema of playbooks, for editors and for compiling. Compiles nothing.

use serde_json::{Map, Value};

/// The JSON Schema of a playbook, to which others refer.
pub const PLAYBOOK_SCHEMA: &str = include_str!("../../../../schemas/playbook.json");

/// How a schema refers to a definition of the schema of playbooks.
const PLAYBOOK: &str = "playbook.json#/$defs/";
/// How a schema refers to its own definitions.
const OWN: &str = "#/$defs/";

/// The schema with what it refers to in the schema of playbooks among its own definitions, as text.
pub fn inlined(schema: &str) -> String {
    if !schema.contains(PLAYBOOK) {
        return schema.to_owned();
    }
    let mut text = serde_json::to_string_pretty(&whole(schema)).unwrap_or_default();
    text.push('\n');
    text
}

/// The same as a value.
pub(super) fn whole(schema: &str) -> Value {
    let mut schema: Value = serde_json::from_str(schema).unwrap_or_default();
    let mut wanted = Vec::new();
    redirect(&mut schema, PLAYBOOK, &mut wanted);
    if wanted.is_empty() {
        return schema;
    }
    let playbook: Value = serde_json::from_str(PLAYBOOK_SCHEMA).unwrap_or_default();
    let mut found = Map::new();
    while let Some(name) = wanted.pop() {
        if !found.contains_key(&name) {
            let mut part = playbook["$defs"][&name].clone();
            redirect(&mut part, OWN, &mut wanted);
            found.insert(name, part);
        }
    }
    if let Some(own) = schema["$defs"].as_object_mut() {
        found.append(own);
    }
    schema["$defs"] = Value::Object(found);
    schema
}

/// Makes each reference with this beginning one to the schema's own definitions, and collects the names.
fn redirect(schema: &mut Value, beginning: &str, names: &mut Vec<String>) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::String(reference)) = fields.get_mut("$ref")
                && let Some(name) = reference.strip_prefix(beginning).map(str::to_owned)
            {
                *reference = format!("{OWN}{name}");
                names.push(name);
            }
            fields.values_mut().for_each(|inner| redirect(inner, beginning, names));
        }
        Value::Array(items) => items.iter_mut().for_each(|inner| redirect(inner, beginning, names)),
        _ => {}
    }
}
