//! The list of all topics of `playproof help ID`.

use std::borrow::Cow;

use super::{divergences, ends, failures, findings, kinds, terms, words};
use playproof_engine::event::{AdmissionRefusal, FailureClass, FindingId, StopReason};
use playproof_formats::golden::Class;
use playproof_formats::playbook::lint;

/// One entry of `playproof help`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// What users type.
    pub id: Cow<'static, str>,
    /// The group: `finding`, `lint`, `outcome`, `refusal`, `stop`, ...
    pub sort: &'static str,
    /// The title, one line.
    pub title: String,
    /// The text, in paragraphs; lines that begin with four blanks keep their breaks.
    pub text: Cow<'static, str>,
}

/// Keys of a playbook, and a flag, that another word explains.
const KEYS: [(&str, &str); 14] = [
    ("tell", "told"),
    ("envelope", "told"),
    ("actions", "action"),
    ("steps", "step"),
    ("entry", "graph"),
    ("next", "graph"),
    ("others", "graph"),
    ("stuck", "graph"),
    ("keys", "key"),
    ("idempotency_key", "key"),
    ("queues", "queue"),
    ("resends", "resend"),
    ("join_resends", "resend"),
    ("__join_resends", "resend"),
];

impl Topic {
    /// Whether its text names this word, as a key or a value.
    pub fn names(&self, typed: &str) -> bool {
        let mut words = self.text.split('`').skip(1).step_by(2);
        words.any(|word| plain(word) == plain(typed))
    }

    /// Whether a user who types this means it: spaces, hyphens and underscores are the same.
    pub fn is(&self, typed: &str) -> bool {
        let typed = plain(typed);
        let meant = KEYS.iter().find(|(key, _)| *key == typed).map_or(typed.as_str(), |(_, word)| word);
        plain(&self.id) == meant
    }
}

/// A word however it is written.
fn plain(text: &str) -> String {
    text.replace([' ', '-'], "_").to_lowercase()
}

/// Every topic, sort by sort.
pub fn all() -> Vec<Topic> {
    let findings = FindingId::ALL.into_iter().map(|id| {
        let (title, text) = findings::explain(id);
        topic("finding", id.as_str(), (title, text))
    });
    let lints = lint::IDS.iter().filter_map(|id| {
        let text = lint::explain(id)?;
        Some(topic("lint", id, (&first_sentence(text), text)))
    });
    let divergences = Class::ALL
        .into_iter()
        .map(|class| topic("divergence", class.as_str(), (class.means(), divergences::explain(class))));
    let failures = FailureClass::ALL
        .into_iter()
        .map(|class| topic("failure", class.as_str(), (class.means(), failures::explain(class))));
    let words = words::WORDS.iter().map(|&(sort, id, title, text)| topic(sort, id, (title, text)));
    let refusals = AdmissionRefusal::ALL.into_iter().map(|why| topic("refusal", why.as_str(), ends::refusal(why)));
    let stops = StopReason::ALL.into_iter().map(|why| topic("stop", why.as_str(), ends::stop(why)));
    let terms = terms::TERMS.iter().map(|&(id, title, text)| topic("word", id, (title, text)));
    let ends = refusals.chain(stops);
    let all = findings.chain(lints).chain(divergences).chain(failures).chain(ends).chain(words).chain(terms);
    all.chain(kinds::topics()).collect()
}

fn topic(sort: &'static str, id: &'static str, (title, text): (&str, &'static str)) -> Topic {
    Topic { id: id.into(), sort, title: title.to_owned(), text: text.into() }
}

/// The first sentence of a text as a title: without its capital and its stop.
pub(super) fn first_sentence(text: &str) -> String {
    let line = text.split("\n\n").next().unwrap_or(text).replace('\n', " ");
    let end = line.find(". ").unwrap_or_else(|| line.trim_end_matches('.').len());
    let sentence = &line[..end];
    let mut chars = sentence.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_engine::event::OutcomeWord;

    #[test]
    fn every_topic_is_explained_and_a_pair_of_sort_and_id_is_unique() {
        let all = all();
        for (at, topic) in all.iter().enumerate() {
            assert!(!topic.title.is_empty() && !topic.text.is_empty(), "{}", topic.id);
            let same = |other: &Topic| (&other.id, other.sort) == (&topic.id, topic.sort);
            assert!(!all[at + 1..].iter().any(same), "{} twice", topic.id);
        }
    }

    #[test]
    fn every_finding_and_every_lint_has_a_topic() {
        let all = all();
        for id in FindingId::WORDS.iter().copied().chain(lint::IDS.iter().copied()) {
            assert!(all.iter().any(|topic| topic.id == id), "{id}");
        }
    }

    #[test]
    fn every_outcome_refusal_and_stop_has_a_topic() {
        let all = all();
        let has =
            |sort: &str, id: &str| assert!(all.iter().any(|topic| (topic.sort, &*topic.id) == (sort, id)), "{id}");
        OutcomeWord::ALL.iter().for_each(|word| has("outcome", word.as_str()));
        AdmissionRefusal::ALL.iter().for_each(|why| has("refusal", why.as_str()));
        StopReason::ALL.iter().for_each(|why| has("stop", why.as_str()));
        let text = |id: &str| {
            all.iter().find(|topic| topic.sort == "outcome" && topic.id == id).map(|topic| topic.text.clone())
        };
        for why in AdmissionRefusal::ALL {
            assert!(text("refused").is_some_and(|text| text.contains(why.as_str())), "{}", why.as_str());
        }
        for why in StopReason::ALL {
            assert!(text("exhausted").is_some_and(|text| text.contains(why.as_str())), "{}", why.as_str());
        }
    }

    /// The words of DESIGN.md, as ids.
    fn words_of_design() -> Vec<String> {
        let design = include_str!("../../DESIGN.md");
        let table = design.split("\n## Words\n").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
        let cells = table.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
        let words = cells.skip(1).flat_map(|cell| cell.split(" (").next().unwrap_or(cell).split(", "));
        words.map(|word| word.trim().replace(' ', "_")).collect()
    }

    #[test]
    fn every_word_of_the_design_has_a_topic() {
        let all = all();
        let words = words_of_design();
        assert!(words.len() > 30 && words.contains(&"retry_budget".to_owned()), "{words:?}");
        for word in words {
            assert!(all.iter().any(|topic| topic.sort != "stop" && topic.is(&word)), "{word}");
        }
        assert!(!all.iter().any(|topic| topic.is("jitterbug")));
    }

    #[test]
    fn a_key_that_another_word_explains_leads_to_it() {
        let all = all();
        for (key, word) in KEYS {
            let found: Vec<&Topic> = all.iter().filter(|topic| topic.is(key)).collect();
            assert!(!found.is_empty() && found.iter().all(|topic| topic.id == word), "{key}: {found:?}");
            assert!(all.iter().all(|topic| topic.id != key), "{key} has a topic of its own");
        }
        let graph = all.iter().find(|topic| topic.is("next")).unwrap();
        assert!(graph.text.contains("`\"*\"` for every action"), "{}", graph.text);
        assert!(!all.iter().any(|topic| topic.is("tells")));
    }

    #[test]
    fn a_title_is_the_first_sentence() {
        assert_eq!(first_sentence("A later wait is\nshorter. And so on.\n\nMore"), "a later wait is shorter");
    }
}
