//! Findings in words, and the order in which they are shown. Explanations at length are `playproof help ID`.

use crate::event::{Finding, FindingBy, FindingId, FindingSeverity};

use super::style::Palette;
use super::text::counted;

/// What was found, with its count, in a few words.
pub fn sentence(id: FindingId, count: u32) -> String {
    let count = u64::from(count);
    match id {
        FindingId::DuplicateEffect => format!("one intent had {}", counted(count, "effect", "effects")),
        FindingId::UntruthfulOutcome => "the outcome claims something else than what is true upstream".to_owned(),
        FindingId::RetriedAfterDenial => format!("sent {} more after a denial", times(count)),
        FindingId::RetriedAfterConflict => {
            format!("sent {} more after the upstream said that it was processed", times(count))
        }
        FindingId::UnsafeRetry => {
            format!("{} that the retry guard would have stopped", counted(count, "further attempt", "further attempts"))
        }
        FindingId::Unclassified => {
            format!("{} that no rule of the playbook matches", counted(count, "failure", "failures"))
        }
        FindingId::Undetermined => "an answer was needed that nothing supplies".to_owned(),
        FindingId::PossibleDuplicateEffect => {
            format!("one intent may have had {}, if this tool writes", counted(count, "effect", "effects"))
        }
        FindingId::RunawayLoop => format!("the same call was made {} in one run", times(count)),
        FindingId::FutileRetry => format!("sent again unchanged {}, and failed again", times(count)),
        FindingId::OverTimeout => {
            format!("{} came later than the tool's timeout", counted(count, "recorded answer", "recorded answers"))
        }
        FindingId::GuardRedundant => "a guard stopped what would have done no harm".to_owned(),
    }
}

/// By whom, in words.
pub fn by(finding: &Finding, playbook: &str) -> String {
    match finding.by {
        FindingBy::Recorded => "as recorded".to_owned(),
        FindingBy::Playbook => format!("under {playbook}"),
    }
}

/// The severity's word in its colour, padded so that the words stand in a column.
pub fn severity(severity: FindingSeverity, palette: Palette) -> String {
    let word = format!("{:6}", severity.as_str());
    match severity {
        FindingSeverity::Unsafe => palette.bad(&word),
        FindingSeverity::Doubt => palette.doubtful(&word),
        FindingSeverity::Note => palette.faint(&word),
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
            assert!(!sentence(id, 1).contains("1 effects"), "{}", sentence(id, 1));
            assert!(!sentence(id, 3).is_empty());
        }
        assert_eq!(sentence(FindingId::DuplicateEffect, 3), "one intent had 3 effects");
        assert_eq!(sentence(FindingId::RetriedAfterDenial, 1), "sent once more after a denial");
    }
}
