//! Holds a JSON Schema against the keys that its reader knows. For tests.

use serde_json::Value;

/// Asserts that the schema has exactly these keys at each pointer. A map takes further keys only where its pointer is in
/// `open`.
pub(crate) fn has_keys(schema: &Value, lists: &[(&str, &[&str])], open: &[&str]) {
    for (at, known) in lists {
        let part = schema.pointer(at).unwrap();
        let mut known = known.to_vec();
        known.sort_unstable();
        assert_eq!(part["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), known, "{at}");
        assert_eq!(part["additionalProperties"] == false, !open.contains(at), "{at}");
    }
}

/// How many lists of keys the schema has.
pub(crate) fn key_lists(schema: &Value) -> usize {
    match schema {
        Value::Object(fields) => {
            usize::from(fields.get("properties").is_some_and(Value::is_object))
                + fields.values().map(key_lists).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(key_lists).sum(),
        _ => 0,
    }
}
