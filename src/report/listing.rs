//! Which calls a page shows: those that were asked for, the most serious first, alike ones folded with a count.
//! Keeps one call a group, so that memory does not grow with the trace. Draws nothing.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use foldhash::fast::FixedState;

use crate::event::{Decision, EffectClaim, Finding, FindingId, FindingSeverity, Names, Outcome, OutcomeKind, Status};
use crate::replay::write_template;
use crate::sim::Record;
use crate::trace::model::{Place, RecordedCall, Reply};

/// References that are kept of the calls that went the same way as the one shown.
const OTHERS: usize = 4;

/// Which calls are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// What must be true of them.
    pub only: Only,
    /// Only this call: its reference or its own id.
    pub call: Option<String>,
    /// The same by its place, where `call` names one.
    pub place: Option<Place>,
    /// Only calls of this run.
    pub run: Option<String>,
    /// Each call by itself, none folded.
    pub unfolded: bool,
}

impl Selection {
    /// Whether a call is wanted.
    pub fn wants<'r>(
        &self,
        call: &RecordedCall,
        recorded: &[Finding],
        mut runs: impl Iterator<Item = (&'r Names, &'r Record)> + Clone,
    ) -> bool {
        let Selection { only, call: wanted, place, run, .. } = self;
        if run.as_deref().is_some_and(|run| call.run() != Some(run)) {
            return false;
        }
        if let Some(wanted) = wanted.as_deref() {
            return *place == Some(call.place) || call.id() == Some(wanted) || call.reference() == wanted;
        }
        let found = || !recorded.is_empty() || runs.clone().any(|(_, record)| !record.findings.is_empty());
        let failed = || {
            call.answers.iter().any(|answer| matches!(answer.reply, Reply::Failed(_)))
                || runs.clone().any(|(_, record)| record.outcomes.iter().any(is_failure))
        };
        match only {
            Only::Nothing => true,
            Only::FailedOrFound => failed() || found(),
            Only::Failed => failed(),
            Only::Found => found(),
            Only::Verdict(name) => runs.any(|(names, record)| {
                record.events.iter().any(|event| match event.what {
                    Decision::FailureClassified { verdict, .. } => names.verdict(verdict) == name,
                    _ => false,
                })
            }),
        }
    }
}

/// What must be true of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Only {
    /// It failed, or something was found.
    #[default]
    FailedOrFound,
    /// Nothing.
    Nothing,
    /// An attempt failed.
    Failed,
    /// Something was found.
    Found,
    /// A failure got this verdict, under any of the playbooks.
    Verdict(String),
}

/// A call with what each playbook made of it.
#[derive(Clone, Debug)]
pub struct Detail {
    /// The call.
    pub call: RecordedCall,
    /// What the recording shows of it.
    pub recorded: Vec<Finding>,
    /// One simulation a playbook, in the order of the command line.
    pub records: Vec<Record>,
}

/// Calls that went the same way.
#[derive(Clone, Debug)]
pub struct Group {
    rank: Rank,
    /// How many there are.
    pub count: u64,
    /// The one that is shown.
    pub detail: Box<Detail>,
    /// Where that one stands, and its number: here, because the call itself is far away.
    shown: (Place, u64),
    /// The first ones of all, by where they stand, with their references.
    members: Vec<((Place, u64), String)>,
}

/// How serious a group is; the least is shown first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    severity: Option<FindingSeverity>,
    id: Option<FindingId>,
    /// More is worse.
    spared: u32,
}

impl Rank {
    fn of<'a>(findings: impl Iterator<Item = &'a Finding>) -> Rank {
        let worst = findings.min_by_key(|finding| (finding.id.severity(), finding.id, u32::MAX - finding.count));
        Rank {
            severity: worst.map(|worst| worst.id.severity()),
            id: worst.map(|worst| worst.id),
            spared: u32::MAX - worst.map_or(0, |worst| worst.count),
        }
    }

    /// A call in which something was found comes before one that merely failed.
    fn key(self) -> (bool, Rank) {
        (self.severity.is_none(), self)
    }
}

/// Collects groups, on any number of threads and in any order.
#[derive(Debug)]
pub struct Listing {
    selection: Selection,
    groups: Mutex<BTreeMap<u64, Group>>,
}

