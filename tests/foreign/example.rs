//! The worked example of a mapping does what its comments say.

use playproof_formats::diagnostic::Source;
use playproof_intake::imported::Imported;
use playproof_intake::mapping;
use playproof_intake::redact::RedactionRules;

use super::{path, read_back};

/// What the mapping of an example makes of its log.
fn converted(name: &str) -> Imported {
    let (map, log) = (format!("docs/examples/{name}.mapping.yaml"), format!("docs/examples/{name}.jsonl"));
    let text = std::fs::read_to_string(path(&map)).expect("the mapping");
    let mapping = mapping::parse(Source::whole(&map, text)).unwrap_or_else(|report| panic!("{report}"));
    let bytes = std::fs::read(path(&log)).expect("the log");
    mapping::apply(&mapping, &bytes, &log, &RedactionRules::default()).unwrap_or_else(|report| panic!("{report}"))
}

#[test]
fn the_gateway_s_log_becomes_a_trace() {
    let found = converted("my-log");
    assert_eq!(read_back(&found.lines), (9, 12, 7));
    let lines: Vec<serde_json::Value> = String::from_utf8(found.lines)
        .expect("text")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line"))
        .collect();
    let brief = |line: &serde_json::Value| {
        let error = &line["error"];
        format!("{} {} {} {}", line["call_id"], line["attempt"], error["kind"], error["status"]).replace('"', "")
    };
    let failures: Vec<String> = lines.iter().filter(|line| line["status"] == "error").map(brief).collect();
    assert_eq!(
        failures,
        [
            "q-2 1 timeout null",
            "q-2 2 409_conflict 409",
            "q-4 1 rate_limited 429",
            "q-5 1 403_forbidden 403",
            "q-6 1 5xx 503",
            "q-7 1 timeout null",
            "q-9 1 schema_validation 200",
        ]
    );
    let limited = lines.iter().find(|line| line["error"]["kind"] == "rate_limited").expect("the 429");
    assert_eq!(limited["error"]["retry_after_ms"], 1500);
    assert_eq!(found.loss.unused, []);
}

#[test]
fn the_log_of_a_state_machine_becomes_a_trace_in_which_a_payment_overlaps_itself() {
    let found = converted("burr-log");
    assert_eq!(read_back(&found.lines), (5, 5, 1));
    assert_eq!(found.loss.unused, []);
    let text = String::from_utf8(found.lines).expect("text");
    let lines = || text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a line"));
    let error = lines().find(|line| line["status"] == "error").expect("the failure");
    assert_eq!(error["error"]["message"], "ValueError: qty must be 1 or more");
    let calls = |line: &serde_json::Value| format!("{} {}", line["type"], line["call_id"]).replace('"', "");
    let order: Vec<String> =
        lines().map(|line| calls(&line)).filter(|line| line.contains(" 2") || line.contains(" 3")).collect();
    assert_eq!(order, ["tool_call 2", "tool_call 3", "tool_result 3", "tool_result 2"]);
}

#[test]
fn the_log_of_a_runner_of_steps_becomes_a_trace_with_its_steps() {
    let found = converted("step-log");
    assert_eq!(read_back(&found.lines), (8, 8, 2));
    assert_eq!(found.loss.unused, []);
    let text = String::from_utf8(found.lines).expect("text");
    let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a line"));
    let steps: Vec<String> = lines
        .filter(|line| line["type"] == "tool_call")
        .map(|line| format!("{} {} {}", line["call_id"], line["parent"], line["step"]).replace('"', ""))
        .collect();
    assert_eq!(
        steps,
        [
            "t1 null null",
            "t2 t1 find_pr",
            "t3 t1 post",
            "t4 t1 react",
            "t5 null null",
            "t6 t5 find_pr",
            "t7 t5 post",
            "t8 t5 react"
        ]
    );
}
