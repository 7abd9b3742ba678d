//! Derives the findings of a simulation. One function for each finding, or one count of the `CallTrajectory`; each reads
//! the record and changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::classify::{asked_wait, knows_key};
use crate::event::{
    Decision, EffectClaim, Finding, FindingBy, FindingId, Intent, LedgerKind, OutcomeKind, Provenance, Status,
    SuppressionReason,
};
use crate::ids::{AttemptNo, CallId};
use crate::playbook::Access;
use crate::time::Instant;
use crate::upstream::{AnswerSource, NetEffects, NetList};

use super::amplification;
use super::half_open;
use super::record::SimulationRecord;
use super::unheeded;
use crate::evidence::{FailureMeaning, RequestBooks};
use crate::plan::DrivenCall;
use crate::plan::Plan;

/// Fills the record's findings: worst first, then by call. Gives what is known of the requests of a scenario.
pub(super) fn derive(plan: &Plan, calls: &[DrivenCall<'_>], record: &mut SimulationRecord) -> RequestBooks {
    let mut findings = std::mem::take(&mut record.findings);
    findings.clear();
    let books = add_all(plan, calls, record, &mut findings);
    Finding::settle(&mut findings);
    record.findings = findings;
    books
}

fn add_all(
    plan: &Plan,
    calls: &[DrivenCall<'_>],
    record: &SimulationRecord,
    findings: &mut Vec<Finding>,
) -> RequestBooks {
    if calls.len() == 1 && matches!(calls[0].source, AnswerSource::Tape(_)) && is_calm(record) {
        return RequestBooks::default(); // the most common call of a trace: one attempt without a failure
    }
    let net = NetLedger::of(record, calls);
    duplicate_effects(calls, record, &net, findings);
    let mut books = RequestBooks::default();
    if calls.len() > 1 {
        books = RequestBooks::of(plan, calls, record.watched(plan, calls), |finding| findings.push(finding));
        amplification::of_fixture(plan, calls, record, findings);
        half_open::of_fixture(plan, calls, record, findings);
    }
    for (n, call) in calls.iter().enumerate() {
        let id = CallId::at(n);
        if call.has_steps(plan) {
            findings.extend(of_action(id, call, record));
            continue;
        }
        let course = CallTrajectory::of(plan, id, call, record);
        CallReview { call, id, record, net: &net, course }.add_to(findings);
        findings.extend(unheeded::of_call(plan, id, record));
    }
    books
}

/// The findings of an action with steps: what else its steps show stands with their own calls.
fn of_action(id: CallId, call: &DrivenCall<'_>, record: &SimulationRecord) -> Option<Finding> {
    let outcome = record.outcomes.get(id.index())?;
    let found = match outcome.kind {
        OutcomeKind::Undetermined(_) => FindingId::Undetermined,
        // A step that was cancelled itself has the finding.
        OutcomeKind::Cancelled if record.step_acts.iter().any(|act| act.call == id && act.before.is_none()) => {
            FindingId::Abandoned
        }
        _ => return None,
    };
    Some(call.facts.weigh(Finding::new(found, FindingBy::Playbook, id, 1)))
}

/// When a call was made: the moment, and the place of its first event.
type Made = (Instant, usize);

/// The net effects of the ledger, by intent and by call, and which calls made the effects of an intent.
struct NetLedger {
    by_intent: NetList<Intent>,
    by_call: NetList<CallId>,
    /// The calls behind the effects, one entry an effect: by intent, then in the order in which they were made. Empty for a
    /// single call.
    applied: Vec<(Intent, Made)>,
}

impl NetLedger {
    fn of(record: &SimulationRecord, calls: &[DrivenCall<'_>]) -> NetLedger {
        let ledger = &record.ledger;
        let others = if calls.len() > 1 { ledger.entries() } else { &[] }; // none is made after the only call
        let applied = others.iter().filter(|entry| entry.kind == LedgerKind::Applied);
        let applied = applied.filter_map(|entry| {
            let call = entry.call?;
            let (place, made) = record.first_event(call)?;
            Some((entry.intent, (made.at, place)))
        });
        let mut applied: Vec<(Intent, Made)> = applied.collect();
        applied.sort_unstable();
        NetLedger {
            by_intent: NetList::of(ledger, |entry| Some(entry.intent)),
            by_call: NetList::of(ledger, |entry| entry.call),
            applied,
        }
    }

    /// Effects of an intent by calls that were made after a call ended; of calls made at that moment, the later ones.
    fn made_after(&self, intent: Intent, ended: Made) -> usize {
        let all = self.applied.partition_point(|(of, ..)| *of <= intent);
        all - self.applied.partition_point(|by| *by <= (intent, ended))
    }

    fn of_call(&self, call: CallId) -> NetEffects {
        self.by_call.get(call).unwrap_or_default()
    }
}

fn is_calm(record: &SimulationRecord) -> bool {
    record.ledger.entries().len() < 2
        && record.events.iter().all(|event| match event.what {
            Decision::AttemptStarted { .. } => true,
            Decision::AttemptFinished { status, over_timeout, .. } => status == Status::Ok && !over_timeout,
            Decision::Outcome(outcome) => outcome.kind == OutcomeKind::Succeeded,
            _ => false,
        })
}

/// One intent with more than one net effect, unless the tool is idempotent. Each call asks for one effect. Each further
/// call that made one, also on top of existing ones, is the agent's (`recorded`), with the effects so far; effects of one
/// call beyond its first are the dispatcher's (`playbook`), in any order and by any attempt. One call may have both.
fn duplicate_effects(
    calls: &[DrivenCall<'_>],
    record: &SimulationRecord,
    net: &NetLedger,
    findings: &mut Vec<Finding>,
) {
    if net.by_intent.iter().all(|(_, net)| net.effects < 2) {
        return; // the most common calls
    }
    let mut doubled: BTreeMap<Intent, EffectsSoFar> = net
        .by_intent
        .iter()
        .filter(|(_, net)| net.effects > 1)
        .map(|(intent, _)| (*intent, EffectsSoFar::default()))
        .collect();
    for entry in record.ledger.entries().iter().filter(|entry| entry.kind == LedgerKind::Existing) {
        if let Some(so_far) = doubled.get_mut(&entry.intent) {
            so_far.effects += 1;
        }
    }
    for (n, call) in calls.iter().enumerate().filter(|(_, call)| !call.facts.idempotent) {
        let (id, own) = (CallId::at(n), net.of_call(CallId::at(n)).effects);
        let Some(intent) = call.intent(id).filter(|_| own > 0) else { continue };
        let Some(so_far) = doubled.get_mut(&intent) else { continue };
        let is_further = so_far.effects > 0;
        so_far.effects = so_far.effects.saturating_add(own);
        // What a recording shows of a key: an upstream that honours it repeats its first answer.
        let may_repeat = call.honoured_key().is_some() && matches!(call.source, AnswerSource::Tape(_));
        let duplicate = match call.facts.declared && !may_repeat {
            true => FindingId::DuplicateEffect,
            false => FindingId::PossibleDuplicateEffect,
        };
        if is_further {
            findings.push(call.facts.weigh(Finding::new(duplicate, FindingBy::Recorded, id, so_far.effects)));
        }
        if own > 1 {
            so_far.of_several = Some(call.facts.weigh(Finding::new(duplicate, FindingBy::Playbook, id, 0)));
        }
    }
    for (intent, so_far) in doubled {
        let count = net.by_intent.get(intent).map_or(0, |net| net.effects);
        findings.extend(so_far.of_several.map(|finding| Finding { count, ..finding }));
    }
}

/// The effects of one intent, call by call.
#[derive(Clone, Copy, Debug, Default)]
struct EffectsSoFar {
    effects: u32,
    /// What the last call that made several effects shows of the dispatcher.
    of_several: Option<Finding>,
}

/// What the events of one call show, counted in one pass because a trace has millions of failures.
#[derive(Debug)]
struct CallTrajectory {
    /// Attempts that started after a denial.
    after_denial: u32,
    /// Attempts that started after the upstream said that it had processed the key.
    after_conflict: u32,
    /// Attempts that started after a failure that may have acted, according to the playbook.
    after_act: u32,
    /// Attempts that started before the time was over for which the upstream had asked to wait.
    too_soon: u32,
    unclassified: u32,
    over_timeout: u32,
    suppressed: u32,
    /// Whether an answer to an attempt came after a later one was sent.
    overlapped: bool,
    /// Whether all answers to attempts were scripted.
    scripted: bool,
    /// Whether a failure that was ignored proved an effect.
    ignored_proof: bool,
}

impl CallTrajectory {
    fn of(plan: &Plan, id: CallId, call: &DrivenCall<'_>, record: &SimulationRecord) -> CallTrajectory {
        let mut course = CallTrajectory {
            after_denial: 0,
            after_conflict: 0,
            after_act: 0,
            too_soon: 0,
            unclassified: 0,
            over_timeout: 0,
            suppressed: 0,
            overlapped: false,
            scripted: true,
            ignored_proof: false,
        };
        let sent_again = record.outcomes.get(id.index()).is_none_or(|outcome| outcome.attempts > 1);
        let (mut denied, mut processed, mut acted, mut last) = (false, false, false, None);
        let (mut sent, mut wait_until) = (AttemptNo::FIRST, None);
        for event in record.events_of(id) {
            match event.what {
                Decision::AttemptStarted { attempt, .. } => {
                    sent = attempt;
                    course.after_denial += u32::from(denied);
                    course.after_conflict += u32::from(processed);
                    course.after_act += u32::from(acted);
                    course.too_soon += u32::from(wait_until.is_some_and(|until| event.at < until));
                }
                Decision::AttemptFinished { attempt, status, provenance, over_timeout, .. } => {
                    if let Status::Failed(error) = status {
                        last = error.and_then(|id| record.error(id));
                        let wait = last.and_then(|error| asked_wait(error, call.answered_at(attempt)));
                        wait_until = wait.map(|wait| event.at.plus(wait));
                    }
                    course.over_timeout += u32::from(over_timeout);
                    course.scripted &= provenance == Provenance::Scripted;
                }
                Decision::FailureClassified { verdict, ignored, .. } => {
                    let effect = plan.playbook.verdict(verdict).effect;
                    acted |= effect != EffectClaim::NotApplied;
                    course.ignored_proof |= ignored && effect == EffectClaim::Applied;
                    course.unclassified += u32::from(plan.reserved.unclassified == Some(verdict));
                    if sent_again {
                        let failure = FailureMeaning::under(plan, verdict, last, call.keyed_for(last) == Some(true));
                        denied |= failure.denied;
                        processed |= failure.processed;
                    }
                }
                // A tool that is never sent a request again needs no guard.
                Decision::RetrySuppressed { why } => course.suppressed += u32::from(why != SuppressionReason::Never),
                Decision::LateAnswer { attempt, .. } => course.overlapped |= attempt < sent,
                _ => {}
            }
        }
        course
    }
}

/// One call of the record under review.
struct CallReview<'a> {
    call: &'a DrivenCall<'a>,
    id: CallId,
    record: &'a SimulationRecord,
    net: &'a NetLedger,
    course: CallTrajectory,
}

impl CallReview<'_> {
    fn add_to(&self, findings: &mut Vec<Finding>) {
        let CallTrajectory { after_denial, after_conflict, too_soon, unclassified, over_timeout, .. } = self.course;
        let mut add = |found: Option<Finding>| findings.extend(found);
        add(self.untruthful_outcome());
        add(self.finding(FindingId::RetriedAfterDenial, after_denial));
        add(self.finding(FindingId::RetriedAfterConflict, after_conflict));
        add(self.unsafe_retry());
        add(self.read_acted());
        add(self.read_had_acted());
        add(self.finding(FindingId::RetryAfterIgnored, too_soon));
        add(self.finding(FindingId::Unclassified, unclassified));
        add(self.raced_itself());
        add(self.how_it_ended());
        add(self.finding(FindingId::OverTimeout, over_timeout));
        add(self.guard_redundant());
    }

    fn finding(&self, id: FindingId, count: u32) -> Option<Finding> {
        let by = if id == FindingId::OverTimeout { FindingBy::Recorded } else { FindingBy::Playbook };
        (count > 0).then_some(self.call.facts.weigh(Finding::new(id, by, self.id, count)))
    }

    /// The claim contradicts the net effect of the intent. Only if it is known what the upstream did.
    fn untruthful_outcome(&self) -> Option<Finding> {
        let outcome = self.record.outcomes.get(self.id.index())?;
        let has_answer = matches!(outcome.kind, OutcomeKind::Joined { .. } | OutcomeKind::Cached { .. });
        if outcome.attempts == 0 && !has_answer {
            return None; // nothing was sent for it, whatever others did under its key
        }
        if has_answer && matches!(self.call.source, AnswerSource::Tape(_)) {
            return None; // the effect is in the ledger of the call that it followed
        }
        let net = self.net.by_intent.get(self.call.booked_intent(self.id)).unwrap_or_default();
        if net.unobserved > 0 {
            return None; // a recorded failure: it is unknown what the upstream did
        }
        let ignored_proof = self.course.ignored_proof && self.call.facts.access == Access::Write;
        let untruthful = match outcome.claim {
            EffectClaim::NotApplied => net.effects > self.made_later() || ignored_proof,
            EffectClaim::Applied => net.effects == 0,
            EffectClaim::Unknown => ignored_proof,
        };
        self.finding(FindingId::UntruthfulOutcome, u32::from(untruthful))
    }

    /// Effects of the call's intent by calls that were made after it had ended: its claim says nothing of them.
    fn made_later(&self) -> u32 {
        let ended = self.record.events_of(self.id).find(|event| matches!(event.what, Decision::Outcome(_)));
        let made = self.record.first_event(self.id).map_or(0, |(place, _)| place);
        let later = ended.map_or(0, |event| self.net.made_after(self.call.booked_intent(self.id), (event.at, made)));
        u32::try_from(later).unwrap_or(u32::MAX)
    }

    /// Attempts that the retry guard would stop: an unkeyed write that is not idempotent, after attempts that may have
    /// acted according to the playbook.
    fn unsafe_retry(&self) -> Option<Finding> {
        if self.call.dispatched().is_safe_to_resend() {
            return None;
        }
        let count = self.course.after_act;
        // With assumed facts the tool may be a read: that is a doubt, not a proof.
        match self.call.facts.declared {
            true => self.finding(FindingId::UnsafeRetry, count),
            false if count > 0 => self.finding(FindingId::PossibleDuplicateEffect, count.saturating_add(1)),
            false => None,
        }
    }

    /// The tool facts say that the tool only reads, and the call made effects.
    fn read_acted(&self) -> Option<Finding> {
        let is_read = self.call.facts.access == Access::Read;
        self.finding(FindingId::ReadActed, if is_read { self.net.of_call(self.id).made } else { 0 })
    }

    /// The tool facts say that the tool only reads, and effects of it existed before the calls.
    fn read_had_acted(&self) -> Option<Finding> {
        let is_read = self.call.facts.access == Access::Read;
        let entries = self.record.ledger.entries().iter().filter(|_| is_read);
        let existing = entries.filter(|entry| entry.kind == LedgerKind::Existing);
        let count = existing.filter(|entry| entry.intent.tool() == Some(self.call.tool)).count();
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let finding = self.finding(FindingId::ReadActed, count)?;
        Some(Finding { by: FindingBy::Recorded, ..finding })
    }

    /// Attempts that were sent while an earlier one had not ended upstream, as its late answer shows. Not where the upstream
    /// answers the later attempt with a conflict: it saw that both are one request.
    fn raced_itself(&self) -> Option<Finding> {
        if !self.course.overlapped || self.call.facts.access == Access::Read {
            return None; // the usual call
        }
        let (mut sent, mut raced, mut recognised) = (AttemptNo::FIRST, BTreeSet::new(), BTreeSet::new());
        for event in self.record.events_of(self.id) {
            match event.what {
                Decision::AttemptStarted { attempt, .. } => sent = attempt,
                Decision::LateAnswer { attempt, .. } => raced.extend(attempt.get() + 1..=sent.get()),
                Decision::AttemptFinished { attempt, status: Status::Failed(Some(error)), .. } => {
                    let is = self.record.error(error).is_some_and(|error| knows_key(error, self.call.key.is_some()));
                    recognised.extend(is.then_some(attempt.get()));
                }
                _ => {}
            }
        }
        let count = raced.difference(&recognised).count();
        self.finding(FindingId::RacedItself, u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// The end of the call leaves it open, or its caller went away while a write may have acted.
    fn how_it_ended(&self) -> Option<Finding> {
        let outcome = self.record.outcomes.get(self.id.index())?;
        let found = match outcome.kind {
            OutcomeKind::Cancelled if outcome.claim == EffectClaim::Unknown => FindingId::Abandoned,
            OutcomeKind::Undetermined(_) => FindingId::Undetermined,
            OutcomeKind::Suspected(_) => FindingId::SuspectedFailure,
            OutcomeKind::Unfinished(_) => FindingId::Unfinished,
            OutcomeKind::Succeeded
            | OutcomeKind::SucceededAfterCompensation
            | OutcomeKind::Deprecated(_)
            | OutcomeKind::Escalated(_)
            | OutcomeKind::Reversed(_)
            | OutcomeKind::Exhausted(_)
            | OutcomeKind::Refused(_)
            | OutcomeKind::Joined { .. }
            | OutcomeKind::Cached { .. }
            | OutcomeKind::Skipped
            | OutcomeKind::Cancelled => return None,
        };
        self.finding(found, 1)
    }

    /// The guard stopped a retry of a call whose own attempts did nothing at the scripted upstream. A reversal that was sent
    /// instead does not count.
    fn guard_redundant(&self) -> Option<Finding> {
        let did_nothing = self.net.of_call(self.id).made == 0;
        let is = self.course.suppressed > 0 && self.course.scripted && did_nothing;
        self.finding(FindingId::GuardRedundant, u32::from(is))
    }
}
