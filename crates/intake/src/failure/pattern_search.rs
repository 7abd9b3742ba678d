//! Which patterns a text can match: each match has a word of its pattern, and one search finds all words. So few patterns are
//! compiled and run. Knows no rows.

use regex_syntax::ParserBuilder;
use regex_syntax::ast::{self, Ast};
use regex_syntax::hir::{Class, Hir, HirKind};

use super::excerpt::cut;
use super::patterns::ascii;

/// The most words that a part of a pattern is written out to.
const MOST: usize = 40;
/// The most letters of a class that are written out.
const FEW_LETTERS: usize = 4;
/// The bytes with which words are found; a pattern with a shorter word is always tried.
const BEGINNING: usize = 3;
/// The longest word that is looked for, in bytes.
const LONGEST: usize = 24;

/// Finds the patterns that a text can match.
#[derive(Debug, Default)]
pub(super) struct PatternSearch {
    /// The index of the first word of each slot, and that of the words behind the last one.
    slots: Vec<u16>,
    /// By their slots.
    pub(super) words: Vec<Word>,
    /// The patterns that a text without any word can match.
    always: Vec<usize>,
}

/// A word of a pattern.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) text: Box<str>,
    pub(super) pattern: usize,
}

impl PatternSearch {
    /// For patterns of which each match has one of these words, which are folded; one without words is always a candidate.
    pub(super) fn of<'p, W: AsRef<str> + 'p>(patterns: impl Iterator<Item = &'p [W]>) -> PatternSearch {
        let (mut search, mut count) = (PatternSearch::default(), 0);
        for (pattern, words) in patterns.enumerate() {
            count = pattern + 1;
            match words.is_empty() || words.iter().any(|word| word.as_ref().len() < BEGINNING) {
                false => search.words.extend(words.iter().map(|word| Word { text: word.as_ref().into(), pattern })),
                true => search.always.push(pattern),
            }
        }
        if u16::try_from(search.words.len()).is_err() {
            return PatternSearch { always: (0..count).collect(), ..PatternSearch::default() };
        }
        let size = (8 * search.words.len()).next_power_of_two();
        let slot = |word: &Word| word.text.as_bytes().first_chunk().map_or(0, |begun| slot_of(begun, size));
        search.words.sort_by_cached_key(slot);
        let mut counts = vec![0_u16; size + 1];
        search.words.iter().for_each(|word| counts[slot(word) + 1] += 1); // a slot is below the size
        search.slots = counts
            .iter()
            .scan(0, |sum, count| {
                *sum += count;
                Some(*sum)
            })
            .collect();
        search
    }

    /// For one pattern of which each match has one of these words, which are folded.
    pub(super) fn of_words(words: &[&str]) -> PatternSearch {
        PatternSearch::of(std::iter::once(words))
    }

    /// The numbers of the patterns that `text` can match, in their order.
    pub(super) fn candidates(&self, text: &str) -> Vec<usize> {
        let mut found = self.always.clone();
        self.each_word(text, |word| {
            found.push(word.pattern);
            true
        });
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether a text has one of the words.
    pub(super) fn finds(&self, text: &str) -> bool {
        let mut is_found = false;
        self.each_word(text, |_| {
            is_found = true;
            false
        });
        is_found
    }

    /// Passes each word in a text to `take`, as often as it is there, until that wants no more. The loop is plain: it sees each
    /// byte of each answer.
    fn each_word(&self, text: &str, mut take: impl FnMut(&Word) -> bool) {
        let text = folded(text);
        let size = self.slots.len().saturating_sub(1);
        let mut rest = text.as_bytes();
        while let Some(begun) = rest.first_chunk() {
            let slot = slot_of(begun, size);
            if let Some([first, end]) = self.slots.get(slot..slot + 2)
                && first < end
            {
                let words = self.words.get(usize::from(*first)..usize::from(*end)).unwrap_or_default();
                if words.iter().any(|word| rest.starts_with(word.text.as_bytes()) && !take(word)) {
                    return;
                }
            }
            rest = &rest[1..];
        }
    }
}

/// The slot of words that begin so, of `size` slots, which is a power of two.
#[inline]
fn slot_of(begun: &[u8; BEGINNING], size: usize) -> usize {
    let number = u32::from_le_bytes([begun[0], begun[1], begun[2], 0]);
    (number.wrapping_mul(0x9E37_79B1) >> 12) as usize & size.wrapping_sub(1)
}

/// A text in letters that are the same wherever a pattern that ignores case takes one for the other.
fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_uppercase();
    }
    let mut folded = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter.is_ascii() {
            true => folded.push(letter.to_ascii_uppercase()),
            false => folded.extend(letter.to_lowercase().flat_map(char::to_uppercase)),
        }
    }
    folded
}

