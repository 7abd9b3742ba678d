//! The topics of error kinds and of the verdicts of the playbook `standard`, which says what it does with them.

use super::texts::{Topic, first_sentence, sections};
use playproof_engine::playbook::{ConditionKind, Playbook, Verdict};
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook::{embedded, parse};

/// The playbook whose verdicts are explained.
const STANDARD: &str = "standard";

/// A topic for each verdict of `standard`, and for each error kind.
pub fn topics() -> Vec<Topic> {
    let text = embedded(STANDARD).unwrap_or_default();
    let Ok(loaded) = parse(Source::whole(STANDARD, text)) else { return Vec::new() }; // its own test says that it loads
    let standard = loaded.playbook;
    let verdicts = standard.verdicts.iter().map(|verdict| Topic {
        id: verdict.name.to_string().into(),
        sort: "verdict",
        title: first_sentence(&verdict.means),
        text: verdict_text(&standard, verdict).into(),
    });
    let kinds = sections(include_str!("../../help/kinds.md")).into_iter().map(|kind| Topic {
        id: kind.id.into(),
        sort: "error kind",
        title: kind.title.unwrap_or_default().to_owned(),
        text: kind_text(&standard, kind.id).into(),
    });
    verdicts.chain(kinds).collect()
}

fn verdict_text(standard: &Playbook, verdict: &Verdict) -> String {
    let rules = standard.rules.iter().filter(|rule| standard.verdict(rule.verdict).name == verdict.name);
    let rules: Vec<String> = rules.map(|rule| format!("`{}`", rule.name)).collect();
    let from = match rules.as_slice() {
        [rule] => format!("The rule {rule} gives it."),
        rules => format!("These rules give it: {}.", rules.join(", ")),
    };
    let others = match standard.verdict(standard.otherwise).name == verdict.name {
        true => " Failures that no rule matches have it, too.",
        false => "",
    };
    format!(
        "A verdict of the playbook `{STANDARD}`. The effect of such a failure is `{}`, and its compensation is `{}`. {from}{others}\n\n\
         `playproof help playbook {STANDARD}` prints the playbook.",
        verdict.effect.as_str(),
        verdict.then.as_str(),
    )
}

fn kind_text(standard: &Playbook, kind: &str) -> String {
    let asks = |texts: &[String]| texts.iter().any(|text| text == kind);
    let rules = standard.rules.iter().filter(|rule| asks(rule.when.texts(ConditionKind::Kind)));
    let rows: Vec<String> =
        rules.map(|rule| format!("    {:<28}  {}", rule.name, standard.verdict(rule.verdict).name)).collect();
    let known = "An adapter names the kind of an error, or Playproof reads it from a code or from the words of the message \
                 (`kind_from`). Rules ask for it with `kind`.";
    match rows.as_slice() {
        [] => format!("{known} No rule of the playbook `{STANDARD}` does; other embedded playbooks have one."),
        rows => {
            format!("{known} Rules of the playbook `{STANDARD}` that do, and their verdicts:\n\n{}", rows.join("\n"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_formats::playbook::KNOWN_KINDS;

    #[test]
    fn every_kind_of_an_embedded_rule_and_every_verdict_of_standard_is_explained() {
        let topics = topics();
        let kinds: Vec<&str> =
            topics.iter().filter(|topic| topic.sort == "error kind").map(|topic| &*topic.id).collect();
        assert_eq!(kinds, KNOWN_KINDS);
        let text = |id: &str| topics.iter().find(|topic| topic.id == id).map(|topic| topic.text.to_string());
        assert!(text("429_rate_limited").is_some_and(|text| text.contains("rate-limit ")));
        assert!(text("read_failed").is_some_and(|text| text.contains("`not_applied`")));
        assert!(text("unclassified").is_some_and(|text| text.contains("no rule matches")));
    }
}
