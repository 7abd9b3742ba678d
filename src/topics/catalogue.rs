//! The list of all topics of `playproof help ID`.

use super::kinds;
use super::texts::{Section, Topic, first_sentence, sections};
use playproof_engine::event::FailureClass;
use playproof_formats::golden::Class;

/// Words, and what people type for them: keys of a playbook, flags, and words of the field.
const TYPED: [(&str, &str); 27] = [
    ("told", "tell envelope"),
    ("action", "actions"),
    ("step", "steps"),
    ("graph", "entry next others stuck"),
    ("key", "keys idempotency_key idempotency"),
    ("queue", "queues human"),
    ("resend", "resends join_resends __join_resends"),
    ("retry", "retries"),
    ("duplicate", "duplicates"),
    ("ci", "github"),
    ("doubt", "doubts"),
    ("log", "anthropic claude json jsonl langchain openai opentelemetry otel"),
    ("partial", "corpus spark"),
    ("breaker", "circuit circuit_breaker"),
    ("timeout", "408"),
    ("409_conflict", "conflict"),
    ("rate_limited", "rate rate_limit ratelimit"),
    ("server_delay", "retry_after"),
    ("network_error", "dns network"),
    ("policy_denied", "denial denied"),
    ("approval_timeout", "approval"),
    ("escalate_to_human", "escalate"),
    ("effect", "claim"),
    ("permit", "concurrency"),
    ("redaction", "pii secrets"),
    ("exit-codes", "exit exit_code"),
    ("playbook", "yaml"),
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
        let is_typed = |(_, all): &&(&str, &str)| all.split(' ').any(|word| word == typed);
        let meant = TYPED.iter().find(is_typed).map_or(typed.as_str(), |(word, _)| word);
        plain(&self.id) == plain(meant) || self.is_of_status(&typed)
    }

    /// Whether it is the error kind of this status.
    fn is_of_status(&self, typed: &str) -> bool {
        let is_status = typed.len() == 3 && typed.bytes().all(|byte| byte.is_ascii_digit());
        let is_named = || self.id.strip_prefix(typed).is_some_and(|rest| rest.starts_with('_'));
        is_status && (is_named() || (typed.starts_with('5') && self.id == "5xx"))
    }
}

/// A word however it is written.
fn plain(text: &str) -> String {
    text.replace([' ', '-'], "_").to_lowercase()
}

/// Each sort of topic with its texts, in the order of `help topics`.
const FILES: [(&str, &str); 11] = [
    ("finding", include_str!("../../help/findings.md")),
    ("lint", include_str!("../../help/lints.md")),
    ("divergence", include_str!("../../help/divergences.md")),
    ("failure", include_str!("../../help/failures.md")),
    ("refusal", include_str!("../../help/refusals.md")),
    ("stop", include_str!("../../help/stops.md")),
    ("outcome", include_str!("../../help/outcomes.md")),
    ("claim", include_str!("../../help/claims.md")),
    ("compensation", include_str!("../../help/compensations.md")),
    ("guard", include_str!("../../help/guards.md")),
    ("provenance", include_str!("../../help/provenance.md")),
];

/// Every topic, sort by sort.
pub fn all() -> Vec<Topic> {
    let of_file = |(sort, file): (&'static str, &'static str)| {
        sections(file).into_iter().map(move |section| topic(sort, section))
    };
    let words = of_file(("word", include_str!("../../help/words.md")));
    FILES.into_iter().flat_map(of_file).chain(words).chain(kinds::topics()).collect()
}

