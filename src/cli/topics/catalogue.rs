//! What `playproof help ID` explains, gathered from everyone who has ids or words to explain.

use super::{findings, words};
use crate::event::FindingId;

/// One thing that can be explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// What is typed.
    pub id: &'static str,
    /// What sort of thing it is: `finding`, `lint`, `outcome`, ...
    pub sort: &'static str,
    /// In one line.
    pub title: &'static str,
    /// In paragraphs.
    pub text: &'static str,
}

/// Every topic, sort by sort.
pub fn all() -> Vec<Topic> {
    let findings = FindingId::ALL.into_iter().map(|id| {
        let (title, text) = findings::explain(id);
        Topic { id: id.as_str(), sort: "finding", title, text }
    });
    let words = words::WORDS.iter().map(|&(sort, id, title, text)| Topic { id, sort, title, text });
    findings.chain(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_is_explained_and_a_pair_of_sort_and_id_is_unique() {
        let all = all();
        for (at, topic) in all.iter().enumerate() {
            assert!(!topic.title.is_empty() && !topic.text.is_empty(), "{}", topic.id);
            let same = |other: &Topic| (other.id, other.sort) == (topic.id, topic.sort);
            assert!(!all[at + 1..].iter().any(same), "{} twice", topic.id);
        }
    }

    #[test]
    fn every_finding_has_a_topic() {
        let all = all();
        for id in FindingId::ALL {
            assert!(all.iter().any(|topic| topic.id == id.as_str()), "{}", id.as_str());
        }
    }
}
