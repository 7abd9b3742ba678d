//! The sums over all calls of a replay under one playbook. Made in parts that add up; decides nothing.

use playproof_engine::call::{AnswerTo, RecordedCall};
use playproof_engine::event::{
    Decision, EffectClaim, EventKind, Finding, FindingBy, FindingId, FindingKind, FindingSeverity, LedgerKind,
    OutcomeKind, OutcomeWord, Provenance, RequestKind, Status,
};
use playproof_engine::sim::{Plan, SimulationRecord};
use playproof_engine::time::Duration;
use serde_json::Value;

use super::counts::Counts;
use super::distribution::Distribution;
use super::graph_counts::GraphCounts;
use super::message_template::MessageTemplates;
use super::odd_steps::OddSteps;
use super::shared_counts::SharedCounts;
use super::step_order::has_steps;

/// How often each finding was seen, recorded or by the playbook: the calls that show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(into = "Vec<(FindingKind, FindingBy, u64)>", from = "Vec<(FindingKind, FindingBy, u64)>")]
pub struct FindingCounts([[[u64; 2]; FindingId::ALL.len()]; FindingSeverity::ALL.len()]);

impl Default for FindingCounts {
    fn default() -> FindingCounts {
        FindingCounts([[[0; 2]; FindingId::ALL.len()]; FindingSeverity::ALL.len()])
    }
}

impl From<FindingCounts> for Vec<(FindingKind, FindingBy, u64)> {
    fn from(counts: FindingCounts) -> Self {
        counts.rows().collect()
    }
}

impl From<Vec<(FindingKind, FindingBy, u64)>> for FindingCounts {
    fn from(rows: Vec<(FindingKind, FindingBy, u64)>) -> FindingCounts {
        let mut counts = FindingCounts::default();
        rows.into_iter().for_each(|(kind, by, count)| counts.add(kind, by, count));
        counts
    }
}

impl FindingCounts {
    /// Counts a finding.
    pub fn add(&mut self, kind: FindingKind, by: FindingBy, count: u64) {
        self.0[kind.severity as usize][kind.id as usize][by as usize] += count;
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, other: &FindingCounts) {
        for (kind, by, count) in other.rows() {
            self.add(kind, by, count);
        }
    }

    /// What was seen at all, worst first.
    pub fn rows(&self) -> impl Iterator<Item = (FindingKind, FindingBy, u64)> + '_ {
        let both = |kind| FindingBy::ALL.map(|by| (kind, by, self.of_kind(kind, by)));
        FindingKind::all().flat_map(both).filter(|&(_, _, count)| count > 0)
    }

    /// How often one finding was seen at one severity.
    pub const fn of_kind(&self, kind: FindingKind, by: FindingBy) -> u64 {
        self.0[kind.severity as usize][kind.id as usize][by as usize]
    }

    /// How often one finding was seen, at any severity.
    pub fn count(&self, id: FindingId, by: FindingBy) -> u64 {
        FindingSeverity::ALL.into_iter().map(|severity| self.of_kind(FindingKind { severity, id }, by)).sum()
    }
}

/// What the ledgers hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Effects {
    /// Proved by a recorded `ok` of a write.
    pub recorded: u64,
    /// Proved by the `ok` of a resend that was joined.
    pub inferred: u64,
    /// Modelled (`--beyond-tape`).
    pub modelled: u64,
    /// Taken back.
    pub reversed: u64,
    /// Failed writes of which nothing is known.
    pub unobserved: u64,
}

