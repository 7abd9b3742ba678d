//! Probes of a half-open breaker whose answers count neither way: they neither close nor open it, and it may stay half open
//! for ever. Looks at the calls of a fixture in the order of their events; keeps a count a server.

use std::collections::BTreeMap;

use super::record::SimulationRecord;
use crate::event::{Decision, Finding, FindingBy, FindingId};
use crate::ids::CallId;
use crate::plan::{DrivenCall, Plan};
use crate::playbook::BreakerMark;

/// One such answer may be chance.
const FEWEST_PROBES: u32 = 2;

/// A half-open period of one server.
#[derive(Clone, Copy, Debug, Default)]
struct Period {
    /// The place of the event that began it.
    since: usize,
    /// The probes that counted neither way.
    uncounted: u32,
    /// The call of the last one.
    last: Option<CallId>,
}

impl Period {
    /// The finding, if the period ends, or the run, with enough such probes.
    fn finding(self) -> Option<Finding> {
        let call = self.last.filter(|_| self.uncounted >= FEWEST_PROBES)?;
        Some(Finding::new(FindingId::UncountedProbes, FindingBy::Playbook, call, self.uncounted))
    }
}

/// Adds the finding of each half-open period that such probes did not end.
pub(super) fn of_fixture(
    plan: &Plan,
    calls: &[DrivenCall<'_>],
    record: &SimulationRecord,
    findings: &mut Vec<Finding>,
) {
    if plan.playbook.breakers.is_empty() {
        return;
    }
    let mut periods = BTreeMap::new();
    let mut started = vec![0; calls.len()];
    for (place, event) in record.events.iter().enumerate() {
        let Some(call) = calls.get(event.call.index()) else { continue };
        match event.what {
            Decision::CircuitHalfOpen { server } => {
                periods.insert(server, Period { since: place, ..Period::default() });
            }
            Decision::CircuitClosed { server } | Decision::CircuitOpened { server, .. } => {
                periods.remove(&server);
            }
            Decision::AttemptStarted { .. } => started[event.call.index()] = place, // as above
            Decision::FailureClassified { verdict, .. } => {
                let counts = plan.playbook.verdict(verdict).breaker != BreakerMark::Ignored;
                let of_period = |period: &&mut Period| !counts && started[event.call.index()] > period.since; // as above
                if let Some(period) = periods.get_mut(&call.server).filter(of_period) {
                    period.uncounted += 1;
                    period.last = Some(event.call);
                }
            }
            _ => {}
        }
    }
    findings.extend(periods.into_values().filter_map(Period::finding));
}
