//! Regular expressions of rules: how they are compiled, and the words of their errors.

use regex::{Regex, RegexBuilder};

/// A compiled `matches` larger than this would make every failure slow.
const LARGEST: usize = 1 << 20;

/// Compiles a `matches` of a rule.
///
/// # Errors
/// Why it does not compile, in one line.
pub fn compile(pattern: &str, case_sensitive: bool) -> Result<Regex, String> {
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
}
