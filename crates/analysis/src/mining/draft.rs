//! Drafts the rule for a cluster: the simplest condition that catches its failures and no other. The last condition to
//! be tried is a regular expression that matches every message of the template.

use std::collections::BTreeSet;

use super::group::{FailureGroup, FailureSample, GroupKey, Spelling};
use super::members::{ClusterMembers, WORD};
use super::rule::{NoRule, RuleDraft, RuleTrial, try_rule};
use super::successes::Successes;
use crate::replay::has_predicate;
use playproof_engine::glob::is_glob;
use playproof_engine::ids::first_free;
use playproof_engine::playbook::clause;
use playproof_formats::yaml::scalar;
use playproof_intake::redact::REDACTED;

/// The least number of words in a literal piece that represents a template.
const WORDS_MIN: usize = 3;

/// The most tools that a rule names to tell its failures from others.
const TOOLS_MAX: usize = 5;

/// The most words in a rule's name.
const NAME_WORDS: usize = 8;

/// The placeholders of templates. `<text>`, `<arg>` and redacted text may contain blanks. No real message contains them.
const PLACEHOLDERS: [&str; 7] = ["<n>", "<id>", "<path>", WORD, TEXT, ARG, REDACTED];
const TEXT: &str = "<text>";
const ARG: &str = "<arg>";

/// The kind of a failure whose source names no kind: it tells nothing apart.
const NO_KIND: &str = "tool_error";

/// The rule for `cluster`, under a name that is not in `taken`.
pub(super) fn draft_rule(
    cluster: &ClusterMembers,
    groups: &[(GroupKey, FailureGroup)],
    successes: &Successes,
    taken: &[String],
) -> Result<RuleDraft, NoRule> {
    let is_member = |n: &usize| cluster.members.binary_search(n).is_ok();
    let members = || cluster.members.iter().filter_map(|&n| groups.get(n)).map(|(_, group)| group);
    let others = || {
        let all = groups.iter().enumerate().filter(|(n, _)| !is_member(n));
        all.flat_map(|(n, (_, group))| group.samples.iter().map(move |sample| (n, sample)))
    };
    let Some((key, _)) = cluster.members.first().and_then(|&n| groups.get(n)) else {
        return Err(NoRule::NothingToAsk);
    };
    let name = first_free(&name(&cluster.template, key), |name| taken.iter().any(|other| other == name));
    let is_redacted =
        cluster.template.contains(REDACTED) || key.code.as_deref().is_some_and(|code| code.contains(REDACTED));
    let mut refused = if is_redacted { NoRule::Redacted } else { NoRule::NothingToAsk };
    // Without words the rule asks for no message, and a success has no kind.
    let successes: Vec<FailureSample> = match has_words(&cluster.template) {
        true => as_failures(&members().collect::<Vec<_>>(), successes),
        false => Vec::new(),
    };
    for when in conditions(cluster, key, groups) {
        let narrowed = matches!(refused, NoRule::MatchesSuccess(_));
        match try_rule(&name, &when, members().flat_map(|group| &group.samples), others(), &successes) {
            RuleTrial::Holds(draft) => return Ok(RuleDraft { narrowed, ..draft }),
            RuleTrial::MatchesSuccess(tool) => refused = NoRule::MatchesSuccess(tool),
            RuleTrial::CatchesAlso(n) => {
                refused =
                    NoRule::CatchesAlso(groups.get(n).map_or_else(String::new, |(_, group)| group.template.clone()));
            }
            RuleTrial::Misses | RuleTrial::Invalid if matches!(refused, NoRule::NothingToAsk | NoRule::Redacted) => {
                refused = NoRule::NoValidRule
            }
            RuleTrial::Misses | RuleTrial::Invalid => {}
        }
    }
    Err(refused)
}

/// Successful results of the tools of a cluster, as if they had failed like its first failure.
fn as_failures(members: &[&FailureGroup], successes: &Successes) -> Vec<FailureSample> {
    let Some(sample) = members.iter().find_map(|group| group.samples.first()) else { return Vec::new() };
    let tools: BTreeSet<&str> = members.iter().flat_map(|group| group.tools.rows()).map(|(tool, _)| tool).collect();
    let texts = tools.into_iter().flat_map(|tool| successes.texts(tool).map(move |text| (tool, text)));
    texts.map(|(tool, text)| sample.with_message(tool, text)).collect()
}

/// The conditions to try, the simplest first; then each with the tools added.
fn conditions(cluster: &ClusterMembers, key: &GroupKey, groups: &[(GroupKey, FailureGroup)]) -> Vec<String> {
    let members: Vec<&FailureGroup> =
        cluster.members.iter().filter_map(|&n| groups.get(n)).map(|(_, group)| group).collect();
    let common = common(key);
    let mut all: Vec<Vec<String>> = Some(messages(&cluster.template, &members))
        .filter(|_| has_words(&cluster.template))
        .into_iter()
        .flatten()
        .map(|message| common.iter().cloned().chain([format!("message: {{ {message} }}")]).collect())
        .collect();
    if !has_words(&cluster.template) && tells_apart(key) {
        all.push(common);
    }
    if let Some(tools) = tools(&members) {
        let with_tools: Vec<Vec<String>> =
            all.iter().map(|parts| parts.iter().cloned().chain([tools.clone()]).collect()).collect();
        all.extend(with_tools);
    }
    all.into_iter().map(|parts| format!("{{ {} }}", parts.join(", "))).collect()
}