impl Listing {
    /// A listing of nothing yet.
    pub fn new(selection: Selection) -> Listing {
        Listing { selection, groups: Mutex::default() }
    }

    /// Takes a call, if it is wanted.
    pub fn take<'r>(
        &self,
        call: &RecordedCall,
        recorded: &[Finding],
        runs: impl Iterator<Item = (&'r Names, &'r Record)> + Clone,
    ) {
        if !self.selection.wants(call, recorded, runs.clone()) {
            return;
        }
        let signature = self.signature(call, recorded, runs.clone());
        let rank = Rank::of(recorded.iter().chain(runs.clone().flat_map(|(_, record)| &record.findings)));
        let detail = || {
            let records = runs.map(|(_, record)| record.clone()).collect();
            Box::new(Detail { call: call.clone(), recorded: recorded.to_vec(), records })
        };
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        match groups.entry(signature) {
            Entry::Vacant(new) => {
                let shown = (call.place, call.number);
                new.insert(Group { rank, count: 1, detail: detail(), shown, members: vec![member(call)] });
            }
            Entry::Occupied(known) => known.into_mut().add(call, rank, detail),
        }
    }

    /// Calls that were wanted.
    pub fn calls(&self) -> u64 {
        let groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        groups.values().map(|group| group.count).sum()
    }

    /// The groups, the most serious first, then in the order of the inputs.
    pub fn into_groups(self) -> Vec<Group> {
        let groups = self.groups.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut groups: Vec<Group> = groups.into_values().collect();
        groups.sort_by_cached_key(Group::order);
        groups
    }

    /// Calls with the same signature went the same way: tool, findings, and under each playbook what was decided.
    fn signature<'r>(
        &self,
        call: &RecordedCall,
        recorded: &[Finding],
        runs: impl Iterator<Item = (&'r Names, &'r Record)>,
    ) -> u64 {
        let mut hash = FixedState::default().build_hasher();
        if self.selection.unfolded {
            (call.place, call.number).hash(&mut hash);
        }
        let unsafe_found = |finding: &Finding| finding.id.severity() == FindingSeverity::Unsafe;
        if recorded.iter().any(unsafe_found) {
            call.place.input.hash(&mut hash); // harm in another input is another story
        }
        call.tool().hash(&mut hash);
        for finding in recorded {
            (finding.id, finding.by).hash(&mut hash);
        }
        let mut form = String::new();
        for answer in &call.answers {
            match &answer.reply {
                Reply::Ok => true.hash(&mut hash),
                Reply::Failed(error) => {
                    let error = error.as_deref();
                    error.and_then(|error| error.kind.as_deref()).hash(&mut hash);
                    write_template(error.and_then(|error| error.message.as_deref()).unwrap_or(""), &mut form);
                    form.hash(&mut hash);
                }
            }
        }
        for (_, record) in runs {
            for finding in &record.findings {
                (finding.id, finding.by).hash(&mut hash);
            }
            for event in &record.events {
                decided(event.what, &mut hash);
            }
        }
        hash.finish()
    }
}

impl Group {
    /// The most serious call is shown, of equals the first; whatever the order in which they come.
    fn add(&mut self, call: &RecordedCall, rank: Rank, detail: impl FnOnce() -> Box<Detail>) {
        self.count += 1;
        let place = (call.place, call.number);
        if self.members.len() <= OTHERS || self.members.last().is_some_and(|(last, _)| place < *last) {
            let at = self.members.partition_point(|(before, _)| *before < place);
            self.members.insert(at, member(call));
            self.members.truncate(OTHERS + 1);
        }
        if (rank.key(), place) < self.order() {
            self.detail = detail();
            (self.rank, self.shown) = (rank, place);
        }
    }

    fn order(&self) -> ((bool, Rank), (Place, u64)) {
        (self.rank.key(), self.shown)
    }

    /// References of some that went the same way as the one shown.
    pub fn others(&self) -> Vec<String> {
        let shown = self.detail.call.reference();
        let others = self.members.iter().map(|(_, reference)| reference).filter(|reference| **reference != shown);
        others.take(OTHERS).cloned().collect()
    }

    /// How many went the same way beyond the one shown and the others that are named.
    pub fn more(&self) -> u64 {
        self.count.saturating_sub(1 + self.others().len() as u64)
    }
}

