//! Two results held against each other: guarantees that are gained and lost, and assumptions; and what changed rows do to
//! the guarantees of their playbook.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use playproof_engine::event::FindingId;
use playproof_engine::sim::Plan;

use crate::changed::Changed;
use crate::verify::{Fate, Question, Verified, verify};

/// States that are looked at where rows changed.
const STATES: u64 = 100_000;

/// A result beside an older one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// Properties that some script broke, and none does now.
    pub gained: Vec<FindingId>,
    /// Properties that some script breaks now, and none did.
    pub lost: Vec<FindingId>,
    /// What a property that holds in both rests on now, and did not.
    pub assumed: Vec<Assumed>,
    /// The same the other way round.
    pub assumed_no_more: Vec<Assumed>,
}

/// A property that rests on an assumption.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Assumed {
    /// The assumption.
    pub on: String,
    /// The property.
    pub id: FindingId,
}

/// Compares a result with an older one.
pub fn compare(old: &Verified, new: &Verified) -> Compared {
    let broken = |result: &Verified| -> BTreeSet<FindingId> {
        let violated = result.properties.iter().filter(|property| property.fate == Fate::Violated);
        violated.map(|property| property.id).collect()
    };
    let assumed = |result: &Verified| -> BTreeSet<Assumed> {
        let rests = result.rests_on.iter();
        rests.flat_map(|rests| rests.properties().map(|id| Assumed { on: rests.on.clone(), id })).collect()
    };
    let (before, now) = (broken(old), broken(new));
    let is_held = |Assumed { id, .. }: &Assumed| !before.contains(id) && !now.contains(id);
    let (mut rested, mut rests) = (assumed(old), assumed(new));
    rested.retain(is_held);
    rests.retain(is_held);
    Compared {
        gained: before.difference(&now).copied().collect(),
        lost: now.difference(&before).copied().collect(),
        assumed: rests.difference(&rested).cloned().collect(),
        assumed_no_more: rested.difference(&rests).cloned().collect(),
    }
}

/// What changed rows do to the guarantees of a playbook.
#[derive(Clone, Debug)]
pub struct Guarantees {
    /// Of the kinds of call that the rows reach, as they are.
    pub now: Verified,
    /// The properties that were lost; all that are violated, where the rows as they were are not known.
    pub lost: Vec<FindingId>,
}

/// Asks the properties of the kinds of call that changed rows reach, and drops only the assumptions of those rows.
pub fn guarantees<'a>(
    playbook: &str,
    rows: impl IntoIterator<Item = &'a str>,
    (before, now): (Option<&Plan>, &Plan),
    jobs: NonZeroUsize,
) -> Guarantees {
    let plans: Vec<&Plan> = before.into_iter().chain([now]).collect();
    let changed = Changed::rows(rows, &plans);
    let question = Question { playbook, properties: &[], states: STATES, jobs, changed: Some(&changed) };
    let result = verify(now, &question);
    let is_violated = result.properties.iter().any(|property| property.fate == Fate::Violated);
    let nothing = Verified { properties: Vec::new(), rests_on: Vec::new(), ..result.clone() };
    let old = before.filter(|_| is_violated).map_or(nothing, |before| verify(before, &question));
    Guarantees { lost: compare(&old, &result).lost, now: result }
}
