//! Failures by verdict and message template, under one playbook, in bounded memory.

use playproof_engine::call::RecordedCall;
use playproof_engine::event::{Decision, Status};
use playproof_engine::ids::VerdictId;
use playproof_engine::sim::SimulationRecord;

use super::frequent::Frequent;
use super::message_template::MessageTemplates;

/// The most rows.
const ROWS_MAX: usize = 500;

/// How often each template was seen with each verdict. A count lacks what came while its row was rare.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FailureCounts {
    rows: Frequent<(VerdictId, Box<str>), ()>,
    total: u64,
}

impl Default for FailureCounts {
    fn default() -> FailureCounts {
        FailureCounts { rows: Frequent::new(ROWS_MAX), total: 0 }
    }
}

impl FailureCounts {
    /// Counts the classified failures of a call.
    pub fn add(&mut self, call: &RecordedCall, record: &SimulationRecord, templates: &mut MessageTemplates) {
        let mut last = None;
        for event in &record.events {
            match event.what {
                Decision::AttemptFinished { status: Status::Failed(error), .. } => last = error,
                Decision::FailureClassified { verdict, .. } => {
                    let error = last.and_then(|id| record.shown_error(id));
                    let message = error.and_then(|error| error.message.as_deref()).unwrap_or("");
                    let key = (verdict, templates.template(message, call.args()).into());
                    self.rows.row(key, |_, _| {}).count += 1;
                    self.total += 1;
                }
                _ => {}
            }
        }
    }

    /// Adds what was counted over later calls.
    pub fn merge(&mut self, later: FailureCounts) {
        self.total += later.total;
        self.rows.merge(later.rows, |(), ()| {}, |_, _| {});
    }

    /// The rows, the most frequent first, then by verdict and template.
    pub fn rows(&self) -> Vec<(VerdictId, &str, u64)> {
        let rows = self.rows.rows().map(|((verdict, template), row)| (*verdict, &**template, row.count));
        let mut rows: Vec<(VerdictId, &str, u64)> = rows.collect();
        rows.sort_by(|one, other| other.2.cmp(&one.2).then_with(|| (one.0, one.1).cmp(&(other.0, other.1))));
        rows.truncate(ROWS_MAX);
        rows
    }

    /// What a count may lack at most.
    pub const fn missed_at_most(&self) -> u64 {
        self.rows.missed_at_most()
    }

    /// Every failure that was counted.
    pub const fn total(&self) -> u64 {
        self.total
    }
}
