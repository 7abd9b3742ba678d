//! The other call that an event of a session mentions, by its name.

use super::active_calls::Mentioned;
use super::plan::Plan;
use super::session::Session;
use crate::event::{AdmissionRefusal, Decision, DecisionEvent, Outcome, OutcomeKind, StopReason};
use crate::ids::{CallId, ErrorId};

impl Session {
    /// The other call that an event mentions.
    pub(super) fn mentioned(&self, plan: &Plan, event: &DecisionEvent) -> Option<Mentioned> {
        let of_live = |leader: CallId, error: Option<ErrorId>| {
            let live = self.cast.live.get(leader.index())?.as_ref()?;
            let error = error.and_then(|error| live.errors.get(error));
            Some(Mentioned { name: live.name.clone(), error })
        };
        match event.what {
            Decision::Joined { leader } | Decision::TookOver { leader } => of_live(leader, None),
            Decision::Queued { behind: Some(behind), .. } => of_live(behind, None),
            Decision::Outcome(Outcome { kind: OutcomeKind::Joined { leader, .. }, last_error, .. }) => {
                of_live(leader, last_error)
            }
            // The other calls may have left: their names are kept.
            Decision::ServedFromCache { .. } | Decision::Outcome(Outcome { kind: OutcomeKind::Cached { .. }, .. }) => {
                let key = self.shared_of(event.call)?.key?;
                Some(Mentioned { name: self.names.keys.get(key.0)?.leader.clone(), error: None })
            }
            Decision::Refused { why: AdmissionRefusal::InvalidTransition, by: Some(by), .. } => {
                let live = self.cast.live.get(event.call.index())?.as_ref()?;
                let action = plan.action(live.call.tool())?;
                let name = self.names.runs.get(live.shared?.run.0)?.at_work.get(&(action, by))?;
                Some(Mentioned { name: name.clone(), error: None })
            }
            Decision::Refused { why, by: Some(by), .. } => {
                let stop = match why {
                    AdmissionRefusal::CircuitOpen => StopReason::CircuitOpen,
                    _ => StopReason::Budget,
                };
                self.stopped_by(plan, event, stop, by)
            }
            Decision::Outcome(Outcome { kind, stopped_by: Some(by), .. }) if by != event.call => {
                self.stopped_by(plan, event, kind.shared_stop()?, by)
            }
            _ => None,
        }
    }

    /// The call that opened the circuit or took the last of the budget at which a call stopped. It may have left: its name
    /// is kept.
    fn stopped_by(&self, plan: &Plan, event: &DecisionEvent, stop: StopReason, by: CallId) -> Option<Mentioned> {
        let live = self.cast.live.get(event.call.index())?.as_ref()?;
        let shared = live.shared?;
        let name = match stop {
            StopReason::CircuitOpen => self.names.opened_by.get(&shared.server)?,
            StopReason::RetryBudget => self.names.spenders.get(&live.retry_budget(plan, event.what)?)?,
            _ => self.names.runs.get(shared.run.0)?.takers.get(&by)?,
        };
        Some(Mentioned { name: name.clone(), error: None })
    }
}
