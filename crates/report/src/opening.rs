//! The sentences with which a replay opens, for the terminal and for pages: what was found, and what each playbook would have
//! done. At most five. Draws nothing.

use super::summary::Totals;
use super::text::{count, counted};
use playproof_analysis::replay::{Replayed, Summary};
use playproof_engine::event::{FindingBy, FindingId, FindingKind, FindingSeverity, OutcomeWord};

/// The most sentences.
const MOST: usize = 5;

/// The most kinds of findings that a sentence names.
const KINDS: usize = 3;

/// What would make the picture sharper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharper {
    /// Say what the tools do: `confirm`.
    Facts,
    /// Read identical calls after a failure as attempts of one call: `--join-resends`.
    JoinedResends,
}

/// What would make the picture sharper; none: nothing that the recordings have.
pub fn sharper(replayed: &Replayed) -> Option<Sharper> {
    let possible = &replayed.possible_duplicates;
    if possible.undeclared.total() > 0 || possible.resent.total() > 0 {
        return Some(Sharper::Facts);
    }
    (possible.failed.total() > 0).then_some(Sharper::JoinedResends)
}

/// The sentences.
pub fn sentences(totals: &Totals<'_>) -> Vec<String> {
    let replayed = totals.replayed;
    let recorded = |severity| found(severity, |kind| replayed.recorded.of_kind(kind, FindingBy::Recorded));
    let mut all = vec![read(replayed)];
    let harm = recorded(FindingSeverity::Unsafe);
    let doubt = recorded(FindingSeverity::Doubt);
    match (&harm, &doubt) {
        (None, None) => all.push("The recording shows no harm, and nothing that may be harm.".to_owned()),
        (Some(harm), None) => all.push(format!("The recording shows harm: {harm}.")),
        (None, Some(doubt)) => all.push(format!("The recording leaves open: {doubt}.")),
        (Some(harm), Some(doubt)) => {
            all.push(format!("The recording shows harm: {harm}."));
            all.push(format!("It leaves open: {doubt}."));
        }
    }
    if let Some(Sharper::Facts) = sharper(replayed) {
        let said = "Of some tools it is not known what they do: each counts as a write that may act twice, and what is \
                    found of it is a doubt.";
        all.push(said.to_owned());
    }
    let room = MOST.saturating_sub(all.len());
    let playbooks = replayed.summaries.iter().zip(totals.names).take(room);
    all.extend(playbooks.map(|(summary, names)| playbook(&names.playbook, summary)));
    all
}

/// How much was read, and how much of it failed.
fn read(replayed: &Replayed) -> String {
    let first = replayed.summaries.first();
    let [calls, failed] = [|one: &Summary| one.calls, |one: &Summary| one.failed_calls].map(|of| first.map_or(0, of));
    let were = format!("{} read", counted(calls, "call was", "calls were"));
    match failed {
        0 => format!("{were}, and none failed."),
        _ if failed == calls => format!("{were}; each failed at least once."),
        _ => format!("{were}, of which {} failed at least once.", count(failed)),
    }
}

/// The findings of a severity in words, the commonest first; none: there are none.
fn found(severity: FindingSeverity, count_of: impl Fn(FindingKind) -> u64) -> Option<String> {
    let kinds = FindingKind::all().filter(|kind| kind.severity == severity);
    let mut kinds: Vec<(u64, FindingId)> = kinds.map(|kind| (count_of(kind), kind.id)).collect();
    kinds.retain(|(count, _)| *count > 0);
    kinds.sort_by_key(|(count, _)| std::cmp::Reverse(*count)); // stable
    let mut said: Vec<String> =
        kinds.iter().take(KINDS).map(|(n, id)| format!("{} {}", counted(*n, "call", "calls"), did(*id))).collect();
    let more = kinds.len().saturating_sub(KINDS) as u64;
    said.extend((more > 0).then(|| counted(more, "more kind of finding", "more kinds of findings")));
    listed(&said)
}

/// What a playbook would have done.
fn playbook(name: &str, summary: &Summary) -> String {
    let of = |word: OutcomeWord| summary.outcome(word);
    let calls = |n: u64| counted(n, "call", "calls");
    let all = [
        (of(OutcomeWord::Escalated), "handed {} to people"),
        (of(OutcomeWord::SucceededAfterCompensation), "brought {} to success with another attempt"),
        (of(OutcomeWord::Deprecated), "given up {}, so that the planner reads the upstream's state first"),
        (of(OutcomeWord::Reversed), "taken back the effect of {}"),
        (of(OutcomeWord::Exhausted), "given up {} after its last attempt"),
        (of(OutcomeWord::Refused), "refused {} before anything was sent"),
        (of(OutcomeWord::Joined), "made no request for {}, which shared the attempts of an equal call"),
        (of(OutcomeWord::Cached), "answered {} with the result of an equal call before, without a request"),
        (of(OutcomeWord::Skipped), "skipped {}, whose action had ended"),
    ];
    let did: Vec<String> = all.iter().filter(|(n, _)| *n > 0).map(|(n, said)| said.replace("{}", &calls(*n))).collect();
    let unrecorded = || match summary.off_tape_calls {
        0 => "changed nothing".to_owned(),
        n => format!("have gone another way than recorded with {}, whose ends nobody recorded", calls(n)),
    };
    let did = listed(&did).map_or_else(unrecorded, |did| format!("have {did}"));
    let harm = found(FindingSeverity::Unsafe, |kind| summary.findings.of_kind(kind, FindingBy::Playbook));
    let own = harm.map(|harm| format!(" and done harm itself: {harm}")).unwrap_or_default();
    match did.strip_prefix("have ") {
        Some(did) => format!("`{name}` would have {did}{own}."),
        None if own.is_empty() => format!("`{name}` would have {did}."),
        None => format!("`{name}` would have{}.", own.trim_start_matches(" and")),
    }
}

