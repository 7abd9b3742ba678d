//! A proposal with all that is to be shown of it. Draws nothing.

use super::diff::FixtureDiff;
use super::gates::ProposalGate;
use playproof_formats::golden::RowChange;

/// A proposal that has been tried.
#[derive(Clone, Debug)]
pub struct ProposalReport {
    /// Its id: the name of its folder.
    pub id: String,
    /// The playbook that it changes, by the name that fixtures know it by.
    pub playbook: String,
    /// The rows that change.
    pub rows: Vec<RowChange>,
    /// What it changes in fixtures: its own first, then the project's.
    pub diffs: Vec<FixtureDiff>,
    /// What speaks against accepting it.
    pub gates: Vec<ProposalGate>,
}

impl ProposalReport {
    /// The project's fixtures in which nothing changes.
    pub fn unchanged(&self) -> usize {
        self.diffs.iter().filter(|diff| !diff.is_new && diff.class().is_none()).count()
    }

    /// What is to be shown of fixtures: those of the proposal, then those that change, worst first.
    pub fn shown(&self) -> Vec<&FixtureDiff> {
        let mut changed: Vec<&FixtureDiff> =
            self.diffs.iter().filter(|diff| !diff.is_new && diff.class().is_some()).collect();
        changed.sort_by_key(|diff| diff.class()); // stable
        self.diffs.iter().filter(|diff| diff.is_new).chain(changed).collect()
    }
}

/// One line of a difference: what, before, after.
pub type FactLine = (&'static str, String, String);

impl FixtureDiff {
    /// How each call ends before and after, by its name: every fact of a fixture that is new, else those that differ.
    pub fn facts(&self) -> Vec<(&str, Vec<FactLine>)> {
        let facts = |n: usize| {
            let of = |calls: &[super::CallSummary]| calls.get(n).map(|facts| facts.lines()).unwrap_or_default();
            let (before, after) = (of(&self.before), of(&self.after));
            let lines = after.into_iter().enumerate().map(|(n, (label, after))| {
                let before = before.get(n).map(|(_, before)| before.clone()).unwrap_or_default();
                (label, before, after)
            });
            let differs = |(_, before, after): &FactLine| before != after;
            let is_told = |line: &FactLine| differs(line) || (self.is_new && ["verdicts", "outcome"].contains(&line.0));
            lines.filter(is_told).collect::<Vec<_>>()
        };
        let mut told: Vec<(&str, Vec<FactLine>)> = Vec::new();
        for (n, call) in self.after.iter().enumerate() {
            let lines = facts(n);
            if !lines.is_empty() {
                told.push((&call.call, lines));
            }
        }
        if self.effects.0 != self.effects.1 {
            told.push(("", vec![("effects upstream", self.effects.0.to_string(), self.effects.1.to_string())]));
        }
        told
    }
}

impl super::CallSummary {
    fn lines(&self) -> Vec<(&'static str, String)> {
        let outcome = match &self.queue {
            Some(queue) => format!("{}: {queue}", self.outcome),
            None => self.outcome.clone(),
        };
        vec![
            ("verdicts", or_none(&self.verdicts)),
            ("compensation", or_none(&self.compensation)),
            ("outcome", outcome),
            ("effect", self.effect.clone()),
            ("attempts", self.attempts.clone()),
            ("delay", format!("{} ms", self.delay_ms)),
        ]
    }
}

fn or_none(text: &str) -> String {
    if text.is_empty() { "none".to_owned() } else { text.to_owned() }
}
