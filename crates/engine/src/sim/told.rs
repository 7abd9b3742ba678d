//! Fills what the agent is told of the failed calls of a simulation.

use crate::event::{OutcomeKind, Told, ValidNext};
use crate::evidence::{AgainstOneMore, Moment, RequestBooks, is_told, told_as_follower, told_by_events};
use crate::ids::CallId;
use crate::plan::{DrivenCall, Plan};

use super::record::SimulationRecord;

/// Fills what is told of the record's failed calls. `leader`: what is told of the call outside the record that the only
/// call of the record followed.
/// `books`: what is known of their requests, as far as their recording does not say so.
pub(super) fn derive(
    plan: &Plan,
    calls: &[DrivenCall<'_>],
    record: &mut SimulationRecord,
    leader: Option<Told>,
    books: &RequestBooks,
) {
    let mut told = std::mem::take(&mut record.told);
    told.clear();
    if !record.outcomes.iter().any(|outcome| is_told(outcome.kind)) {
        record.told = told;
        return; // most calls of a trace
    }
    for (n, (call, outcome)) in calls.iter().zip(&record.outcomes).enumerate() {
        let id = CallId::at(n);
        let against = || {
            let end = record.end_event(id).map(|(place, event)| Moment::new(Some(event.at), place as u64 + 1));
            AgainstOneMore {
                request: books.against(plan, calls, id, end.unwrap_or(Moment::END)),
                step_beside: record.step_acts.iter().any(|act| act.call == id && act.acts_again),
                withheld: is_withheld(plan, call, record.valid_next.get(n).and_then(Option::as_ref)),
            }
        };
        let errors = |error| record.error(error);
        told.extend(told_by_events(plan, call, id, *outcome, errors, against, record.events_of(id)));
    }
    for n in 0..told.len() {
        let OutcomeKind::Joined { leader: id, .. } = record.outcomes[told[n].call.index()].kind else { continue };
        let of_leader = told.iter().find(|one| one.call == id).copied().or(leader);
        if let Some(of_leader) = of_leader {
            let has_steps = calls.get(told[n].call.index()).is_some_and(|call| call.has_steps(plan));
            told[n] = told_as_follower(told[n], of_leader, has_steps); // as above
        }
    }
    record.told = told;
}

/// Whether the graph withholds the action of a call after it.
fn is_withheld(plan: &Plan, call: &DrivenCall<'_>, after: Option<&ValidNext>) -> bool {
    after.zip(plan.action(call.tool_name)).is_some_and(|(after, action)| after.withheld.contains(&action))
}
