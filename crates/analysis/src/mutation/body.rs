//! The golden body of a run without rule names, by which mutants are judged. A renamed rule changes nothing here.

use crate::check::body_of;
use playproof_engine::event::Decision;
use playproof_engine::sim::{Plan, Scenario, SimulationRecord};
use playproof_formats::golden::GoldenBody;

/// A run without the names of rules.
pub(super) struct NamelessRun(SimulationRecord);

impl NamelessRun {
    /// The run of a record.
    pub fn of(mut record: SimulationRecord) -> NamelessRun {
        for event in &mut record.events {
            event.what = without_rule(event.what);
        }
        NamelessRun(record)
    }

    /// Its golden body.
    pub fn body(&self, plan: &Plan, scenario: &Scenario<'_>) -> GoldenBody {
        body_of(plan, scenario, &self.0)
    }

    /// Whether another run has the same record, so that the bodies are the same.
    pub fn is(&self, record: &SimulationRecord) -> bool {
        same(&self.0, record)
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
