//! What a run did under a graph, call by call, and what a call would get at one moment of it.

use crate::envelope::WITHHELD;
use crate::replay::{CallResult, Observer, key_hash};
use playproof_engine::event::{AdmissionRefusal, Decision, OutcomeKind, ValidNext};
use playproof_engine::ids::{ActionId, QueueId};
use playproof_engine::sim::{GateJudgement, Plan};
use playproof_intake::args_meaning::without_key;

/// One call of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryStep {
    /// Its run; empty if the trace names none.
    pub run: String,
    /// What tells runs of one name in several inputs apart.
    pub id: u128,
    /// The name of the call.
    pub reference: String,
    /// Its action; a tool that no action has stands for itself.
    pub action: String,
    /// How it ended.
    pub outcome: &'static str,
    /// Why it was refused.
    pub refused: Option<AdmissionRefusal>,
    /// The people that have it, if it was escalated: also a call that was refused too often in a row.
    pub queue: Option<QueueId>,
    /// Whether no action has its tool, and the recording does not say so itself.
    pub is_of_no_action: bool,
    /// What is valid after it.
    pub valid: ValidNext,
    /// The actions that only a call with a key may do then, with the hashes of these keys.
    pub bound: Vec<(ActionId, u128)>,
}

/// What is valid at one moment of a run.
#[derive(Clone, Debug, Default)]
pub struct ValidAt {
    /// The actions.
    pub valid: ValidNext,
    bound: Vec<(ActionId, u128)>,
}

/// Collects the calls of all runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Historian;

impl Observer for Historian {
    type Part = Vec<HistoryStep>;

    fn part(&self) -> Vec<HistoryStep> {
        Vec::new()
    }

    fn on_call(&self, result: &CallResult<'_>, part: &mut Vec<HistoryStep>) {
        let (Some(plan), Some(record)) = (result.plans.first(), result.records().next()) else { return };
        // A step is no move of its run: its action is.
        let (Some(outcome), Some(Some(valid))) = (record.outcomes.first(), record.valid_next.first()) else { return };
        let refused = record.events.iter().find_map(|event| match event.what {
            Decision::Refused { why, .. } => Some(why),
            _ => None,
        });
        let tool = result.call.tool();
        let action = plan.action(result.call.raw().tool()).map_or(tool, |id| plan.names.action(id));
        part.push(HistoryStep {
            run: result.call.run().unwrap_or_default().to_owned(),
            id: result.run(),
            reference: result.call.reference(),
            action: action.to_owned(),
            outcome: outcome.kind.as_str(),
            refused,
            queue: match outcome.kind {
                OutcomeKind::Escalated(queue) => Some(queue),
                _ => None,
            },
            is_of_no_action: refused == Some(AdmissionRefusal::UnknownAction)
                && record.gate.as_ref().is_some_and(|gate| gate.recorded.is_none()),
            valid: valid.clone(),
            bound: record.bound.clone(),
        });
    }
}

/// What is valid after the first `after` calls of a run; none: it has fewer.
pub fn valid_at(plan: &Plan, steps: &[HistoryStep], after: usize) -> Option<ValidAt> {
    match after.checked_sub(1) {
        None => {
            let next = plan.playbook.graph.as_ref()?.row(None).to_vec();
            Some(ValidAt { valid: ValidNext { next, ..ValidNext::default() }, bound: Vec::new() })
        }
        Some(last) => steps.get(last).map(|step| ValidAt { valid: step.valid.clone(), bound: step.bound.clone() }),
    }
}

/// What the gate would say of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The action or tool, as it was named.
    pub name: String,
    /// Why it would be refused, with what the caller would get; none: it would be let through.
    pub refused: Option<(AdmissionRefusal, Option<String>)>,
    /// What would be valid after it, if it did its action.
    pub then: Vec<String>,
}

impl Tried {
    /// Tries a call of an action or a tool at one moment; `args` are JSON text, and may hold the key of the call.
    pub fn of(plan: &Plan, at: &ValidAt, name: &str, args: Option<&str>) -> Tried {
        let ValidAt { valid, bound } = at;
        let tool = plan.playbook.action_named(name).map_or(name, |action| &action.tool);
        let key = args.and_then(without_key).and_then(|(_, key)| key).map(|key| key_hash(&key));
        let said = |error: playproof_engine::event::ErrorFacts| error.message.map(String::from);
        let (refused, then) = match plan.gate(tool, args) {
            GateJudgement::Free => (None, valid.next.clone()),
            GateJudgement::Unknown(error) => (Some((AdmissionRefusal::UnknownAction, said(error))), valid.next.clone()),
            GateJudgement::Action(id, _) if !valid.next.contains(&id) => {
                let said = valid.withheld.contains(&id).then(|| format!("{WITHHELD}, so it is withheld"));
                (Some((AdmissionRefusal::InvalidTransition, said)), valid.next.clone())
            }
            GateJudgement::Action(id, _) if bound.iter().any(|(of, by)| *of == id && Some(*by) != key) => {
                let bound =
                    "an earlier call of it may still be at work: only a call with the key of that call is let through";
                (Some((AdmissionRefusal::InvalidTransition, Some(bound.to_owned()))), valid.next.clone())
            }
            GateJudgement::Action(_, Some(fault)) => {
                (Some((AdmissionRefusal::ValidationFailed, said(fault))), valid.next.clone())
            }
            GateJudgement::Action(id, None) => {
                let graph = plan.playbook.graph.as_ref();
                let row = graph.map_or(&[][..], |graph| graph.row(Some(id)));
                (None, row.iter().filter(|action| !valid.withheld.contains(action)).copied().collect())
            }
        };
        let then = then.iter().map(|id| plan.names.action(*id).to_owned()).collect();
        Tried { name: name.to_owned(), refused, then }
    }
}
