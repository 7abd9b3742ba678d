//! Each pattern of failures is needed: some text of these tests is known to it alone, so that a test fails if it breaks.

use std::collections::BTreeSet;

use regex::Regex;

use super::{agents, clause, held, patterns, program_error, refused_values, sentence, text, text_kinds, undone};

/// The tests of this folder, whose texts are the examples.
const TESTS: [&str; 10] = [
    include_str!("agents.rs"),
    include_str!("clause.rs"),
    include_str!("other_languages.rs"),
    include_str!("tests.rs"),
    include_str!("plain_refusal.rs"),
    include_str!("program_error.rs"),
    include_str!("quoted.rs"),
    include_str!("raised.rs"),
    include_str!("sentence.rs"),
    include_str!("undone.rs"),
];

/// The texts in the tests, and the parts of each that are examined by themselves: its lines, and what a colon introduces.
fn examples() -> BTreeSet<String> {
    let literal = Regex::new(r#""((?:[^"\\]|\\.)*)""#).expect("a pattern");
    let mut all = BTreeSet::new();
    for file in TESTS {
        let (_, tests) = file.split_once("mod tests {").unwrap_or(("", file)); // of `tests.rs`, all
        for text in literal.captures_iter(tests).filter_map(|found| found.get(1)) {
            let text = text
                .as_str()
                .replace("\\\\", "\0")
                .replace("\\n", "\n")
                .replace("\\\"", "\"")
                .replace("\\t", "\t")
                .replace('\0', "\\");
            let lines = text
                .lines()
                .flat_map(|line| line.match_indices(": ").map(move |(at, _)| &line[at + 2..]).chain([line]));
            all.extend(lines.map(str::to_owned));
            all.insert(text);
        }
    }
    all
}

#[test]
fn each_pattern_alone_knows_some_text_of_the_tests() {
    let examples = examples();
    let of_kinds = |table: &[(&str, &'static str)]| table.iter().map(|(_, pattern)| *pattern).collect::<Vec<_>>();
    let forms = sentence::whole();
    let cues = clause::whole();
    let tables: [(&str, Vec<&str>); 17] = [
        ("AGENTS", agents::STARTS.to_vec()),
        ("CUES", cues.iter().map(String::as_str).collect()),
        ("FORMS", forms.iter().map(String::as_str).collect()),
        ("STARTS", of_kinds(&text_kinds::STARTS)),
        ("ANYWHERE", of_kinds(&text_kinds::ANYWHERE)),
        ("SURE", text::SURE.to_vec()),
        ("LIKELY", text::LIKELY.to_vec()),
        ("SHORT_SURE", text::SHORT_SURE.to_vec()),
        ("SUSPICIOUS", text::SUSPICIOUS.to_vec()),
        ("HARMLESS", text::HARMLESS.to_vec()),
        ("EDITS", undone::EDITS.to_vec()),
        ("INTERPRETERS", undone::INTERPRETERS.to_vec()),
        ("OF_REQUEST", refused_values::OF_REQUEST.to_vec()),
        ("OF_VALUE", refused_values::OF_VALUE.to_vec()),
        ("PROGRAMS", program_error::PROGRAMS.to_vec()),
        ("DATABASES", program_error::DATABASES.to_vec()),
        ("HELD", held::HELD.to_vec()),
    ];
    let mut unneeded = Vec::new();
    for (name, table) in tables {
        let set = patterns::set(table.iter().copied()).expect("patterns");
        let mut alone = BTreeSet::new();
        for text in &examples {
            let found: Vec<usize> = set.matches(text.as_bytes()).iter().collect();
            alone.extend(found.first().filter(|_| found.len() == 1).copied());
        }
        unneeded.extend(
            table
                .iter()
                .enumerate()
                .filter(|(n, _)| !alone.contains(n))
                .map(|(n, pattern)| format!("{name} {n}: {pattern}")),
        );
    }
    assert!(unneeded.is_empty(), "no test has a text that only these know:\n{}", unneeded.join("\n"));
}
