//! Which patterns a text can match: each match has a word of its pattern, and one search finds all words. So few patterns are
//! compiled and run. Knows no rows.

use std::collections::BTreeMap;

use aho_corasick::AhoCorasick;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

use super::excerpt::cut;
use super::patterns::ascii;

/// The most words that a part of a pattern is written out to.
const MOST: usize = 40;
/// The most letters of a class that are written out.
const FEW_LETTERS: usize = 4;
/// The longest word that is looked for, in bytes.
const LONGEST: usize = 24;

/// Finds the patterns that a text can match.
#[derive(Debug, Default)]
pub(super) struct RowSearch {
    words: Option<AhoCorasick>,
    /// The patterns that need each word.
    patterns: Vec<Vec<usize>>,
    /// The patterns that a text without any word can match.
    always: Vec<usize>,
}

impl RowSearch {
    /// For patterns that ignore case.
    pub(super) fn of<'p>(patterns: impl Iterator<Item = &'p str>) -> RowSearch {
        let mut needed: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let (mut always, mut count) = (Vec::new(), 0);
        for (number, pattern) in patterns.enumerate() {
            count = number + 1;
            match words_of(pattern) {
                Some(words) => words.into_iter().for_each(|word| needed.entry(word).or_default().push(number)),
                None => always.push(number),
            }
        }
        match AhoCorasick::new(needed.keys()) {
            Ok(words) => RowSearch { words: Some(words), patterns: needed.into_values().collect(), always },
            Err(_) => RowSearch { always: (0..count).collect(), ..RowSearch::default() },
        }
    }

    /// The numbers of the patterns that `text` can match, in their order.
    pub(super) fn candidates(&self, text: &str) -> Vec<usize> {
        let mut found = self.always.clone();
        let text = folded(text);
        for word in self.words.iter().flat_map(|words| words.find_overlapping_iter(&text)) {
            found.extend(self.patterns.get(word.pattern().as_usize()).into_iter().flatten());
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// A text in letters that are the same wherever a pattern that ignores case takes one for the other.
fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_uppercase();
    }
    text.chars().flat_map(char::to_lowercase).flat_map(char::to_uppercase).collect()
}

/// Folded words of which each match of a pattern has one; none if there are no such words.
fn words_of(pattern: &str) -> Option<Vec<String>> {
    // Bytes that are no text would be classes that match parts of letters.
    let hir = ParserBuilder::new().unicode(!pattern.is_ascii()).utf8(false).build().parse(&ascii(pattern)).ok()?;
    let words = Words::of(&hir).needed?;
    let fold = |word: Vec<u8>| Some(folded(cut(std::str::from_utf8(&word).ok()?, LONGEST)));
    words.into_iter().map(fold).collect()
}

/// The letters of a class, if they are few.
fn letters(class: &Class) -> Option<Vec<Vec<u8>>> {
    let text = |c: char| c.to_string().into_bytes();
    match class {
        Class::Unicode(class) => {
            let few = class.iter().map(|range| range.len()).sum::<usize>() <= FEW_LETTERS;
            few.then(|| class.iter().flat_map(|range| range.start()..=range.end()).map(text).collect())
        }
        Class::Bytes(class) => {
            let few = class.iter().map(|range| range.len()).sum::<usize>() <= FEW_LETTERS;
            few.then(|| class.iter().flat_map(|range| range.start()..=range.end()).map(|byte| vec![byte]).collect())
        }
    }
}

/// What is known of the texts that a part of a pattern matches.
struct Words {
    /// All of them, if they are few.
    all: Option<Vec<Vec<u8>>>,
    /// Words of which each of them has one.
    needed: Option<Vec<Vec<u8>>>,
}

