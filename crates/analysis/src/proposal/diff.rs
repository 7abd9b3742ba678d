//! The difference that a changed playbook makes in a fixture: its end before and after, and the class.

use std::sync::Arc;

use crate::check::{Case, CaseId, check_one, harm};
use playproof_engine::event::{FieldKey, FindingId};
use playproof_engine::fixture::Fixture;
use playproof_engine::playbook::Playbook;
use playproof_engine::sim::{Contradiction, Plan, Simulator};
use playproof_engine::time::Duration;
use playproof_formats::diagnostic::Source;
use playproof_formats::golden::{Class, Comparison, GoldenBody, GoldenFile, GoldenValue, compare, parse_body};

/// One fixture under the current and the proposed playbook.
#[derive(Clone, Debug)]
pub struct FixtureDiff {
    /// Its id.
    pub id: CaseId,
    /// The title.
    pub title: String,
    /// Whether it comes with the proposal.
    pub is_new: bool,
    /// How its calls end under the current playbook.
    pub before: Vec<CallSummary>,
    /// How its calls end under the playbook as proposed.
    pub after: Vec<CallSummary>,
    /// Effects in the end: before, after.
    pub effects: (u32, u32),
    /// The differences.
    pub comparison: Comparison,
    /// The contradictions of the changed run to the fixture's `expect`.
    pub contradictions: Vec<Contradiction>,
    /// What is unsafe in a fixture of the proposal under the changed playbook.
    pub harm: Vec<FindingId>,
    /// The same under the current playbook.
    pub harm_before: Vec<FindingId>,
    /// What is unsafe under the changed playbook, and its `expect` does not name.
    pub unexpected_harm: Vec<FindingId>,
    /// The run under the changed playbook, as a golden's body.
    pub body: GoldenBody,
    /// The run under the current playbook.
    pub body_before: GoldenBody,
}

/// How one call ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSummary {
    /// Its name.
    pub call: String,
    /// The verdicts in order.
    pub verdicts: String,
    /// The compensation of the last verdict; empty without one.
    pub compensation: String,
    /// The outcome's word.
    pub outcome: String,
    /// The queue, if it waits in one.
    pub queue: Option<String>,
    /// The effect claimed.
    pub effect: String,
    /// Attempts started.
    pub attempts: String,
    /// The delay that the playbook adds, in milliseconds.
    pub delay_ms: u64,
    /// The class of the failure that the agent is told, and whether it may make the call again.
    pub told: Option<(String, bool)>,
    /// The actions that are valid after it; none without a graph.
    pub next: Option<Vec<String>>,
}

impl FixtureDiff {
    /// The worst class of difference; none where nothing differs.
    pub fn class(&self) -> Option<Class> {
        self.comparison.worst()
    }

    /// Whether accepting the proposal writes a golden of it.
    pub fn has_new_golden(&self) -> bool {
        self.is_new || self.class().is_some()
    }

    /// The unsafe findings that its new golden would have, and its `expect` does not name.
    pub fn unnamed_harm(&self) -> &[FindingId] {
        if self.has_new_golden() { &self.unexpected_harm } else { &[] }
    }

    /// Whether any call gets this verdict under the changed playbook.
    pub fn gives_verdict_after(&self, verdict: &str) -> bool {
        gives_verdict(&self.after, verdict)
    }

    /// Whether this rule matches under the changed playbook.
    pub fn rule_matches_after(&self, rule: &str) -> bool {
        matches_rule(&self.body, rule)
    }

    /// Whether this rule matches under the current playbook.
    pub fn rule_matches_before(&self, rule: &str) -> bool {
        matches_rule(&self.body_before, rule)
    }

    /// Whether any call gets this verdict under the current playbook.
    pub fn gives_verdict_before(&self, verdict: &str) -> bool {
        gives_verdict(&self.before, verdict)
    }
}

fn matches_rule(body: &GoldenBody, rule: &str) -> bool {
    body.events.iter().any(|event| event.field(FieldKey::Rule).is_some_and(|name| name.is(rule)))
}

fn gives_verdict(calls: &[CallSummary], verdict: &str) -> bool {
    calls.iter().any(|call| call.verdicts.split(", ").any(|one| one == verdict))
}

/// Runs a fixture under the current and the proposed playbook.
pub fn before_and_after(
    simulator: &mut Simulator,
    id: &CaseId,
    fixture: &Fixture,
    plans: [&Plan; 2],
    is_new: bool,
) -> FixtureDiff {
    let [old, new] = plans;
    let mut run = |plan| check_one(simulator, &Case { id: id.clone(), fixture, plan, golden: None });
    let (before, after) = (run(old), run(new));
    let mut harm_under = |plan| if is_new { harm(simulator, plan, fixture) } else { Vec::new() };
    let is_keyed = fixture.calls.iter().all(|call| call.key.is_some());
    let (harm_before, harm) = (harm_under(old), harm_under(new));
    FixtureDiff {
        id: id.clone(),
        title: after.title,
        is_new,
        before: calls(&before.body, &old.playbook),
        after: calls(&after.body, &new.playbook),
        effects: (before.body.net_effects(), after.body.net_effects()),
        comparison: compare(&before.body, &after.body),
        contradictions: after.contradictions,
        harm,
        harm_before,
        // That the effect of a call with a key is double rests on the upstream, which a draft has ignore keys.
        unexpected_harm: {
            let is_draft_s = |id: &FindingId| *id == FindingId::DuplicateEffect && is_new && is_keyed;
            after.unexpected_harm.into_iter().filter(|id| !is_draft_s(id)).collect()
        },
        body: after.body,
        body_before: before.body,
    }
}

fn calls(body: &GoldenBody, playbook: &Playbook) -> Vec<CallSummary> {
    let facts = body.calls.iter().map(|call| {
        let field = |key: FieldKey| call.field(key).map(GoldenValue::to_string).unwrap_or_default();
        let names = |key: FieldKey| match call.field(key) {
            Some(GoldenValue::Names(names)) => Some(names.clone()),
            _ => None,
        };
        let verdicts = names(FieldKey::Verdicts).unwrap_or_default();
        let is_retriable = call.field(FieldKey::Retriable).is_some_and(|told| told.is("true"));
        let compensation =
            playbook.verdicts.iter().find(|verdict| verdicts.last().is_some_and(|last| **last == *verdict.name));
        let waits = body.events.iter().filter(|event| event.call == call.name);
        let delay = waits.filter_map(|event| Duration::parse_millis(&event.field(FieldKey::Delay)?.to_string()));
        CallSummary {
            call: call.name.clone(),
            compensation: compensation.map_or_else(String::new, |verdict| verdict.then.as_str().to_owned()),
            verdicts: verdicts.join(", "),
            outcome: field(FieldKey::Outcome),
            queue: call.field(FieldKey::Queue).map(GoldenValue::to_string),
            effect: field(FieldKey::Effect),
            attempts: field(FieldKey::Attempts),
            delay_ms: delay.fold(Duration::ZERO, Duration::plus).as_millis(),
            told: call.field(FieldKey::Class).map(|class| (class.to_string(), is_retriable)),
            next: names(FieldKey::Next),
        }
    });
    facts.collect()
}

/// Whether a golden agrees with the current playbook.
pub(super) fn is_as_accepted(golden: Option<&Arc<Source>>, body: &GoldenBody) -> bool {
    let parsed = golden.and_then(|source| GoldenFile::parse(source).ok());
    let accepted = parsed.and_then(|file| parse_body(file.body).ok());
    accepted.is_some_and(|accepted| compare(&accepted, body).worst().is_none())
}