/// Whether the template has words of its own beside placeholders; a unit such as `ms` is none.
fn has_words(template: &str) -> bool {
    let is_word = |word: &str| word.len() > 2 || has_predicate(word);
    let has = |piece: &Piece<'_>| matches!(piece, Piece::Literal(text) if text.split(|c: char| !c.is_alphabetic()).any(is_word));
    pieces(template).iter().any(has)
}

/// Whether kind, status or code name the failure, or it has no error at all.
fn tells_apart(key: &GroupKey) -> bool {
    let is_named = key.kind.as_deref().is_some_and(|kind| kind != NO_KIND);
    !key.has_error
        || is_named
        || key.status.is_some()
        || key.code.as_deref().is_some_and(|code| !code.contains(REDACTED))
}

/// The conditions that all failures of the cluster have in common, the message aside.
fn common(key: &GroupKey) -> Vec<String> {
    if !key.has_error {
        return vec!["error: absent".to_owned()];
    }
    let mut parts = Vec::new();
    parts.extend(key.kind.as_deref().map(|kind| format!("kind: {}", scalar(kind))));
    parts.extend(key.status.map(|status| format!("status: {status}")));
    parts.extend(
        key.code.as_deref().filter(|code| !code.contains(REDACTED)).map(|code| format!("code: {}", scalar(code))),
    );
    parts
}

fn tools(members: &[&FailureGroup]) -> Option<String> {
    let mut tools: Vec<&str> = members.iter().flat_map(|group| group.tools.rows()).map(|(tool, _)| tool).collect();
    tools.sort_unstable();
    tools.dedup();
    let is_complete = members.iter().all(|group| group.tools.others() == 0);
    // A name with wildcards would be read as a glob.
    let is_plain = tools.iter().all(|tool| !tool.is_empty() && !is_glob(tool));
    let names: Vec<String> = tools.iter().map(|tool| scalar(tool).into_owned()).collect();
    (is_complete && is_plain && names.len() <= TOOLS_MAX).then(|| format!("tool: [{}]", names.join(", ")))
}

/// The message tests to try.
fn messages<'a>(template: &'a str, members: &[&FailureGroup]) -> Vec<String> {
    if template.is_empty() {
        return Vec::new();
    }
    let spelling = members.iter().fold(Spelling::default(), |all, group| all.or(group.spelling));
    let pieces = pieces(template);
    let literal = |piece: &Piece<'a>| match *piece {
        // A capital sigma is lowered one way at the end of a word and another way within it.
        Piece::Literal(text) if !spelling.uneven && !text.contains('Σ') => Some(text.trim()),
        _ => None,
    };
    let mut tests = Vec::new();
    let whole = pieces.len() == 1 && !spelling.after;
    let mut literals: Vec<&str> = pieces.iter().filter_map(literal).collect();
    if whole {
        // Words within a longer text prove nothing about a write, so a whole clause is asked for where there is one.
        let clause = literals.first().filter(|text| text.len() <= clause::LONGEST && clause::of(text).is_some());
        tests.extend(clause.map(|text| format!("clause: {}", scalar(text))));
        tests.extend(literals.first().map(|text| format!("contains: {}", scalar(text))));
        tests.extend(literals.first().map(|text| format!("equals: {}", scalar(text))));
    }
    // One piece may represent the template if it says what failed, or if there is no other.
    let represents = |text: &str| text.split(' ').count() >= WORDS_MIN && (pieces.len() == 1 || has_predicate(text));
    let first = pieces.first().and_then(literal).filter(|text| represents(text));
    literals.retain(|text| represents(text));
    literals.sort_by_key(|text| std::cmp::Reverse(text.len())); // stable: the first of the longest
    tests.extend(literals.first().map(|text| format!("contains: {}", scalar(text))));
    tests.extend(first.map(|text| format!("starts_with: {}", scalar(text))));
    tests.push(format!("matches: {}", scalar(&expression(&pieces, spelling))));
    tests.dedup();
    tests
}

/// A piece of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece<'a> {
    Literal(&'a str),
    Word,
    Text,
}

fn pieces(template: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while !rest.is_empty() {
        let next = PLACEHOLDERS.iter().filter_map(|mark| Some((rest.find(mark)?, *mark))).min();
        let Some((at, mark)) = next else {
            pieces.push(Piece::Literal(rest));
            break;
        };
        let (before, after) = rest.split_at(at);
        if !before.is_empty() {
            pieces.push(Piece::Literal(before));
        }
        pieces.push(if matches!(mark, TEXT | ARG | REDACTED) { Piece::Text } else { Piece::Word });
        rest = after.get(mark.len()..).unwrap_or("");
    }
    pieces
}

