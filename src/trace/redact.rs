//! What must not be shown of a trace: values under keys that match, and text that matches, become `[redacted]`.
//! Applied where lines are read, after marks are taken; reads no configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use regex::Regex;

use crate::event::ErrorFacts;
use crate::glob::Glob;
use crate::trace::model::{CallTexts, RecordedCall, Reply};
use crate::trace::scan::{Cursor, MAX_DEPTH, RawString};

/// What stands in place of what was taken out.
pub const REDACTED: &str = "[redacted]";

/// Which parts of arguments, evidence, error messages and codes are taken out; nothing by default.
#[derive(Clone, Debug, Default)]
pub struct RedactionRules {
    keys: Vec<Glob>,
    patterns: Vec<Regex>,
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
    /// `keys` are globs over key names, at any depth; `patterns` are regular expressions over strings and messages.
    ///
    /// # Errors
    /// The first rule that does not parse.
    pub fn new<S: AsRef<str>>(keys: &[S], patterns: &[S]) -> Result<RedactionRules, BadRule> {
        let mut rules = RedactionRules::default();
        for (n, key) in keys.iter().enumerate() {
            rules.keys.push(Glob::new(key.as_ref()).map_err(|why| BadRule::Key(n, why))?);
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

    /// Takes out of a call what must not be shown. Its key and token stay: they say which calls are the same.
    pub fn redact(&self, call: &mut RecordedCall) {
        if !self.is_empty() {
            self.redact_with(call, str::to_owned, str::to_owned);
        }
    }

    /// Takes out of calls that are written together what must not be shown, out of keys and tokens too. Those that are
    /// equal stay equal, and those that differ stay different.
    pub fn redact_all(&self, calls: &mut [RecordedCall]) {
        if self.is_empty() {
            return;
        }
        let (mut keys, mut tokens) = (StandIns::default(), StandIns::default());
        for call in calls {
            self.redact_with(call, |key| keys.of(self, key), |token| tokens.of(self, token));
        }
    }

    fn redact_with(
        &self,
        call: &mut RecordedCall,
        key: impl FnOnce(&str) -> String,
        token: impl FnOnce(&str) -> String,
    ) {
        let (key, token) = (call.key().map(key), call.token().map(token));
        let args = call.args().map(|args| self.json(args));
        let evidence = call.evidence().map(|evidence| self.json(evidence));
        let texts = CallTexts {
            run: call.run(),
            id: call.id(),
            tool: call.tool(),
            args: args.as_deref(),
            key: key.as_deref(),
            evidence: evidence.as_deref(),
            token: token.as_deref(),
        };
        let mut shown = RecordedCall::new(texts, call.place);
        shown.number = call.number;
        shown.number_in_run = call.number_in_run;
        shown.at = call.at;
        shown.timeout = call.timeout;
        shown.answers = std::mem::take(&mut call.answers);
        for answer in &mut shown.answers {
            self.reply(&mut answer.reply);
        }
        *call = shown;
    }

    /// Takes out of a reply what must not be shown; whether it has texts that are looked through at all.
    pub fn reply(&self, reply: &mut Reply) -> bool {
        let (false, Reply::Failed(Some(error))) = (self.patterns.is_empty(), reply) else { return false };
        self.error(Arc::make_mut(error));
        true
    }

    fn error(&self, error: &mut ErrorFacts) {
        for text in [&mut error.message, &mut error.code].into_iter().flatten() {
            let shown = self.text(text);
            if shown != **text {
                *text = shown.into();
            }
        }
    }

    /// Text without what matches.
    pub fn text(&self, text: &str) -> String {
        let mut shown = text.to_owned();
        for pattern in &self.patterns {
            shown = pattern.replace_all(&shown, regex::NoExpand(REDACTED)).into_owned();
        }
        shown
    }

    /// JSON without what matches; text that cannot be read as strict JSON goes altogether.
    pub fn json(&self, json: &str) -> String {
        let mut cursor = Cursor::new(json);
        let mut out = String::with_capacity(json.len());
        match self.value(&mut cursor, &mut out, MAX_DEPTH) {
            Some(()) => out,
            None => format!("\"{REDACTED}\""),
        }
    }

    fn value(&self, cursor: &mut Cursor<'_>, out: &mut String, depth: u32) -> Option<()> {
        cursor.skip_space();
        match cursor.peek()? {
            b'"' => self.string(cursor.string()?, out)?,
            b'{' => self.entries(cursor, out, depth.checked_sub(1)?, (b'{', b'}'))?,
            b'[' => self.entries(cursor, out, depth.checked_sub(1)?, (b'[', b']'))?,
            _ => out.push_str(cursor.value(depth)?),
        }
        Some(())
    }

    fn string(&self, string: RawString<'_>, out: &mut String) -> Option<()> {
        let quoted = format!("\"{}\"", string.inner);
        let plain: String = serde_json::from_str(&quoted).ok()?;
        let shown = self.text(&plain);
        match shown == plain {
            true => out.push_str(&quoted),
            false => out.push_str(&serde_json::to_string(&shown).ok()?),
        }
        Some(())
    }

    fn entries(&self, cursor: &mut Cursor<'_>, out: &mut String, depth: u32, (open, close): (u8, u8)) -> Option<()> {
        cursor.eat(open);
        out.push(char::from(open));
        if !cursor.eat(close) {
            loop {
                if open == b'{' {
                    self.entry(cursor, out, depth)?;
                } else {
                    self.value(cursor, out, depth)?;
                }
                if !cursor.eat(b',') {
                    break;
                }
                out.push(',');
            }
            if !cursor.eat(close) {
                return None;
            }
        }
        out.push(char::from(close));
        Some(())
    }

    fn entry(&self, cursor: &mut Cursor<'_>, out: &mut String, depth: u32) -> Option<()> {
        let key = cursor.key()?;
        let quoted = format!("\"{}\"", key.inner);
        let plain: String = serde_json::from_str(&quoted).ok()?;
        out.push_str(&quoted);
        out.push(':');
        if self.keys.iter().any(|glob| glob.is_match(&plain)) {
            cursor.value(depth)?;
            out.push_str(&format!("\"{REDACTED}\""));
            return Some(());
        }
        self.value(cursor, out, depth)
    }
}

/// What stands for the keys, or the tokens, of calls that are written together.
#[derive(Debug, Default)]
struct StandIns {
    given: BTreeMap<String, String>,
    taken: BTreeSet<String>,
}

impl StandIns {
    fn of(&mut self, rules: &RedactionRules, text: &str) -> String {
        if let Some(shown) = self.given.get(text) {
            return shown.clone();
        }
        let plain = rules.text(text);
        let numbered = (2_u64..).map(|n| format!("{plain} {n}"));
        let free = std::iter::once(plain.clone()).chain(numbered).find(|shown| !self.taken.contains(shown));
        let shown = free.unwrap_or(plain);
        self.given.insert(text.to_owned(), shown.clone());
        self.taken.insert(shown.clone());
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::model::Place;

    fn rules() -> RedactionRules {
        RedactionRules::new(&["*token*", "ssn"], &[r"\b\d{16}\b"]).unwrap()
    }

    #[test]
    fn values_under_matching_keys_and_matching_text_go_and_the_rest_stays() {
        let json = r#"{"a": {"ssn": {"x": [1]}}, "api_token":"s3", "card":["pay 4111111111111111 now", "caf\u00e9"], "n": 1.50}"#;
        let shown =
            r#"{"a":{"ssn":"[redacted]"},"api_token":"[redacted]","card":["pay [redacted] now","caf\u00e9"],"n":1.50}"#;
        assert_eq!(rules().json(json), shown);
    }

    #[test]
    fn escapes_do_not_hide_a_key_or_a_number() {
        assert_eq!(rules().json(r#"{"s\u0073n":1}"#), r#"{"s\u0073n":"[redacted]"}"#);
        assert_eq!(rules().json(r#"["\u0034111111111111111"]"#), r#"["[redacted]"]"#);
    }

    #[test]
    fn what_cannot_be_read_goes_altogether() {
        assert_eq!(rules().json(r#"{"a":"\ud800"}"#), r#""[redacted]""#);
        assert_eq!(rules().json("{oops"), r#""[redacted]""#);
    }

    #[test]
    fn calls_lose_arguments_evidence_and_messages_but_not_names() {
        let texts = CallTexts {
            run: Some("r"),
            tool: "pay",
            args: Some(r#"{"ssn":1}"#),
            evidence: Some(r#"["4111111111111111"]"#),
            ..CallTexts::default()
        };
        let mut shown = RecordedCall::new(texts, Place { input: 0, line: 3 });
        rules().redact(&mut shown);
        assert_eq!((shown.run(), shown.tool(), shown.place.line), (Some("r"), "pay", 3));
        assert_eq!((shown.args(), shown.evidence()), (Some(r#"{"ssn":"[redacted]"}"#), Some(r#"["[redacted]"]"#)));
        let (message, code) = (Some("card 4111111111111111 declined".into()), Some("E-4111111111111111".into()));
        let mut reply = Reply::Failed(Some(Arc::new(ErrorFacts { message, code, ..ErrorFacts::default() })));
        rules().reply(&mut reply);
        let Reply::Failed(Some(error)) = reply else { panic!() };
        assert_eq!(error.message.as_deref(), Some("card [redacted] declined"));
        assert_eq!(error.code.as_deref(), Some("E-[redacted]"));
    }

    #[test]
    fn keys_and_tokens_that_are_written_are_taken_out_and_those_that_differ_stay_different() {
        let call = |key, token| {
            let texts = CallTexts { tool: "pay", key: Some(key), token: Some(token), ..CallTexts::default() };
            RecordedCall::new(texts, Place::default())
        };
        let mut calls = [
            call("pay-4111111111111111", "rev_1"),
            call("pay-4222222222222222", "4111111111111111"),
            call("pay-4111111111111111", "rev_1"),
        ];
        rules().redact_all(&mut calls);
        let shown: Vec<_> = calls.iter().map(|call| (call.key().unwrap(), call.token().unwrap())).collect();
        assert_eq!(
            shown,
            [("pay-[redacted]", "rev_1"), ("pay-[redacted] 2", "[redacted]"), ("pay-[redacted]", "rev_1")]
        );
    }

    #[test]
    fn a_rule_that_does_not_parse_is_named() {
        assert!(matches!(RedactionRules::new(&["a", "[z"], &[]), Err(BadRule::Key(1, _))));
        assert!(matches!(RedactionRules::new(&[], &["(x"]), Err(BadRule::Pattern(0, _))));
    }
}