/// Without a title in its heading, a topic has the meaning of its word, or else its first sentence.
fn topic(sort: &'static str, Section { id, title, text }: Section) -> Topic {
    let meaning = match sort {
        "divergence" => Class::ALL.into_iter().find(|class| class.as_str() == id).map(Class::means),
        "failure" => FailureClass::ALL.into_iter().find(|class| class.as_str() == id).map(FailureClass::means),
        _ => title,
    };
    let title = meaning.map_or_else(|| first_sentence(text), str::to_owned);
    Topic { id: id.into(), sort, title, text: text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_engine::event::{
        AdmissionRefusal, CompensationWord, EffectClaim, FindingId, GuardKind, OutcomeWord, Provenance, StopReason,
    };

    #[test]
    fn every_topic_is_explained_and_a_pair_of_sort_and_id_is_unique() {
        let all = all();
        for (at, topic) in all.iter().enumerate() {
            assert!(!topic.title.is_empty() && !topic.text.is_empty(), "{}", topic.id);
            let same = |other: &Topic| (&other.id, other.sort) == (&topic.id, topic.sort);
            assert!(!all[at + 1..].iter().any(same), "{} twice", topic.id);
        }
    }

    /// How the headings of a sort depart from the words of the program.
    fn departing(sort: &str, headings: &[&str]) -> bool {
        let words: &[&str] = match sort {
            "finding" => &FindingId::WORDS,
            "divergence" => &Class::ALL.map(Class::as_str),
            "failure" => &FailureClass::WORDS,
            "refusal" => &AdmissionRefusal::WORDS,
            "stop" => &StopReason::WORDS,
            "outcome" => &OutcomeWord::WORDS,
            "claim" => &EffectClaim::WORDS,
            "compensation" => &CompensationWord::WORDS,
            "guard" => &GuardKind::WORDS,
            "provenance" => &Provenance::WORDS,
            _ => return false, // tests/tidy compares the lints with their sources
        };
        words != headings
    }

    #[test]
    fn every_word_of_the_program_has_its_heading_and_every_heading_its_word() {
        for (sort, file) in FILES {
            let headings: Vec<&str> = sections(file).iter().map(|section| section.id).collect();
            assert!(!departing(sort, &headings), "{sort}: {headings:?}");
        }
        assert!(departing("guard", &["retry_guard"]) && departing("guard", &["retry_guard", "token_guard", "third"]));
    }

    #[test]
    fn the_outcomes_name_the_reasons_of_a_refusal_and_of_a_stop() {
        let all = all();
        let text = |id: &str| {
            all.iter().find(|topic| topic.sort == "outcome" && topic.id == id).map(|topic| topic.text.clone())
        };
        for why in AdmissionRefusal::WORDS {
            assert!(text("refused").is_some_and(|text| text.contains(why)), "{why}");
        }
        for why in StopReason::WORDS {
            assert!(text("exhausted").is_some_and(|text| text.contains(why)), "{why}");
        }
    }

    /// The words of DESIGN.md, as ids.
    fn words_of_design() -> Vec<String> {
        let design = include_str!("../../DESIGN.md");
        let list = design.split("\n## Words\n").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
        let items = list.lines().filter_map(|line| line.strip_prefix("- "));
        let words = items.flat_map(|item| item.split('*').skip(1).step_by(2)).flat_map(|words| words.split(", "));
        words.map(|word| word.replace(' ', "_")).collect()
    }

    #[test]
    fn every_word_of_the_design_has_a_topic() {
        let all = all();
        let words = words_of_design();
        assert!(words.len() > 20 && words.contains(&"off_tape".to_owned()), "{words:?}");
        for word in words {
            assert!(all.iter().any(|topic| topic.sort != "stop" && topic.is(&word)), "{word}");
        }
        assert!(!all.iter().any(|topic| topic.is("jitterbug")));
    }

    #[test]
    fn a_key_that_another_word_explains_leads_to_it() {
        let all = all();
        for (word, key) in TYPED.into_iter().flat_map(|(word, all)| all.split(' ').map(move |typed| (word, typed))) {
            let found: Vec<&Topic> = all.iter().filter(|topic| topic.is(key)).collect();
            assert!(!found.is_empty() && found.iter().all(|topic| topic.id == word), "{key}: {found:?}");
            assert!(all.iter().all(|topic| topic.id != key), "{key} has a topic of its own");
        }
        let graph = all.iter().find(|topic| topic.is("next")).unwrap();
        assert!(graph.text.contains("`\"*\"` for every action"), "{}", graph.text);
        assert!(!all.iter().any(|topic| topic.is("tells")));
    }
}