/// The sums over all calls under one playbook.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Summary {
    /// Calls.
    pub calls: u64,
    /// Calls with a recorded attempt that failed.
    pub failed_calls: u64,
    /// Recorded attempts that failed.
    pub failed_attempts: u64,
    /// Failures by verdict, by `VerdictId`.
    pub verdicts: Vec<u64>,
    /// By outcome, in the order of [`OutcomeWord::ALL`].
    pub outcomes: [u64; OutcomeWord::ALL.len()],
    /// By claim, in the order of [`EffectClaim::ALL`].
    pub claims: [u64; EffectClaim::ALL.len()],
    /// Findings by the playbook.
    pub findings: FindingCounts,
    /// Findings of the recording in calls that the playbook sends as often as they were sent, or more often. They come true
    /// under the playbook for sure only if it sends the calls before, on which they may rest, as often, too: see `sent_less`.
    pub recorded_findings_sent: FindingCounts,
    /// Calls that the playbook sends less often than they were sent, or that end undetermined before.
    pub sent_less: u64,
    /// All the waiting that the playbook added.
    pub added_delay: Duration,
    /// The same of each call, in microseconds.
    pub delay_of_calls: Distribution,
    /// Requests to the upstream as recorded.
    pub requests_recorded: u64,
    /// The same of each call.
    pub requests_recorded_of_calls: Distribution,
    /// Requests to the upstream under the playbook.
    pub requests: u64,
    /// The same of each call.
    pub requests_of_calls: Distribution,
    /// What the ledgers hold.
    pub effects: Effects,
    /// Calls that wait for a human, by `QueueId`.
    pub queues: Vec<u64>,
    /// Calls that departed from their recording.
    pub off_tape_calls: u64,
    /// Runs with such a call; a lower bound if `off_tape_runs_bound`.
    pub off_tape_runs: u64,
    /// There were too many runs off tape to count them all.
    pub off_tape_runs_bound: bool,
    /// Recorded answers that the playbook did not use.
    pub tape_left: u64,
    /// Failures that no rule knows, by the template of their message.
    pub unclassified: Counts,
    /// Undetermined calls by the answer they lacked: an attempt's, a refresh's, a reversal's.
    pub undetermined: [u64; 3],
    /// Undetermined calls with an answer that only suggests a failure.
    pub suspected_calls: u64,
    /// The answers that only suggest a failure, by the template of their message.
    pub suspected: Counts,
    /// What the graph did; none: the playbook has none.
    pub graph: Option<GraphCounts>,
    /// Calls that say that they are steps and are none.
    pub odd_steps: OddSteps,
    /// What calls shared; none: they share nothing.
    pub shared: Option<SharedCounts>,
}

/// The attempts that a dispatcher recorded of a call; none: it recorded no decision. A call may have none: it was refused,
/// or another one answered it.
fn started(call: &RecordedCall) -> Option<u64> {
    let decisions = &call.dispatch.as_ref()?.decisions;
    let started = EventKind::AttemptStarted.as_str();
    let is_start = |decision: &str| {
        decision.contains(started)
            && serde_json::from_str::<Value>(decision).is_ok_and(|decision| decision["event"] == started)
    };
    (!decisions.is_empty()).then(|| decisions.iter().filter(|(_, decision)| is_start(decision)).count() as u64)
}

/// The attempts of a call as recorded: those without an answer were sent, too, and so was the one of a late answer. Without a
/// dispatcher's word, a call without an answer was sent once.
fn attempts_recorded(call: &RecordedCall) -> u64 {
    let numbered = call.attempts().last().map_or(0, |(number, _)| u64::from(number.get()));
    let late = call.answers.iter().filter(|answer| answer.to == AnswerTo::Late);
    let late = late.map(|answer| u64::from(answer.attempt.unwrap_or_default())).max().unwrap_or(0);
    numbered.max(late).max(started(call).unwrap_or(1))
}

/// Findings of when an attempt was sent, which a playbook decides itself.
const OF_TIMES: [FindingId; 2] = [FindingId::RetryAfterIgnored, FindingId::RacedItself];

impl Summary {
    /// Nothing yet, under `plan`.
    pub fn new(plan: &Plan) -> Summary {
        Summary {
            verdicts: vec![0; plan.playbook.verdicts.len()],
            queues: vec![0; plan.playbook.queues.len()],
            graph: plan.playbook.graph.is_some().then(GraphCounts::default),
            shared: SharedCounts::new(plan),
            ..Summary::default()
        }
    }

    /// Adds one call and what became of it.
    pub fn add(
        &mut self,
        plan: &Plan,
        call: &RecordedCall,
        record: &SimulationRecord,
        templates: &mut MessageTemplates,
    ) {
        self.calls += 1;
        let attempts = self.add_recorded(plan, call);
        record.odd_step.into_iter().for_each(|why| self.odd_steps.add(why, call.place));
        if let (Some(outcome), Some(tally)) = (record.outcomes.first(), record.tallies.first()) {
            self.add_outcome(outcome.kind, outcome.claim);
            self.added_delay = self.added_delay.plus(tally.added_delay);
            self.delay_of_calls.add(tally.added_delay.as_micros());
            self.requests += u64::from(tally.sends);
            self.requests_of_calls.add(tally.sends.into());
            self.sent_less += u64::from(u64::from(outcome.attempts) < attempts);
            self.off_tape_calls += u64::from(tally.off_tape.is_some());
            self.tape_left += u64::from(tally.tape_left);
        }
        if let (Some(graph), Some(step)) = (&mut self.graph, &record.gate) {
            graph.add(step);
        }
        self.add_effects(record);
        self.add_verdicts(plan, call, record, templates);
        for finding in record.findings.iter().filter(|finding| finding.by == FindingBy::Playbook) {
            self.findings.add(finding.kind(), finding.by, 1);
        }
    }

