//! The rules of what must not be shown of a trace. What they make of texts, JSON, names and calls stands beside them;
//! reads no configuration.

use std::sync::{Arc, Mutex};

use regex::Regex;

use super::names::StandIns;
use playproof_engine::glob::Glob;

/// What stands in place of what was taken out.
pub const REDACTED: &str = "[redacted]";

/// What is taken out of the texts of a trace on their way to people and files; nothing by default. It changes what is
/// shown and nothing else: calls are paired, compared, classified and counted as they are recorded.
#[derive(Clone, Debug, Default)]
pub struct RedactionRules {
    keys: Vec<Glob>,
    pub(super) patterns: Vec<Regex>,
    /// All clones give a name the same stand-in, however often a trace is read.
    pub(super) stand_ins: Arc<Mutex<StandIns>>,
}

/// A rule that cannot be used: its place in its list, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadRule {
    /// A glob over keys.
    Key(usize, String),
    /// A regular expression.
    Pattern(usize, String),
}

impl RedactionRules {
    /// `keys` are globs over key names, at any depth and in any case; `patterns` are regular expressions over every text.
    ///
    /// # Errors
    /// The first rule that does not parse.
    pub fn new<S: AsRef<str>>(keys: &[S], patterns: &[S]) -> Result<RedactionRules, BadRule> {
        let mut rules = RedactionRules::default();
        for (n, key) in keys.iter().enumerate() {
            rules.keys.push(Glob::ignoring_case(key.as_ref()).map_err(|why| BadRule::Key(n, why))?);
        }
        for (n, pattern) in patterns.iter().enumerate() {
            let regex = Regex::new(pattern.as_ref()).map_err(|error| BadRule::Pattern(n, error.to_string()))?;
            rules.patterns.push(regex);
        }
        Ok(rules)
    }

    /// Whether nothing is ever taken out.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.patterns.is_empty()
    }

    /// Whether no key is hidden.
    pub(super) fn hides_no_key(&self) -> bool {
        self.keys.is_empty()
    }

    /// Whether what stands under this key is taken out, whatever it is.
    pub(super) fn hides(&self, key: &str) -> bool {
        self.keys.iter().any(|glob| glob.is_match(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_hidden_however_it_is_capitalised() {
        let rules = RedactionRules::new(&["email", "Api*"], &[]).unwrap();
        assert_eq!(
            rules.json(r#"{"Email":"a","EMAIL":"b","api_key":"c","emails":"d"}"#),
            r#"{"Email":"[redacted]","EMAIL":"[redacted]","api_key":"[redacted]","emails":"d"}"#
        );
        assert_eq!(rules.text(r#"sent {\"Email\":\"a\"}"#), r#"sent {\"Email\":\"[redacted]\"}"#);
    }

    #[test]
    fn a_rule_that_does_not_parse_is_named() {
        assert!(matches!(RedactionRules::new(&["a", "[z"], &[]), Err(BadRule::Key(1, _))));
        assert!(matches!(RedactionRules::new(&[], &["(x"]), Err(BadRule::Pattern(0, _))));
    }
}
