//! Tells our own trace lines from those of a log that only looks like them. Reads a beginning, and checks nothing.

use serde_json::{Map, Value};

use crate::wire;

/// Lines that are looked at.
const LINES: usize = 50;

/// Whether `beginning` is that of a trace of our own: a line of it is one.
pub fn is_ours(beginning: &[u8]) -> bool {
    let text = String::from_utf8_lossy(beginning);
    let lines = text.trim_start_matches('\u{feff}').lines().filter(|line| !line.trim().is_empty()).take(LINES);
    lines.filter_map(|line| serde_json::from_str::<Map<String, Value>>(line).ok()).any(|line| is_own(&line))
}

/// Our fields, and few others: unknown ones are legal, but a log with many of them is not one of ours.
fn is_own(line: &Map<String, Value>) -> bool {
    let known = line.keys().filter(|name| wire::is_field(name)).count();
    let has = |name: &str| line.get(name).is_some_and(Value::is_string);
    let status = line.get("status").and_then(Value::as_str);
    let status_fits = line.get("status").is_none_or(Value::is_null) || matches!(status, Some("ok" | "error"));
    let is_result = matches!(line.get("type").and_then(Value::as_str), Some("tool_result" | "run_end"));
    (has("tool") || is_result) && status_fits && known * 3 > line.len() * 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_lines_are_known_by_their_fields() {
        for line in [
            r#"{"type":"tool_call","run_id":"r","call_id":"c","tool":"pay","args":{},"team":"x"}"#,
            r#"{"type":"tool_result","call_id":"c","status":"error","error":{"kind":"timeout"}}"#,
            r#"{"tool":"search.web","args":{"q":"x"},"status":"ok"}"#,
            "\n{\"tool\":\"a\"}",
        ] {
            assert!(is_ours(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn logs_that_share_a_name_or_two_are_not_ours() {
        for line in [
            r#"{"tool":"a","took_ms":3}"#,
            r#"{"type":"tool_call","tool":"a","input":{},"id":"1"}"#,
            r#"{"ts":1,"tool":"a","args":{},"run_id":"r","http_status":500}"#,
            r#"{"tool":"a","args":{},"status":503}"#,
            r#"{"tool":"a","args":{},"status":"failed"}"#,
            r#"{"type":"tool_call","name":"a"}"#,
            "not json",
        ] {
            assert!(!is_ours(line.as_bytes()), "{line}");
        }
    }
}
