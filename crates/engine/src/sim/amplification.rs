//! What retries add to the outage of a server: the requests of its calls while it fails. Looks at calls in the order in
//! which they end; keeps a few numbers a server.

use std::collections::BTreeMap;

use crate::classify::reads_as_outage;
use crate::event::{Decision, Finding, FindingBy, FindingId, Status};
use crate::ids::{AttemptNo, CallId};
use crate::time::{Duration, Instant};

use super::record::SimulationRecord;
use crate::plan::DrivenCall;
use crate::plan::Plan;

/// An outage of fewer calls is too short to judge retries by.
const FEWEST_CALLS: u32 = 20;

/// Calls that end so long after the one before are not of the same outage.
const LONGEST_GAP: Duration = Duration::from_millis(60_000);

/// Retries amplify an outage if its calls take more than this many requests each.
const MOST_REQUESTS: u32 = 2;

/// The calls of one server in a row whose first attempt showed that it does not work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outage {
    calls: u32,
    requests: u32,
    last: Option<Instant>,
    is_found: bool,
}

/// What a call that has ended shows of its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerCall {
    /// When it ended, if that is known.
    pub at: Option<Instant>,
    /// Its attempts; none shows nothing.
    pub attempts: u32,
    /// Whether its first attempt failed in a way that shows an outage.
    pub failed: bool,
}

impl Outage {
    /// Whether the last call showed that the server does not work.
    pub const fn is_going_on(&self) -> bool {
        self.calls > 0
    }

    /// Takes the next call of the server that has ended. The requests of the outage so far, once, when they are too many.
    pub fn take(&mut self, call: ServerCall) -> Option<u32> {
        if call.attempts == 0 {
            return None;
        }
        let is_later = self.last.zip(call.at).is_some_and(|(last, now)| now.since(last) > LONGEST_GAP);
        if !call.failed || is_later {
            *self = Outage::default();
        }
        if !call.failed {
            return None;
        }
        self.calls = self.calls.saturating_add(1);
        self.requests = self.requests.saturating_add(call.attempts);
        self.last = call.at.or(self.last);
        let amplifies = self.calls >= FEWEST_CALLS && self.requests > self.calls.saturating_mul(MOST_REQUESTS);
        let is_new = amplifies && !self.is_found;
        self.is_found |= amplifies;
        is_new.then_some(self.requests)
    }
}

/// What the events of a call that has ended show of its server. A retry that a retry budget pays for does not count: the
/// budget bounds them all.
pub(super) fn of_call(plan: &Plan, record: &SimulationRecord, id: CallId, at: Instant) -> ServerCall {
    let mut call = ServerCall { at: Some(at), attempts: 0, failed: false };
    let mut is_paid = false;
    for event in record.events_of(id) {
        match event.what {
            Decision::AttemptStarted { .. } => call.attempts += u32::from(!std::mem::take(&mut is_paid)),
            Decision::FailureClassified { verdict, .. } => {
                let retry = plan.playbook.verdict(verdict).then.retry();
                is_paid = retry.is_some_and(|retry| retry.retry_budget.is_some());
            }
            Decision::AttemptFinished { attempt: AttemptNo::FIRST, status: Status::Failed(error), .. } => {
                call.failed = reads_as_outage(error.and_then(|error| record.error(error)));
            }
            _ => {}
        }
    }
    call
}

/// Adds the findings of a fixture's calls.
pub(super) fn of_fixture(
    plan: &Plan,
    calls: &[DrivenCall<'_>],
    record: &SimulationRecord,
    findings: &mut Vec<Finding>,
) {
    if calls.len() < FEWEST_CALLS as usize {
        return;
    }
    let mut servers: BTreeMap<&str, Outage> = BTreeMap::new();
    for event in record.events.iter().filter(|event| matches!(event.what, Decision::Outcome(_))) {
        let Some(call) = calls.get(event.call.index()) else { continue };
        let outage = servers.entry(plan.server(call.tool_name)).or_default();
        let count = outage.take(of_call(plan, record, event.call, event.at));
        findings.extend(count.map(|count| found(FindingBy::Playbook, event.call, count)));
    }
}

/// The finding at the call at which the requests of an outage are too many.
pub fn found(by: FindingBy, call: CallId, requests: u32) -> Finding {
    Finding::new(FindingId::RetryAmplification, by, call, requests)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The calls of `all` (end in seconds, attempts, whether the first failed) at which an outage is found.
    fn found_at(all: impl IntoIterator<Item = (u64, u32, bool)>) -> Vec<(usize, u32)> {
        let mut outage = Outage::default();
        let calls = all.into_iter().enumerate();
        calls
            .filter_map(|(n, (at, attempts, failed))| {
                let at = Some(Instant::from_millis(at * 1_000));
                Some((n, outage.take(ServerCall { at, attempts, failed })?))
            })
            .collect()
    }

    #[test]
    fn more_than_two_requests_a_call_of_an_outage_amplify_it_once() {
        let thrice = |calls: u64| (0..calls).map(|n| (n, 3, true));
        assert_eq!(found_at(thrice(60)), [(19, 60)], "once an outage");
        assert_eq!(found_at(thrice(19)), [], "too short");
        assert_eq!(found_at((0..60).map(|n| (n, 2, true))), [], "two a call");
        assert_eq!(found_at((0..60).map(|n| (n, 2 + u32::from(n == 40), true))), [(40, 83)]);
    }

    #[test]
    fn a_first_attempt_that_works_or_a_quiet_minute_ends_an_outage() {
        let with = |other: (u64, u32, bool)| (0..25).map(move |n| if n == 10 { other } else { (n, 4, true) });
        assert_eq!(found_at(with((10, 1, false))), []);
        assert_eq!(found_at(with((10, 0, false))), [(20, 80)], "a refused call sends nothing and shows nothing");
        let gap = |seconds: u64| (0..25).map(move |n| (n + if n < 10 { 0 } else { seconds }, 4, true));
        assert_eq!((found_at(gap(59)), found_at(gap(60))), (vec![(19, 80)], vec![]));
    }
}
