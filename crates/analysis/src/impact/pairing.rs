//! Pairs two playbooks by name: verdicts, queues and reasons, and the rows that differ. Sees no calls.

use std::sync::Arc;

use super::rows;
use playproof_engine::event::AdmissionRefusal;
use playproof_engine::ids::{ActionId, QueueId, ReasonId, StepId, VerdictId};
use playproof_engine::sim::Plan;
use playproof_formats::golden::RowChange;

/// Two plans, paired by name.
#[derive(Debug)]
pub(super) struct Pairing {
    verdicts: Vec<Option<VerdictId>>,
    queues: Vec<Option<QueueId>>,
    reasons: Vec<Option<ReasonId>>,
    actions: Vec<Option<ActionId>>,
    /// The names of the steps of the base's actions, then of the candidate's.
    step_names: [Vec<Vec<Arc<str>>>; 2],
    /// The rows in which the playbooks differ.
    pub rows: Vec<RowChange>,
    /// By the base's `VerdictId`: its place in `rows`, where the verdict is in both and differs.
    verdict_rows: Vec<Option<usize>>,
}

impl Pairing {
    pub fn new(base: &Plan, candidate: &Plan) -> Pairing {
        let rows = rows::changed(&base.playbook, &candidate.playbook);
        let verdicts = matched(&base.names.verdicts, &candidate.names.verdicts, VerdictId);
        let verdict_rows = base.names.verdicts.iter().map(|name| place(&rows, &format!("verdict {name}"))).collect();
        Pairing {
            verdicts,
            queues: matched(&base.names.queues, &candidate.names.queues, QueueId),
            reasons: matched(&base.names.reasons, &candidate.names.reasons, ReasonId),
            actions: matched(&actions(base), &actions(candidate), ActionId),
            step_names: [base.names.steps.clone(), candidate.names.steps.clone()],
            rows,
            verdict_rows,
        }
    }

    /// Whether two verdicts have the same name.
    pub fn same_verdict(&self, base: VerdictId, candidate: VerdictId) -> bool {
        self.verdicts.get(base.index()) == Some(&Some(candidate))
    }

    /// Whether two queues have the same name.
    pub fn same_queue(&self, base: QueueId, candidate: QueueId) -> bool {
        self.queues.get(base.index()) == Some(&Some(candidate))
    }

    /// Whether two reasons are the same text.
    pub fn same_reason(&self, base: ReasonId, candidate: ReasonId) -> bool {
        self.reasons.get(base.index()) == Some(&Some(candidate))
    }

    /// Whether two actions have the same name.
    pub fn same_action(&self, base: ActionId, candidate: ActionId) -> bool {
        self.actions.get(base.index()) == Some(&Some(candidate))
    }

    /// Whether two steps have the same name, in actions of the same name.
    pub fn same_step(&self, base: (ActionId, StepId), candidate: (ActionId, StepId)) -> bool {
        let name = |side: usize, (action, step): (ActionId, StepId)| {
            self.step_names.get(side)?.get(action.index())?.get(step.index())
        };
        self.same_action(base.0, candidate.0) && name(0, base) == name(1, candidate)
    }

    /// The place of the row by which a gate refuses a call of a run at `position`, if it differs.
    pub fn gate_row(&self, why: AdmissionRefusal, position: Option<&str>) -> Option<usize> {
        let of_kind = |kind: &str| self.rows.iter().position(|row| row.name.starts_with(kind));
        match why {
            AdmissionRefusal::UnknownAction => self.row("graph others").or_else(|| of_kind("action ")),
            AdmissionRefusal::ValidationFailed => of_kind("action "),
            _ => {
                let row = position.map_or("graph entry".to_owned(), |position| format!("graph next {position}"));
                self.row(&row).or_else(|| of_kind("graph "))
            }
        }
    }

    /// The place of the row of a verdict that differs.
    pub fn verdict_row(&self, base: VerdictId) -> Option<usize> {
        self.verdict_rows.get(base.index()).copied().flatten()
    }

    /// The place of a row that differs.
    pub fn row(&self, name: &str) -> Option<usize> {
        place(&self.rows, name)
    }

    /// The first study switch that differs; `why` switches nothing.
    pub fn study_row(&self) -> Option<usize> {
        self.rows.iter().position(|row| row.name.starts_with("study ") && row.name != "study why")
    }
}

fn place(rows: &[RowChange], name: &str) -> Option<usize> {
    rows.binary_search_by(|row| row.name.as_str().cmp(name)).ok()
}

/// The names of a playbook's actions, in their order.
fn actions(plan: &Plan) -> Vec<Arc<str>> {
    plan.names.actions.iter().map(|action| Arc::clone(&action.name)).collect()
}

/// For each name of the base, the candidate's number.
fn matched<T>(base: &[Arc<str>], candidate: &[Arc<str>], id: impl Fn(u16) -> T) -> Vec<Option<T>> {
    let find = |name: &Arc<str>| candidate.iter().position(|other| other == name);
    base.iter().map(|name| find(name).and_then(|place| u16::try_from(place).ok()).map(&id)).collect()
}
