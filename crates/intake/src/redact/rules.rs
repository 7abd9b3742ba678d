//! The redaction rules, and the names of a trace as they are shown. Equal names are shown alike, and different names stay
//! different. Reads no configuration.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use regex::Regex;

use crate::hash;
use playproof_engine::glob::Glob;

/// The replacement of redacted text.
pub const REDACTED: &str = "[redacted]";

/// What is redacted from the texts of a trace before people and files get them; nothing by default. It changes only what is
/// shown: calls are paired, compared, classified and counted as recorded.
#[derive(Clone, Debug, Default)]
pub struct RedactionRules {
    keys: Vec<Glob>,
    pub(super) patterns: Vec<Regex>,
    /// Clones share the numbers, so that a name is shown alike however often a trace is read.
    numbers: Arc<Mutex<NameNumbers>>,
}

/// A rule that cannot be used: its index in its list, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadRule {
    /// A glob over keys.
    Key(usize, String),
    /// A regular expression.
    Pattern(usize, String),
}

impl RedactionRules {
    /// `keys` are globs for key names, at any depth and in any case; `patterns` are regular expressions for every text.
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

    /// Whether nothing is redacted.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.patterns.is_empty()
    }

    /// Whether no key is redacted.
    pub(super) fn has_no_keys(&self) -> bool {
        self.keys.is_empty()
    }

    /// Whether every value under this key is redacted.
    pub fn hides(&self, key: &str) -> bool {
        self.keys.iter().any(|glob| glob.is_match(key))
    }
}

/// The kind of thing that a name identifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// A run.
    Run,
    /// A call, by its id.
    Call,
    /// A tool.
    Tool,
    /// An idempotency key.
    Key,
    /// A reversal token.
    Token,
    /// A dispatcher.
    Dispatcher,
}

impl NameKind {
    /// The field of a trace line that holds the name.
    const fn field(self) -> &'static str {
        match self {
            NameKind::Run => "run_id",
            NameKind::Call => "call_id",
            NameKind::Tool => "tool",
            NameKind::Key => "idempotency_key",
            NameKind::Token => "reversal_token",
            NameKind::Dispatcher => "dispatcher_id",
        }
    }

    fn hash(self, name: &str) -> u128 {
        hash::bytes(name.as_bytes(), self as u64)
    }
}

impl RedactionRules {
    /// A name as it is shown. Names are numbered in the order of the first calls of this function: callers follow the order of
    /// the trace.
    pub fn name<'n>(&self, kind: NameKind, name: &'n str) -> Cow<'n, str> {
        let plain = self.text_under(kind.field(), name);
        // A name that contains the replacement may equal the redacted form of another name.
        if self.is_empty() || plain == name && !name.contains(REDACTED) {
            return Cow::Borrowed(name);
        }
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        Cow::Owned(numbered(&plain, numbers.number(kind, name, &plain)))
    }
}

impl RedactionRules {
    /// Whether a name was shown under a number, which the names before it decide.
    pub fn has_numbered_names(&self) -> bool {
        !self.numbers.lock().unwrap_or_else(PoisonError::into_inner).given.is_empty()
    }
}

/// `plain` for the number 1, else `plain` with the number.
pub(super) fn numbered(plain: &str, number: u32) -> String {
    match number {
        0 | 1 => plain.to_owned(),
        number => format!("{plain} {number}"),
    }
}

/// Numbers that distinguish names with the same redacted form. Keeps only hashes.
#[derive(Debug, Default)]
struct NameNumbers {
    /// The number of each name.
    given: BTreeMap<u128, u32>,
    /// By redacted form: the last number that was given.
    last: BTreeMap<u128, u32>,
    /// The names that are shown already.
    taken: BTreeSet<u128>,
}

impl NameNumbers {
    fn number(&mut self, kind: NameKind, name: &str, plain: &str) -> u32 {
        if let Some(number) = self.given.get(&kind.hash(name)) {
            return *number;
        }
        let last = self.last.entry(kind.hash(plain)).or_default();
        *last += 1;
        while !self.taken.insert(kind.hash(&numbered(plain, *last))) {
            *last += 1;
        }
        self.given.insert(kind.hash(name), *last);
        *last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_redacted_however_it_is_capitalised() {
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

    #[test]
    fn redacted_names_stay_different() {
        let rules = RedactionRules::new(&["tool"], &[r"\d{4}"]).unwrap();
        let shown = |of, names: &[&str]| names.iter().map(|name| rules.name(of, name).into_owned()).collect::<Vec<_>>();
        let pay = ["pay-4111", "pay-4222", "pay-4111", "pay", "pay-[redacted] 3", "pay-4333"];
        let keys =
            ["pay-[redacted]", "pay-[redacted] 2", "pay-[redacted]", "pay", "pay-[redacted] 3", "pay-[redacted] 4"];
        assert_eq!(shown(NameKind::Key, &pay), keys);
        assert_eq!(shown(NameKind::Run, &["pay-4222", "pay-4111"]), ["pay-[redacted]", "pay-[redacted] 2"]);
        assert_eq!(shown(NameKind::Tool, &["a", "b", "a"]), ["[redacted]", "[redacted] 2", "[redacted]"]);
        assert_eq!(rules.clone().name(NameKind::Tool, "b"), "[redacted] 2", "clones share the numbers");
    }
}