    /// Adds what the recording shows of a call, if the playbook sends it as often as it was sent, or more often.
    pub fn add_recorded_findings(&mut self, call: &RecordedCall, record: &SimulationRecord, recorded: &[Finding]) {
        let sent = record.outcomes.first().map_or(0, |outcome| outcome.attempts);
        if sent > 0 && !recorded.is_empty() && u64::from(sent) >= attempts_recorded(call) {
            for finding in recorded.iter().filter(|finding| !OF_TIMES.contains(&finding.id)) {
                self.recorded_findings_sent.add(finding.kind(), finding.by, 1);
            }
        }
    }

    /// Adds what was recorded; gives the attempts. An action with steps has none: it is sent nowhere.
    fn add_recorded(&mut self, plan: &Plan, call: &RecordedCall) -> u64 {
        let failed = call.attempts().filter(|(_, answer)| answer.reply.is_failure()).count() as u64;
        self.failed_calls += u64::from(failed > 0);
        self.failed_attempts += failed;
        let beside = call.answers.iter().filter(|answer| matches!(answer.to, AnswerTo::Refresh | AnswerTo::Reversal));
        let [attempts, beside] = match has_steps(call, Some(plan)) {
            true => [0, 0],
            false => [attempts_recorded(call), beside.count() as u64],
        };
        self.requests_recorded += attempts + beside;
        self.requests_recorded_of_calls.add(attempts + beside);
        attempts
    }

    fn add_outcome(&mut self, kind: OutcomeKind, claim: EffectClaim) {
        self.outcomes[kind.word() as usize] += 1;
        self.claims[claim as usize] += 1;
        match kind {
            OutcomeKind::Escalated(queue) => add_at(&mut self.queues, queue.index()),
            OutcomeKind::Undetermined(RequestKind::Attempt(_)) => self.undetermined[0] += 1,
            OutcomeKind::Undetermined(RequestKind::Refresh(_)) => self.undetermined[1] += 1,
            OutcomeKind::Undetermined(RequestKind::Reversal) => self.undetermined[2] += 1,
            OutcomeKind::Suspected(_) => self.suspected_calls += 1,
            _ => {}
        }
    }

    fn add_effects(&mut self, record: &SimulationRecord) {
        for entry in record.ledger.entries() {
            let row = match (entry.kind, entry.provenance) {
                (LedgerKind::Applied, Provenance::Inferred) => &mut self.effects.inferred,
                (LedgerKind::Applied, Provenance::Modelled) => &mut self.effects.modelled,
                (LedgerKind::Applied | LedgerKind::Existing, _) => &mut self.effects.recorded,
                (LedgerKind::Reversed, _) => &mut self.effects.reversed,
                (LedgerKind::Unobserved, _) => &mut self.effects.unobserved,
                (LedgerKind::Staged | LedgerKind::Committed | LedgerKind::Discarded, _) => continue,
            };
            *row += 1;
        }
    }

