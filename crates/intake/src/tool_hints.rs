//! What tool lists in a recording say of tools: that they exist (MCP, `tools` of a request to a model), and their hints
//! (`readOnlyHint`, `idempotentHint`, `destructiveHint`), which are guesses for a tool facts file. Decides nothing.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde_json::Value;

use crate::redact::RedactionRules;

/// What every hint's name ends with, and what a list is called, in JSON.
static MARKS: LazyLock<[Finder<'_>; 2]> = LazyLock::new(|| ["Hint\"", "\"tools\""].map(Finder::new));
/// The fields of a listed tool that tell its arguments.
const SCHEMAS: [&str; 3] = ["parameters", "inputSchema", "input_schema"];
/// The most tools that are kept.
const MAX_TOOLS: usize = 5_000;
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
    /// Two lists contradict each other, and say nothing.
    pub(crate) is_contradicted: bool,
}

/// The hints of every tool in a list, by its name.
pub type HintsByTool = BTreeMap<String, ToolHints>;

/// The tools in lists, in their order, which a document may name more than once.
pub(crate) type ListedTools = Vec<(String, ToolHints)>;

/// The tools in the lists of `document`.
pub(crate) fn listed_in(document: &str) -> ListedTools {
    let (text, mut found) = (document.as_bytes(), Vec::new());
    if MARKS.iter().any(|mark| mark.find(text).is_some())
        && let Ok(document) = serde_json::from_str(document)
    {
        search(&document, MAX_DEPTH, &mut found);
    }
    found
}

/// Adds the tools in the lists of `document`.
pub(crate) fn gather(document: &str, hints: &mut HintsByTool) {
    add_all(&listed_in(document), hints);
}

/// Adds tools of lists.
pub(crate) fn add_all(listed: &ListedTools, hints: &mut HintsByTool) {
    listed.iter().for_each(|(tool, found)| add(tool, *found, hints));
}

fn search(value: &Value, depth: usize, found: &mut ListedTools) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match value {
        Value::Array(items) => items.iter().for_each(|item| search(item, depth, found)),
        Value::Object(fields) => match (fields.get("name"), fields.get("annotations")) {
            (Some(Value::String(tool)), Some(Value::Object(annotations))) => {
                let hint = |name: &str| annotations.get(name).and_then(Value::as_bool);
                let hints = ToolHints {
                    read_only: hint("readOnlyHint"),
                    idempotent: hint("idempotentHint"),
                    destructive: hint("destructiveHint"),
                    is_contradicted: false,
                };
                found.push((tool.clone(), hints));
            }
            _ => {
                let listed = fields.get("tools").and_then(Value::as_array).into_iter().flatten().filter_map(listed);
                found.extend(listed.map(|tool| (tool.to_owned(), ToolHints::default())));
                fields.values().for_each(|field| search(field, depth, found));
            }
        },
        _ => {}
    }
}

/// The name of a tool as lists have it: `{"name", "inputSchema"}`, `{"type": "function", "function": {"name"}}`.
fn listed(tool: &Value) -> Option<&str> {
    let function = tool.get("function");
    let has_schema = function.is_some() || SCHEMAS.iter().any(|schema| tool.get(schema).is_some_and(Value::is_object));
    function.unwrap_or(tool).get("name").filter(|_| has_schema)?.as_str()
}

/// Adds the hints of one tool.
fn add(tool: &str, found: ToolHints, hints: &mut HintsByTool) {
    let (nothing, has_room) = (ToolHints::default(), hints.len() < MAX_TOOLS);
    match hints.get_mut(tool) {
        Some(known) if *known == nothing => *known = found,
        Some(known) if found != nothing && found != *known => *known = ToolHints { is_contradicted: true, ..nothing },
        None if has_room => drop(hints.insert(tool.to_owned(), found)),
        Some(_) | None => {}
    }
}

/// Adds the hints of another recording, except for names in which something is redacted.
pub fn append(more: &HintsByTool, redaction: &RedactionRules, hints: &mut HintsByTool) {
    let shown = more.iter().filter(|(tool, _)| redaction.text(tool) == **tool);
    shown.for_each(|(tool, found)| add(tool, *found, hints));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_list_anywhere_in_a_document_gives_hints() {
        let mut hints = HintsByTool::new();
        let list = r#"{"result":{"tools":[
            {"name":"find","annotations":{"readOnlyHint":true}},
            {"name":"pay","annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":true}},
            {"name":"plain","description":"see readOnlyHint"}]}}"#;
        gather(list, &mut hints);
        assert_eq!(hints["find"], ToolHints { read_only: Some(true), ..ToolHints::default() });
        let pay = ToolHints {
            read_only: Some(false),
            idempotent: Some(true),
            destructive: Some(true),
            ..ToolHints::default()
        };
        assert_eq!((hints["pay"], hints.len()), (pay, 2));
        let other = r#"[{"name":"find","annotations":{"readOnlyHint":false}}]"#;
        gather(other, &mut hints);
        assert_eq!(hints["find"].read_only, None, "two lists contradict each other");
        gather(list, &mut hints);
        assert_eq!(hints["find"].read_only, None, "they still do");
        gather("{\"name\":\"x\",\"annotations\":{\"title\":\"t\"}}", &mut hints);
        assert!(!hints.contains_key("x"));
    }

    #[test]
    fn the_tools_of_a_request_to_a_model_are_listed_and_take_no_hint_back() {
        let mut hints = HintsByTool::new();
        for document in [
            r#"{"tools":[{"name":"find","annotations":{"readOnlyHint":true}}]}"#,
            r#"{"messages":[],"tools":[{"type":"function","function":{"name":"pay","parameters":{}}}]}"#,
            r#"{"request":{"tools":[{"type":"function","name":"find","parameters":{}},{"name":"mail","input_schema":{}}]}}"#,
            r#"{"tools":[{"name":"hammer","weight":3}],"user":{"name":"x","parameters":{}}}"#,
        ] {
            gather(document, &mut hints);
        }
        assert_eq!(hints.keys().collect::<Vec<_>>(), ["find", "mail", "pay"]);
        assert_eq!(hints["find"].read_only, Some(true));
        let rules = RedactionRules::new(&[], &["pa."]).expect("a rule");
        let mut shown = HintsByTool::new();
        append(&hints, &rules, &mut shown);
        assert_eq!(shown.keys().collect::<Vec<_>>(), ["find", "mail"], "a redacted name is no row");
    }
}
