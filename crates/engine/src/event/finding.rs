//! Findings: stable ids, severities, and who caused them.

use crate::ids::CallId;
use crate::words;

words! {
    /// The severity of a finding, worst first.
    pub enum FindingSeverity {
        /// Harm was done, or would be done.
        Unsafe = "unsafe",
        /// The facts are uncertain; a person should look.
        Doubt = "doubt",
        /// Worth knowing.
        Note = "note",
    }
}

words! {
    /// Who caused a finding.
    pub enum FindingBy {
        /// The agent or its harness did it.
        Recorded = "recorded",
        /// The dispatcher would do it under this playbook.
        Playbook = "playbook",
    }
}

words! {
    /// Why it is unknown whether identical calls have one intent.
    pub enum IntentDoubt {
        /// The arguments of a call are not recorded.
        NoArguments = "no_arguments",
        /// One of them names no run.
        NoRun = "no_run",
        /// The id of their run occurs in two inputs.
        TwoInputs = "two_inputs",
        /// Two runs made them under one call id.
        SameId = "same_id",
        /// The run of one began while the run before it had left the other open or failed.
        BegunAgain = "begun_again",
    }
}

words! {
    /// The findings, with their severity; their ids never change.
    pub enum FindingId: FindingSeverity {
        /// One intent, more than one net effect (declared tool facts only).
        DuplicateEffect = "duplicate_effect" => FindingSeverity::Unsafe,
        /// The claim contradicts the ledger.
        UntruthfulOutcome = "untruthful_outcome" => FindingSeverity::Unsafe,
        /// A further attempt after a denial.
        RetriedAfterDenial = "retried_after_denial" => FindingSeverity::Unsafe,
        /// A further attempt after the upstream said that it had processed the key.
        RetriedAfterConflict = "retried_after_conflict" => FindingSeverity::Unsafe,
        /// Sent again without a key, after an attempt that may have acted.
        UnsafeRetry = "unsafe_retry" => FindingSeverity::Unsafe,
        /// A denial by a policy after which the call reached no person.
        DenialNotEscalated = "denial_not_escalated" => FindingSeverity::Unsafe,
        /// A further attempt with the evidence that the upstream had refused.
        StaleEvidenceResent = "stale_evidence_resent" => FindingSeverity::Unsafe,
        /// A refused reversal after which the call reached no person.
        RefusalUnseen = "refusal_unseen" => FindingSeverity::Unsafe,
        /// The same request of one run under another key, after one that acted or may have acted.
        ResentUnderNewKey = "resent_under_new_key" => FindingSeverity::Unsafe,
        /// Made again without a key because the agent was told that it may, after a call that may have acted.
        UnsafeAdvice = "unsafe_advice" => FindingSeverity::Unsafe,
        /// A tool that is declared or assumed a read has an effect in the ledger.
        ReadActed = "read_acted" => FindingSeverity::Unsafe,
        /// A write that had succeeded, made again after its transaction had begun again.
        Reexecuted = "reexecuted" => FindingSeverity::Unsafe,
        /// A gated write that cannot be repeated safely was sent while an earlier call of its action was still open.
        SentWhileRunning = "sent_while_running" => FindingSeverity::Unsafe,
        /// State was committed though a call of its transaction was not known to be done.
        CommittedOverFailure = "committed_over_failure" => FindingSeverity::Doubt,
        /// A failure that no rule matches.
        Unclassified = "unclassified" => FindingSeverity::Doubt,
        /// An answer is missing.
        Undetermined = "undetermined" => FindingSeverity::Doubt,
        /// A result whose text suggests a failure and does not prove one.
        SuspectedFailure = "suspected_failure" => FindingSeverity::Doubt,
        /// A result that says that the work is not done yet.
        Unfinished = "unfinished" => FindingSeverity::Doubt,
        /// As `duplicate_effect`, on assumed tool facts.
        PossibleDuplicateEffect = "possible_duplicate_effect" => FindingSeverity::Doubt,
        /// One key with other arguments than before.
        KeyReused = "key_reused" => FindingSeverity::Doubt,
        /// A reversal token that another call of the run had redeemed before.
        TokenReused = "token_reused" => FindingSeverity::Doubt,
        /// An attempt sent sooner than the upstream had asked for.
        RetryAfterIgnored = "retry_after_ignored" => FindingSeverity::Doubt,
        /// A wait of more than an hour that the upstream asked for and no limit of the playbook bounds.
        UnboundedWait = "unbounded_wait" => FindingSeverity::Doubt,
        /// An attempt of a write that was sent while an earlier one had not ended upstream.
        RacedItself = "raced_itself" => FindingSeverity::Doubt,
        /// The first recorded call of a run that the graph refuses and the recording does not.
        OutOfOrder = "out_of_order" => FindingSeverity::Doubt,
        /// A recorded step of an action that was sent after another step of it had failed.
        RanAfterFailedStep = "ran_after_failed_step" => FindingSeverity::Doubt,
        /// A call whose caller went away while it may have acted.
        Abandoned = "abandoned" => FindingSeverity::Doubt,
        /// More than two requests a call while a server failed.
        RetryAmplification = "retry_amplification" => FindingSeverity::Doubt,
        /// Probes of a half-open breaker that neither closed nor opened it.
        UncountedProbes = "uncounted_probes" => FindingSeverity::Doubt,
        /// One call repeated unchanged, implausibly often.
        RunawayLoop = "runaway_loop" => FindingSeverity::Doubt,
        /// A failed call that was sent again unchanged, with no write in between, and failed again.
        FutileRetry = "futile_retry" => FindingSeverity::Note,
        /// The same tool with other arguments right after a denial.
        ChangedAfterDenial = "changed_after_denial" => FindingSeverity::Note,
        /// Made again although the agent was told not to.
        IgnoredAdvice = "ignored_advice" => FindingSeverity::Note,
        /// A recorded answer that came after the tool's timeout.
        OverTimeout = "over_timeout" => FindingSeverity::Note,
        /// A guard stopped an attempt that would have done no harm.
        GuardRedundant = "guard_redundant" => FindingSeverity::Note,
    }
}

