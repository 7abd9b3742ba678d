//! The result of a comparison: plain values with the names behind the numbers, for reporters and gates.

use super::cause::{CauseKey, Changes, Direction, RuleVerdict};
use super::cause_group::{CauseGroup, Load, SmallestCall};
use super::tally::{CallCounts, FindingSwings, Tallies};
use crate::replay::{Counts, Replayed};
use playproof_engine::call::Place;
use playproof_engine::event::{EffectClaim, FindingBy, FindingKind, Outcome, OutcomeKind};
use playproof_engine::sim::Plan;
use playproof_engine::time::Duration;
use playproof_formats::golden::RowChange;
use playproof_formats::playbook::fingerprint;

/// What the candidate changes.
#[derive(Clone, Debug)]
pub struct Impact {
    /// The current playbook.
    pub base: Side,
    /// The proposed playbook.
    pub candidate: Side,
    /// The sums over the calls.
    pub counts: CallCounts,
    /// Every queue that holds a call under either, in the order of the playbooks.
    pub queues: Vec<QueueLoad>,
    /// Every finding by either playbook, worst first.
    pub findings: Vec<FindingChange>,
    /// Calls that show at least one unsafe finding under the candidate only.
    pub unsafe_gained: u64,
    /// The causes, widening first, then by frequency.
    pub causes: Vec<CauseRow>,
    /// The rows in which the playbooks differ, sorted by name.
    pub rows: Vec<RowChange>,
}

/// One playbook and its sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// Its name.
    pub playbook: String,
    /// The first digits of its fingerprint.
    pub fingerprint: String,
    /// Requests to the upstream.
    pub upstream_calls: u64,
    /// Waiting that it adds.
    pub added_delay: Duration,
    /// Calls that wait for people.
    pub people: u64,
    /// Calls that make an effect twice, or may.
    pub doubled: u64,
    /// Effects that the ledger holds: recorded, inferred and modelled, less reversed.
    pub effects: u64,
    /// Claims of the effect: applied, not applied, unknown.
    pub claims: [u64; 3],
}

/// Calls that wait in one queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueLoad {
    /// The queue.
    pub queue: String,
    /// Under the base.
    pub base: u64,
    /// Under the candidate.
    pub candidate: u64,
}

/// Calls that show a finding by the playbook, or one of the recording that only one playbook lets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindingChange {
    /// What.
    pub kind: FindingKind,
    /// Under the base.
    pub base: u64,
    /// Under the candidate.
    pub candidate: u64,
    /// Calls that show it under the candidate only.
    pub gained: u64,
    /// Calls that show it under the base only.
    pub lost: u64,
}

/// The cause of differences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CauseName {
    /// The same failure got another verdict.
    Classified {
        /// The base's rule (`otherwise`: none matched) and verdict.
        base: (String, String),
        /// The candidate's rule and verdict.
        candidate: (String, String),
    },
    /// A row that differs.
    Row(RowChange),
    /// The tool facts differ: read or write, idempotent, repeatable.
    ToolFacts,
    /// No single row explains it.
    Several,
}

/// Calls that differ for one cause and in one direction.
#[derive(Clone, Debug)]
pub struct CauseRow {
    /// Why.
    pub cause: CauseName,
    /// The direction.
    pub direction: Direction,
    /// How many.
    pub calls: u64,
    /// How many of them differ only because an earlier call of their dispatcher does: what they share has changed.
    pub following: u64,
    /// How many of them end undetermined under either playbook.
    pub undetermined: u64,
    /// What differs.
    pub changes: Changes,
    /// The additional and the saved load.
    pub load: Load,
    /// Their tools.
    pub tools: Counts,
    /// The smallest of them, first of those that follow from no other: the fewest decisions, the shortest arguments, the earliest.
    pub example: Option<ExampleCall>,
}

/// An example of differing calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExampleCall {
    /// The reference that `--call` takes.
    pub reference: String,
    /// Where it stands.
    pub place: Place,
    /// Its tool.
    pub tool: String,
    /// How it ends under the base.
    pub base: SimulatedEnd,
    /// How it ends under the candidate.
    pub candidate: SimulatedEnd,
}

/// How a call ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatedEnd {
    /// The word of the outcome.
    pub outcome: &'static str,
    /// The queue or the stop reason; none where there is nothing to add.
    pub detail: Option<String>,
    /// What is claimed of the effect.
    pub claim: EffectClaim,
    /// Attempts.
    pub attempts: u32,
}

impl Impact {
    pub(super) fn new(rows: Vec<RowChange>, tallies: Tallies, plans: [&Plan; 2], replayed: &Replayed) -> Impact {
        let [base, candidate] = plans;
        let causes = causes(&rows, tallies.groups, plans);
        Impact {
            base: side(base, replayed, 0, tallies.doubled[0]),
            candidate: side(candidate, replayed, 1, tallies.doubled[1]),
            counts: tallies.counts,
            queues: queues(plans, replayed),
            findings: findings(&tallies.findings, replayed),
            unsafe_gained: tallies.unsafe_gained,
            causes,
            rows,
        }
    }
}