    fn add_verdicts(
        &mut self,
        plan: &Plan,
        call: &RecordedCall,
        record: &SimulationRecord,
        templates: &mut MessageTemplates,
    ) {
        let mut last = None;
        for event in &record.events {
            match event.what {
                Decision::AttemptFinished { status: Status::Failed(error), .. } => last = error,
                Decision::AttemptFinished { status: Status::Suspected(error), .. } => {
                    let error = error.and_then(|id| record.shown_error(id));
                    let message = error.and_then(|error| error.message.as_deref()).unwrap_or("");
                    self.suspected.add(templates.template(message, call.args()), 1);
                }
                Decision::FailureClassified { verdict, rule, .. } => {
                    add_at(&mut self.verdicts, verdict.index());
                    if rule.is_none() && plan.reserved.unclassified == Some(verdict) {
                        let error = last.and_then(|id| record.shown_error(id));
                        let message = error.and_then(|error| error.message.as_deref()).unwrap_or("");
                        self.unclassified.add(templates.template(message, call.args()), 1);
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds what was summed up over later calls. Runs off tape are counted elsewhere.
    pub fn merge(&mut self, later: &Summary) {
        self.calls += later.calls;
        self.failed_calls += later.failed_calls;
        self.failed_attempts += later.failed_attempts;
        add_all(&mut self.verdicts, &later.verdicts);
        add_all(&mut self.outcomes, &later.outcomes);
        add_all(&mut self.claims, &later.claims);
        self.findings.merge(&later.findings);
        self.recorded_findings_sent.merge(&later.recorded_findings_sent);
        self.sent_less += later.sent_less;
        self.added_delay = self.added_delay.plus(later.added_delay);
        self.delay_of_calls.merge(&later.delay_of_calls);
        self.requests_recorded += later.requests_recorded;
        self.requests_recorded_of_calls.merge(&later.requests_recorded_of_calls);
        self.requests += later.requests;
        self.requests_of_calls.merge(&later.requests_of_calls);
        self.effects.recorded += later.effects.recorded;
        self.effects.inferred += later.effects.inferred;
        self.effects.modelled += later.effects.modelled;
        self.effects.reversed += later.effects.reversed;
        self.effects.unobserved += later.effects.unobserved;
        add_all(&mut self.queues, &later.queues);
        self.off_tape_calls += later.off_tape_calls;
        self.tape_left += later.tape_left;
        self.unclassified.merge(&later.unclassified);
        add_all(&mut self.undetermined, &later.undetermined);
        self.suspected_calls += later.suspected_calls;
        self.suspected.merge(&later.suspected);
        self.odd_steps.merge(&later.odd_steps);
        if let (Some(graph), Some(later)) = (&mut self.graph, &later.graph) {
            graph.merge(later);
        }
        if let (Some(shared), Some(later)) = (&mut self.shared, &later.shared) {
            shared.merge(later);
        }
    }

    /// The same, of inputs that come behind `inputs` others.
    #[must_use]
    pub fn behind(mut self, inputs: u32) -> Summary {
        self.odd_steps = self.odd_steps.behind(inputs);
        self.shared = self.shared.map(|shared| shared.behind(inputs));
        self
    }

    /// What a count by name may lack at most.
    pub fn missed_at_most(&self) -> u64 {
        let shared = self.shared.as_ref().map_or(0, SharedCounts::missed_at_most);
        shared.max(self.unclassified.missed_at_most()).max(self.suspected.missed_at_most())
    }

    /// How many calls ended in this outcome.
    pub fn outcome(&self, word: OutcomeWord) -> u64 {
        self.outcomes[word as usize]
    }

    /// How many calls claim this of their effect.
    pub fn claim(&self, claim: EffectClaim) -> u64 {
        self.claims[claim as usize]
    }
}

fn add_at(counts: &mut [u64], place: usize) {
    if let Some(count) = counts.get_mut(place) {
        *count += 1;
    }
}

fn add_all(mine: &mut [u64], later: &[u64]) {
    for (mine, later) in mine.iter_mut().zip(later) {
        *mine += later;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_counted_by_id_and_by_whom() {
        let mut counts = FindingCounts::default();
        let kind = |severity, id| FindingKind { severity, id };
        let (futile, by_agent) = (kind(FindingSeverity::Note, FindingId::FutileRetry), FindingBy::Recorded);
        let (doubt, by_playbook) = (kind(FindingSeverity::Doubt, FindingId::UnsafeRetry), FindingBy::Playbook);
        let proof = kind(FindingSeverity::Unsafe, FindingId::UnsafeRetry);
        counts.add(futile, by_agent, 2);
        counts.add(doubt, by_playbook, 1);
        counts.add(proof, by_playbook, 3);
        let mut all = counts;
        all.merge(&counts);
        let rows: Vec<_> = all.rows().collect();
        assert_eq!(rows, [(proof, by_playbook, 6), (doubt, by_playbook, 2), (futile, by_agent, 4)]);
        assert_eq!(all.count(FindingId::UnsafeRetry, by_playbook), 8);
        assert_eq!(all.count(FindingId::UnsafeRetry, FindingBy::Recorded), 0);
    }
}
