//! Makes a schema whole that refers to those of playbooks and mappings, for editors and for compiling. Compiles nothing.

use serde_json::{Map, Value};

/// The JSON Schema of a playbook, to which others refer.
pub const PLAYBOOK_SCHEMA: &str = include_str!("../../../../schemas/playbook.json");

/// The JSON Schema of a mapping, to which that of a project refers. It refers to that of playbooks.
pub const MAPPING_SCHEMA: &str = include_str!("../../../../schemas/mapping.json");

/// How a schema refers to a definition of another one, which comes before those that it refers to itself.
const OTHERS: [(&str, &str); 2] =
    [("mapping.json#/$defs/", MAPPING_SCHEMA), ("playbook.json#/$defs/", PLAYBOOK_SCHEMA)];
/// How a schema refers to its own definitions.
const OWN: &str = "#/$defs/";

/// The schema with what it refers to in others among its own definitions, as text.
pub fn inlined(schema: &str) -> String {
    if is_whole(schema) {
        return schema.to_owned();
    }
    let mut text = serde_json::to_string_pretty(&whole(schema)).unwrap_or_default();
    text.push('\n');
    text
}

/// Whether a schema refers to no other one.
fn is_whole(schema: &str) -> bool {
    !OTHERS.iter().any(|(beginning, _)| schema.contains(beginning))
}

/// The same as a value.
pub(super) fn whole(text: &str) -> Value {
    let mut schema: Value = text.parse().unwrap_or_default();
    if !is_whole(text) {
        OTHERS.iter().for_each(|(beginning, other)| take_in(&mut schema, beginning, other));
    }
    schema
}

/// Takes the definitions of another schema that a schema refers to, and those that they refer to, into its own.
fn take_in(schema: &mut Value, beginning: &str, other: &str) {
    let mut wanted = Vec::new();
    redirect(schema, beginning, &mut wanted);
    if wanted.is_empty() {
        return;
    }
    let other: Value = other.parse().unwrap_or_default();
    let mut found = Map::new();
    while let Some(name) = wanted.pop() {
        if !found.contains_key(&name) {
            let mut part = other["$defs"][&name].clone();
            redirect(&mut part, OWN, &mut wanted);
            found.insert(name, part);
        }
    }
    if let Some(own) = schema["$defs"].as_object_mut() {
        found.append(own);
    }
    schema["$defs"] = Value::Object(found);
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
