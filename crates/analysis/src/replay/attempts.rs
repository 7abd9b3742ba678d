//! What the recorded attempts of one call show by themselves. Looks at one call at a time.

use playproof_engine::call::{RecordedAnswer, RecordedCall, Reply};
use playproof_engine::classify::{Signal, reads_as_denial, reads_as_processed};
use playproof_engine::event::{EffectClaim, ErrorFacts, Finding, FindingBy, FindingId};
use playproof_engine::ids::{AttemptNo, CallId};
use playproof_engine::playbook::{Access, ToolFacts};
use playproof_engine::sim::Plan;

/// Adds what the attempts show to `findings`, and says whether that is a possible duplicate which nothing else showed.
pub fn judge(call: &RecordedCall, facts: ToolFacts, plans: &[Plan], findings: &mut Vec<Finding>) -> bool {
    add(findings, FindingId::OverTimeout, over_timeout(call, facts));
    let attempts = || call.attempts();
    if call.answers.len() < 2 || attempts().nth(1).is_none() {
        return false; // the usual call: one attempt
    }
    add(findings, FindingId::RetriedAfterDenial, sent_after(attempts(), |_, error| error.is_some_and(reads_as_denial)));
    add(
        findings,
        FindingId::RetriedAfterConflict,
        sent_after(attempts(), |_, error| error.is_some_and(reads_as_processed)),
    );
    if facts.access == Access::Write && !facts.idempotent && !call.is_keyed() {
        let count = sent_after(attempts(), |attempt, error| may_have_acted(call, facts, plans, attempt, error));
        match facts.declared {
            true => add(findings, FindingId::UnsafeRetry, count),
            // On assumed facts the tool may be a read; other calls with this intent may have shown that already.
            false if count > 0 => match findings.iter_mut().find(|one| one.id == FindingId::PossibleDuplicateEffect) {
                Some(known) => known.count = known.count.max(count.saturating_add(1)),
                None => {
                    findings.push(finding(FindingId::PossibleDuplicateEffect, count.saturating_add(1)));
                    return true;
                }
            },
            false => {}
        }
    }
    false
}

fn add(findings: &mut Vec<Finding>, id: FindingId, count: u32) {
    if count > 0 {
        findings.push(finding(id, count));
    }
}

/// Attempts that were sent after a failure of which `is` holds.
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

/// Whether one of the playbooks says of a failure that the upstream may have acted, in whatever order they are named;
/// where there is none, it may.
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

/// Attempts whose answer came after the timeout, as far as the recording tells when they began.
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
pub fn finding(id: FindingId, count: u32) -> Finding {
    Finding { id, by: FindingBy::Recorded, call: CallId(0), count }
}
