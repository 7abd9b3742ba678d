//! What the recorded attempts of one call show by themselves. Looks at one call at a time.

use crate::classify::{Signal, reads_as_denial, reads_as_processed};
use crate::event::{EffectClaim, ErrorFacts, Finding, FindingId};
use crate::ids::AttemptNo;
use crate::playbook::model::{Access, ToolFacts};
use crate::sim::Plan;
use crate::trace::model::{RecordedAnswer, RecordedCall, Reply};

use super::recorded::finding;

/// Adds what the attempts show to `findings`. Whether a failed attempt may have acted is what `plan` says of it.
pub fn judge(call: &RecordedCall, facts: ToolFacts, plan: &Plan, findings: &mut Vec<Finding>) {
    let mut add = |id, count| {
        if count > 0 {
            findings.push(finding(id, count));
        }
    };
    add(FindingId::OverTimeout, over_timeout(call, facts));
    let attempts = || call.attempts();
    if attempts().nth(1).is_none() {
        return; // the usual call: one attempt
    }
    add(FindingId::RetriedAfterDenial, sent_after(attempts(), |_, error| error.is_some_and(reads_as_denial)));
    add(FindingId::RetriedAfterConflict, sent_after(attempts(), |_, error| error.is_some_and(reads_as_processed)));
    if facts.access == Access::Write && !facts.idempotent && !call.is_keyed() {
        let id = if facts.declared { FindingId::UnsafeRetry } else { FindingId::PossibleDuplicateEffect };
        add(id, sent_after(attempts(), |attempt, error| may_have_acted(call, facts, plan, attempt, error)));
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

fn may_have_acted(
    call: &RecordedCall,
    facts: ToolFacts,
    plan: &Plan,
    attempt: AttemptNo,
    error: Option<&ErrorFacts>,
) -> bool {
    let signal = Signal::new(error, call.tool(), facts, false, attempt);
    plan.playbook.verdict(plan.classifier.classify(&signal).verdict).effect != EffectClaim::NotApplied
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
