//! Draws the rule for a cluster: the plainest condition that catches its failures and no other.
//! By what a form is, the last condition that is tried catches every message of the form, seen or not.

use super::merge::{Joined, WORD};
use super::rule::{Drawn, Trial, Undrawn, try_rule};
use super::shape::{FORM_MAX, Key, Shape};
use playproof_engine::glob::is_glob;
use playproof_engine::ids::first_free;
use playproof_formats::yaml::scalar;
use playproof_trace::redact::REDACTED;

/// Words that a literal piece of a form must have to stand for it.
const WORDS_MIN: usize = 3;

/// Tools that a rule may name to tell its failures from others.
const TOOLS_MAX: usize = 5;

/// Words of a rule's name.
const NAME_WORDS: usize = 8;

/// The placeholders of forms; `<text>` and what is redacted may hold blanks. No failure says them in reality.
const PLACEHOLDERS: [&str; 6] = ["<n>", "<id>", "<path>", WORD, TEXT, REDACTED];
const TEXT: &str = "<text>";

/// The rule for `cluster`, under a name that `taken` does not hold yet.
pub(super) fn draw(cluster: &Joined, shapes: &[(Key, Shape)], taken: &[String]) -> Result<Drawn, Undrawn> {
    let is_member = |n: &usize| cluster.members.binary_search(n).is_ok();
    let members = || cluster.members.iter().filter_map(|&n| shapes.get(n)).map(|(_, shape)| shape);
    let others = || {
        let all = shapes.iter().enumerate().filter(|(n, _)| !is_member(n));
        all.flat_map(|(n, (_, shape))| shape.samples.iter().map(move |sample| (n, sample)))
    };
    let Some((key, _)) = cluster.members.first().and_then(|&n| shapes.get(n)) else {
        return Err(Undrawn::NothingToAsk);
    };
    let name = first_free(&name(&cluster.form, key), |name| taken.iter().any(|other| other == name));
    let is_redacted =
        cluster.form.contains(REDACTED) || key.code.as_deref().is_some_and(|code| code.contains(REDACTED));
    let mut refused = if is_redacted { Undrawn::Redacted } else { Undrawn::NothingToAsk };
    for when in conditions(cluster, key, shapes) {
        match try_rule(&name, &when, members().flat_map(|shape| &shape.samples), others()) {
            Trial::Holds(drawn) => return Ok(drawn),
            Trial::CatchesAlso(n) => {
                refused = Undrawn::CatchesAlso(shapes.get(n).map_or_else(String::new, |(_, shape)| shape.form.clone()));
            }
            Trial::Misses | Trial::Invalid if matches!(refused, Undrawn::NothingToAsk | Undrawn::Redacted) => {
                refused = Undrawn::NoValidRule
            }
            Trial::Misses | Trial::Invalid => {}
        }
    }
    Err(refused)
}

/// The conditions to try, the plainest first; at the end with the tools beside them.
fn conditions(cluster: &Joined, key: &Key, shapes: &[(Key, Shape)]) -> Vec<String> {
    let members: Vec<&Shape> = cluster.members.iter().filter_map(|&n| shapes.get(n)).map(|(_, shape)| shape).collect();
    let common = common(key);
    let mut all: Vec<Vec<String>> = Some(messages(&cluster.form, &members))
        .filter(|_| !says_nothing(&cluster.form))
        .into_iter()
        .flatten()
        .map(|message| common.iter().cloned().chain([format!("message: {{ {message} }}")]).collect())
        .collect();
    if (cluster.form.is_empty() || says_nothing(&cluster.form)) && !common.is_empty() {
        all.push(common);
    }
    if let Some(tools) = tools(&members) {
        let with_tools: Vec<Vec<String>> =
            all.iter().map(|parts| parts.iter().cloned().chain([tools.clone()]).collect()).collect();
        all.extend(with_tools);
    }
    all.into_iter().map(|parts| format!("{{ {} }}", parts.join(", "))).collect()
}

/// Whether nothing is left of the form but what stands for redacted and other text.
fn says_nothing(form: &str) -> bool {
    let says = |piece: &Piece<'_>| matches!(piece, Piece::Literal(text) if text.contains(char::is_alphanumeric));
    form.contains(REDACTED) && !pieces(form).iter().any(says)
}