/// Folded words of which each match of a pattern that ignores case has one; none if there are no such words.
pub(super) fn words_of(pattern: &str) -> Option<Vec<String>> {
    // Bytes that are no text would be classes that match parts of letters.
    let hir = ParserBuilder::new().unicode(!pattern.is_ascii()).utf8(false).build().parse(&ascii(pattern)).ok()?;
    let words = Words::of(&hir).needed?;
    let fold = |word: Vec<u8>| Some(folded(cut(std::str::from_utf8(&word).ok()?, LONGEST)));
    words.into_iter().map(fold).collect()
}

/// Patterns that together match what one does: its alternatives, also those of the group that it begins with.
pub(super) fn branches_of(pattern: &str) -> Vec<String> {
    let whole = || vec![pattern.to_owned()];
    let Ok(parsed) = ast::parse::Parser::new().parse(pattern) else { return whole() };
    let parts = match &parsed {
        Ast::Alternation(all) if !all.asts.iter().any(has_flags) => {
            let branch = |one: &Ast| branches_of(&pattern[one.span().start.offset..one.span().end.offset]);
            return all.asts.iter().flat_map(branch).collect();
        }
        Ast::Concat(parts) => parts.asts.as_slice(),
        one => std::slice::from_ref(one),
    };
    let Some(Ast::Group(group)) = parts.iter().find(|part| !matches!(part, Ast::Assertion(_))) else { return whole() };
    let Ast::Alternation(all) = &*group.ast else { return whole() };
    if group.flags().is_some_and(|flags| !flags.items.is_empty()) || all.asts.iter().any(has_flags) {
        return whole();
    }
    let (before, behind) = (&pattern[..group.span.start.offset], &pattern[group.span.end.offset..]);
    let inner = |one: &Ast| &pattern[one.span().start.offset..one.span().end.offset];
    all.asts.iter().map(|one| format!("{before}(?:{}){behind}", inner(one))).collect()
}

/// Whether flags stand in a branch, which hold for those behind it too.
fn has_flags(branch: &Ast) -> bool {
    match branch {
        Ast::Flags(_) => true,
        Ast::Concat(parts) => parts.asts.iter().any(|part| matches!(part, Ast::Flags(_))),
        _ => false,
    }
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
        let table = WordTable::written();
        let texts = table.rows.iter().flat_map(|row| &row.examples).map(|example| example.text.as_str());
        for text in texts {
            let candidates: Vec<_> = table.candidates(text).map(|(.., branch)| std::ptr::from_ref(branch)).collect();
            for branch in table.rows.iter().flat_map(|row| &row.branches) {
                assert!(
                    candidates.contains(&std::ptr::from_ref(branch)) || !branch.is_match(text),
                    "{branch:?}: {text}"
                );
            }
        }
    }

    #[test]
    fn with_more_words_than_it_can_number_a_search_finds_all_patterns() {
        let words: Vec<String> = (0..=u16::MAX).map(|n| format!("{n:05}")).collect();
        let (most, one_more) = (words.split_last().expect("words").1, &*words);
        for (words, found) in [(most, &[1, 2][..]), (one_more, &[0, 1, 2])] {
            let search = PatternSearch::of([words, &[], &words[..0]].into_iter());
            assert_eq!(search.candidates("99999"), found, "{} words", words.len());
        }
    }

    #[test]
    fn few_patterns_are_tried() {
        for text in ["", "Refund issued", "Error: order o_1 not found", "le dossier est prêt", "已完成"] {
            let found = WordTable::shipped().candidates(text).count();
            assert!(found < 50, "{text}: {found}");
        }
    }

    #[test]
    fn branches_match_together_what_their_pattern_matches() {
        for (pattern, branches) in [
            ("a|b(c|d)", &["a", "b(c|d)"][..]),
            ("^(a|b)$|c", &["^(?:a)$", "^(?:b)$", "c"]),
            ("(?:a|b)?|(?-i:a|b)", &["(?:a|b)?", "(?-i:a|b)"]),
            ("(?-i)a|b", &["(?-i)a|b"]),
            ("(a|(?-i)b)", &["(a|(?-i)b)"]),
            ("(", &["("]),
        ] {
            assert_eq!(branches_of(pattern), branches, "{pattern}");
        }
        for row in &WordTable::shipped().rows {
            assert!(!row.branches.is_empty());
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
