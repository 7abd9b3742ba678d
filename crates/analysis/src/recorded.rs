//! Turns a recorded call, or all calls of a run, into a fixture with the recorded answers as its script, without an
//! `expect`. The fixture of one call has the names and types of the arguments and none of their values: it is committed.
//! The fixture of a run is not. Knows no playbook.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use playproof_engine::call::{AnswerTo, RecordedAnswer, RecordedCall};
use playproof_engine::event::ErrorFacts;
use playproof_engine::fixture::{Fixture, FixtureCall};
use playproof_engine::time::{Duration, Instant};
use playproof_engine::upstream::{Script, ScriptedAnswer, UpstreamReply};
use playproof_intake::call::CompletedCall;
use playproof_intake::canonical::text_of;

/// The name of the only call of such a fixture.
const CALL: &str = "call";

/// The most answers of one kind in a fixture.
const ANSWERS_MAX: usize = 20;

/// The longest wait; longer ones come from a wrong clock.
const LONGEST: Duration = Duration::from_millis(86_400_000);

/// How much of a call's arguments a page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arguments {
    /// All values as recorded; redaction happened when the call was read.
    Values,
    /// Names and types.
    Types,
}

/// The fixture of one recorded call. Keys, tokens, evidence and the values of arguments are replaced by others of their
/// types.
pub fn of_recorded(call: &RecordedCall) -> Fixture {
    let call = FixtureCall {
        name: CALL.to_owned(),
        tool: call.tool().to_owned(),
        args: args(call),
        key: call.key().map(|_| "ik_1".to_owned()),
        token: call.token().map(|_| "rev_1".to_owned()),
        evidence: evidence(call),
        timeout: call.timeout.map(written),
        script: script(call),
        ..FixtureCall::default()
    };
    Fixture { calls: vec![call], ..Fixture::default() }
}

/// The calls of each run, in the order of their lines, with the name of the run as shown; the runs in the order of their
/// first calls.
pub fn runs_of(calls: &[CompletedCall]) -> Vec<(Option<&str>, Vec<&CompletedCall>)> {
    let mut sorted: Vec<&CompletedCall> = calls.iter().collect();
    sorted.sort_by_key(|call| call.raw().number);
    let mut places: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    let mut runs: Vec<(Option<&str>, Vec<&CompletedCall>)> = Vec::new();
    for call in sorted {
        let place = *places.entry(call.raw().run()).or_insert(runs.len());
        match runs.get_mut(place) {
            Some((_, calls)) => calls.push(call),
            None => runs.push((call.shown().run(), vec![call])),
        }
    }
    runs
}

/// The fixture of a run: its calls as shown, at their recorded times, or one after the other where some have none. Its
/// failures are classified as recorded; keys and tokens have other names.
pub fn fixture_of_run(calls: &[&CompletedCall]) -> Fixture {
    let (mut keys, mut tokens) = (Aliases::default(), Aliases::default());
    let start = calls.iter().map(|call| call.raw().at).collect::<Option<Vec<Instant>>>();
    let start = start.and_then(|times| times.into_iter().min());
    let call = |(n, call): (usize, &&CompletedCall)| {
        let (raw, shown) = (call.raw(), call.shown());
        let at = start.zip(raw.at).map(|(start, at)| written(at.since(start)));
        FixtureCall {
            name: format!("c{}", n + 1),
            tool: shown.tool().to_owned(),
            args: shown.args().map(text_of).filter(|args| args.starts_with('{')).unwrap_or_else(|| "{}".to_owned()),
            key: raw.key().map(|key| keys.name("ik", key)),
            token: raw.token().map(|token| tokens.name("rev", token)),
            evidence: evidence(raw),
            at: at.map_or(Instant::ZERO, |at| Instant::from_millis(at.as_millis())),
            after: n.checked_sub(1).filter(|_| at.is_none()).into_iter().collect(),
            timeout: raw.timeout.map(written),
            script: if kinds(raw) == kinds(shown) { script(raw) } else { script(shown) },
            ..FixtureCall::default()
        }
    };
    Fixture { calls: calls.iter().enumerate().map(call).collect(), ..Fixture::default() }
}

/// The error kinds of a call, which a golden names.
fn kinds(call: &RecordedCall) -> Vec<Option<String>> {
    let kind =
        |answer: &'_ RecordedAnswer| answer.reply.error().and_then(|error| Some(error.kind.as_deref()?.to_owned()));
    call.answers.iter().map(kind).collect()
}