/// `a, b and c`.
fn listed(all: &[String]) -> Option<String> {
    match all {
        [] => None,
        [one] => Some(one.clone()),
        [first @ .., last] => Some(format!("{} and {last}", first.join(", "))),
    }
}

/// What calls with a finding did.
const fn did(id: FindingId) -> &'static str {
    match id {
        FindingId::DuplicateEffect => "made an effect a second time",
        FindingId::UntruthfulOutcome => "ended with a claim that the upstream contradicts",
        FindingId::RetriedAfterDenial => "went out again after a denial",
        FindingId::RetriedAfterConflict => "went out again after the upstream had said that it was done",
        FindingId::UnsafeRetry => "went out again after an attempt that may have acted",
        FindingId::Reexecuted => "ran again after its transaction had begun again",
        FindingId::CommittedOverFailure => "is not known to be done, and its transaction was committed",
        FindingId::DenialNotEscalated => "ended with a denial that no person gets to know",
        FindingId::StaleEvidenceResent => "went out again with the evidence that was refused",
        FindingId::RefusalUnseen => "ended with a refused reversal that no person gets to know",
        FindingId::ResentUnderNewKey => "went out again under another key",
        FindingId::UnsafeAdvice => "came because the agent was told to make it again, though it may have acted",
        FindingId::ReadActed => "changed something, of a tool that only reads",
        FindingId::SentWhileRunning => "went out while the same action was still at work",
        FindingId::Unclassified => "failed in a way that no rule matches",
        FindingId::Undetermined => "needed an answer that the recording does not have",
        FindingId::SuspectedFailure => "had an answer that only suggests a failure",
        FindingId::Unfinished => "had an answer that says that the work is not done yet",
        FindingId::PossibleDuplicateEffect => "may have made an effect a second time",
        FindingId::KeyReused => "used the key of another request",
        FindingId::TokenReused => "used a reversal token that was redeemed before",
        FindingId::RetryAfterIgnored => "went out again sooner than the upstream had asked",
        FindingId::UnboundedWait => "waited as long as the upstream asked, without a bound",
        FindingId::RacedItself => "went out again while an earlier attempt was still at work",
        FindingId::OutOfOrder => "came where the graph lets no such call through",
        FindingId::RanAfterFailedStep => "went on after a step that had failed",
        FindingId::Abandoned => "lost its caller while the work may have been done",
        FindingId::RetryAmplification => "multiplied the requests to a server that failed",
        FindingId::UncountedProbes => "left a breaker half open, because its probes counted neither way",
        FindingId::RunawayLoop => "came again and again",
        FindingId::FutileRetry => "went out again unchanged, and failed again",
        FindingId::ChangedAfterDenial => "came with other arguments right after a denial",
        FindingId::IgnoredAdvice => "came against what the agent was told",
        FindingId::OverTimeout => "took longer than the timeout of the tool",
        FindingId::GuardRedundant => "met a guard that had nothing to stop",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_reads_like_a_sentence() {
        let said = |all: &[&str]| listed(&all.iter().map(|&one| one.to_owned()).collect::<Vec<_>>());
        assert_eq!(said(&[]), None);
        assert_eq!(said(&["a", "b", "c"]).as_deref(), Some("a, b and c"));
    }

    #[test]
    fn what_was_found_is_said_with_the_commonest_first() {
        let of = |kind: FindingKind| match kind.id {
            FindingId::DuplicateEffect => 1,
            FindingId::UnsafeRetry => 3,
            _ => 0,
        };
        let said = found(FindingSeverity::Unsafe, of);
        let all = "3 calls went out again after an attempt that may have acted and 1 call made an effect a second time";
        assert_eq!(said.as_deref(), Some(all));
        assert_eq!(found(FindingSeverity::Unsafe, |_| 0), None);
    }

    #[test]
    fn a_playbook_is_told_by_what_it_would_have_done() {
        let mut summary = Summary::default();
        assert_eq!(playbook("p", &summary), "`p` would have changed nothing.");
        summary.off_tape_calls = 5;
        let said = "`p` would have gone another way than recorded with 5 calls, whose ends nobody recorded.";
        assert_eq!(playbook("p", &summary), said);
        summary.outcomes[OutcomeWord::Escalated as usize] = 2;
        summary.outcomes[OutcomeWord::Deprecated as usize] = 1;
        let said = "`p` would have handed 2 calls to people and given up 1 call, so that the planner reads the upstream's \
                    state first.";
        assert_eq!(playbook("p", &summary), said);
    }
}
