//! Regular expressions of rules: how they are checked and compiled, and the words of their errors. A pattern is compiled when
//! a message is first compared with it: most programs compare none.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use regex::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// A compiled `matches` larger than this would make every failure slow; bytes.
const LARGEST: usize = 1 << 20;

/// The most compiled patterns that are kept.
const MOST_KEPT: usize = 1_000;

/// Patterns by text and case. Compiling is slow, and the same pattern is compiled for each plan, of which `coverage --mutate`
/// makes hundreds. They are shared, because a copy would begin without what earlier searches have learned.
static KEPT: Mutex<BTreeMap<(String, bool), Arc<Regex>>> = Mutex::new(BTreeMap::new());

/// A `matches` of a rule.
#[derive(Debug)]
pub struct Pattern {
    text: Box<str>,
    case_sensitive: bool,
    compiled: OnceLock<Option<Arc<Regex>>>,
}

impl Pattern {
    /// A pattern that [`check`] has found right; another one matches nothing.
    pub fn new(text: &str, case_sensitive: bool) -> Pattern {
        Pattern { text: text.into(), case_sensitive, compiled: OnceLock::new() }
    }

    /// Whether it matches somewhere in a text.
    pub fn is_match(&self, text: &str) -> bool {
        let compiled = self.compiled.get_or_init(|| compile(&self.text, self.case_sensitive).ok());
        compiled.as_ref().is_some_and(|regex| regex.is_match(text))
    }
}

/// Checks a `matches` of a rule, and compiles it only where it could be too large.
///
/// # Errors
/// Why it does not compile, in one line.
pub fn check(pattern: &str, case_sensitive: bool) -> Result<(), String> {
    let parsed = ParserBuilder::new().case_insensitive(!case_sensitive).build().parse(pattern);
    match parsed {
        Ok(parsed) if size(&parsed) <= LARGEST => Ok(()),
        _ => compile(pattern, case_sensitive).map(drop),
    }
}

/// The most bytes that a pattern takes once it is compiled, by what its parts took in trials.
fn size(hir: &Hir) -> usize {
    let sum = |parts: &[Hir]| parts.iter().fold(300_usize, |sum, part| sum.saturating_add(size(part)));
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 300,
        HirKind::Literal(literal) => 300 + 60 * literal.0.len(),
        HirKind::Class(class) if class.is_utf8() && class.maximum_len() == Some(1) => 400,
        HirKind::Class(Class::Unicode(class)) => 1_300 + 80 * class.ranges().len(),
        HirKind::Class(Class::Bytes(class)) => 400 + 80 * class.ranges().len(),
        HirKind::Repetition(repeated) => {
            let times = repeated.max.unwrap_or(repeated.min).max(1);
            size(&repeated.sub).saturating_add(100).saturating_mul(usize::try_from(times).unwrap_or(usize::MAX))
        }
        HirKind::Capture(capture) => size(&capture.sub).saturating_add(300),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => sum(parts),
    }
}

/// Compiles a pattern, or gives the one that was compiled before.
fn compile(pattern: &str, case_sensitive: bool) -> Result<Arc<Regex>, String> {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (pattern.to_owned(), case_sensitive);
    if let Some(compiled) = kept.get(&key) {
        return Ok(Arc::clone(compiled));
    }
    let compiled = Arc::new(build(pattern, case_sensitive)?);
    if kept.len() >= MOST_KEPT {
        kept.clear();
    }
    kept.insert(key, Arc::clone(&compiled));
    Ok(compiled)
}

fn build(pattern: &str, case_sensitive: bool) -> Result<Regex, String> {
    RegexBuilder::new(pattern).case_insensitive(!case_sensitive).size_limit(LARGEST).build().map_err(|error| {
        match error {
            regex::Error::CompiledTooBig(_) => "it is too large when compiled".to_owned(),
            // The last line has the reason; those before it draw the place.
            error => {
                let text = error.to_string();
                let last = text.lines().last().unwrap_or("it does not parse");
                last.trim().trim_start_matches("error: ").to_owned()
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_pattern_is_refused_in_one_line() {
        assert_eq!(check("(a", false).expect_err("no regex"), "unclosed group");
        assert_eq!(check("(?:a{1000}){1000}", false).expect_err("too big"), "it is too large when compiled");
        assert_eq!(check(r"(\w{50}){50}", false).expect_err("too big"), "it is too large when compiled");
    }

    #[test]
    fn what_is_not_compiled_at_once_can_be_compiled() {
        let parts = ["a", r"\w", ".", "[^x]", "é", "(b|c)", r"\S+", "^"];
        let times = ["", "*", "{3}", "{40}", "{2,400}"];
        for part in parts {
            for pattern in times.iter().flat_map(|one| times.map(|two| format!("({part}{one} ){two}x"))) {
                for case_sensitive in [false, true] {
                    let is_right = check(&pattern, case_sensitive).is_ok();
                    assert_eq!(is_right, build(&pattern, case_sensitive).is_ok(), "{pattern}");
                }
            }
        }
    }

    #[test]
    fn a_pattern_that_is_kept_is_kept_with_its_case() {
        for _ in 0..2 {
            assert!(Pattern::new("^refused$", false).is_match("Refused"));
            assert!(!Pattern::new("^refused$", true).is_match("Refused"));
        }
    }
}
