//! A new proposal: the change of a verdict, its rule and its queues, as values in YAML. Decides nothing.

use serde_json::Value;

use crate::check::CaseId;
use playproof_engine::event::EffectClaim;
use playproof_formats::golden::Class;
use playproof_formats::playbook::Loaded;
use playproof_formats::yaml;
use playproof_formats::yaml::scalar;

/// A new proposal. Values are YAML, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The playbook's name in fixtures.
    pub playbook: String,
    /// Its verdict.
    pub verdict: String,
    /// The queues that its compensation names and the playbook lacks.
    pub queues: Vec<String>,
    /// The change of the verdict.
    pub change: VerdictChange,
    /// The rule that gives the verdict. None for an existing verdict without a new rule; for a new verdict, its author
    /// writes it.
    pub rule: Option<ProposedRule>,
    /// The goldens with an expected change, and the worst class of each.
    pub expect: Vec<(CaseId, Class)>,
}

/// What a new proposal does to its verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerdictChange {
    /// The verdict is new.
    Added {
        /// Its meaning.
        means: String,
        /// Its effect claim.
        effect: EffectClaim,
        /// Its compensation.
        then: String,
    },
    /// The verdict exists: its changed values, in the order of playbooks; empty if it does not change.
    Changed(Vec<(&'static str, String)>),
}

/// The rule of a new proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposedRule {
    /// Its name.
    pub name: String,
    /// Its condition.
    pub when: String,
    /// The rule after it; none to go last.
    pub before: Option<String>,
}

/// A value as YAML in one line.
pub fn flow(value: &Value) -> String {
    match value {
        Value::Object(pairs) if !pairs.is_empty() => {
            let pairs = pairs.iter().map(|(key, value)| format!("{}: {}", scalar(key), flow(value)));
            format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::String(text) => scalar(text).into_owned(),
        other => other.to_string(),
    }
}

/// The compensation of a verdict as its playbook writes it, in one line and without aliases.
pub fn compensation(playbook: &Loaded, verdict: &str) -> Option<String> {
    let verdict = playbook.places.tree.entry("verdicts")?.value.entry(verdict)?;
    Some(yaml::flow(&verdict.value.entry("then")?.value))
}
