//! Findings in words, and the order in which they are shown. `playproof help ID` explains them at length.

use playproof_engine::event::{Finding, FindingBy, FindingId, FindingSeverity, IntentDoubt};

use super::doc::Tone;
use super::text::{counted, ordinal};

/// The calls that a sentence is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// There are several intents: a count is then the greatest of theirs.
    pub several: bool,
    /// The call has an idempotency key, which the upstream may honour.
    pub keyed: bool,
    /// It has one that the upstream ignores.
    pub key_ignored: bool,
    /// The tool is declared as a write.
    pub declared: bool,
    /// It is recorded, and names no run.
    pub without_run: bool,
    /// Why its calls may have different intents.
    pub doubt: Option<IntentDoubt>,
}

/// The order in which findings are told: the severity, then a possible double effect before a repetition.
pub const fn order(finding: &Finding) -> (FindingSeverity, u8) {
    let effect = match finding.id {
        FindingId::DuplicateEffect | FindingId::UntruthfulOutcome => 0,
        FindingId::UnsafeRetry | FindingId::ResentUnderNewKey | FindingId::PossibleDuplicateEffect => 1,
        FindingId::RetriedAfterDenial | FindingId::RetriedAfterConflict => 3,
        _ => 2,
    };
    (finding.severity, effect)
}

/// Why it is unknown whether identical calls have one intent.
pub const fn intent_doubt(doubt: IntentDoubt) -> &'static str {
    match doubt {
        IntentDoubt::TwoInputs => "the run id occurs in two inputs",
        IntentDoubt::NoRun => "one of the calls names no run",
        IntentDoubt::NoArguments => "the arguments of a call are not recorded",
        IntentDoubt::SameId => "two runs made it under one call id",
        IntentDoubt::BegunAgain => "its run began while the one before had left it open or failed",
    }
}

/// What is true if calls that look alike have one intent.
pub const fn if_one_intent(doubt: IntentDoubt) -> &'static str {
    match doubt {
        IntentDoubt::TwoInputs => "if the runs of both inputs are one",
        IntentDoubt::NoRun => "if these calls belong to one run",
        IntentDoubt::NoArguments => "if these calls have the same arguments",
        IntentDoubt::SameId => "if both runs made one call",
        IntentDoubt::BegunAgain => "if the later run goes on where the run before it broke off",
    }
}

/// The finding with its count, in a few words.
pub fn sentence(id: FindingId, count: u32, about: About) -> String {
    let count = u64::from(count);
    let most = if about.several { "up to " } else { "" };
    match id {
        FindingId::DuplicateEffect => format!("one intent had {most}{}", counted(count, "effect", "effects")),
        FindingId::UntruthfulOutcome => "the outcome claim contradicts the upstream".to_owned(),
        FindingId::RetriedAfterDenial => {
            format!("sent {} more after a denial{}", times(count), if_same_request(about.doubt))
        }
        FindingId::RetriedAfterConflict => {
            let after = "after the upstream reported it as processed";
            format!("sent {} more {after}{}", times(count), if_same_request(about.doubt))
        }
        FindingId::UnsafeRetry => {
            let key = if about.key_ignored { "though the upstream ignores its key" } else { "without a key" };
            let after = "after an attempt that may have acted";
            format!("sent {} more {key}, {after}{}", times(count), if_same_request(about.doubt))
        }
        FindingId::DenialNotEscalated => "it was denied, and no person gets to know of it".to_owned(),
        FindingId::StaleEvidenceResent => format!("sent {} more with the evidence that was refused", times(count)),
        FindingId::RefusalUnseen => "its reversal was refused, and no person gets to know of it".to_owned(),
        FindingId::Reexecuted => "it had succeeded, and ran again after its transaction had begun again".to_owned(),
        FindingId::CommittedOverFailure => "its transaction was committed, and it is not known to be done".to_owned(),
        FindingId::UnboundedWait => "it waits as long as the upstream asks for, without a bound".to_owned(),
        FindingId::ResentUnderNewKey => {
            let sent = format!("the same request was sent {} under different keys", times(count));
            sent + &if_same_request(about.doubt)
        }
        FindingId::KeyReused => "its key was also used with other arguments".to_owned(),
        FindingId::RetryAfterIgnored => {
            format!("sent {} more sooner than the upstream had asked for", times(count))
        }
        FindingId::RacedItself => {
            format!("sent {} more while an earlier attempt had not ended upstream", times(count))
        }
        FindingId::Abandoned => "its caller went away while it may have acted".to_owned(),
        FindingId::RetryAmplification => {
            format!("the calls of its server took {} while it failed", counted(count, "request", "requests"))
        }
        FindingId::UncountedProbes => {
            let probes = counted(count, "probe", "probes");
            format!("{probes} of its server counted neither way, and its breaker is half open")
        }
        FindingId::TokenReused => "another call redeemed its reversal token before".to_owned(),
        FindingId::UnsafeAdvice => "its agent was told to make it again, and the call before may have acted".to_owned(),
        FindingId::ChangedAfterDenial => "the call before it was denied, and it has other arguments".to_owned(),
        FindingId::IgnoredAdvice => "its agent was told not to make it again".to_owned(),
        FindingId::ReadActed => format!("{} of a tool that only reads", counted(count, "effect", "effects")),
        FindingId::SentWhileRunning => "its action was still open from an earlier call when it was sent".to_owned(),
        FindingId::RanAfterFailedStep => "it was sent although a step of its action had failed before".to_owned(),
        FindingId::OutOfOrder => "the graph does not let it through where it was made".to_owned(),
        FindingId::Unclassified => {
            format!("{} that no rule of the playbook matches", counted(count, "failure", "failures"))
        }
        FindingId::Undetermined => "a needed answer is missing".to_owned(),
        FindingId::Unfinished => "its answer says that the work is not done yet".to_owned(),
        FindingId::SuspectedFailure => "its answer suggests a failure and does not prove one".to_owned(),
        FindingId::PossibleDuplicateEffect if about.doubt.is_some() => {
            let effects = counted(count, "effect", "effects");
            format!("one intent may have had {most}{effects}: {}", about.doubt.map_or("", intent_doubt))
        }
        FindingId::PossibleDuplicateEffect => {
            let why = match (about.keyed, about.declared, about.without_run) {
                (true, ..) => "the upstream forgot its key",
                (false, false, _) => "this tool writes",
                (false, true, false) => "each attempt acted",
                (false, true, true) => "these calls belong to one run and each acted",
            };
            format!("one intent may have had {most}{}, if {why}", counted(count, "effect", "effects"))
        }
        // A single call has the number of calls so far, not of all.
        FindingId::RunawayLoop if !about.several => {
            format!("this is the {} identical call of its run", ordinal(count))
        }
        FindingId::RunawayLoop => format!("the same call was made {most}{} in one run", times(count)),
        FindingId::FutileRetry => format!("sent again unchanged {most}{}, and failed again", times(count)),
        FindingId::OverTimeout => {
            format!("{} came later than the tool's timeout", counted(count, "recorded answer", "recorded answers"))
        }
        FindingId::GuardRedundant => "a guard stopped a harmless compensation".to_owned(),
    }
}

