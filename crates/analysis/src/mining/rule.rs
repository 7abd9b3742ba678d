//! A rule as YAML, and the trial of it: real classification of every sample, by a playbook that holds this rule alone.

use super::shape::Sample;
use playproof_engine::classify::Classifier;
use playproof_engine::playbook::Playbook;
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook;
use playproof_formats::yaml::scalar;

/// The verdict that a drawn rule gives; the author names it.
const VERDICT: &str = "new_verdict";

/// A rule that catches the failures of a cluster and no others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// Its name.
    pub name: String,
    /// Its condition, as YAML in one line.
    pub when: String,
    /// The rule as YAML, for a playbook's `classify`.
    pub yaml: String,
    /// Failures of the cluster that it was tried on; it catches all of them.
    pub caught: usize,
    /// Other failures that it was tried on; it catches none of them.
    pub spared: usize,
}

/// Why no rule was drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undrawn {
    /// The failures say nothing that a rule could ask.
    NothingToAsk,
    /// All that they say is redacted.
    Redacted,
    /// Every rule that catches them catches failures of this form too.
    CatchesAlso(String),
    /// What would tell them from others is no valid rule.
    NoValidRule,
}

/// What came of trying a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trial {
    /// It catches all members and nothing else.
    Holds(Drawn),
    /// It misses a member.
    Misses,
    /// It catches a failure of another shape: the shape's place.
    CatchesAlso(usize),
    /// It does not compile.
    Invalid,
}

/// Tries the rule `name` with the condition `when` on `members` and on `others`, each with its shape's place.
pub(super) fn try_rule<'a>(
    name: &str,
    when: &str,
    members: impl Iterator<Item = &'a Sample>,
    others: impl Iterator<Item = (usize, &'a Sample)>,
) -> Trial {
    let yaml = format!("- rule: {}\n  when: {when}\n  verdict: {VERDICT}\n", scalar(name));
    let Some(playbook) = playbook_of(&yaml) else { return Trial::Invalid };
    let classifier = Classifier::new(&playbook);
    let catches = |sample: &Sample| classifier.classify(&sample.signal()).rule.is_some();
    let (mut caught, mut spared) = (0, 0);
    for member in members {
        if !catches(member) {
            return Trial::Misses;
        }
        caught += 1;
    }
    for (shape, other) in others {
        if catches(other) {
            return Trial::CatchesAlso(shape);
        }
        spared += 1;
    }
    Trial::Holds(Drawn { name: name.to_owned(), when: when.to_owned(), yaml, caught, spared })
}

fn playbook_of(rule: &str) -> Option<Playbook> {
    let rule: Vec<String> = rule.lines().map(|line| format!("  {line}\n")).collect();
    let text = format!(
        "format: playbook/1\nname: mined\nverdicts:\n  {VERDICT}: {{ means: mined, effect: unknown, then: \
         {{ escalate_to_human: {{ queue: people }} }} }}\nclassify:\n{}otherwise: unclassified\n\
         default_queue: people\nqueues: [people]\n",
        rule.concat()
    );
    playbook::parse(Source::whole("mined", text)).ok().map(|loaded| loaded.playbook)
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_engine::call::Place;
    use playproof_engine::event::ErrorFacts;
    use playproof_engine::ids::AttemptNo;
    use playproof_engine::playbook::ToolFacts;

    fn sample(message: &str) -> Sample {
        let error = Some(ErrorFacts { message: Some(message.into()), ..ErrorFacts::default() });
        Sample {
            error: error.clone(),
            raw: error,
            tool: "pay".to_owned(),
            raw_tool: "pay".to_owned(),
            facts: ToolFacts::ASSUMED,
            keyed: false,
            attempt: AttemptNo::FIRST,
            reference: String::new(),
            place: Place::default(),
        }
    }

    #[test]
    fn a_rule_is_refused_for_what_it_misses_catches_or_is() {
        let (member, other) = (sample("card 1 not found"), sample("page 1 not found"));
        let trial = |when: &str| try_rule("r", when, [&member].into_iter(), [(7, &other)].into_iter());
        assert!(
            matches!(trial("{ message: { contains: card } }"), Trial::Holds(drawn) if drawn.caught + drawn.spared == 2)
        );
        let odd = try_rule("null", "{ message: { contains: card } }", [&member].into_iter(), [].into_iter());
        assert!(matches!(odd, Trial::Holds(drawn) if drawn.yaml.starts_with("- rule: 'null'\n")));
        assert_eq!(trial("{ message: { contains: coupon } }"), Trial::Misses);
        assert_eq!(trial("{ message: { contains: not found } }"), Trial::CatchesAlso(7));
        assert_eq!(trial("{ message: { matches: '(' } }"), Trial::Invalid);
        assert_eq!(trial("{ message: { contains: "), Trial::Invalid);
    }
}
