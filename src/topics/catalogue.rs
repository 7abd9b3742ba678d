//! The list of all topics of `playproof help ID`.

use super::{divergences, failures, findings, words};
use playproof_engine::event::{FailureClass, FindingId};
use playproof_formats::golden::Class;
use playproof_formats::playbook::lint;

/// One entry of `playproof help`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// What users type.
    pub id: &'static str,
    /// The group: `finding`, `lint`, `outcome`, ...
    pub sort: &'static str,
    /// The title, one line.
    pub title: String,
    /// The text, in paragraphs; lines that begin with four blanks keep their breaks.
    pub text: &'static str,
}

/// Every topic, sort by sort.
pub fn all() -> Vec<Topic> {
    let findings = FindingId::ALL.into_iter().map(|id| {
        let (title, text) = findings::explain(id);
        Topic { id: id.as_str(), sort: "finding", title: title.to_owned(), text }
    });
    let lints = lint::IDS.iter().filter_map(|id| {
        let text = lint::explain(id)?;
        Some(Topic { id, sort: "lint", title: first_sentence(text), text })
    });
    let divergences = Class::ALL.into_iter().map(|class| Topic {
        id: class.as_str(),
        sort: "divergence",
        title: class.means().to_owned(),
        text: divergences::explain(class),
    });
    let failures = FailureClass::ALL.into_iter().map(|class| Topic {
        id: class.as_str(),
        sort: "failure",
        title: class.means().to_owned(),
        text: failures::explain(class),
    });
    let words = words::WORDS.iter().map(|&(sort, id, title, text)| Topic { id, sort, title: title.to_owned(), text });
    findings.chain(lints).chain(divergences).chain(failures).chain(words).collect()
}

fn first_sentence(text: &str) -> String {
    let line = text.split("\n\n").next().unwrap_or(text).replace('\n', " ");
    let end = line.find(". ").unwrap_or_else(|| line.trim_end_matches('.').len());
    let sentence = &line[..end];
    let mut chars = sentence.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
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
    fn every_finding_and_every_lint_has_a_topic() {
        let all = all();
        for id in FindingId::ALL.iter().map(|id| id.as_str()).chain(lint::IDS.iter().copied()) {
            assert!(all.iter().any(|topic| topic.id == id), "{id}");
        }
    }

    #[test]
    fn a_title_is_the_first_sentence() {
        assert_eq!(first_sentence("A later wait is\nshorter. And so on.\n\nMore"), "a later wait is shorter");
    }
}
