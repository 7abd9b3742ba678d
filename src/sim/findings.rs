//! What a simulation shows to be unsafe, doubtful or worth knowing. One function a finding; each reads
//! the record and changes nothing.

use crate::classify::{reads_as_denial, reads_as_processed};
use crate::event::{
    Decision, DecisionEvent, EffectClaim, Finding, FindingBy, FindingId, LedgerEntry, LedgerKind, OutcomeKind,
    Provenance, Status,
};
use crate::ids::{CallId, VerdictId};
use crate::playbook::model::{Access, UNCLASSIFIED};
use crate::upstream::Source;

use super::plan::Plan;
use super::record::Record;
use super::scenario::ScenarioCall;

/// Fills the record's findings: worst first, then by call.
pub(super) fn derive(plan: &Plan, calls: &[ScenarioCall<'_>], record: &mut Record) {
    let mut findings = std::mem::take(&mut record.findings);
    findings.clear();
    add_all(plan, calls, record, &mut findings);
    findings.sort_unstable();
    findings.dedup();
    record.findings = findings;
}

fn add_all(plan: &Plan, calls: &[ScenarioCall<'_>], record: &Record, findings: &mut Vec<Finding>) {
    if calls.len() == 1 && matches!(calls[0].source, Source::Tape(_)) && is_calm(record) {
        return; // the usual call of a trace: one attempt, nothing failed
    }
    duplicate_effects(calls, record, findings);
    for (n, call) in calls.iter().enumerate() {
        let id = CallId(u32::try_from(n).unwrap_or(u32::MAX));
        let seen = Seen { plan, call, id, record };
        findings.extend(seen.all());
    }
}

fn is_calm(record: &Record) -> bool {
    record.ledger.entries().len() < 2
        && record.events.iter().all(|event| match event.what {
            Decision::AttemptStarted { .. } => true,
            Decision::AttemptFinished { status, over_timeout, .. } => status == Status::Ok && !over_timeout,
            Decision::Outcome(outcome) => outcome.kind == OutcomeKind::Succeeded,
            _ => false,
        })
}

/// One intent with more than one net effect, unless doing it twice is doing it once. Each call asks for one: effects
/// that several calls made, or that were there before, are the agent's, which asked again (`recorded`); effects of one
/// call beyond its first are the dispatcher's, whose attempts made them (`playbook`), in whatever order they landed and
/// whichever attempt acted. One intent may have both.
fn duplicate_effects(calls: &[ScenarioCall<'_>], record: &Record, findings: &mut Vec<Finding>) {
    let is_effect = |entry: &&LedgerEntry| matches!(entry.kind, LedgerKind::Applied | LedgerKind::Existing);
    if record.ledger.entries().iter().filter(is_effect).nth(1).is_none() {
        return;
    }
    for (intent, net) in record.ledger.net().into_iter().filter(|(_, net)| net.effects > 1) {
        let made = || {
            let calls = calls.iter().enumerate().map(|(n, call)| (CallId(u32::try_from(n).unwrap_or(u32::MAX)), call));
            let own = calls.filter(move |(id, call)| call.intent(*id) == Some(intent) && !call.facts.idempotent);
            own.map(|(id, call)| (id, call.facts, record.ledger.net_of_call(id).effects)).filter(|(.., own)| *own > 0)
        };
        let is_existing = |entry: &&LedgerEntry| entry.intent == intent && entry.kind == LedgerKind::Existing;
        let asked_for = made().count() + record.ledger.entries().iter().filter(is_existing).count();
        let by_agent = made().next_back().filter(|_| asked_for > 1);
        let by_dispatcher = made().rfind(|(.., own)| *own > 1);
        for (by, maker) in [(FindingBy::Recorded, by_agent), (FindingBy::Playbook, by_dispatcher)] {
            let Some((call, facts, _)) = maker else { continue };
            let id = if facts.declared { FindingId::DuplicateEffect } else { FindingId::PossibleDuplicateEffect };
            findings.push(Finding { id, by, call, count: net.effects });
        }
    }
}

/// One call of the record, looked at.
struct Seen<'a> {
    plan: &'a Plan,
    call: &'a ScenarioCall<'a>,
    id: CallId,
    record: &'a Record,
}

impl Seen<'_> {
    fn all(&self) -> impl Iterator<Item = Finding> {
        [
            self.untruthful_outcome(),
            self.retried_after(FindingId::RetriedAfterDenial),
            self.retried_after(FindingId::RetriedAfterConflict),
            self.unsafe_retry(),
            self.unclassified(),
            self.undetermined(),
            self.over_timeout(),
            self.guard_redundant(),
        ]
        .into_iter()
        .flatten()
    }

    fn finding(&self, id: FindingId, count: u32) -> Option<Finding> {
        let by = if id == FindingId::OverTimeout { FindingBy::Recorded } else { FindingBy::Playbook };
        (count > 0).then_some(Finding { id, by, call: self.id, count })
    }

    fn events(&self) -> impl Iterator<Item = &DecisionEvent> {
        self.record.events_of(self.id)
    }

    fn count(&self, is: impl Fn(&Decision) -> bool) -> u32 {
        u32::try_from(self.events().filter(|event| is(&event.what)).count()).unwrap_or(u32::MAX)
    }

    /// The claim against the ledger, only where the upstream's acts are known.
    fn untruthful_outcome(&self) -> Option<Finding> {
        let outcome = self.record.outcomes.get(self.id.index())?;
        if self.call.facts.access == Access::Read {
            return None;
        }
        let own = self.record.ledger.net_of_call(self.id);
        if own.unobserved > 0 {
            return None; // a recorded failure: nobody knows what the upstream did
        }
        let all = self.call.intent(self.id).map_or(0, |intent| self.record.ledger.net_of(intent).effects);
        let lies = match outcome.claim {
            EffectClaim::NotApplied => own.effects > 0 || self.ignored_proof(),
            EffectClaim::Applied => all == 0,
            EffectClaim::Unknown => self.ignored_proof(),
        };
        self.finding(FindingId::UntruthfulOutcome, u32::from(lies))
    }

    /// A failure that was not obeyed had proved more than the outcome says.
    fn ignored_proof(&self) -> bool {
        self.events().any(|event| match event.what {
            Decision::FailureClassified { verdict, ignored: true, .. } => {
                self.plan.playbook.verdict(verdict).effect == EffectClaim::Applied
            }
            _ => false,
        })
    }

    /// Attempts that were started after a failure that reads as a denial, or as processed already.
    fn retried_after(&self, id: FindingId) -> Option<Finding> {
        if self.record.outcomes.get(self.id.index()).is_some_and(|outcome| outcome.attempts < 2) {
            return None;
        }
        let denial = id == FindingId::RetriedAfterDenial;
        let name = if denial { "policy_denied" } else { "idempotency_conflict" };
        let (mut said, mut last, mut count) = (false, None, 0);
        for event in self.events() {
            match event.what {
                Decision::AttemptStarted { .. } if said => count += 1,
                Decision::AttemptFinished { status: Status::Failed(error), .. } => last = error,
                Decision::FailureClassified { verdict, .. } => {
                    said |= self.is_named(verdict, name) || self.reads_as(last, denial);
                }
                _ => {}
            }
        }
        self.finding(id, count)
    }

    fn is_named(&self, verdict: VerdictId, name: &str) -> bool {
        &*self.plan.playbook.verdict(verdict).name == name
    }

    fn reads_as(&self, error: Option<crate::ids::ErrorId>, denial: bool) -> bool {
        let error = error.and_then(|id| self.record.error(id));
        error.is_some_and(|error| if denial { reads_as_denial(error) } else { reads_as_processed(error) })
    }

    /// Attempts that the retry guard would have stopped: an unkeyed write that is not idempotent, after
    /// attempts that may have acted by what the playbook itself says of their failures.
    fn unsafe_retry(&self) -> Option<Finding> {
        if self.call.dispatched().is_safe_to_resend() {
            return None;
        }
        let (mut may_have_acted, mut count) = (false, 0);
        for event in self.events() {
            match event.what {
                Decision::AttemptStarted { .. } if may_have_acted => count += 1,
                Decision::FailureClassified { verdict, .. } => {
                    let effect = self.plan.playbook.verdict(verdict).effect;
                    may_have_acted |= effect != EffectClaim::NotApplied;
                }
                _ => {}
            }
        }
        // On assumed facts the tool may be a read: that is a doubt, not a proof.
        match self.call.facts.declared {
            true => self.finding(FindingId::UnsafeRetry, count),
            false if count > 0 => self.finding(FindingId::PossibleDuplicateEffect, count.saturating_add(1)),
            false => None,
        }
    }

    fn unclassified(&self) -> Option<Finding> {
        let is = |what: &Decision| match *what {
            Decision::FailureClassified { verdict, .. } => self.is_named(verdict, UNCLASSIFIED),
            _ => false,
        };
        self.finding(FindingId::Unclassified, self.count(is))
    }

    fn undetermined(&self) -> Option<Finding> {
        let outcome = self.record.outcomes.get(self.id.index())?;
        let is = matches!(outcome.kind, OutcomeKind::Undetermined(_));
        self.finding(FindingId::Undetermined, u32::from(is))
    }

    fn over_timeout(&self) -> Option<Finding> {
        let is = |what: &Decision| matches!(what, Decision::AttemptFinished { over_timeout: true, .. });
        self.finding(FindingId::OverTimeout, self.count(is))
    }

    /// The guard stopped a retry of a call whose scripted upstream had done nothing.
    fn guard_redundant(&self) -> Option<Finding> {
        let suppressed = self.count(|what| matches!(what, Decision::RetrySuppressed { .. }));
        let did_nothing = self.record.ledger.entries().iter().all(|entry| entry.call != Some(self.id));
        let scripted = self.events().all(|event| match event.what {
            Decision::AttemptFinished { provenance, .. } => provenance == Provenance::Scripted,
            _ => true,
        });
        let is = suppressed > 0 && scripted && did_nothing;
        self.finding(FindingId::GuardRedundant, u32::from(is))
    }
}
