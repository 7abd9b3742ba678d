//! A rule as YAML, and its trial: a playbook with this rule alone classifies every sample.

use super::group::FailureSample;
use playproof_engine::classify::Classifier;
use playproof_engine::playbook::Playbook;
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook;
use playproof_formats::yaml::scalar;

/// The verdict of a drafted rule; its author renames it.
const VERDICT: &str = "new_verdict";

/// A rule that catches the failures of a cluster and no others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleDraft {
    /// Its name.
    pub name: String,
    /// Its condition, as YAML in one line.
    pub when: String,
    /// The rule as YAML, for a playbook's `classify`.
    pub yaml: String,
    /// The number of samples of the cluster; it catches all of them.
    pub caught: usize,
    /// The number of other samples; it catches none of them.
    pub avoided: usize,
    /// The number of texts of successful results; it matches none of them.
    pub successes: usize,
    /// A plainer condition matches successful results.
    pub narrowed: bool,
}

/// Why no rule was drafted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoRule {
    /// The failures contain nothing that a rule could test.
    NothingToAsk,
    /// Everything that they contain is redacted.
    Redacted,
    /// Every rule that catches them also catches failures of this template.
    CatchesAlso(String),
    /// Every rule that catches them also matches a successful result of this tool.
    MatchesSuccess(String),
    /// No valid rule tells them from others.
    NoValidRule,
}

/// The result of trying a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RuleTrial {
    /// It catches all members and nothing else.
    Holds(RuleDraft),
    /// It misses a member.
    Misses,
    /// It catches a failure of another group: the group's index.
    CatchesAlso(usize),
    /// It matches a successful result of this tool.
    MatchesSuccess(String),
    /// It does not compile.
    Invalid,
}

/// Tries the rule `name` with the condition `when` on `members`, on `others`, each with its group's index, and on the
/// texts of successful results.
pub(super) fn try_rule<'a>(
    name: &str,
    when: &str,
    members: impl Iterator<Item = &'a FailureSample>,
    others: impl Iterator<Item = (usize, &'a FailureSample)>,
    successes: &[FailureSample],
) -> RuleTrial {
    let yaml = format!("- rule: {}\n  when: {when}\n  verdict: {VERDICT}\n", scalar(name));
    let Some(playbook) = playbook_of(&yaml) else { return RuleTrial::Invalid };
    let classifier = Classifier::new(&playbook);
    let catches = |sample: &FailureSample| classifier.classify(&sample.signal()).rule.is_some();
    let (mut caught, mut avoided) = (0, 0);
    for member in members {
        if !catches(member) {
            return RuleTrial::Misses;
        }
        caught += 1;
    }
    for (group, other) in others {
        if catches(other) {
            return RuleTrial::CatchesAlso(group);
        }
        avoided += 1;
    }
    if let Some(success) = successes.iter().find(|success| catches(success)) {
        return RuleTrial::MatchesSuccess(success.tool.clone());
    }
    let (name, when) = (name.to_owned(), when.to_owned());
    RuleTrial::Holds(RuleDraft { name, when, yaml, caught, avoided, successes: successes.len(), narrowed: false })
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

    fn sample(message: &str) -> FailureSample {
        let error = Some(ErrorFacts { message: Some(message.into()), ..ErrorFacts::default() });
        FailureSample {
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
    fn a_rule_fails_its_trial_if_it_misses_a_member_catches_another_or_is_invalid() {
        let (member, other) = (sample("card 1 not found"), sample("page 1 not found"));
        let trial = |when: &str| {
            try_rule(
                "r",
                when,
                [&member].into_iter(),
                [(7, &other)].into_iter(),
                &[member.with_message("shop", "no card is needed")],
            )
        };
        assert!(
            matches!(trial("{ message: { starts_with: card } }"), RuleTrial::Holds(draft) if (draft.caught, draft.avoided, draft.successes) == (1, 1, 1))
        );
        let odd = try_rule("null", "{ message: { contains: card } }", [&member].into_iter(), [].into_iter(), &[]);
        assert!(matches!(odd, RuleTrial::Holds(draft) if draft.yaml.starts_with("- rule: 'null'\n")));
        assert_eq!(trial("{ message: { contains: card } }"), RuleTrial::MatchesSuccess("shop".to_owned()));
        assert_eq!(trial("{ message: { contains: coupon } }"), RuleTrial::Misses);
        assert_eq!(trial("{ message: { contains: not found } }"), RuleTrial::CatchesAlso(7));
        assert_eq!(trial("{ message: { matches: '(' } }"), RuleTrial::Invalid);
        assert_eq!(trial("{ message: { contains: "), RuleTrial::Invalid);
    }
}
