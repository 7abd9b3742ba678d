//! A new proposal and the text of its `proposal.yaml`, with placeholders for its author. Decides nothing.

use std::sync::Arc;

use serde_json::Value;

use super::gates::UNWRITTEN;
use crate::check::CaseId;
use playproof_engine::event::EffectClaim;
use playproof_formats::diagnostic::Source;
use playproof_formats::golden::Class;
use playproof_formats::yaml;
use playproof_formats::yaml::{Cursor, scalar};

/// A new proposal. Values are YAML, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The playbook's name in fixtures.
    pub playbook: String,
    /// Its fingerprint.
    pub base: String,
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
        /// Its meaning; none leaves it to the author.
        means: Option<String>,
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

impl Draft {
    /// Whether it has a rule, given or left to the author.
    pub fn has_rule(&self) -> bool {
        self.rule.is_some() || matches!(self.change, VerdictChange::Added { .. })
    }
}

/// The text of `proposal.yaml`.
pub fn proposal_text(draft: &Draft) -> String {
    let Draft { playbook, base, verdict, change, rule, .. } = draft;
    let mut steps: String = draft.queues.iter().map(|queue| format!("  - add_queue: {}\n", scalar(queue))).collect();
    let unwritten;
    let mut rule = rule.as_ref();
    let name = scalar(verdict);
    match change {
        VerdictChange::Added { means, effect, then } => {
            let means =
                means.clone().unwrap_or_else(|| format!("{UNWRITTEN} - what this failure means, in a sentence"));
            let means = Value::from(means);
            let effect = effect.as_str();
            steps += &format!(
                "  - add_verdict:\n      {name}:\n        means: {means}\n        effect: {effect}\n        then: \
                 {then}\n"
            );
            let when = format!("{{ kind: '{UNWRITTEN}' }}");
            unwritten = ProposedRule { name: verdict.replace('_', "-"), when, before: None };
            rule = rule.or(Some(&unwritten));
        }
        VerdictChange::Changed(parts) if parts.is_empty() => {}
        VerdictChange::Changed(parts) => {
            steps += &format!("  - change_verdict: {name}\n");
            steps.extend(parts.iter().map(|(key, value)| format!("    {key}: {value}\n")));
        }
    }
    if let Some(ProposedRule { name: rule, when, before }) = rule {
        let rule = scalar(rule);
        steps += &format!("  - add_rule:\n      rule: {rule}\n      when: {when}\n      verdict: {name}\n");
        steps.extend(before.iter().map(|before| format!("    before: {}\n", scalar(before))));
    }
    let named = draft.expect.iter().map(|(id, class)| format!("\n  {}: {}", scalar(&id.to_string()), class.as_str()));
    let named = if draft.expect.is_empty() { " {}".to_owned() } else { named.collect() };
    format!(
        "format: proposal/1\nplaybook: {}\n# The playbook that this was made for; `playproof propose rebase` \
         moves it on.\nbase: '{base}'\noperations:\n{steps}# Goldens that this changes, and the worst that may change \
         in each, such as\n#   {playbook}/a-fixture: outcome_changed\nexpect:{named}\n",
        Value::from(playbook.as_str())
    )
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
pub fn compensation(playbook: &Arc<Source>, verdict: &str) -> Option<String> {
    let then = |root: Cursor<'_>| root.entry("verdicts")?.entry(verdict)?.entry("then")?.json();
    // A playbook that was read has nothing to report; one without the verdict gives none.
    let read = yaml::parse(Arc::clone(playbook), |root| Some(then(root)));
    read.ok().flatten().map(|value| flow(&value))
}
