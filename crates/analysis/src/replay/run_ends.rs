//! The last call of each run so far: was it denied, and is it a write whose effect is unknown? Of one input.

use playproof_engine::call::Place;
use playproof_engine::event::{Finding, FindingId};
use playproof_engine::evidence::{CallShows, Moment};
use playproof_engine::playbook::{Access, ToolFacts};
use playproof_intake::call::CompletedCall;

use super::attempts::finding;
use super::bounded_map::BoundedMap;

/// The most runs that are listed.
const LISTED: usize = 20;

/// Runs that end on a write whose effect is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct UnsettledRuns {
    /// How many there are.
    pub count: u64,
    /// Those writes of the first ones.
    pub first: Vec<UnsettledWrite>,
}

impl UnsettledRuns {
    /// Adds those of inputs that come behind `inputs` others.
    pub fn merge(&mut self, later: UnsettledRuns, inputs: u32) {
        self.count += later.count;
        let first = later.first.into_iter().map(|write| UnsettledWrite { place: write.place.behind(inputs), ..write });
        self.first.extend(first.take(LISTED.saturating_sub(self.first.len())));
    }
}

/// A write whose effect is unknown, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct UnsettledWrite {
    /// Where it stands.
    pub place: Place,
    /// Its tool.
    pub tool: String,
    /// Its reference.
    pub reference: String,
}

/// The last calls of the runs of one input, as far as they matter.
#[derive(Debug, Default)]
pub(super) struct RunEnds {
    last: BoundedMap<LastCall>,
    unsettled: UnsettledRuns,
}

#[derive(Debug)]
struct LastCall {
    tool: u128,
    args: u128,
    /// When it was denied.
    denied: Option<Moment>,
    unsettled: Option<UnsettledWrite>,
}

impl RunEnds {
    /// Ends an input: the last calls of its runs stay the last.
    pub(super) fn end_input(&mut self) {
        let mut ends: Vec<_> = self.last.take_values().filter_map(|last| last.unsettled).collect();
        ends.sort(); // by their places
        self.unsettled.count += ends.len() as u64;
        let room = LISTED.saturating_sub(self.unsettled.first.len());
        self.unsettled.first.extend(ends.into_iter().take(room));
    }

    /// The runs of all inputs that end on a write whose effect is unknown.
    pub(super) fn unsettled(&self) -> &UnsettledRuns {
        &self.unsettled
    }

    /// Takes the next closed call; gives a note if it is the call that was denied just before, with other arguments. `shows` is
    /// what its answers show.
    pub(super) fn take(
        &mut self,
        closed: &CompletedCall,
        facts: ToolFacts,
        shows: impl FnOnce() -> CallShows,
    ) -> Option<Finding> {
        let (call, hashes, counts) = (closed.raw(), &closed.hashes, &closed.counts);
        call.run()?;
        let before = if self.last.is_empty() { None } else { self.last.remove(&hashes.run) };
        if counts.attempts == 0 || counts.attempts > counts.succeeded {
            let CallShows { made: _, ended, denied, effects, may_have_acted, settled, .. } = shows();
            let writes = facts.access == Access::Write && !facts.seems_to_read;
            let is_unknown = writes && effects == 0 && may_have_acted && settled.is_none();
            let shown = closed.shown();
            let unsettled = is_unknown.then(|| UnsettledWrite {
                place: call.place,
                tool: shown.tool().to_owned(),
                reference: shown.reference(),
            });
            if denied || is_unknown {
                let denied = ended.filter(|_| denied);
                let last = LastCall { tool: hashes.tool, args: hashes.args, denied, unsettled };
                self.last.insert(hashes.run, last);
            }
        }
        let LastCall { tool, args, denied, .. } = before?;
        let made = Moment::new(call.at, call.place.line);
        let is_other = tool == hashes.tool && args != hashes.args && args != 0 && hashes.args != 0;
        (is_other && denied.is_some_and(|denied| made.is_after(denied)))
            .then(|| finding(FindingId::ChangedAfterDenial, 1))
    }
}