/// Other names for texts, in the order in which they are asked for.
#[derive(Default)]
struct Aliases(BTreeMap<String, usize>);

impl Aliases {
    fn name(&mut self, prefix: &str, text: &str) -> String {
        let next = self.0.len() + 1;
        format!("{prefix}_{}", self.0.entry(text.to_owned()).or_insert(next))
    }
}

/// The arguments, if they are a map: fixtures allow nothing else.
fn args(call: &RecordedCall) -> String {
    let read = call.args().and_then(|args| serde_json::from_str::<Value>(args).ok());
    let mut value = read.filter(Value::is_object).unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    blank(&mut value);
    text_of(&value.to_string())
}

/// The sample of a text, and of a number.
const TEXT: &str = "text";
const NUMBER: &str = "1";

fn blank(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(blank),
        Value::Array(items) => {
            items.truncate(1);
            items.iter_mut().for_each(blank);
        }
        Value::String(text) => *text = TEXT.to_owned(),
        Value::Number(_) => *value = Value::from(1),
        Value::Null | Value::Bool(_) => {}
    }
}

fn evidence(call: &RecordedCall) -> Vec<String> {
    let read = call.evidence().and_then(|refs| serde_json::from_str::<Vec<String>>(refs).ok()).unwrap_or_default();
    (1..).zip(read).map(|(n, _)| format!("ev_{n}")).collect()
}

/// The same fixture with messages that do not repeat the values of the arguments. A rule may ask for such a word, so the
/// result need not behave as the recorded call.
#[must_use]
pub fn without_echoes(mut fixture: Fixture, call: &RecordedCall) -> Fixture {
    for answer in fixture.calls.iter_mut().flat_map(|call| &mut call.script.attempts) {
        if let UpstreamReply::Failed(Some(error))
        | UpstreamReply::Suspected(Some(error))
        | UpstreamReply::Unfinished(Some(error)) = &mut answer.reply
        {
            let message = error.message.as_deref().map(|message| message_without_echoes(message, call).into());
            *error = Arc::new(ErrorFacts { message, ..(**error).clone() });
        }
    }
    fixture
}

/// A message of the call without the values of its arguments.
pub fn message_without_echoes(message: &str, call: &RecordedCall) -> String {
    let args: Value = call.args().and_then(|args| serde_json::from_str(args).ok()).unwrap_or_default();
    let mut values = Vec::new();
    add_values(&args, &mut values);
    values.sort_by_key(|(value, _)| std::cmp::Reverse(value.len())); // a value may contain another one
    without_values(message, &values)
}

