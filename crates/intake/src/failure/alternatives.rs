//! Patterns of which one is looked for, each with words of which its matches have one. So few are compiled for a text, and each
//! is small.

use super::pattern_search::PatternSearch;
use super::patterns::{Found, TextRegex, one};

/// Alternatives, the first of which counts.
#[derive(Debug)]
pub(super) struct Alternatives {
    patterns: Vec<TextRegex>,
    search: PatternSearch,
}

impl Alternatives {
    /// Patterns with their words, in capitals between `|`. One without words is always tried.
    pub(super) fn of(all: impl IntoIterator<Item = (String, String)>) -> Alternatives {
        let (patterns, words): (Vec<_>, Vec<_>) = all.into_iter().unzip();
        let words: Vec<Vec<&str>> =
            words.iter().map(|words| words.split('|').filter(|word| !word.is_empty()).collect()).collect();
        let search = PatternSearch::of(words.iter().map(Vec::as_slice));
        Alternatives { patterns: patterns.into_iter().map(one).collect(), search }
    }

    /// Those that `before` begins and `behind` ends.
    pub(super) fn between(before: &str, all: &[(&str, &str)], behind: &str) -> Alternatives {
        Alternatives::of(all.iter().map(|(pattern, words)| (format!("{before}{pattern}{behind}"), (*words).to_owned())))
    }

    fn candidates(&self, text: &str) -> impl Iterator<Item = &TextRegex> {
        self.search.candidates(text).into_iter().filter_map(|number| self.patterns.get(number))
    }

    /// Whether one matches somewhere in `text`.
    pub(super) fn is_match(&self, text: &str) -> bool {
        self.candidates(text).any(|pattern| pattern.is_match(text))
    }

    /// The first match of all; of those that begin at one place, that of the first alternative.
    pub(super) fn find<'t>(&self, text: &'t str) -> Option<Found<'t>> {
        let mut first: Option<Found<'t>> = None;
        for found in self.candidates(text).filter_map(|pattern| pattern.find(text)) {
            if first.as_ref().is_none_or(|first| found.start() < first.start()) {
                first = Some(found);
            }
            if first.as_ref().is_some_and(|first| first.start() == 0) {
                break;
            }
        }
        first
    }

    /// The text without the matches of each.
    pub(super) fn without(&self, text: String) -> String {
        self.search
            .candidates(&text)
            .iter()
            .filter_map(|number| self.patterns.get(*number))
            .fold(text, |text, pattern| pattern.without(&text))
    }
}

#[cfg(test)]
mod tests {
    use regex_syntax::Parser;
    use regex_syntax::hir::{Hir, HirKind};

    use super::super::pattern_search::words_of;
    use super::super::patterns::ascii;
    use super::super::{deeds, exit, message, proof};
    use super::*;

    #[test]
    fn each_match_has_one_of_the_words_of_its_pattern() {
        let sets = [&*deeds::DONE, &deeds::DEED, &deeds::DENIED, &exit::AT_START, &message::FRAMES, &proof::NAMED];
        for all in sets {
            for (number, pattern) in all.patterns.iter().enumerate() {
                let words = all.search.words.iter().filter(|word| word.pattern == number);
                let words: Vec<&str> = words.map(|word| &*word.text).collect();
                let one_case = pattern.text.replace("(?i:", "(?:").replace("(?i)", "");
                let needed = words_of(&one_case).unwrap_or_default();
                let is_covered = |needed: &String| words.iter().any(|word| needed.contains(word));
                let hir = Parser::new().parse(&ascii(&one_case)).expect("a pattern");
                let are_all_covered = !needed.is_empty() && needed.iter().all(is_covered);
                let is_always_tried = words.is_empty();
                assert!(
                    is_always_tried || are_all_covered || has_one(&hir, &words),
                    "{}: {words:?} of {needed:?}",
                    pattern.text
                );
            }
        }
    }

    /// Whether each match has one of these words in a part that has no choice.
    fn has_one(hir: &Hir, words: &[&str]) -> bool {
        match hir.kind() {
            HirKind::Literal(literal) => {
                let text = String::from_utf8_lossy(&literal.0).to_uppercase();
                words.iter().any(|word| text.contains(word))
            }
            HirKind::Capture(capture) => has_one(&capture.sub, words),
            HirKind::Repetition(repeated) => repeated.min > 0 && has_one(&repeated.sub, words),
            HirKind::Alternation(parts) => parts.iter().all(|part| has_one(part, words)),
            HirKind::Concat(parts) => parts.iter().any(|part| has_one(part, words)),
            HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) => false,
        }
    }

    #[test]
    fn the_first_match_counts_and_then_the_first_alternative() {
        let all = Alternatives::of([("b+(x)?", ""), ("abc", "ABC"), ("b(x)", "")].map(|(p, w)| (p.into(), w.into())));
        let found = |text| all.find(text).map(|found| (found.start(), found.end(), found.group().is_some()));
        assert_eq!(found("--abcbx"), Some((2, 5, false)));
        assert_eq!(found("bx"), Some((0, 2, true)));
        assert_eq!(found("none"), None);
        assert!(all.is_match("abc") && !all.is_match("ac"));
        assert_eq!(all.without("cabx".to_owned()), "ca");
    }
}