impl FindingId {
    /// Its severity where nothing that it rests on is assumed.
    pub const fn severity(self) -> FindingSeverity {
        self.row()
    }
}

/// What findings are counted by: one id may be found at two severities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct FindingKind {
    /// The severity.
    pub severity: FindingSeverity,
    /// The id.
    pub id: FindingId,
}

impl FindingKind {
    /// All kinds, worst first.
    pub fn all() -> impl Iterator<Item = FindingKind> {
        let of_severity = |severity| FindingId::ALL.map(|id| FindingKind { severity, id });
        let is_possible = |kind: &FindingKind| kind.severity == kind.id.severity() || kind.is_weakened();
        FindingSeverity::ALL.into_iter().flat_map(of_severity).filter(is_possible)
    }

    /// Whether it is a doubt that better evidence would make unsafe, or is about an evident read.
    const fn is_weakened(self) -> bool {
        matches!((self.severity, self.id.severity()), (FindingSeverity::Doubt, FindingSeverity::Unsafe))
            || matches!((self.severity, self.id), (FindingSeverity::Note, FindingId::PossibleDuplicateEffect))
    }
}

/// A finding about one call of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Finding {
    /// Its severity: that of its id, or a weaker one where the evidence is weaker.
    pub severity: FindingSeverity,
    /// Its id.
    pub id: FindingId,
    /// Who caused it.
    pub by: FindingBy,
    /// The call.
    pub call: CallId,
    /// The number of effects of the intent, attempts or repetitions; 1 if there is nothing to count.
    pub count: u32,
    /// Why its calls may have different intents; none: they have one.
    pub doubt: Option<IntentDoubt>,
    /// The line of the call, in the same input, that it may repeat; 0: the finding names none.
    pub other_line: u64,
}

