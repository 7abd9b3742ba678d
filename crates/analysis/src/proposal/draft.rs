//! The texts of a new proposal: `proposal.yaml` and the decision record, with what is known filled in and a clear
//! placeholder for what only its author can say. Decides nothing of what is proposed.

use std::sync::Arc;

use serde_json::Value;

use super::adr::{PARTS, PLACEHOLDER};
use super::gates::UNWRITTEN;
use playproof_formats::diagnostic::Source;
use playproof_formats::golden::Class;
use playproof_formats::yaml;
use playproof_formats::yaml::{Cursor, scalar};

/// What a new proposal is made of. Values are YAML, in one line.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The playbook, by the name that fixtures know it by.
    pub playbook: String,
    /// Its fingerprint.
    pub base: String,
    /// The verdict that it is about.
    pub verdict: String,
    /// What becomes of the verdict.
    pub change: VerdictChange,
    /// A rule that gives it; none: left to the author where the verdict is new, else there is none.
    pub rule: Option<DraftRule>,
    /// The goldens that it changes as it is meant to, and the worst that changes in each.
    pub expect: Vec<(String, Class)>,
    /// What was seen.
    pub evidence: Evidence,
}

/// What a new proposal does to its verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerdictChange {
    /// It is new.
    Added {
        /// What it means; none: left to the author.
        means: Option<String>,
        /// What it says about the effect.
        effect: String,
        /// Its compensation.
        then: String,
    },
    /// It is there already: other values, in the order in which playbooks write them; where there are none it stays as
    /// it is.
    Changed(Vec<(&'static str, String)>),
}

/// The rule of a new proposal.
#[derive(Clone, Debug)]
pub struct DraftRule {
    /// Its name.
    pub name: String,
    /// Its condition.
    pub when: String,
    /// The rule that it stands before; none: behind all others.
    pub before: Option<String>,
}

/// What was seen, in paragraphs of Markdown; empty: nothing was.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// What the failures have in common, how many there are, and where.
    pub pattern: Vec<String>,
    /// Some of them.
    pub example: Vec<String>,
    /// What becomes of them as the playbook is.
    pub today: Vec<String>,
}

/// The text of `proposal.yaml`.
pub fn proposal_text(draft: &Draft) -> String {
    let Draft { playbook, base, verdict, change, rule, .. } = draft;
    let mut steps = String::new();
    let unwritten;
    let mut rule = rule.as_ref();
    let name = scalar(verdict);
    match change {
        VerdictChange::Added { means, effect, then } => {
            let means =
                means.clone().unwrap_or_else(|| format!("{UNWRITTEN} - what this failure means, in a sentence"));
            let means = Value::from(means);
            steps += &format!(
                "  - add_verdict:\n      {name}:\n        means: {means}\n        effect: {effect}\n        then: \
                 {then}\n"
            );
            let when = format!("{{ kind: '{UNWRITTEN}' }}");
            unwritten = DraftRule { name: verdict.replace('_', "-"), when, before: None };
            rule = rule.or(Some(&unwritten));
        }
        VerdictChange::Changed(parts) if parts.is_empty() => {}
        VerdictChange::Changed(parts) => {
            steps += &format!("  - change_verdict: {name}\n");
            steps.extend(parts.iter().map(|(key, value)| format!("    {key}: {value}\n")));
        }
    }
    if let Some(DraftRule { name: rule, when, before }) = rule {
        let rule = scalar(rule);
        steps += &format!("  - add_rule:\n      rule: {rule}\n      when: {when}\n      verdict: {name}\n");
        steps.extend(before.iter().map(|before| format!("    before: {}\n", scalar(before))));
    }
    let named = draft.expect.iter().map(|(id, class)| format!("\n  {}: {}", scalar(id), class.as_str()));
    let named = if draft.expect.is_empty() { " {}".to_owned() } else { named.collect() };
    format!(
        "format: proposal/1\nplaybook: {}\n# The playbook that this was made for; `playproof propose rebase` \
         moves it on.\nbase: '{base}'\noperations:\n{steps}# Goldens that this changes, and the worst that may change \
         in each, such as\n#   {playbook}/a-fixture: outcome_changed\nexpect:{named}\n",
        Value::from(playbook.as_str())
    )
}

/// The text of `adr.md`.
pub fn adr_text(draft: &Draft) -> String {
    let Evidence { pattern, example, today } = &draft.evidence;
    let [first, second, third, fourth] = PARTS;
    let (title, why) = match &draft.change {
        VerdictChange::Added { .. } => {
            ("The verdict", "what goes wrong while they get the verdict that they get today -->")
        }
        VerdictChange::Changed(parts) if parts.is_empty() => (
            "A rule for the verdict",
            "what goes wrong while they get the verdict that they get today, and why this one fits them -->",
        ),
        VerdictChange::Changed(_) => {
            ("A change of the verdict", "what goes wrong while the verdict is answered as it is today -->")
        }
    };
    let asks = [
        "what these failures have in common, how many there are, and where they were seen -->",
        "one of them, or the place where such a failure is documented -->",
        why,
        "what the playbook does from now on, who notices, and what becomes harder -->",
    ];
    let [ask_pattern, ask_example, ask_why, ask_consequences] = asks.map(|ask| format!("{PLACEHOLDER} {ask}"));
    let or_ask = |said: &[String], ask: &str| if said.is_empty() { ask.to_owned() } else { said.join("\n\n") };
    let why: Vec<String> = today.iter().cloned().chain([ask_why]).collect();
    format!(
        "# {title} `{}`\n\n## {first}\n\n{}\n\n## {second}\n\n{}\n\n## {third}\n\n{}\n\n## {fourth}\n\n{}\n",
        draft.verdict,
        or_ask(pattern, &ask_pattern),
        or_ask(example, &ask_example),
        why.join("\n\n"),
        ask_consequences
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
