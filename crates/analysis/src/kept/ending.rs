//! How one recorded call ends under a playbook, by simulation, in words for a file.

use crate::explain::InRun;
use playproof_engine::call::{AnswerTo, RecordedCall, Reply};
use playproof_engine::classify::{Signal, keyed_for};
use playproof_engine::event::{Decision, ErrorFacts};
use playproof_engine::ids::AttemptNo;
use playproof_engine::sim::{Plan, Simulator};
use playproof_engine::upstream::MissingAnswerPolicy;

/// How a call ends under a playbook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The last failure; none if nothing failed.
    pub failed: Option<ClassifiedFailure>,
    /// The outcome.
    pub outcome: String,
    /// The effect claim.
    pub effect: String,
    /// Attempts.
    pub attempts: u32,
}

/// A failed attempt and its classification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassifiedFailure {
    /// The attempt that failed.
    pub attempt: u32,
    /// The verdict.
    pub verdict: String,
    /// The rule that gave it; `otherwise` where none matched.
    pub rule: String,
    /// The compensation that the verdict declares.
    pub compensation: String,
}

impl Ending {
    /// Simulates the call without answers beyond the recording; `in_run` is what the calls of its run make of it.
    pub fn of(plan: &Plan, call: &RecordedCall, in_run: &InRun) -> Ending {
        let mut simulator = Simulator::new();
        let facts = plan.facts(call.tool());
        let beyond = &MissingAnswerPolicy::Unanswered;
        let record = match &in_run.record {
            Some(record) => record,
            None => simulator.replay_after(plan, call, facts, beyond, in_run.token_spent),
        };
        let mut attempt = 0;
        let mut failed = None;
        for event in &record.events {
            match event.what {
                Decision::AttemptFinished { attempt: finished, .. } => attempt = finished.get(),
                Decision::FailureClassified { verdict, rule, .. } => {
                    failed = Some(ClassifiedFailure {
                        attempt,
                        verdict: plan.names.verdict(verdict).to_owned(),
                        rule: plan.names.rule(rule).to_owned(),
                        compensation: plan.playbook.verdict(verdict).then.as_str().to_owned(),
                    });
                }
                _ => {}
            }
        }
        let outcome = record.outcomes.first();
        Ending {
            failed,
            outcome: outcome.map_or("undetermined", |outcome| outcome.kind.as_str()).to_owned(),
            effect: outcome.map_or("unknown", |outcome| outcome.claim.as_str()).to_owned(),
            attempts: outcome.map_or(0, |outcome| outcome.attempts),
        }
    }
}

/// The recorded failure of an attempt: outer none if it did not fail, inner none without an error object.
pub fn failure_at(call: &RecordedCall, attempt: u32) -> Option<Option<&ErrorFacts>> {
    let place = usize::try_from(attempt).ok()?.checked_sub(1)?;
    let answer = call.answers.iter().filter(|answer| answer.to == AnswerTo::Attempt).nth(place)?;
    match &answer.reply {
        Reply::Ok | Reply::Suspected(_) | Reply::Unfinished(_) => None,
        Reply::Failed(error) => Some(error.as_deref()),
    }
}

/// The verdict of a playbook on the failure of one attempt, and its rule, even if the playbook would not make it.
pub fn verdict_now(plan: &Plan, call: &RecordedCall, attempt: u32) -> Option<(String, String)> {
    let error = failure_at(call, attempt)?;
    let attempt = AttemptNo::new(attempt);
    let keyed = keyed_for(error, call.key());
    let signal = Signal::new(error, call.tool(), plan.facts(call.tool()), keyed, attempt);
    let classified = plan.classifier.classify(&signal);
    Some((plan.names.verdict(classified.verdict).to_owned(), plan.names.rule(classified.rule).to_owned()))
}