impl Finding {
    /// A finding about `call`, with the severity of its id.
    pub const fn new(id: FindingId, by: FindingBy, call: CallId, count: u32) -> Finding {
        Finding { severity: id.severity(), id, by, call, count, doubt: None, other_line: 0 }
    }

    /// Sorts findings, worst first, then by call. A call keeps a finding of one id by one party once: counts of effects
    /// and repetitions include each other, counts of attempts add up.
    pub fn settle(findings: &mut Vec<Finding>) {
        if findings.len() > 1 {
            findings.sort_unstable_by_key(|finding| (finding.call, finding.id, finding.by));
            findings.dedup_by(|next, kept| {
                let is_same = (next.call, next.id, next.by) == (kept.call, kept.id, kept.by);
                if is_same {
                    kept.add(*next);
                }
                is_same
            });
            findings.sort_unstable();
        }
    }

    fn add(&mut self, other: Finding) {
        self.severity = self.severity.min(other.severity);
        self.count = match self.id {
            FindingId::RetriedAfterDenial | FindingId::RetriedAfterConflict | FindingId::UnsafeRetry => {
                self.count.saturating_add(other.count)
            }
            _ => self.count.max(other.count),
        };
        self.doubt = both_doubts(self.doubt, other.doubt);
        self.other_line = self.other_line.max(other.other_line);
    }

    /// The same, at most a doubt.
    #[must_use]
    pub fn in_doubt(self) -> Finding {
        Finding { severity: self.severity.max(FindingSeverity::Doubt), ..self }
    }

    /// What it is counted by.
    pub const fn kind(&self) -> FindingKind {
        FindingKind { severity: self.severity, id: self.id }
    }
}

/// The doubt of two findings that are one. That two runs may have made one call is the weakest reason: any other holds.
fn both_doubts(one: Option<IntentDoubt>, other: Option<IntentDoubt>) -> Option<IntentDoubt> {
    let is_of_runs = |doubt| matches!(doubt, IntentDoubt::SameId | IntentDoubt::BegunAgain);
    match (one, other) {
        (Some(one), Some(other)) if is_of_runs(one) || is_of_runs(other) => Some(one.min(other)),
        (None, Some(doubt)) | (Some(doubt), None) if is_of_runs(doubt) => None,
        _ => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unsafe_finding_can_be_a_doubt_and_nothing_becomes_worse() {
        for id in FindingId::ALL {
            let doubt = Finding::new(id, FindingBy::Recorded, CallId(0), 1).in_doubt();
            assert_eq!(doubt.severity, id.severity().max(FindingSeverity::Doubt));
            assert!(FindingKind::all().any(|kind| kind == doubt.kind()));
        }
        assert!(FindingKind::all().is_sorted());
    }

    #[test]
    fn a_call_has_a_finding_of_one_id_by_one_party_once() {
        let finding = |id, by, count| Finding::new(id, by, CallId(0), count);
        let (by_agent, by_playbook) = (FindingBy::Recorded, FindingBy::Playbook);
        let mut findings = vec![finding(FindingId::UnsafeRetry, by_playbook, 1)];
        for _ in 0..2 {
            findings.push(finding(FindingId::PossibleDuplicateEffect, by_agent, 2));
            findings.push(finding(FindingId::UnsafeRetry, by_agent, 1).in_doubt());
            findings.push(finding(FindingId::UnsafeRetry, by_agent, 1));
        }
        Finding::settle(&mut findings);
        let settled = [
            finding(FindingId::UnsafeRetry, by_agent, 4),
            finding(FindingId::UnsafeRetry, by_playbook, 1),
            finding(FindingId::PossibleDuplicateEffect, by_agent, 2),
        ];
        assert_eq!(findings, settled);
    }
}
