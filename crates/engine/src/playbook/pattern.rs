//! Regular expressions of rules: how they are compiled, and the words of their errors.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use regex::{Regex, RegexBuilder};

/// A compiled `matches` larger than this would make every failure slow.
const LARGEST: usize = 1 << 20;

/// The most compiled patterns that are kept.
const MOST_KEPT: usize = 1_000;

/// Patterns by text and case. Compiling is slow, and the same pattern is compiled when its playbook is read and for each
/// plan, of which `coverage --mutate` makes hundreds.
static KEPT: Mutex<BTreeMap<(String, bool), Regex>> = Mutex::new(BTreeMap::new());

/// Compiles a `matches` of a rule, or gives the one that was compiled before.
///
/// # Errors
/// Why it does not compile, in one line.
pub fn compile(pattern: &str, case_sensitive: bool) -> Result<Regex, String> {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (pattern.to_owned(), case_sensitive);
    if let Some(compiled) = kept.get(&key) {
        return Ok(compiled.clone());
    }
    let compiled = build(pattern, case_sensitive)?;
    if kept.len() >= MOST_KEPT {
        kept.clear();
    }
    kept.insert(key, compiled.clone());
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
        assert_eq!(compile("(a", false).expect_err("no regex"), "unclosed group");
        assert_eq!(compile("(?:a{1000}){1000}", false).expect_err("too big"), "it is too large when compiled");
    }

    #[test]
    fn a_pattern_that_is_kept_is_kept_with_its_case() {
        for _ in 0..2 {
            assert!(compile("^refused$", false).unwrap().is_match("Refused"));
            assert!(!compile("^refused$", true).unwrap().is_match("Refused"));
        }
    }
}