/// A regular expression that matches every message with this template.
fn expression(pieces: &[Piece<'_>], spelling: Spelling) -> String {
    let mut out = String::new();
    if pieces.contains(&Piece::Text) {
        out.push_str("(?s)"); // quoted text may hold line breaks
    }
    out.push_str(match (spelling.before, spelling.uneven) {
        (true, _) => "",
        (false, true) => r"^\s*",
        (false, false) => "^",
    });
    for piece in pieces {
        match piece {
            Piece::Literal(text) if spelling.uneven => out.push_str(&regex::escape(text).replace(' ', r"\s+")),
            Piece::Literal(text) => out.push_str(&regex::escape(text)),
            Piece::Word => out.push_str(r"\S+"),
            Piece::Text => out.push_str(".+"),
        }
    }
    out.push_str(match (spelling.after, spelling.uneven) {
        (true, _) => "",
        (false, true) => r"\s*$",
        (false, false) => "$",
    });
    out
}

/// A rule name from the words of the template, else of the error kind.
fn name(template: &str, key: &GroupKey) -> String {
    let of = |text: &str| -> Vec<String> {
        let text = without_elements(text).replace('\'', ""); // `doesn't` is one word
        let words = text.split(|c: char| !c.is_ascii_alphanumeric());
        let words = words.filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()));
        let mut words: Vec<String> = words.take(NAME_WORDS).map(str::to_ascii_lowercase).collect();
        while words.len() > 1 && words.last().is_some_and(|last| LINKS.contains(&last.as_str())) {
            words.pop();
        }
        words
    };
    let template = template.replace(REDACTED, " ");
    let words = [&template, key.kind.as_deref().unwrap_or(""), "failure"].map(of);
    let words = words.into_iter().find(|words| !words.is_empty()).unwrap_or_default();
    words.join("-")
}

/// Words that end no name: something follows them.
const LINKS: [&str; 14] = ["a", "an", "and", "at", "by", "for", "from", "in", "is", "of", "on", "the", "to", "with"];

/// The text without placeholders (`<n>`) and elements (`</title>`), with a blank for each.
fn without_elements(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('<') {
        kept += before;
        kept.push(' ');
        let begins = behind.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!'));
        rest = behind.split_once('>').filter(|_| begins).map_or(behind, |(_, after)| after);
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::write_template;
    use playproof_engine::playbook::pattern::{Pattern, check};
    use proptest::prelude::*;

    fn template(message: &str) -> String {
        let mut template = String::new();
        write_template(message, None, &mut template);
        template
    }

    fn catches(message: &str) -> bool {
        let pattern = expression(&pieces(&template(message)), Spelling::of(message));
        check(&pattern, false).unwrap_or_else(|error| panic!("{pattern}: {error}"));
        Pattern::new(&pattern, false).is_match(message)
    }

    #[test]
    fn a_template_becomes_a_readable_expression() {
        let draft = |message: &str| expression(&pieces(&template(message)), Spelling::default());
        assert_eq!(draft("payment method card_12 not found"), r"^payment method \S+ not found$");
        assert_eq!(draft("total price is 375, but paid 299"), r"^total price is \S+, but paid \S+$");
        assert_eq!(draft("no flag \"a b\"."), r"(?s)^no flag .+\.$");
    }

    #[test]
    fn rule_names_consist_of_words() {
        let key = GroupKey {
            template: "".into(),
            kind: Some("5xx".into()),
            status: None,
            code: None,
            has_error: true,
            verdict: playproof_engine::ids::VerdictId(0),
        };
        assert_eq!(name("Payment method <id> not found", &key), "payment-method-not-found");
        assert_eq!(name("<n>", &key), "failure");
        assert_eq!(name("<html><head><title><n> Bad Gateway</title></head>", &key), "bad-gateway");
        assert_eq!(name("Table <text> doesn't exist in <n>", &key), "table-doesnt-exist");
        assert_eq!(name("", &GroupKey { kind: Some("tool_error".into()), ..key }), "tool-error");
    }

    proptest! {
        #[test]
        fn the_expression_of_a_template_matches_every_message_of_it(
            message in r#"(Traceback \(most recent call last\))?([a-zA-Z/\\.<>=;:'"`#é-]|[0-9]| |\n|<n>|<text>| not found| 'a b' ){0,60}"#
        ) {
            prop_assert!(catches(&message), "{:?}", template(&message));
        }

        #[test]
        fn the_expression_of_a_truncated_message_matches_it(message in r#"([a-z0-9'"/. ]{1,9} ){60,80}"#) {
            prop_assert!(catches(&message), "{:?}", template(&message));
        }
    }
}
