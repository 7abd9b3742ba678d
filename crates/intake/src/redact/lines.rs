//! Redacts lines in our own format, as importers write them; the results are lines that can be read.

use std::collections::BTreeMap;

use super::rules::{NameKind, REDACTED, RedactionRules};
use crate::json;
use crate::raw_value::RawValue;
use playproof_formats::text::escape_json;

impl RedactionRules {
    /// Redacts lines. Times, statuses and attempt numbers stay. `row` becomes a count, because it is a hash of the whole
    /// source row.
    pub fn lines(&self, lines: Vec<u8>) -> Vec<u8> {
        if self.is_empty() {
            return lines;
        }
        let mut rows = BTreeMap::new();
        self.lines_with(&lines, |row| {
            let next = rows.len() + 1;
            *rows.entry(row.to_owned()).or_insert(next)
        })
    }

    /// Redacts the lines of one source row of a recording that goes on, with a number of that row alone.
    pub fn lines_of_row(&self, lines: Vec<u8>, number: usize) -> Vec<u8> {
        if self.is_empty() { lines } else { self.lines_with(&lines, |_| number) }
    }

    fn lines_with(&self, lines: &[u8], mut row: impl FnMut(&str) -> usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(lines.len());
        for line in String::from_utf8_lossy(lines).lines() {
            let shown = json::parse(line).ok().and_then(|line| self.line(line, &mut row));
            let shown = shown.unwrap_or_else(|| format!("\"{REDACTED}\""));
            out.extend_from_slice(escape_json(&shown).as_bytes());
            out.push(b'\n');
        }
        out
    }

    fn line(&self, line: RawValue<'_>, row: &mut impl FnMut(&str) -> usize) -> Option<String> {
        object_of(line, |key, value| match key {
            "type" | "status" | "status_from" | "answers" | "attempt" | "at" | "at_ms" | "started_ms"
            | "timeout_ms" | "answer_within_ms" | "draw" | "event" | "fingerprint" | "seed" => {
                Some(value.get().to_owned())
            }
            "run_id" => self.name_in(NameKind::Run, value),
            "call_id" | "parent" => self.name_in(NameKind::Call, value),
            "tool" => self.name_in(NameKind::Tool, value),
            "idempotency_key" => self.name_in(NameKind::Key, value),
            "reversal_token" => self.name_in(NameKind::Token, value),
            "dispatcher_id" => self.name_in(NameKind::Dispatcher, value),
            "row" => Some(row(value.get()).to_string()),
            "error" => object_of(value, |key, value| match key {
                "status" | "retry_after_ms" | "kind_from" | "should_retry" | "retriable" => {
                    Some(value.get().to_owned())
                }
                "headers" if self.hides(key) => Some("{}".to_owned()), // an object, as the reader requires
                key => Some(self.json_under(key, value.get())),
            }),
            key => Some(self.json_under(key, value.get())),
        })
    }

    fn name_in(&self, kind: NameKind, value: RawValue<'_>) -> Option<String> {
        serde_json::to_string(&self.name(kind, &json::string(value)?)).ok()
    }
}

/// The object with replaced values.
fn object_of(object: RawValue<'_>, mut value: impl FnMut(&str, RawValue<'_>) -> Option<String>) -> Option<String> {
    let mut out = String::from("{");
    for (key, raw) in json::object(object)?.iter() {
        if out.len() > 1 {
            out.push(',');
        }
        out.push_str(&serde_json::to_string(key).ok()?);
        out.push(':');
        out.push_str(&value(key, raw)?);
    }
    out.push('}');
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_a_line_is_redacted_but_times_and_statuses() {
        let rules = RedactionRules::new(&["password"], &["sk_[0-9]"]).unwrap();
        let line = concat!(
            r#"{"type":"tool_result","run_id":"sk_1","call_id":"sk_1","tool":"sk_1","at":"sk_1","args":{"password":1,"a":"sk_1"},"#,
            r#""idempotency_key":"sk_2","reversal_token":"sk_1","evidence_refs":["sk_1"],"status":"error","#,
            r#""error":{"kind":"sk_1","message":"sk_1","status":409,"code":"sk_1"},"row":77,"source":"[0].sk_1"}"#,
            "\n"
        );
        let other = line.replace("sk_1", "sk_3").replace("77", "78");
        let shown = String::from_utf8(rules.lines(format!("{line}{other}").into_bytes())).unwrap();
        let first = shown.lines().next().unwrap();
        assert_eq!(
            first,
            concat!(
                r#"{"type":"tool_result","run_id":"[redacted]","call_id":"[redacted]","tool":"[redacted]","at":"sk_1","#,
                r#""args":{"password":"[redacted]","a":"[redacted]"},"idempotency_key":"[redacted]","#,
                r#""reversal_token":"[redacted]","evidence_refs":["[redacted]"],"status":"error","error":"#,
                r#"{"kind":"[redacted]","message":"[redacted]","status":409,"code":"[redacted]"},"row":1,"#,
                r#""source":"[0].[redacted]"}"#
            )
        );
        let second = shown.lines().nth(1).unwrap();
        assert!(second.contains(r#""run_id":"[redacted] 2""#) && second.contains(r#""row":2"#), "{second}");
        assert!(second.contains(r#""idempotency_key":"[redacted]""#), "the same key is shown alike: {second}");
    }
}
