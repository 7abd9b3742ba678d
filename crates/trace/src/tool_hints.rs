//! What tool lists in a recording say of tools (`readOnlyHint`, `idempotentHint`, `destructiveHint`): guesses for a tool facts
//! file. Decides nothing.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

/// What every hint's name ends with, in JSON.
const MARK: &[u8] = b"Hint\"";
/// The deepest object that is searched.
const MAX_DEPTH: usize = 20;

/// The hints of one tool, as far as a list gives them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolHints {
    /// It only reads.
    pub read_only: Option<bool>,
    /// Doing it twice is doing it once.
    pub idempotent: Option<bool>,
    /// It may destroy something.
    pub destructive: Option<bool>,
}

/// The hints of every tool that has some, by its name.
pub type HintsByTool = BTreeMap<String, ToolHints>;

/// Adds the hints of the tool lists in `document`. Two lists that contradict each other say nothing.
pub(crate) fn gather(document: &RawValue, hints: &mut HintsByTool) {
    if memchr::memmem::find(document.get().as_bytes(), MARK).is_some()
        && let Ok(document) = serde_json::from_str(document.get())
    {
        search(&document, MAX_DEPTH, hints);
    }
}

fn search(value: &Value, depth: usize, hints: &mut HintsByTool) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match value {
        Value::Array(items) => items.iter().for_each(|item| search(item, depth, hints)),
        Value::Object(fields) => match (fields.get("name"), fields.get("annotations")) {
            (Some(Value::String(tool)), Some(Value::Object(annotations))) => {
                let hint = |name: &str| annotations.get(name).and_then(Value::as_bool);
                let found = ToolHints {
                    read_only: hint("readOnlyHint"),
                    idempotent: hint("idempotentHint"),
                    destructive: hint("destructiveHint"),
                };
                add(tool, found, hints);
            }
            _ => fields.values().for_each(|field| search(field, depth, hints)),
        },
        _ => {}
    }
}

/// Adds the hints of one tool.
fn add(tool: &str, found: ToolHints, hints: &mut HintsByTool) {
    let known = hints.entry(tool.to_owned()).or_insert(found);
    if *known != found {
        *known = ToolHints::default();
    }
}

/// Adds the hints of another recording.
pub fn append(more: &HintsByTool, hints: &mut HintsByTool) {
    more.iter().for_each(|(tool, found)| add(tool, *found, hints));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn a_tool_list_anywhere_in_a_document_gives_hints() {
        let mut hints = HintsByTool::new();
        let list = r#"{"result":{"tools":[
            {"name":"find","annotations":{"readOnlyHint":true}},
            {"name":"pay","annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":true}},
            {"name":"plain","description":"see readOnlyHint"}]}}"#;
        gather(json::parse(list).expect("valid"), &mut hints);
        assert_eq!(hints["find"], ToolHints { read_only: Some(true), ..ToolHints::default() });
        let pay = ToolHints { read_only: Some(false), idempotent: Some(true), destructive: Some(true) };
        assert_eq!((hints["pay"], hints.len()), (pay, 2));
        let other = r#"[{"name":"find","annotations":{"readOnlyHint":false}}]"#;
        gather(json::parse(other).expect("valid"), &mut hints);
        assert_eq!(hints["find"], ToolHints::default(), "two lists contradict each other");
        gather(json::parse("{\"name\":\"x\",\"annotations\":{\"title\":\"t\"}}").expect("valid"), &mut hints);
        assert!(!hints.contains_key("x"));
    }
}
