//! Collects every recorded failure, on any thread, and counts it by its group. Memory is bounded: failures of rare
//! groups are counted by verdict alone.

use super::group::{FailureGroup, FailureSample, GroupKey, RareFailures, RecordedFailure, write_templates};
use super::result::{Cluster, Mined, cluster_of};
use super::successes::Successes;
use crate::replay::{CallResult, Frequent, Observer, Replayed};
use playproof_engine::call::{RecordedCall, Reply};
use playproof_engine::event::OutcomeKind;
use playproof_engine::ids::AttemptNo;
use playproof_engine::sim::Plan;
use playproof_intake::origin::Sources;
use playproof_intake::redact::RedactionRules;

/// The number of groups that are told apart: the most frequent ones.
const MAX_GROUPS: usize = 4_096;

/// Mines a replay under one plan.
#[derive(Clone, Debug, Default)]
pub struct Miner {
    /// The inputs, which may keep the texts of successful results.
    pub sources: Sources,
}

/// The failures of a batch of calls, or of all.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct MinedPart {
    groups: Frequent<GroupKey, FailureGroup>,
    rare: RareFailures,
    successes: Successes,
    /// Texts are there only as redaction shows them.
    is_redacted: bool,
    #[serde(skip)]
    template: String,
    #[serde(skip)]
    key: String,
}

impl Default for MinedPart {
    fn default() -> MinedPart {
        let groups = Frequent::new(MAX_GROUPS);
        MinedPart {
            groups,
            rare: RareFailures::default(),
            successes: Successes::default(),
            is_redacted: false,
            template: String::new(),
            key: String::new(),
        }
    }
}

impl MinedPart {
    /// Adds the failures of later calls.
    pub fn merge(&mut self, later: MinedPart) {
        let MinedPart { groups, rare, successes, is_redacted, .. } = self;
        *is_redacted |= later.is_redacted;
        successes.merge(later.successes);
        later.rare.rows().for_each(|(verdict, count)| rare.add(verdict, count));
        groups.merge(later.groups, FailureGroup::merge, |key, row| rare.add_group(&key, row));
    }

    /// Renumbers its inputs, as if `inputs` others had been read before.
    #[must_use]
    pub fn after_inputs(mut self, inputs: u32) -> MinedPart {
        let samples = self.groups.values_mut().flat_map(|group| &mut group.samples);
        samples.for_each(|sample| sample.place.input = sample.place.input.saturating_add(inputs));
        self
    }

    /// Without any text as recorded: rules are then tried on texts as they are shown.
    #[must_use]
    pub fn redacted(mut self, rules: &RedactionRules) -> MinedPart {
        for group in self.groups.values_mut() {
            let samples = std::mem::take(&mut group.samples);
            group.samples = samples.into_iter().map(FailureSample::without_raw).collect();
        }
        self.successes = self.successes.redacted(rules);
        self.is_redacted = !rules.is_empty();
        self
    }

    /// Whether texts are there only as redaction shows them.
    pub const fn is_redacted(&self) -> bool {
        self.is_redacted
    }

    /// What the count of a template or of a tool may lack at most, because there are too many.
    pub fn missed_at_most(&self) -> u64 {
        let of_tools = self.groups.rows().map(|(_, row)| row.value.tools.missed_at_most());
        of_tools.chain([self.groups.missed_at_most()]).max().unwrap_or(0)
    }

    /// The result over all calls, with the `top` most urgent clusters.
    pub fn finish(mut self, plan: &Plan, replayed: &Replayed, top: usize) -> Mined {
        let MinedPart { groups, rare, .. } = &mut self;
        groups.cut(|key, row| rare.add_group(&key, row));
        let (groups, rare, successes) = self.into_groups();
        Mined::new(&groups, (&rare, &successes), plan, replayed, top)
    }

    fn into_groups(self) -> (Vec<(GroupKey, FailureGroup)>, RareFailures, Successes) {
        let rows = self.groups.into_rows();
        let groups =
            rows.map(|(key, row)| (key, FailureGroup { failures: row.count, missed: row.missed, ..row.value }));
        (groups.collect(), self.rare, self.successes)
    }

    /// The cluster of one failed attempt of a call (given as shown and as recorded), whatever its verdict; none if the
    /// attempt was not collected or did not fail.
    pub fn around(
        self,
        plan: &Plan,
        (call, raw_call): (&RecordedCall, &RecordedCall),
        attempt: AttemptNo,
    ) -> Option<Cluster> {
        let failed = |call: &'_ RecordedCall| {
            let (_, answer) = call.attempts().find(|(number, _)| *number == attempt)?;
            match &answer.reply {
                Reply::Failed(error) => Some((error.clone(), answer.place)),
                Reply::Ok | Reply::Suspected(_) | Reply::Unfinished(_) => None,
            }
        };
        let ((error, place), (raw, _)) = (failed(call)?, failed(raw_call)?);
        let facts = plan.facts(raw_call.tool());
        let (error, raw) = (error.as_deref(), raw.as_deref());
        let failure = RecordedFailure { call, error, raw_call, raw, facts, attempt, place };
        let key = key_of(plan, &failure, &mut String::new(), &mut String::new());
        let (groups, _, successes) = self.into_groups();
        cluster_of(&groups, &successes, &key, plan)
    }

    fn add(&mut self, plan: &Plan, failure: &RecordedFailure<'_>, exhausted: bool) {
        let (mut template, mut key) = (std::mem::take(&mut self.template), std::mem::take(&mut self.key));
        let MinedPart { groups, rare, .. } = self;
        let row = groups.row(key_of(plan, failure, &mut template, &mut key), |key, row| rare.add_group(&key, row));
        row.count += 1;
        row.value.add(failure, &template, exhausted);
        (self.template, self.key) = (template, key);
    }
}

/// The key of the failure's group. Writes its template into `template`, and in lower case into `key`.
fn key_of(plan: &Plan, failure: &RecordedFailure<'_>, template: &mut String, key: &mut String) -> GroupKey {
    write_templates(failure.message().unwrap_or(""), failure.call.args(), template, key);
    GroupKey::new(key, failure.error, plan.classifier.classify(&failure.signal()).verdict)
}

impl Observer for Miner {
    type Part = MinedPart;

    fn part(&self) -> MinedPart {
        MinedPart::default()
    }

    fn on_call(&self, result: &CallResult<'_>, part: &mut MinedPart) {
        let (Some(plan), Some(record), Some(&facts)) =
            (result.plans.first(), result.records().next(), result.facts().first())
        else {
            return;
        };
        let exhausted_by = record.outcomes.first().and_then(|outcome| match outcome.kind {
            OutcomeKind::Exhausted(_) => Some(AttemptNo::new(outcome.attempts)),
            _ => None,
        });
        for ((attempt, answer), (_, recorded)) in result.call.attempts().zip(result.call.raw().attempts()) {
            if recorded.reply == Reply::Ok
                && let Some(text) = self.sources.ok_text(answer.place)
            {
                part.successes.add(result.call.tool(), text);
            }
            let is_refusal = plan.playbook.graph.is_some() && recorded.gate_refusal().is_some(); // no upstream failed
            if let (Reply::Failed(error), Reply::Failed(raw)) = (&answer.reply, &recorded.reply)
                && !is_refusal
            {
                let (call, raw_call) = (&*result.call, result.call.raw());
                let (error, raw) = (error.as_deref(), raw.as_deref());
                let failure = RecordedFailure { call, error, raw_call, raw, facts, attempt, place: answer.place };
                part.add(plan, &failure, exhausted_by == Some(attempt));
            }
        }
    }
}