impl Words {
    fn of(hir: &Hir) -> Words {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Words::all(vec![Vec::new()]),
            HirKind::Literal(literal) => Words::all(vec![literal.0.to_vec()]),
            HirKind::Class(class) => letters(class).map_or(Words { all: None, needed: None }, Words::all),
            HirKind::Capture(capture) => Words::of(&capture.sub),
            HirKind::Repetition(repeated) => match (repeated.min, repeated.max) {
                (0, Some(1)) => {
                    let all = Words::of(&repeated.sub).all.map(|mut all| {
                        all.push(Vec::new());
                        all
                    });
                    all.map_or(Words { all: None, needed: None }, Words::all)
                }
                (0, _) => Words { all: None, needed: None },
                (1, Some(1)) => Words::of(&repeated.sub),
                _ => Words { all: None, needed: Words::of(&repeated.sub).needed },
            },
            HirKind::Alternation(parts) => {
                let parts: Vec<Words> = parts.iter().map(Words::of).collect();
                let all: Option<Vec<_>> = parts.iter().map(|part| part.all.clone()).collect();
                let needed: Option<Vec<_>> = parts.into_iter().map(|part| part.needed).collect();
                let all = all.map(|all| all.concat()).filter(|all| all.len() <= MOST);
                Words { all, needed: needed.map(|needed| needed.concat()) }
            }
            HirKind::Concat(parts) => Words::of_row(parts),
        }
    }

    fn all(all: Vec<Vec<u8>>) -> Words {
        let needed = all.iter().all(|word| !word.is_empty()).then(|| all.clone());
        Words { all: Some(all), needed }
    }

    /// Of parts behind each other: neighbours of which all texts are known are written out together.
    fn of_row(parts: &[Hir]) -> Words {
        let mut run = vec![Vec::new()];
        let mut is_whole = true;
        let mut best: Option<Vec<Vec<u8>>> = None;
        let mut offer = |words: Option<Vec<Vec<u8>>>| {
            best = std::mem::take(&mut best).into_iter().chain(words).max_by_key(|words| strength(words))
        };
        for part in parts {
            let part = Words::of(part);
            offer(part.needed);
            let few = part.all.as_ref().is_some_and(|all| all.len() * run.len() <= MOST);
            let all = part.all.unwrap_or_else(|| vec![Vec::new()]);
            if few {
                run = run.iter().flat_map(|begun| all.iter().map(move |word| [&**begun, word].concat())).collect();
            } else {
                is_whole = false;
                offer(Words::all(std::mem::replace(&mut run, all)).needed);
            }
        }
        let run = Words::all(run);
        offer(run.needed);
        Words { all: run.all.filter(|_| is_whole), needed: best }
    }
}

/// How well words tell texts apart: by the shortest, then by how few they are.
fn strength(words: &[Vec<u8>]) -> (usize, std::cmp::Reverse<usize>) {
    let shortest = words.iter().map(Vec::len).min().unwrap_or(0);
    (shortest.min(6), std::cmp::Reverse(words.len()))
}

#[cfg(test)]
mod tests {
    use regex::bytes::Regex;
    use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

    use super::super::table::WordTable;
    use super::*;

    #[test]
    fn no_pattern_that_matches_is_passed_over() {
        let rows = &WordTable::shipped().rows;
        let texts: Vec<&str> = rows.iter().flat_map(|row| &row.examples).map(|example| example.text.as_str()).collect();
        let search = RowSearch::of(rows.iter().map(|row| row.pattern.as_str()));
        let candidates: Vec<Vec<usize>> = texts.iter().map(|text| search.candidates(text)).collect();
        for (number, row) in rows.iter().enumerate() {
            for (text, candidates) in texts.iter().zip(&candidates) {
                let is_candidate = candidates.contains(&number);
                assert!(is_candidate || !row.compiled().expect("valid").is_match(text.as_bytes()), "{number}: {text}");
            }
        }
    }

    #[test]
    fn few_patterns_are_tried() {
        let rows = &WordTable::shipped().rows;
        let search = RowSearch::of(rows.iter().map(|row| row.pattern.as_str()));
        for text in ["", "Refund issued", "Error: order o_1 not found", "le dossier est prêt", "已完成"] {
            let found = search.candidates(text).len();
            assert!(found < 24, "{text}: {found} of {}", rows.len());
        }
    }

    #[test]
    fn words_are_those_of_each_match() {
        for (pattern, words) in [
            ("^(the )?user (has )?(denied|refused)", Some(&["DENIED", "REFUSED"][..])),
            ("^(is|are) (a )?no", Some(&["ARE A NO", "ARE NO", "IS A NO", "IS NO"])),
            ("a\\w*bcd", Some(&["BCD"])),
            ("x?", None),
            ("(ab|\\d+)", None),
            ("(ab){2,}", Some(&["AB"])),
            ("é(t|d)", Some(&["ÉD", "ÉT"])),
        ] {
            let mut found = words_of(pattern);
            found.iter_mut().for_each(|found| found.sort());
            let words = words.map(|words| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
            assert_eq!(found, words, "{pattern}");
        }
    }

    #[test]
    fn letters_that_a_pattern_takes_for_each_other_are_folded_to_one() {
        for c in ('\0'..=char::MAX).filter(|c| c.is_alphabetic()) {
            let mut same = ClassUnicode::new([ClassUnicodeRange::new(c, c)]);
            same.try_case_fold_simple().expect("case");
            for other in same.iter().flat_map(|range| range.start()..=range.end()) {
                assert_eq!(folded(&c.to_string()), folded(&other.to_string()), "{c} {other}");
            }
        }
        assert!(Regex::new("(?i)s").expect("valid").is_match("ſ".as_bytes()), "the reason for this");
    }
}
