//! Counts over many calls, in parts that add up; bounded in memory.

use std::collections::BTreeMap;

use super::call_run::{CallRun, doubled};
use super::cause::{CauseKey, Changes, Direction};
use super::cause_group::{CauseGroup, Load, is_undetermined};
use super::compare::CallDifference;
use super::dispatchers::Dispatchers;
use crate::replay::{FindingCounts, ShownCall, pairs};
use playproof_engine::call::Reply;
use playproof_engine::event::{FindingBy, FindingKind, FindingSeverity};

/// The most causes that are told apart. More than one batch of calls can have, so that only the order of the calls
/// decides which ones.
const MAX_CAUSES: usize = 4_096;

/// Calls that end undetermined under one playbook or both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Undetermined {
    /// Under the base only.
    pub base: u64,
    /// Under the candidate only.
    pub candidate: u64,
    /// Under both.
    pub both: u64,
}

impl Undetermined {
    /// Under either.
    pub const fn calls(&self) -> u64 {
        self.base + self.candidate + self.both
    }

    fn add(&mut self, base: bool, candidate: bool) {
        match (base, candidate) {
            (true, true) => self.both += 1,
            (true, false) => self.base += 1,
            (false, true) => self.candidate += 1,
            (false, false) => {}
        }
    }

    fn merge(&mut self, later: &Undetermined) {
        self.base += later.base;
        self.candidate += later.candidate;
        self.both += later.both;
    }
}

/// Calls that gain or lose a finding by the playbook; or, as `Recorded`, one of the recording because one side alone sends
/// the call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct FindingSwings {
    pub gained: FindingCounts,
    pub lost: FindingCounts,
}

/// Sums over calls that were compared.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct CallCounts {
    /// Calls that were compared.
    pub calls: u64,
    /// Calls with a recorded attempt that failed: only those can differ, tool facts aside.
    pub failed: u64,
    /// Calls that differ, and end determined under both.
    pub changed: u64,
    /// What a gate can judge: calls with a failed recorded attempt or another end, which end determined under both; or
    /// under the candidate, where that attempts other writes than the base.
    pub decided: u64,
    /// Calls that end undetermined under either; neither changed nor unchanged.
    pub undetermined: Undetermined,
    /// Of these, calls with different decisions.
    pub undetermined_differing: u64,
    /// Calls that differ, by [`Direction::ALL`].
    pub directions: [u64; Direction::ALL.len()],
    /// What differs in the differing calls.
    pub changes: Changes,
    /// The additional and the saved load.
    pub load: Load,
    /// Differing calls with further causes, beyond the bound.
    pub overflow: u64,
}

impl CallCounts {
    /// Calls without a difference that are determined.
    pub const fn unchanged(&self) -> u64 {
        self.calls - self.changed - self.undetermined.calls()
    }

    /// Calls that differ in this direction.
    pub const fn in_direction(&self, direction: Direction) -> u64 {
        self.directions[direction as usize]
    }

    fn merge(&mut self, later: &CallCounts) {
        self.calls += later.calls;
        self.failed += later.failed;
        self.changed += later.changed;
        self.decided += later.decided;
        self.undetermined.merge(&later.undetermined);
        self.undetermined_differing += later.undetermined_differing;
        for (mine, later) in self.directions.iter_mut().zip(later.directions) {
            *mine += later;
        }
        self.changes.merge(&later.changes);
        self.load.merge(&later.load);
        self.overflow += later.overflow;
    }
}

/// What was counted of a batch of calls, or of all.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Tallies {
    pub counts: CallCounts,
    /// Calls that make an effect twice, or may: under the base, under the candidate.
    pub doubled: [u64; 2],
    pub findings: FindingSwings,
    /// Calls that gain at least one unsafe finding.
    pub unsafe_gained: u64,
    #[serde(with = "pairs")]
    pub groups: BTreeMap<(Direction, CauseKey), CauseGroup>,
    /// Calls that may follow from earlier ones of their dispatchers; no partial result has them.
    #[serde(skip)]
    dispatchers: Dispatchers,
}

