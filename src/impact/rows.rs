//! The rows in which two playbooks differ, each broken down to the parts that differ.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::playbook::model::Playbook;
use crate::playbook::rows;

/// A row that is not the same in both playbooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowChange {
    /// What it is: `verdict policy_denied`, `limit max_attempts`.
    pub name: String,
    /// The parts that differ.
    pub leaves: Vec<Leaf>,
}

/// A part of a row that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Where in the row, such as `then.retry_with_backoff.backoff_ms`; empty for the row as a whole.
    pub path: String,
    /// As JSON text; none where the base has no such part.
    pub base: Option<String>,
    /// As JSON text; none where the candidate has no such part.
    pub candidate: Option<String>,
}

/// Every row that differs in more than what it says to people, sorted by name.
pub(super) fn changed(base: &Playbook, candidate: &Playbook) -> Vec<RowChange> {
    let texts = |playbook: &Playbook| -> BTreeMap<String, Value> {
        let parsed = |text: &str| serde_json::from_str(text).unwrap_or(Value::Null); // a row is JSON
        rows(playbook).into_iter().map(|row| (row.name, parsed(&row.text))).collect()
    };
    let (base, candidate) = (texts(base), texts(candidate));
    let mut names: Vec<&String> = base.keys().chain(candidate.keys()).collect();
    names.sort();
    names.dedup();
    let change = |name: &String| {
        let leaves = differing(base.get(name), candidate.get(name));
        (!leaves.is_empty()).then(|| RowChange { name: name.clone(), leaves })
    };
    names.into_iter().filter_map(change).collect()
}

fn differing(base: Option<&Value>, candidate: Option<&Value>) -> Vec<Leaf> {
    let mut found = Vec::new();
    descend(String::new(), base, candidate, &mut found);
    found.retain(|leaf| leaf.path != "means" && leaf.path != "after");
    found
}

fn descend(path: String, base: Option<&Value>, candidate: Option<&Value>, found: &mut Vec<Leaf>) {
    match (base, candidate) {
        (base, candidate) if base == candidate => {}
        (Some(Value::Object(mine)), Some(Value::Object(theirs))) => {
            let mut keys: Vec<&String> = mine.keys().chain(theirs.keys()).collect();
            keys.sort();
            keys.dedup();
            for key in keys {
                let inner = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                descend(inner, mine.get(key), theirs.get(key), found);
            }
        }
        (base, candidate) => {
            let text = |value: Option<&Value>| value.map(Value::to_string);
            found.push(Leaf { path, base: text(base), candidate: text(candidate) });
        }
    }
}