fn side(plan: &Plan, replayed: &Replayed, n: usize, doubled: u64) -> Side {
    let summary = replayed.summaries.get(n).cloned().unwrap_or_default();
    let effects = summary.effects;
    let made = effects.recorded + effects.inferred + effects.modelled;
    Side {
        playbook: plan.names.playbook.to_string(),
        fingerprint: fingerprint(&plan.playbook).short(),
        upstream_calls: summary.requests,
        added_delay: summary.added_delay,
        people: summary.queues.iter().sum(),
        doubled,
        effects: made.saturating_sub(effects.reversed),
        claims: [EffectClaim::Applied, EffectClaim::NotApplied, EffectClaim::Unknown].map(|claim| summary.claim(claim)),
    }
}

fn queues(plans: [&Plan; 2], replayed: &Replayed) -> Vec<QueueLoad> {
    let mut loads: Vec<QueueLoad> = Vec::new();
    for (n, (plan, summary)) in plans.into_iter().zip(&replayed.summaries).enumerate() {
        for (name, &count) in plan.names.queues.iter().zip(&summary.queues) {
            let known = loads.iter().position(|load| *load.queue == **name);
            let place = known.unwrap_or_else(|| {
                loads.push(QueueLoad { queue: name.to_string(), base: 0, candidate: 0 });
                loads.len() - 1
            });
            if let Some(load) = loads.get_mut(place) {
                if n == 0 { load.base = count } else { load.candidate = count }
            }
        }
    }
    loads.retain(|load| load.base + load.candidate > 0);
    loads
}

fn findings(swings: &FindingSwings, replayed: &Replayed) -> Vec<FindingChange> {
    let count = |n: usize, kind: FindingKind| {
        replayed.summaries.get(n).map_or(0, |summary| summary.findings.of_kind(kind, FindingBy::Playbook))
    };
    let change = |kind: FindingKind| {
        // What the recording shows, and only one of the playbooks sends.
        let [lost, gained] = [&swings.lost, &swings.gained].map(|swings| swings.of_kind(kind, FindingBy::Recorded));
        FindingChange {
            kind,
            base: count(0, kind) + lost,
            candidate: count(1, kind) + gained,
            gained: swings.gained.of_kind(kind, FindingBy::Playbook) + gained,
            lost: swings.lost.of_kind(kind, FindingBy::Playbook) + lost,
        }
    };
    FindingKind::all().map(change).filter(|change| change.base + change.candidate > 0).collect()
}

fn causes(
    rows: &[RowChange],
    groups: std::collections::BTreeMap<(Direction, CauseKey), CauseGroup>,
    plans: [&Plan; 2],
) -> Vec<CauseRow> {
    let row = |((direction, cause), group): ((Direction, CauseKey), CauseGroup)| CauseRow {
        cause: name(cause, rows, plans),
        direction,
        calls: group.calls,
        following: group.following,
        undetermined: group.undetermined,
        changes: group.changes,
        load: group.load,
        tools: group.tools,
        example: group.example.map(|example| resolved(example, plans)),
    };
    let mut causes: Vec<CauseRow> = groups.into_iter().map(row).collect();
    causes.sort_by_key(|cause| (cause.direction, std::cmp::Reverse(cause.calls))); // stable: then by cause
    causes
}

fn name(cause: CauseKey, rows: &[RowChange], plans: [&Plan; 2]) -> CauseName {
    let [base, candidate] = plans;
    let said = |plan: &Plan, said: RuleVerdict| {
        (plan.names.rule(said.rule).to_owned(), plan.names.verdict(said.verdict).to_owned())
    };
    match cause {
        CauseKey::Classified { base: mine, candidate: theirs } => {
            CauseName::Classified { base: said(base, mine), candidate: said(candidate, theirs) }
        }
        CauseKey::Row(place) => rows.get(place).map_or(CauseName::Several, |row| CauseName::Row(row.clone())),
        CauseKey::ToolFacts => CauseName::ToolFacts,
        CauseKey::Several => CauseName::Several,
    }
}

fn resolved(example: SmallestCall, plans: [&Plan; 2]) -> ExampleCall {
    let [base, candidate] = plans;
    ExampleCall {
        base: end(base, &example.base),
        candidate: end(candidate, &example.candidate),
        reference: example.reference,
        place: example.place,
        tool: example.tool,
    }
}

fn end(plan: &Plan, outcome: &Outcome) -> SimulatedEnd {
    let detail = match outcome.kind {
        OutcomeKind::Escalated(queue) => Some(plan.names.queue(queue).to_owned()),
        OutcomeKind::Refused(why) => Some(why.as_str().to_owned()),
        OutcomeKind::Exhausted(stop) => Some(stop.as_str().to_owned()),
        OutcomeKind::Undetermined(asked) => Some(format!("no answer to {asked}")),
        _ => None,
    };
    SimulatedEnd { outcome: outcome.kind.as_str(), detail, claim: outcome.claim, attempts: outcome.attempts }
}
