//! The example exchanges of the protocol, which the tests of every implementation replay.
#![expect(clippy::disallowed_methods, reason = "a test reads the examples, and writes them anew if it is told to")]

use serde_json::{Map, Value};

use playproof_engine::plan::Plan;
use playproof_engine::playbook::Tools;
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook;

use crate::decider::Decider;
use crate::said::Said;
use crate::session::Session;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/dispatch.jsonl");

/// A session under a shipped playbook.
pub(super) fn session(name: &str, keeps_records: bool) -> Session {
    let decider =
        Decider { playbook: name.to_owned(), fingerprint: "0".repeat(64), engine: "0.1.0".to_owned(), shadow: false };
    Session::new(plan(name), decider, keeps_records)
}

/// A shipped playbook.
pub(super) fn plan(name: &str) -> Plan {
    let path = format!("{}/../../playbooks/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    let source = Source::whole(&path, std::fs::read_to_string(&path).unwrap());
    let parsed = playbook::parse(source).unwrap_or_else(|report| panic!("{report}"));
    Plan::new(parsed.playbook, &Tools::default())
}

fn say(session: &mut Session, line: &str) -> String {
    match Said::parse(line) {
        Ok(said) => session.answer(said),
        Err(error) => error.answer(),
    }
}

/// Where an answer lacks what an example has: an answer may say more, but lists are as long.
fn lacks(example: &Value, answer: &Value) -> bool {
    match (example, answer) {
        (Value::Object(example), Value::Object(answer)) => {
            example.iter().any(|(key, value)| answer.get(key).is_none_or(|said| lacks(value, said)))
        }
        (Value::Array(example), Value::Array(answer)) => {
            example.len() != answer.len() || example.iter().zip(answer).any(|(value, said)| lacks(value, said))
        }
        _ => example != answer,
    }
}

/// What every example says in answers; what belongs to a version of a playbook or of the program is left out.
fn kept(answer: &str) -> Value {
    let mut answer: Value = serde_json::from_str(answer).unwrap();
    if let Some(object) = answer.as_object_mut() {
        object.remove("fingerprint");
        object.remove("engine");
        if object.contains_key("code") {
            object.remove("error"); // words for people
        }
    }
    answer
}

#[test]
fn the_examples_of_the_protocol_are_answered_as_they_say() {
    let text = std::fs::read_to_string(FILE).unwrap();
    let (mut current, mut examples, mut written, mut wrong) =
        (session("standard", false), 0, String::new(), Vec::new());
    for (number, line) in text.lines().enumerate() {
        let mut pair: Map<String, Value> = serde_json::from_str(line).unwrap();
        if let Some(playbook) = pair.get("playbook") {
            current = session(playbook.as_str().unwrap(), false);
            examples += 1;
        } else {
            let said =
                pair.get("in_text").map_or_else(|| pair["in"].to_string(), |text| text.as_str().unwrap().to_owned());
            let answer = kept(&say(&mut current, &said));
            if pair.get("out").is_none_or(|example| lacks(example, &answer)) {
                wrong.push(format!(
                    "line {}: {said}\n  says {}\n  not  {answer}",
                    number + 1,
                    pair.get("out").unwrap_or(&Value::Null)
                ));
            }
            pair.insert("out".to_owned(), answer);
        }
        written.push_str(&format!("{}\n", Value::from(pair)));
    }
    if std::env::var_os("UPDATE_DOCUMENTS").is_some() {
        std::fs::write(FILE, written).unwrap();
    }
    assert!(examples >= 15, "{examples} examples");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_answer_that_lacks_something_of_its_example_is_found() {
    let example: Value = serde_json::from_str(r#"{"do":[{"done":"a","effect":"unknown"}]}"#).unwrap();
    for (answer, is_wrong) in [
        (r#"{"do":[{"done":"a","effect":"unknown","attempts":1}],"events":[]}"#, false),
        (r#"{"do":[{"done":"a","effect":"applied"}]}"#, true),
        (r#"{"do":[{"done":"a"}]}"#, true),
        (r#"{"do":[{"done":"a","effect":"unknown"},{"done":"b"}]}"#, true),
    ] {
        assert_eq!(lacks(&example, &serde_json::from_str(answer).unwrap()), is_wrong, "{answer}");
    }
}
