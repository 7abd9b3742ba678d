//! Generates example texts for regular expressions, globs and message tests. An example is a guess; the classifier
//! decides.

use std::collections::BTreeMap;

use regex_syntax::hir::{Class, Hir, HirKind};

use playproof_engine::playbook::{MessageOp, MessageTest};

/// The most examples of one pattern.
const MOST: usize = 32;

/// The longest repetition that is written out.
const LONGEST: u32 = 64;

/// Texts that a regular expression probably matches, the simplest first; none if it does not parse.
pub fn of_regex(pattern: &str) -> Vec<String> {
    regex_syntax::parse(pattern).map(|hir| of_hir(&hir)).unwrap_or_default()
}

fn of_hir(hir: &Hir) -> Vec<String> {
    let mut texts = match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => vec![String::new()],
        HirKind::Literal(literal) => vec![String::from_utf8_lossy(&literal.0).into_owned()],
        HirKind::Class(class) => of_class(class).map(String::from).into_iter().collect(),
        HirKind::Capture(capture) => of_hir(&capture.sub),
        HirKind::Repetition(repetition) => {
            let once = of_hir(&repetition.sub);
            let times = repetition.min.clamp(1, LONGEST) as usize;
            let mut texts: Vec<String> = once.iter().map(|text| text.repeat(times)).collect();
            if repetition.min == 0 {
                texts.push(String::new());
            }
            texts
        }
        HirKind::Concat(parts) => one_at_a_time(&parts.iter().map(of_hir).collect::<Vec<_>>(), ""),
        HirKind::Alternation(parts) => parts.iter().flat_map(of_hir).collect(),
    };
    texts.truncate(MOST);
    texts
}

/// A common character of the class, if it has one.
fn of_class(class: &Class) -> Option<char> {
    const COMMON: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -_.";
    match class {
        Class::Unicode(class) => {
            let has = |c: char| class.ranges().iter().any(|range| range.start() <= c && c <= range.end());
            COMMON.chars().find(|&c| has(c)).or_else(|| class.ranges().first().map(|range| range.start()))
        }
        Class::Bytes(class) => class.ranges().first().map(|range| char::from(range.start())),
    }
}

/// Joins the first text of every part, then varies one part at a time.
pub fn one_at_a_time(parts: &[Vec<String>], between: &str) -> Vec<String> {
    let Some(plain) = parts.iter().map(|part| part.first().map(String::as_str)).collect::<Option<Vec<&str>>>() else {
        return Vec::new();
    };
    let mut texts = vec![plain.join(between)];
    for (n, part) in parts.iter().enumerate() {
        for other in part.iter().skip(1) {
            let varied: Vec<&str> =
                plain.iter().enumerate().map(|(at, text)| if at == n { other } else { *text }).collect();
            texts.push(varied.join(between));
        }
    }
    texts.truncate(MOST);
    texts
}

/// A name that a glob probably matches.
pub fn of_glob(glob: &str) -> String {
    let mut name = String::new();
    let mut rest = glob.chars();
    while let Some(c) = rest.next() {
        match c {
            '*' | '?' => {
                if !name.ends_with('x') {
                    name.push('x');
                }
            }
            '[' => {
                let inside: String = rest.by_ref().take_while(|c| *c != ']').collect();
                name.push(inside.trim_start_matches(['!', '^']).chars().next().unwrap_or('x'));
            }
            '{' => {
                let inside: String = rest.by_ref().take_while(|c| *c != '}').collect();
                name.push_str(inside.split(',').next().unwrap_or_default());
            }
            c => name.push(c),
        }
    }
    name
}

/// Texts of regular expressions, by pattern: each pair of rules asks for those of both.
#[derive(Debug, Default)]
pub struct RegexTexts(BTreeMap<String, Vec<String>>);

impl RegexTexts {
    fn of(&mut self, pattern: &str) -> Vec<String> {
        self.0.entry(pattern.to_owned()).or_insert_with(|| of_regex(pattern)).clone()
    }
}

/// Messages for which all of `tests` probably hold, the simplest first; an empty message without tests.
pub fn of_tests(tests: &[MessageTest], regexes: &mut RegexTexts) -> Vec<String> {
    let mut texts = |test: &MessageTest| match test.op {
        MessageOp::Matches => test.any_of.iter().flat_map(|pattern| regexes.of(pattern)).collect(),
        _ => test.any_of.clone(),
    };
    if let Some(whole) = tests.iter().find(|test| test.op == MessageOp::Equals) {
        return texts(whole);
    }
    // A clause begins or ends with its words: they come last, and those of a second one first.
    let mut sorted: Vec<&MessageTest> = tests.iter().collect();
    sorted.sort_by_key(|test| match test.op {
        MessageOp::StartsWith => 0,
        MessageOp::Clause => 2,
        _ => 1,
    });
    let clauses = sorted.iter().filter(|test| test.op == MessageOp::Clause).count();
    sorted.rotate_right(clauses.saturating_sub(1));
    one_at_a_time(&sorted.into_iter().map(texts).collect::<Vec<_>>(), " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_engine::playbook::clause;

    #[test]
    fn every_alternative_has_an_example() {
        assert_eq!(of_regex("in[ -]?flight|pending"), ["in flight", "inflight", "pending"]);
        assert_eq!(of_regex(r"\d{3}-(?:a|bc)+"), ["000-a", "000-bc"]);
        assert!(of_regex("(").is_empty());
    }

    #[test]
    fn examples_match_their_regular_expression() {
        for pattern in ["^a.c$", r"\bkey\b", r"[^a-z]x", r"(?i)Refund \w+ (no|not) found", "(a|b)(c|d)?e{2,}"] {
            let regex = regex::Regex::new(pattern).unwrap();
            let made = of_regex(pattern);
            assert!(!made.is_empty() && made.iter().all(|text| regex.is_match(text)), "{pattern}: {made:?}");
        }
    }

    #[test]
    fn an_example_of_a_clause_begins_or_ends_with_its_words() {
        let test = |op, text: &str| MessageTest { op, any_of: vec![text.into()], case_sensitive: false };
        let words = |text| test(MessageOp::Clause, text);
        let starts = test(MessageOp::StartsWith, "seat");
        for tests in [
            vec![words("not found")],
            vec![words("not found"), test(MessageOp::Contains, "host")],
            vec![words("not found"), words("no seat")],
            vec![words("not found"), starts],
        ] {
            let message = &of_tests(&tests, &mut RegexTexts::default())[0];
            let framed = |test: &MessageTest| clause::is_framed(message, &test.any_of[0]);
            let clauses = tests.iter().filter(|test| test.op == MessageOp::Clause);
            assert!(clauses.clone().all(framed), "{message}");
        }
    }

    #[test]
    fn an_example_matches_its_glob() {
        for glob in ["search.*", "*", "a?c", "pay.{refund,void}", "[!a]bc", "x**y"] {
            let name = of_glob(glob);
            let is_match = playproof_engine::glob::Glob::of_tools(glob).unwrap().unwrap().is_match(&name);
            assert_eq!(is_match, glob != "[!a]bc", "{glob}: {name}"); // no examples of negated classes
        }
    }
}