/// The texts and numbers that a message may repeat, each with its sample. Shorter ones are a message's own.
fn add_values(value: &Value, values: &mut Vec<(String, &'static str)>) {
    match value {
        Value::Object(fields) => fields.values().for_each(|field| add_values(field, values)),
        Value::Array(items) => items.iter().for_each(|item| add_values(item, values)),
        Value::String(text) if text.trim().len() > 2 => values.push((text.trim().to_owned(), TEXT)),
        Value::Number(number) if number.to_string().len() > 1 => values.push((number.to_string(), NUMBER)),
        Value::String(_) | Value::Number(_) | Value::Null | Value::Bool(_) => {}
    }
}

/// The message with a sample in place of each value that stands alone.
fn without_values(message: &str, values: &[(String, &'static str)]) -> String {
    let (mut out, mut rest) = (String::new(), message);
    while let Some(first) = rest.chars().next() {
        let stands_alone = |value: &String| {
            let behind = rest.strip_prefix(value.as_str())?;
            let alone = !out.ends_with(char::is_alphanumeric) && !behind.starts_with(char::is_alphanumeric);
            alone.then_some(behind)
        };
        let echo = values.iter().find_map(|(value, sample)| Some((stands_alone(value)?, *sample)));
        match echo {
            Some((behind, sample)) => {
                out.push_str(sample);
                rest = behind;
            }
            None => {
                out.push(first);
                rest = rest.get(first.len_utf8()..).unwrap_or("");
            }
        }
    }
    out
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
    use playproof_intake::input::TraceInput;
    use playproof_intake::redact::RedactionRules;

    const TRACE: &str = r#"{"type":"tool_call","run_id":"r","call_id":"c","tool":"pay","at_ms":10,"args":{"b":"secret","a":[1,2],"c":{"d":7,"e":null}},"idempotency_key":"k-9","reversal_token":"t-9","evidence_refs":["e-8","e-9"]}
{"type":"tool_result","run_id":"r","call_id":"c","attempt":1,"at_ms":99999999,"status":"error","error":{"kind":"timeout"}}
{"type":"tool_result","run_id":"r","call_id":"c","attempt":2,"started_ms":100000000.7,"at_ms":100000009,"status":"ok"}
"#;

    fn recorded(text: &str) -> RecordedCall {
        let mut closed = TraceInput::own("t", text.as_bytes()).calls(&RedactionRules::default()).unwrap();
        closed.pop().unwrap().raw().clone()
    }

    #[test]
    fn a_recorded_call_answers_as_recorded_and_its_values_stay_private() {
        let fixture = of_recorded(&recorded(TRACE));
        let [call] = fixture.calls.as_slice() else { panic!("{fixture:?}") };
        assert_eq!(call.args, r#"{"a":[1],"b":"text","c":{"d":1,"e":null}}"#);
        assert_eq!((call.key.as_deref(), call.token.as_deref()), (Some("ik_1"), Some("rev_1")));
        assert_eq!(call.evidence, ["ev_1", "ev_2"]);
        let answers: Vec<_> =
            call.script.attempts.iter().map(|one| (one.reply == UpstreamReply::Ok, one.latency.as_millis())).collect();
        assert_eq!(answers, [(false, 86_400_000), (true, 8)], "a day at most, in whole milliseconds");
    }

    #[test]
    fn a_message_without_echoes_keeps_its_own_words() {
        let said = |args: &str, message: &str| {
            let error = format!(r#""status":"error","error":{{"kind":"odd","message":"{message}"}}"#);
            let call = recorded(&format!("{{\"tool\":\"pay\",\"args\":{args},{error}}}\n"));
            let fixture = without_echoes(of_recorded(&call), &call);
            let reply = &fixture.calls[0].script.attempts[0].reply;
            let UpstreamReply::Failed(Some(error)) = reply else { panic!("{reply:?}") };
            error.message.clone().unwrap_or_default()
        };
        let args = r#"{"to":"Ann Lee","of":{"cents":4711},"first":"Ann"}"#;
        assert_eq!(&*said(args, "Ann Lee (Ann) owes 4711, not 47110"), "text (text) owes 1, not 47110");
        assert_eq!(&*said(r#"{"n":4,"unit":"s","word":"lock"}"#, "it locks in 4 s"), "it locks in 4 s");
    }

    #[test]
    fn a_run_becomes_a_fixture_with_its_calls_in_their_order_and_other_names_for_keys() {
        let call = |run: &str, key: &str, at: &str| {
            format!(r#"{{"run_id":"{run}","tool":"pay","args":{{"n":1}},"idempotency_key":"{key}"{at},"status":"ok"}}"#)
        };
        let text = |times: [&str; 3]| {
            let [a, b, c] = times;
            [call("r1", "s3cret", a), call("r2", "k", b), call("r1", "s3cret", c)].join("\n") + "\n"
        };
        let read = |text: &str| TraceInput::own("t", text.as_bytes()).calls(&RedactionRules::default()).unwrap();
        let timed = read(&text([",\"at_ms\":10", ",\"at_ms\":11", ",\"at_ms\":30"]));
        let runs = runs_of(&timed);
        assert_eq!(
            runs.iter().map(|(run, calls)| (*run, calls.len())).collect::<Vec<_>>(),
            [(Some("r1"), 2), (Some("r2"), 1)]
        );
        let fixture = fixture_of_run(&runs[0].1);
        let calls: Vec<_> =
            fixture.calls.iter().map(|call| (&*call.name, call.key.as_deref(), call.at.as_micros())).collect();
        assert_eq!(calls, [("c1", Some("ik_1"), 0), ("c2", Some("ik_1"), 20_000)]);
        assert_eq!(fixture.calls[1].args, r#"{"n":1}"#);
        let untimed = read(&text(["", "", ""]));
        let fixture = fixture_of_run(&runs_of(&untimed)[0].1);
        assert_eq!(fixture.calls.iter().map(|call| call.after.clone()).collect::<Vec<_>>(), [vec![], vec![0]]);
    }

    #[test]
    fn arguments_that_are_not_a_map_are_dropped() {
        let call = recorded("{\"tool\":\"pay\",\"args\":[1],\"status\":\"ok\"}\n");
        assert_eq!(of_recorded(&call).calls[0].args, "{}");
    }
}
