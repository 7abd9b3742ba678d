//! The golden body of a run without rule names, by which mutants are judged. A renamed rule changes nothing here.

use super::runs::CallBudget;
use crate::check::body_of;
use playproof_engine::event::Decision;
use playproof_engine::fixture::Fixture;
use playproof_engine::sim::{Plan, Scenario, SimulationRecord};
use playproof_formats::golden::GoldenBody;

/// A run without the names of rules, and its body.
pub(super) struct RunBody {
    record: SimulationRecord,
    body: GoldenBody,
}

impl RunBody {
    /// Of the run of a scenario.
    pub fn of(plan: &Plan, scenario: &Scenario<'_>, runs: &mut CallBudget<'_>) -> RunBody {
        let mut record = runs.run_fixture(plan, scenario).clone();
        forget_rules(&mut record);
        RunBody { body: body_of(plan, scenario, &record), record }
    }

    /// Whether another playbook shows another body.
    pub fn differs(&self, plan: &Plan, scenario: &Scenario<'_>, runs: &mut CallBudget<'_>) -> bool {
        let record = runs.run_fixture(plan, scenario);
        if same(&self.record, record) {
            return false; // the body depends on nothing else
        }
        let mut record = record.clone();
        forget_rules(&mut record);
        body_of(plan, scenario, &record) != self.body
    }
}

/// Whether two records are the same, rules aside.
fn same(nameless: &SimulationRecord, other: &SimulationRecord) -> bool {
    let events = || nameless.events.iter().zip(&other.events);
    nameless.events.len() == other.events.len()
        && nameless.outcomes == other.outcomes
        && nameless.valid_next == other.valid_next
        && nameless.ledger == other.ledger
        && nameless.errors == other.errors
        && nameless.findings == other.findings
        && nameless.told == other.told
        && events().all(|(a, b)| a.at == b.at && a.call == b.call && a.what == without_rule(b.what))
}

fn without_rule(what: Decision) -> Decision {
    match what {
        Decision::FailureClassified { verdict, ignored, .. } => {
            Decision::FailureClassified { verdict, rule: None, ignored }
        }
        what => what,
    }
}

fn forget_rules(record: &mut SimulationRecord) {
    for event in &mut record.events {
        event.what = without_rule(event.what);
    }
}

/// The scenario of a fixture under a plan.
pub(super) fn scenario<'f>(plan: &'f Plan, fixture: &'f Fixture) -> Scenario<'f> {
    Scenario::of_fixture(fixture, plan)
}
