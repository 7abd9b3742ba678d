//! The report on a tried proposal. Draws nothing.

use super::diff::FixtureDiff;
use super::gates::ProposalGate;
use playproof_engine::event::FindingId;
use playproof_explore::Guarantees;
use playproof_formats::golden::RowChange;

/// The report on a tried proposal.
#[derive(Clone, Debug)]
pub struct ProposalReport {
    /// Its id: the name of its folder.
    pub id: String,
    /// The playbook's name in fixtures.
    pub playbook: String,
    /// The rows that change.
    pub rows: Vec<RowChange>,
    /// The differences in fixtures: its own first, then the project's.
    pub diffs: Vec<FixtureDiff>,
    /// What it does to the properties of the playbook.
    pub guarantees: Option<Guarantees>,
    /// The reasons against accepting it.
    pub gates: Vec<ProposalGate>,
}

impl ProposalReport {
    /// The number of the project's fixtures without a change.
    pub fn unchanged(&self) -> usize {
        self.diffs.iter().filter(|diff| !diff.is_new && diff.class().is_none()).count()
    }

    /// The fixtures to show: those of the proposal, then changed ones, worst first.
    pub fn shown(&self) -> Vec<&FixtureDiff> {
        let mut changed: Vec<&FixtureDiff> =
            self.diffs.iter().filter(|diff| !diff.is_new && diff.class().is_some()).collect();
        changed.sort_by_key(|diff| diff.class()); // stable
        self.diffs.iter().filter(|diff| diff.is_new).chain(changed).collect()
    }
}

/// One line of a difference: label, before, after.
pub type FactLine = (&'static str, String, String);

impl FixtureDiff {
    /// The facts of each call before and after: the main ones of a new fixture, and all that differ.
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
        let listed = |harm: &[FindingId]| {
            let ids: Vec<&str> = harm.iter().map(|id| id.as_str()).collect();
            or_none(&ids.join(", "))
        };
        if !self.harm.is_empty() || !self.harm_before.is_empty() {
            told.push(("", vec![("unsafe findings", listed(&self.harm_before), listed(&self.harm))]));
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
        let told = match &self.told {
            None => String::new(),
            Some((class, true)) => format!("{class}, may try again"),
            Some((class, false)) => class.clone(),
        };
        vec![
            ("verdicts", or_none(&self.verdicts)),
            ("compensation", or_none(&self.compensation)),
            ("outcome", outcome),
            ("effect", self.effect.clone()),
            ("attempts", self.attempts.clone()),
            ("delay", format!("{} ms", self.delay_ms)),
            ("told", or_none(&told)),
            ("valid next", or_none(&self.next.as_ref().map(|next| next.join(", ")).unwrap_or_default())),
        ]
    }
}

fn or_none(text: &str) -> String {
    if text.is_empty() { "none".to_owned() } else { text.to_owned() }
}