fn if_same_request(doubt: Option<IntentDoubt>) -> String {
    doubt.map_or_else(String::new, |doubt| format!(", if it is the same request: {}", intent_doubt(doubt)))
}

/// What else may be true of a finding: equal calls of an agent can be what it wants.
pub fn advice(finding: &Finding) -> Option<&'static str> {
    let of_agent = (finding.id, finding.by) == (FindingId::DuplicateEffect, FindingBy::Recorded);
    of_agent.then_some(
        "; equal calls can be correct, such as three equal partial refunds: then declare the tool `repeatable: true`",
    )
}

/// Recorded, or under which playbook, in words.
pub fn by(finding: &Finding, playbook: &str) -> String {
    match finding.by {
        FindingBy::Recorded => "as recorded".to_owned(),
        FindingBy::Playbook => format!("under {playbook}"),
    }
}

/// How much a severity matters.
pub(crate) const fn tone(severity: FindingSeverity) -> Tone {
    match severity {
        FindingSeverity::Unsafe => Tone::Bad,
        FindingSeverity::Doubt => Tone::Doubt,
        FindingSeverity::Note => Tone::Soft,
    }
}

fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => counted(count, "time", "times"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finding_has_its_sentence_for_one_and_for_many() {
        for id in FindingId::ALL {
            let one = sentence(id, 1, About::default());
            assert!(!one.contains("1 effects"), "{one}");
            assert!(!sentence(id, 3, About::default()).is_empty());
        }
        assert_eq!(sentence(FindingId::DuplicateEffect, 3, About::default()), "one intent had 3 effects");
        assert_eq!(sentence(FindingId::RetriedAfterDenial, 1, About::default()), "sent once more after a denial");
    }

    #[test]
    fn a_count_that_is_the_greatest_of_several_says_so() {
        let several = About { several: true, ..About::default() };
        assert_eq!(sentence(FindingId::RunawayLoop, 12, several), "the same call was made up to 12 times in one run");
        assert_eq!(
            sentence(FindingId::RunawayLoop, 11, About::default()),
            "this is the 11th identical call of its run"
        );
        let keyed = About { keyed: true, ..About::default() };
        assert_eq!(
            sentence(FindingId::PossibleDuplicateEffect, 2, keyed),
            "one intent may have had 2 effects, if the upstream forgot its key"
        );
        let after = "after an attempt that may have acted";
        for (key_ignored, key) in [(false, "without a key"), (true, "though the upstream ignores its key")] {
            let said = sentence(FindingId::UnsafeRetry, 1, About { key_ignored, ..About::default() });
            assert_eq!(said, format!("sent once more {key}, {after}"));
        }
    }
}
