//! Findings from the recorded attempts of one call. Looks at one call at a time.

use playproof_engine::call::{RecordedAnswer, RecordedCall, Reply};
use playproof_engine::classify::{Signal, reads_as_denial, reads_as_processed};
use playproof_engine::event::{EffectClaim, ErrorFacts, Finding, FindingBy, FindingId};
use playproof_engine::ids::{AttemptNo, CallId};
use playproof_engine::playbook::{Access, ToolFacts};
use playproof_engine::sim::Plan;

/// Adds the findings of the attempts to `findings`. True if one is a new possible duplicate.
pub fn judge(call: &RecordedCall, facts: ToolFacts, plans: &[Plan], findings: &mut Vec<Finding>) -> bool {
    add(findings, FindingId::OverTimeout, over_timeout(call, facts), facts);
    let attempts = || call.attempts();
    if call.answers.len() < 2 || attempts().nth(1).is_none() {
        return false; // the usual call: one attempt
    }
    let denied = sent_after(attempts(), |_, error| error.is_some_and(reads_as_denial));
    add(findings, FindingId::RetriedAfterDenial, denied, facts);
    let processed = sent_after(attempts(), |_, error| error.is_some_and(reads_as_processed));
    add(findings, FindingId::RetriedAfterConflict, processed, facts);
    if facts.access == Access::Write && !facts.idempotent && !call.is_keyed() {
        let count = sent_after(attempts(), |attempt, error| may_have_acted(call, facts, plans, attempt, error));
        match facts.declared {
            true => add(findings, FindingId::UnsafeRetry, count, facts),
            // On assumed facts the tool may be a read; other calls with this intent may have shown that already.
            false if count > 0 => match findings.iter_mut().find(|one| one.id == FindingId::PossibleDuplicateEffect) {
                Some(known) => known.count = known.count.max(count.saturating_add(1)),
                None => {
                    findings.push(finding(FindingId::PossibleDuplicateEffect, count.saturating_add(1), facts));
                    return true;
                }
            },
            false => {}
        }
    }
    false
}

fn add(findings: &mut Vec<Finding>, id: FindingId, count: u32, facts: ToolFacts) {
    if count > 0 {
        findings.push(finding(id, count, facts));
    }
}

/// Attempts that were sent after a failure for which `is` holds.
fn sent_after<'a>(
    attempts: impl Iterator<Item = (AttemptNo, &'a RecordedAnswer)>,
    is: impl Fn(AttemptNo, Option<&ErrorFacts>) -> bool,
) -> u32 {
    let (mut after, mut count) = (false, 0);
    for (number, attempt) in attempts {
        count += u32::from(after);
        if let Reply::Failed(error) = &attempt.reply {
            after = after || is(number, error.as_deref());
        }
    }
    count
}

/// Whether the upstream may have acted at a failure, according to any of the playbooks; without playbooks, it may.
pub fn may_have_acted(
    call: &RecordedCall,
    facts: ToolFacts,
    plans: &[Plan],
    attempt: AttemptNo,
    error: Option<&ErrorFacts>,
) -> bool {
    let signal = Signal::new(error, call.tool(), facts, false, attempt);
    let says = |plan: &Plan| plan.playbook.verdict(plan.classifier.classify(&signal).verdict).effect;
    plans.is_empty() || plans.iter().any(|plan| says(plan) != EffectClaim::NotApplied)
}

/// Attempts whose answer came after the timeout, if their start is recorded.
fn over_timeout(call: &RecordedCall, facts: ToolFacts) -> u32 {
    let timeout = call.timeout.unwrap_or(facts.timeout);
    let mut count = 0;
    for (number, answer) in call.attempts() {
        let started = answer.started.or(if number == AttemptNo::FIRST { call.at } else { None });
        let late = started.zip(answer.at).is_some_and(|(started, at)| at.since(started) > timeout);
        count += u32::from(late);
    }
    count
}

/// A finding about the only call of a simulation.
pub fn finding(id: FindingId, count: u32, facts: ToolFacts) -> Finding {
    Finding::new(id, FindingBy::Recorded, CallId(0), count, facts.declared)
}