fn member(call: &RecordedCall) -> ((Place, u64), String) {
    ((call.place, call.number), call.reference())
}

/// What counts of a decision, whenever it was taken and whatever the error's words were.
fn decided(what: Decision, hash: &mut impl Hasher) {
    match what {
        Decision::FailureClassified { verdict, rule, ignored } => (1_u8, verdict, rule, ignored).hash(hash),
        Decision::AttemptFinished { status, .. } => {
            (2_u8, matches!(status, Status::Ok), matches!(status, Status::Unanswered)).hash(hash);
        }
        Decision::RetrySuppressed { why } => (3_u8, why).hash(hash),
        Decision::ReversalRefused { why } => (4_u8, why).hash(hash),
        Decision::Outcome(outcome) => {
            let Outcome { kind, claim, attempts, .. } = outcome;
            (5_u8, kind, claim, attempts).hash(hash);
        }
        _ => {}
    }
}

fn is_failure(outcome: &Outcome) -> bool {
    outcome.kind != OutcomeKind::Succeeded || outcome.claim == EffectClaim::Unknown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::FindingBy;
    use crate::ids::CallId;
    use crate::trace::model::{AnswerTo, CallTexts, RecordedAnswer};

    fn call(line: u64, tool: &str, reply: Reply) -> RecordedCall {
        let mut call = RecordedCall::new(CallTexts { tool, ..CallTexts::default() }, Place { input: 0, line });
        call.number = line;
        call.number_in_run = u32::try_from(line).unwrap();
        let to = AnswerTo::Attempt;
        let place = call.place;
        call.answers.push(RecordedAnswer { to, attempt: None, started: None, at: None, reply, inferred: false, place });
        call
    }

    fn found(id: FindingId, count: u32) -> Finding {
        Finding { id, by: FindingBy::Recorded, call: CallId(0), count }
    }

    fn listing(calls: &[(RecordedCall, Vec<Finding>)]) -> Listing {
        let listing = Listing::new(Selection::default());
        for (call, findings) in calls {
            listing.take(call, findings, std::iter::empty());
        }
        listing
    }

    fn shown(listing: Listing) -> Vec<(String, u64, Vec<String>)> {
        let groups = listing.into_groups().into_iter();
        groups.map(|group| (group.detail.call.reference(), group.count, group.others())).collect()
    }

    #[test]
    fn the_most_serious_comes_first_and_calls_without_failure_or_finding_do_not_come() {
        let calls = [
            (call(1, "a", Reply::Ok), vec![]),
            (call(2, "b", Reply::Failed(None)), vec![]),
            (call(3, "c", Reply::Ok), vec![found(FindingId::FutileRetry, 1)]),
            (call(4, "d", Reply::Ok), vec![found(FindingId::DuplicateEffect, 2)]),
            (call(5, "e", Reply::Ok), vec![found(FindingId::DuplicateEffect, 3)]),
        ];
        let names: Vec<String> = shown(listing(&calls)).into_iter().map(|(name, ..)| name).collect();
        assert_eq!(names, ["#5", "#4", "#3", "#2"]);
    }

    #[test]
    fn calls_that_went_the_same_way_are_folded_and_the_worst_of_them_is_shown() {
        let mut calls = [
            (call(1, "a", Reply::Ok), vec![found(FindingId::DuplicateEffect, 2)]),
            (call(2, "a", Reply::Ok), vec![found(FindingId::DuplicateEffect, 3)]),
            (call(3, "a", Reply::Ok), vec![found(FindingId::DuplicateEffect, 2)]),
        ];
        let one = vec![("#2".to_owned(), 3, vec!["#1".to_owned(), "#3".to_owned()])];
        for _ in 0..3 {
            calls.rotate_left(1);
            let listing = listing(&calls);
            assert_eq!((listing.calls(), shown(listing)), (3, one.clone()), "in any order");
        }
    }

    #[test]
    fn each_call_stands_by_itself_where_nothing_is_folded() {
        let listing = Listing::new(Selection { unfolded: true, ..Selection::default() });
        for line in 1..=3 {
            listing.take(&call(line, "a", Reply::Failed(None)), &[], std::iter::empty());
        }
        assert_eq!(shown(listing).len(), 3);
    }
}
