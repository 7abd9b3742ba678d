//! The help texts of error kinds, and of the verdicts of the playbook `standard`, which says what it does with them.

use super::Topic;
use super::catalogue::first_sentence;
use playproof_engine::playbook::{ConditionKind, Playbook, Verdict};
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook::{embedded, parse};

/// The playbook whose verdicts are explained.
const STANDARD: &str = "standard";

/// What each kind says of an error. Sorted, as the kinds of the embedded rules are.
const KINDS: [(&str, &str); 27] = [
    ("401_unauthorized", "the caller is unknown: its credentials are missing, wrong or expired"),
    ("403_forbidden", "the caller is known, and may not do this"),
    ("404_not_found", "what the call names is not there"),
    ("409_conflict", "the request is at odds with the state, or with another request under its key"),
    ("412_precondition", "a precondition of the request does not hold, such as its evidence"),
    ("422_key_reused", "the idempotency key came with other arguments before"),
    ("429_rate_limited", "too many requests came; a later one may pass"),
    ("5xx", "the upstream failed by itself, or could not be reached"),
    ("action_error", "an action failed, as a course of actions calls it"),
    ("application_failure", "an activity of Temporal failed by its own error"),
    ("approval_timeout", "a person was asked to approve the call, and did not answer in time"),
    ("auth_expired", "the credentials expired"),
    ("idempotency_mismatch", "the idempotency key came with other arguments before"),
    ("internal", "the upstream failed by itself"),
    ("interrupted", "the call was cancelled or cut off before it ended"),
    ("invalid_arguments", "the tool or its schema refuses the arguments"),
    ("non_retryable", "the upstream says that sending the call again is of no use"),
    ("not_found", "what the call names is not there"),
    ("quota_exhausted", "a quota or a balance is used up; waiting does not help"),
    ("rate_limited", "too many requests came; a later one may pass"),
    ("schema", "a declared schema does not fit"),
    ("schema_validation", "the answer does not have the declared shape"),
    ("timeout", "no answer came in time"),
    ("tool_error", "the tool failed, and nothing tells how"),
    ("transient", "the upstream says that a later try may pass"),
    ("unknown_tool", "no tool has this name"),
    ("user_rejected", "a person was asked, and said no"),
];

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
    let kinds = KINDS.iter().map(|(kind, means)| Topic {
        id: (*kind).into(),
        sort: "error kind",
        title: (*means).to_owned(),
        text: kind_text(&standard, kind).into(),
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
        assert_eq!(KINDS.map(|(kind, _)| kind), KNOWN_KINDS);
        let topics = topics();
        let text = |id: &str| topics.iter().find(|topic| topic.id == id).map(|topic| topic.text.to_string());
        assert!(text("429_rate_limited").is_some_and(|text| text.contains("rate-limit ")));
        assert!(text("read_failed").is_some_and(|text| text.contains("`not_applied`")));
        assert!(text("unclassified").is_some_and(|text| text.contains("no rule matches")));
    }
}
