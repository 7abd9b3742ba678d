//! A report of lines `name: value`, of which the first names the state in which the call ended: the object that it would be in
//! JSON. Whether that is a failure is left to others.

use super::deeds::shares_stem;
use super::tool_name::{asks, gives_text, has_word, is_command_line, is_reader, is_writer, looks, reports, words};

/// The longest report, in bytes, and the most lines of it.
const LONGEST: usize = 1_500;
const MOST_LINES: usize = 8;

/// States of a call that came to nothing.
const ENDED: [&str; 11] = [
    "declined",
    "denied",
    "error",
    "fail",
    "failed",
    "failure",
    "refused",
    "rejected",
    "timed out",
    "timed_out",
    "timeout",
];

/// The report as an object. None: the text is none, or the tool tells of other things than its own call.
pub(super) fn as_object(text: &str, tool: Option<&str>) -> Option<String> {
    let text = text.trim();
    let is_of_others = |tool: &str| {
        asks(tool)
            || !is_writer(tool) && (looks(tool) || gives_text(tool) || is_reader(tool) || reports(tool))
            || is_command_line(tool)
    };
    let state = state_of(text).filter(|_| !tool.is_some_and(is_of_others))?;
    (!tool.is_some_and(|tool| is_for(tool, &state))).then(|| object(text))?
}

/// The report of any tool as an object.
pub(super) fn of_any(text: &str) -> Option<String> {
    state_of(text.trim()).and_then(|_| object(text.trim()))
}

/// Whether a tool records states, or makes this one: `rejected` of `reject_request`.
fn is_for(tool: &str, state: &str) -> bool {
    has_word(tool, &["mark", "set", "state", "status", "update"])
        || words(tool).iter().any(|word| shares_stem(word, state))
}

/// The failed state in the first line of a short text.
fn state_of(text: &str) -> Option<String> {
    let (name, state) = field(text.lines().next().filter(|_| text.len() <= LONGEST)?)?;
    let state = state.trim_end_matches(['.', '!']).to_ascii_lowercase();
    (["outcome", "result", "state", "status"].contains(&&*name) && ENDED.contains(&&*state)).then_some(state)
}

fn object(text: &str) -> Option<String> {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let fields: Option<Vec<_>> = lines().map(field).collect();
    let fields = fields.filter(|fields| fields.len() <= MOST_LINES)?;
    let printed = fields.iter().enumerate().map(|(at, (name, value))| {
        let is_bare = value.parse::<u64>().is_ok() && !value.starts_with('0') || ["true", "false"].contains(value);
        let name = if at == 0 { "status" } else { name };
        let state = || value.trim_end_matches(['.', '!']).replace(' ', "_");
        let value = if at == 0 { state() } else { (*value).to_owned() };
        let text = |text: &str| serde_json::Value::from(text).to_string();
        format!("{}:{}", text(name), if is_bare { value } else { text(&value) })
    });
    Some(format!("{{{}}}", printed.collect::<Vec<_>>().join(",")))
}

/// The name, in small letters, and the value of a line.
fn field(line: &str) -> Option<(String, &str)> {
    let (name, value) = line.trim().split_once([':', '='])?;
    let name = name.trim().to_ascii_lowercase().replace([' ', '-'], "_");
    let is_name = (1..=30).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_name.then_some((name, value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_that_begins_with_a_failed_state_is_the_object_with_its_fields() {
        for (text, object) in [
            ("Status: FAILED\nReason: gate \"b\" timed out", r#"{"status":"FAILED","reason":"gate \"b\" timed out"}"#),
            ("state=error\ncode: 500", r#"{"status":"error","code":500}"#),
            ("outcome: timed out.", r#"{"status":"timed_out"}"#),
            ("status: failed\nid: 007\npaid: true", r#"{"status":"failed","id":"007","paid":true}"#),
        ] {
            assert_eq!(as_object(text, Some("pay_bill")).as_deref(), Some(object), "{text}");
            assert_eq!(as_object(text, Some("get_bill")), None, "{text}");
            assert_eq!(as_object(text, Some("set_bill")), None, "a tool that sets states: {text}");
        }
        for text in [
            "status: open\nreason: it rains",
            "gate: b\nstatus: failed",
            "status: failed\nThe gate is stuck",
            "status: failed over to b",
            "failed",
        ] {
            assert_eq!(as_object(text, Some("pay_bill")), None, "{text}");
        }
        assert_eq!(as_object("status: rejected", Some("reject_request")), None);
    }
}
