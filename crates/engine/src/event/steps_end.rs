//! How the steps of an action ended.

use super::events::{Decision, DecisionEvent};
use super::outcome::OutcomeWord;
use crate::ids::{ActionId, StepId, VerdictId};

/// How the steps of an action went. What is done stays done: no step is undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepsEnd {
    /// The action.
    pub action: ActionId,
    /// The steps that are done, in order.
    pub completed: Vec<StepId>,
    /// The step that ended the action; none: all of them are done, or its caller went away between two.
    pub failed: Option<StepId>,
    /// The verdict of the last failure of that step.
    pub verdict: Option<VerdictId>,
    /// The steps that are not done because of it.
    pub skipped: Vec<StepId>,
    /// Whether nothing is known of that step: it is not recorded, or a fixture has no script for it.
    pub is_unknown: bool,
    /// Whether a repetition of the action could act again: a write among the steps that had their turn has acted or may
    /// have, and can be repeated neither by itself nor by its key.
    pub acts_again: bool,
}

impl StepsEnd {
    /// Reads the events of one call; none: it has no steps, or none of them had its turn.
    pub fn read<'a>(events: impl Iterator<Item = &'a DecisionEvent>) -> Option<StepsEnd> {
        let mut end: Option<StepsEnd> = None;
        for event in events {
            let (Decision::StepEnded { action, .. } | Decision::StepSkipped { action, .. }) = event.what else {
                continue;
            };
            let end = end.get_or_insert(StepsEnd {
                action,
                completed: Vec::new(),
                failed: None,
                verdict: None,
                skipped: Vec::new(),
                is_unknown: false,
                acts_again: false,
            });
            match event.what {
                Decision::StepEnded { step, ended, verdict, attempts, acts_again, .. } => {
                    end.acts_again |= acts_again;
                    end.is_unknown = ended == OutcomeWord::Undetermined && attempts == 0;
                    match ended.completes_step() {
                        true => end.completed.push(step),
                        false => (end.failed, end.verdict) = (Some(step), verdict),
                    }
                }
                Decision::StepSkipped { step, .. } => end.skipped.push(step),
                _ => {}
            }
        }
        end
    }
}
