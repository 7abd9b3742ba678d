//! What a change of playbook changes in a fixture: its end before and after, and how bad the difference is.

use std::sync::Arc;

use crate::check::{Case, CaseResult, Id, check_one};
use crate::diagnostic::Source;
use crate::fixture::model::Fixture;
use crate::golden::{Class, Comparison, GoldenBody, compare, parse_body};
use crate::playbook::model::Playbook;
use crate::sim::{Contradiction, Plan, Simulator};

/// One fixture under the playbook as it is and as proposed.
#[derive(Clone, Debug)]
pub struct FixtureDiff {
    /// Which.
    pub id: Id,
    /// In the words of its author.
    pub title: String,
    /// Whether it comes with the proposal.
    pub is_new: bool,
    /// How its calls end under the playbook as it is.
    pub before: Vec<CallFacts>,
    /// How its calls end under the playbook as proposed.
    pub after: Vec<CallFacts>,
    /// Effects in the end: before, after.
    pub effects: (u32, u32),
    /// In what the two differ; none where a run could not be read back.
    pub comparison: Option<Comparison>,
    /// What the run under the changed playbook says against the fixture's `expect`.
    pub contradictions: Vec<Contradiction>,
    /// The run under the changed playbook, as a golden's body.
    pub body: String,
    /// The run under the playbook as it is.
    pub body_before: String,
}

/// How one call ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFacts {
    /// Its name.
    pub call: String,
    /// The verdicts in order.
    pub verdicts: String,
    /// What the playbook does about the last verdict; empty without one.
    pub compensation: String,
    /// The outcome's word.
    pub outcome: String,
    /// The queue, where it waits in one.
    pub queue: Option<String>,
    /// The effect claimed.
    pub effect: String,
    /// Attempts started.
    pub attempts: String,
    /// What the playbook adds in waiting, in milliseconds.
    pub delay_ms: u64,
}

impl FixtureDiff {
    /// The worst class of difference; none where nothing differs.
    pub fn class(&self) -> Option<Class> {
        self.comparison.as_ref().and_then(Comparison::worst)
    }

    /// Whether any call gets this verdict under the changed playbook.
    pub fn gets(&self, verdict: &str) -> bool {
        gives(&self.after, verdict)
    }

    /// Whether this rule speaks under the changed playbook.
    pub fn hears(&self, rule: &str) -> bool {
        speaks(&self.body, rule)
    }

    /// Whether this rule speaks under the playbook as it is.
    pub fn heard(&self, rule: &str) -> bool {
        speaks(&self.body_before, rule)
    }

    /// Whether any call gets this verdict under the playbook as it is.
    pub fn got(&self, verdict: &str) -> bool {
        gives(&self.before, verdict)
    }
}

fn speaks(body: &str, rule: &str) -> bool {
    let body = parse_body(Source::whole("the run", body)).ok();
    body.is_some_and(|body| body.events.iter().any(|event| event.field("rule") == Some(rule)))
}

fn gives(calls: &[CallFacts], verdict: &str) -> bool {
    calls.iter().any(|call| call.verdicts.split(", ").any(|one| one == verdict))
}

/// Runs a fixture under the playbook as it is and as proposed.
pub fn before_and_after(
    simulator: &mut Simulator,
    id: &Id,
    fixture: &Fixture,
    plans: [&Plan; 2],
    is_new: bool,
) -> FixtureDiff {
    let [old, new] = plans;
    let mut run = |plan| check_one(simulator, &Case { id: id.clone(), fixture, plan, golden: None });
    let (before, after) = (run(old), run(new));
    let read = |result: &CaseResult| parse_body(Source::whole("the run", result.body.as_str())).ok();
    let bodies = (read(&before), read(&after));
    let (mut comparison, mut effects, mut facts) = (None, (0, 0), (Vec::new(), Vec::new()));
    if let (Some(old_body), Some(new_body)) = &bodies {
        comparison = Some(compare(old_body, new_body));
        effects = (old_body.net_effects(), new_body.net_effects());
        facts = (calls(old_body, &old.playbook), calls(new_body, &new.playbook));
    }
    FixtureDiff {
        id: id.clone(),
        title: after.title,
        is_new,
        before: facts.0,
        after: facts.1,
        effects,
        comparison,
        contradictions: after.contradictions,
        body: after.body,
        body_before: before.body,
    }
}

fn calls(body: &GoldenBody, playbook: &Playbook) -> Vec<CallFacts> {
    let facts = body.calls.iter().map(|call| {
        let field = |name: &str| call.field(name).unwrap_or_default().to_owned();
        let verdicts = field("verdicts").trim_matches(['[', ']']).to_owned();
        let last = verdicts.rsplit(", ").next().unwrap_or_default();
        let compensation = playbook.verdicts.iter().find(|verdict| *verdict.name == *last);
        let waits = body.events.iter().filter(|event| event.call == call.name);
        let delay = waits.filter_map(|event| event.field("delay_ms")?.parse::<u64>().ok());
        CallFacts {
            call: call.name.clone(),
            compensation: compensation.map_or_else(String::new, |verdict| verdict.then.as_str().to_owned()),
            verdicts,
            outcome: field("outcome"),
            queue: call.field("queue").map(str::to_owned),
            effect: field("effect"),
            attempts: field("attempts"),
            delay_ms: delay.fold(0, u64::saturating_add),
        }
    });
    facts.collect()
}

/// Whether a golden says what the playbook as it is does.
pub(super) fn is_as_accepted(golden: Option<&Arc<Source>>, body: &str) -> bool {
    let parsed = golden.and_then(|source| crate::golden::GoldenFile::parse(source).ok());
    let Some(file) = parsed else { return false };
    if file.body.text.trim_end() == body.trim_end() {
        return true;
    }
    match (parse_body(Arc::clone(&file.body)), parse_body(Source::whole("the run", body))) {
        (Ok(accepted), Ok(run)) => compare(&accepted, &run).worst().is_none(),
        _ => false,
    }
}
