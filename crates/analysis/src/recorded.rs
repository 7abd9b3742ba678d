//! Turns a recorded call into a fixture with the recorded answers as its script, without an `expect`. Knows no playbook.

use std::collections::BTreeMap;

use serde_json::Value;

use playproof_engine::call::{AnswerTo, RecordedAnswer, RecordedCall};
use playproof_engine::fixture::{Fixture, FixtureCall};
use playproof_engine::time::{Duration, Instant};
use playproof_engine::upstream::{KeyDialect, Script, ScriptedAnswer, UpstreamReply};
use playproof_trace::canonical::text_of;

/// The name of the only call of such a fixture.
const CALL: &str = "call";

/// The most answers of one kind in a fixture.
const ANSWERS_MAX: usize = 20;

/// The longest wait; longer ones come from a wrong clock.
const LONGEST: Duration = Duration::from_millis(86_400_000);

/// How much of a call's arguments and evidence a page shows or a committed file keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arguments {
    /// All values as recorded; redaction happened when the call was read.
    Values,
    /// Names and types: every value is a sample of its type.
    Types,
}

/// The fixture of one recorded call. A key or a token is replaced by another one, for privacy.
pub fn of_recorded(call: &RecordedCall, title: String, arguments: Arguments) -> Fixture {
    let call = FixtureCall {
        name: CALL.to_owned(),
        tool: call.tool().to_owned(),
        args: args(call, arguments),
        key: call.key().map(|_| "ik_1".to_owned()),
        token: call.token().map(|_| "rev_1".to_owned()),
        evidence: evidence(call, arguments),
        at: Instant::ZERO,
        timeout: call.timeout.map(written),
        draws: Vec::new(),
        script: script(call),
    };
    Fixture {
        title,
        seed: None,
        playbooks: Vec::new(),
        calls: vec![call],
        keys: KeyDialect::default(),
        before: Vec::new(),
        tools: Vec::new(),
        expect: BTreeMap::new(),
    }
}

/// The arguments, if they are a map: fixtures allow nothing else.
fn args(call: &RecordedCall, arguments: Arguments) -> String {
    let read = call.args().and_then(|args| serde_json::from_str::<Value>(args).ok());
    let mut value = read.filter(Value::is_object).unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    if arguments == Arguments::Types {
        blank(&mut value);
    }
    text_of(&value.to_string())
}

fn blank(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(blank),
        Value::Array(items) => {
            items.truncate(1);
            items.iter_mut().for_each(blank);
        }
        Value::String(text) => *text = "text".to_owned(),
        Value::Number(_) => *value = Value::from(1),
        Value::Null | Value::Bool(_) => {}
    }
}

fn evidence(call: &RecordedCall, arguments: Arguments) -> Vec<String> {
    let read = call.evidence().and_then(|refs| serde_json::from_str::<Vec<String>>(refs).ok()).unwrap_or_default();
    match arguments {
        Arguments::Values => read,
        Arguments::Types => (1..).zip(read).map(|(n, _)| format!("ev_{n}")).collect(),
    }
}

fn script(call: &RecordedCall) -> Script {
    let of = |to: AnswerTo| -> Vec<ScriptedAnswer> {
        let mut before = call.at;
        let answers = call.answers.iter().filter(|answer| answer.to == to).take(ANSWERS_MAX);
        answers
            .map(|answer| {
                let latency = latency(answer, before);
                before = answer.at;
                ScriptedAnswer { reply: UpstreamReply::from(&answer.reply), latency, applied: None }
            })
            .collect()
    };
    Script { attempts: of(AnswerTo::Attempt), refresh: of(AnswerTo::Refresh), reversal: of(AnswerTo::Reversal) }
}

/// The time from the request to the answer, if both are recorded.
fn latency(answer: &RecordedAnswer, before: Option<Instant>) -> Duration {
    let start = answer.started.or(before);
    start.zip(answer.at).map(|(start, end)| written(end.since(start))).unwrap_or_default()
}

/// Rounded for a fixture: whole milliseconds, within bounds.
fn written(span: Duration) -> Duration {
    Duration::from_millis(span.min(LONGEST).as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;
    use playproof_engine::upstream::UpstreamReply;
    use playproof_trace::input::TraceInput;
    use playproof_trace::redact::RedactionRules;

    const TRACE: &str = r#"{"type":"tool_call","run_id":"r","call_id":"c","tool":"pay","at_ms":10,"args":{"b":"secret","a":[1,2],"c":{"d":7,"e":null}},"idempotency_key":"k-9","reversal_token":"t-9","evidence_refs":["e-8","e-9"]}
{"type":"tool_result","run_id":"r","call_id":"c","attempt":1,"at_ms":99999999,"status":"error","error":{"kind":"timeout"}}
{"type":"tool_result","run_id":"r","call_id":"c","attempt":2,"started_ms":100000000.7,"at_ms":100000009,"status":"ok"}
"#;

    fn recorded(text: &str) -> RecordedCall {
        let mut closed = TraceInput::own("t", text.as_bytes()).calls(&RedactionRules::default()).unwrap();
        closed.pop().unwrap().raw().clone()
    }

    #[test]
    fn a_recorded_call_answers_as_recorded_and_keeps_its_key_and_token_private() {
        let fixture = of_recorded(&recorded(TRACE), "t".to_owned(), Arguments::Values);
        let [call] = fixture.calls.as_slice() else { panic!("{fixture:?}") };
        assert_eq!(call.args, r#"{"a":[1,2],"b":"secret","c":{"d":7,"e":null}}"#);
        assert_eq!((call.key.as_deref(), call.token.as_deref()), (Some("ik_1"), Some("rev_1")));
        assert_eq!(call.evidence, ["e-8", "e-9"]);
        let answers: Vec<_> =
            call.script.attempts.iter().map(|one| (one.reply == UpstreamReply::Ok, one.latency.as_millis())).collect();
        assert_eq!(answers, [(false, 86_400_000), (true, 8)], "a day at most, in whole milliseconds");
    }

    #[test]
    fn types_contain_no_data() {
        let fixture = of_recorded(&recorded(TRACE), String::new(), Arguments::Types);
        let [call] = fixture.calls.as_slice() else { panic!("{fixture:?}") };
        assert_eq!(call.args, r#"{"a":[1],"b":"text","c":{"d":1,"e":null}}"#);
        assert_eq!(call.evidence, ["ev_1", "ev_2"]);
    }

    #[test]
    fn arguments_that_are_not_a_map_are_dropped() {
        let call = recorded("{\"tool\":\"pay\",\"args\":[1],\"status\":\"ok\"}\n");
        assert_eq!(of_recorded(&call, String::new(), Arguments::Values).calls[0].args, "{}");
    }
}