/// What all failures of the cluster have in common beside the message.
fn common(key: &Key) -> Vec<String> {
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

fn tools(members: &[&Shape]) -> Option<String> {
    let mut tools: Vec<&str> = members.iter().flat_map(|shape| shape.tools.rows()).map(|(tool, _)| tool).collect();
    tools.sort_unstable();
    tools.dedup();
    let is_complete = members.iter().all(|shape| shape.tools.others() == 0);
    // A name with wildcards in it would be read as a glob.
    let is_plain = tools.iter().all(|tool| !tool.is_empty() && !is_glob(tool));
    let names: Vec<String> = tools.iter().map(|tool| scalar(tool).into_owned()).collect();
    (is_complete && is_plain && names.len() <= TOOLS_MAX).then(|| format!("tool: [{}]", names.join(", ")))
}

/// The tests of the message to try.
fn messages<'a>(form: &'a str, members: &[&Shape]) -> Vec<String> {
    if form.is_empty() {
        return Vec::new();
    }
    let uneven = members.iter().any(|shape| shape.uneven);
    let longest = members.iter().map(|shape| shape.longest).max().unwrap_or(0);
    let pieces = pieces(form);
    let literal = |piece: &Piece<'a>| match *piece {
        // A capital sigma is lowered one way at the end of a word and another way within it.
        Piece::Literal(text) if !uneven && !text.contains('Σ') => Some(text.trim()),
        _ => None,
    };
    let mut tests = Vec::new();
    let whole = pieces.len() == 1 && longest <= FORM_MAX;
    let mut literals: Vec<&str> = pieces.iter().filter_map(literal).collect();
    if whole {
        tests.extend(literals.first().map(|text| format!("contains: {}", scalar(text))));
        tests.extend(literals.first().map(|text| format!("equals: {}", scalar(text))));
    }
    let first = pieces.first().and_then(literal).filter(|text| text.split(' ').count() >= WORDS_MIN);
    literals.retain(|text| text.split(' ').count() >= WORDS_MIN);
    literals.sort_by_key(|text| std::cmp::Reverse(text.len())); // stable: the first of the longest
    tests.extend(literals.first().map(|text| format!("contains: {}", scalar(text))));
    tests.extend(first.map(|text| format!("starts_with: {}", scalar(text))));
    tests.push(format!("matches: {}", scalar(&expression(&pieces, uneven, longest > FORM_MAX))));
    tests.dedup();
    tests
}

/// A part of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece<'a> {
    Literal(&'a str),
    Word,
    Text,
}

fn pieces(form: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = form;
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
        pieces.push(if mark == TEXT || mark == REDACTED { Piece::Text } else { Piece::Word });
        rest = after.get(mark.len()..).unwrap_or("");
    }
    pieces
}

/// A regular expression that matches every message whose form these pieces are.
fn expression(pieces: &[Piece<'_>], uneven: bool, open: bool) -> String {
    let mut out = String::new();
    if pieces.contains(&Piece::Text) {
        out.push_str("(?s)"); // quoted text may hold line breaks
    }
    out.push_str(if uneven { r"^\s*" } else { "^" });
    for piece in pieces {
        match piece {
            Piece::Literal(text) if uneven => out.push_str(&regex::escape(text).replace(' ', r"\s+")),
            Piece::Literal(text) => out.push_str(&regex::escape(text)),
            Piece::Word => out.push_str(r"\S+"),
            Piece::Text => out.push_str(".+"),
        }
    }
    out.push_str(match (open, uneven) {
        (true, _) => "",
        (false, true) => r"\s*$",
        (false, false) => "$",
    });
    out
}

/// A name out of the form's own words, else out of its kind.
fn name(form: &str, key: &Key) -> String {
    let of = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '<' && c != '>');
        let words =
            words.filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()) && !word.contains(['<', '>']));
        words.take(NAME_WORDS).map(str::to_ascii_lowercase).collect()
    };
    let form = form.replace(REDACTED, " ");
    let words = [&form, key.kind.as_deref().unwrap_or(""), "failure"].map(of);
    let words = words.into_iter().find(|words| !words.is_empty()).unwrap_or_default();
    words.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::write_template;
    use playproof_engine::playbook::pattern::compile;
    use proptest::prelude::*;

    fn form(message: &str) -> String {
        let mut form = String::new();
        write_template(message, &mut form);
        form
    }

    fn catches(message: &str) -> bool {
        let uneven = crate::mining::shape::is_uneven(message);
        let pattern = expression(&pieces(&form(message)), uneven, message.len() > FORM_MAX);
        compile(&pattern, false).unwrap_or_else(|error| panic!("{pattern}: {error}")).is_match(message)
    }

    #[test]
    fn a_form_becomes_an_expression_that_people_can_read() {
        let drawn = |message: &str| expression(&pieces(&form(message)), false, false);
        assert_eq!(drawn("payment method card_12 not found"), r"^payment method \S+ not found$");
        assert_eq!(drawn("total price is 375, but paid 299"), r"^total price is \S+, but paid \S+$");
        assert_eq!(drawn("no flag \"a b\"."), r"(?s)^no flag .+\.$");
    }

    #[test]
    fn names_are_made_of_words() {
        let key = Key {
            form: "".into(),
            kind: Some("5xx".into()),
            status: None,
            code: None,
            has_error: true,
            verdict: playproof_engine::ids::VerdictId(0),
        };
        assert_eq!(name("Payment method <id> not found", &key), "payment-method-not-found");
        assert_eq!(name("<n>", &key), "failure");
        assert_eq!(name("", &Key { kind: Some("tool_error".into()), ..key }), "tool-error");
    }

    proptest! {
        #[test]
        fn every_message_is_matched_by_the_expression_of_its_own_form(
            message in r#"([a-zA-Z/\\.<>=;:'"`#é-]|[0-9]| |\n|<n>|<text>| not found| 'a b' ){0,60}"#
        ) {
            prop_assert!(catches(&message), "{:?}", form(&message));
        }

        #[test]
        fn a_message_that_is_cut_is_matched_by_what_is_left(message in r#"([a-z0-9'"/. ]{1,9} ){60,80}"#) {
            prop_assert!(catches(&message), "{:?}", form(&message));
        }
    }
}