impl Tallies {
    /// Adds one call; `dispatcher`, if its calls share something.
    pub fn add(
        &mut self,
        call: ShownCall<'_>,
        dispatcher: Option<u128>,
        [base, candidate]: [CallRun<'_>; 2],
        difference: Option<CallDifference>,
    ) {
        let (mine, theirs) = (is_undetermined(base), is_undetermined(candidate));
        let failed = call.answers.iter().any(|answer| answer.reply != Reply::Ok);
        self.counts.calls += 1;
        self.counts.failed += u64::from(failed);
        let goes_elsewhere = difference.as_ref().is_some_and(|found| found.direction != Direction::Neutral);
        let is_judged = (failed || difference.is_some()) && !theirs && (!mine || goes_elsewhere);
        self.counts.decided += u64::from(is_judged);
        self.counts.undetermined.add(mine, theirs);
        for (count, doubles) in self.doubled.iter_mut().zip(doubled(&base, &candidate)) {
            *count += u64::from(doubles);
        }
        self.add_findings(base, candidate); // tool facts cause findings that no decision shows
        let Some(difference) = difference else { return };
        if mine || theirs {
            self.counts.undetermined_differing += 1;
        } else {
            self.counts.changed += 1;
        }
        self.counts.directions[difference.direction as usize] += 1;
        self.counts.changes.merge(&difference.changes);
        self.counts.load.merge(&Load::between(base, candidate));
        let mut group = CauseGroup::default();
        group.add(call, [base, candidate], &difference);
        let group = match dispatcher {
            Some(dispatcher) => self.dispatchers.take(dispatcher, &difference, group),
            None => Some(group),
        };
        if let Some(group) = group {
            self.add_group((difference.direction, difference.cause), group);
        }
    }

    fn add_group(&mut self, key: (Direction, CauseKey), group: CauseGroup) {
        match self.group(key) {
            Some(mine) => mine.merge(group),
            None => self.counts.overflow += group.calls,
        }
    }

    /// Gives the calls that follow from others the causes of those: every earlier call is known.
    pub fn settle(&mut self) {
        for (key, group) in self.dispatchers.settle() {
            self.add_group(key, group);
        }
    }

    /// Counts the findings that the call gains and loses; of each kind once, however often and by whomever it is shown.
    fn add_findings(&mut self, base: CallRun<'_>, candidate: CallRun<'_>) {
        let is_usual = |ran: CallRun<'_>| ran.record.findings.is_empty() && ran.recorded.is_empty();
        if is_usual(base) && is_usual(candidate) {
            return;
        }
        let by_playbook = |ran: CallRun<'_>, kind: FindingKind| {
            ran.record.findings.iter().any(|finding| finding.by == FindingBy::Playbook && finding.kind() == kind)
        };
        let only = |ran: CallRun<'_>, other: CallRun<'_>, kind: FindingKind| {
            let lets_through = || ran.sent_here_alone(&other).any(|finding| finding.kind() == kind);
            match (by_playbook(ran, kind), by_playbook(other, kind)) {
                (_, true) => None,
                (true, false) => Some(FindingBy::Playbook),
                (false, false) => lets_through().then_some(FindingBy::Recorded),
            }
        };
        let mut gains_unsafe = false;
        for kind in FindingKind::all() {
            if let Some(by) = only(candidate, base, kind) {
                self.findings.gained.add(kind, by, 1);
                gains_unsafe |= kind.severity == FindingSeverity::Unsafe;
            }
            if let Some(by) = only(base, candidate, kind) {
                self.findings.lost.add(kind, by, 1);
            }
        }
        self.unsafe_gained += u64::from(gains_unsafe);
    }

    /// The group of a cause; none where there are too many to tell apart.
    fn group(&mut self, key: (Direction, CauseKey)) -> Option<&mut CauseGroup> {
        if self.groups.len() >= MAX_CAUSES && !self.groups.contains_key(&key) {
            return None;
        }
        Some(self.groups.entry(key).or_default())
    }

    /// Renumbers its inputs, as if `inputs` others had been read before.
    pub fn put_behind(&mut self, inputs: u32) {
        let examples = self.groups.values_mut().filter_map(|group| group.example.as_mut());
        examples.for_each(|example| example.place = example.place.behind(inputs));
    }

    /// What the count of a tool may lack at most.
    pub fn missed_at_most(&self) -> u64 {
        self.groups.values().map(|group| group.tools.missed_at_most()).max().unwrap_or(0)
    }

    /// Adds what was counted over the calls that come next; this is the sum over all calls before them.
    pub fn merge(&mut self, later: Tallies) {
        self.settle();
        self.counts.merge(&later.counts);
        for (mine, later) in self.doubled.iter_mut().zip(later.doubled) {
            *mine += later;
        }
        self.findings.gained.merge(&later.findings.gained);
        self.findings.lost.merge(&later.findings.lost);
        self.unsafe_gained += later.unsafe_gained;
        for (key, group) in later.groups {
            self.add_group(key, group);
        }
        self.dispatchers.add_later(later.dispatchers);
        self.settle();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impact::cause::RuleVerdict;
    use playproof_engine::ids::VerdictId;

    fn many(from: u16) -> Tallies {
        let mut tallies = Tallies::default();
        for n in 0..3_000 {
            let said = RuleVerdict { rule: None, verdict: VerdictId(from + n) };
            let cause = CauseKey::Classified { base: said, candidate: said };
            let group = CauseGroup { calls: 2, ..CauseGroup::default() };
            tallies.groups.insert((Direction::Neutral, cause), group);
        }
        tallies
    }

    #[test]
    fn causes_beyond_the_bound_are_counted_and_not_told_apart() {
        let mut all = many(0);
        all.merge(many(2_000));
        assert_eq!((all.groups.len(), all.counts.overflow), (MAX_CAUSES, 2 * (5_000 - MAX_CAUSES as u64)));
        let counted: u64 = all.groups.values().map(|group| group.calls).sum();
        assert_eq!(counted + all.counts.overflow, 12_000);
    }
}
