//! What the agent is told, in JSON of fixtures and traces and as envelopes; and how a trace's own advice is judged.

use serde_json::Value;

use crate::place::Place;

/// A write without a key that times out twice; its agent was told that it may try again, and did.
const ADVISED: &str = r#"{"run_id":"r1","call_id":"c1","tool":"mail.send","args":{"to":"a"},"status":"error","error":{"kind":"timeout","message":"secret api_key=sk_live_1234567890abcdef","retriable":true}}
{"run_id":"r1","call_id":"c2","tool":"mail.send","args":{"to":"a"},"status":"error","error":{"kind":"timeout"}}
{"run_id":"r1","call_id":"c3","tool":"mail.send","args":{"to":"b"},"status":"ok"}
"#;

const TOOLS: &str = "format: tools/1\ntools: { mail.send: { access: write, idempotent: false } }\n";

fn calls(place: &Place, kind: &str) -> Vec<Value> {
    let args = ["replay", "t.jsonl", "--tools", "tools.yaml", "--all", "--format", "jsonl", "--envelope", kind];
    let out = place.run(&args).exits(1).out;
    let lines = out.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    lines.filter(|line| line["type"] == "call").collect()
}

fn place() -> Place {
    let place = Place::new();
    place.write("t.jsonl", ADVISED);
    place.write("tools.yaml", TOOLS);
    place.write("playproof.yaml", "format: project/1\nredaction: { patterns: ['sk_live_[A-Za-z0-9]+'] }\n");
    place
}

#[test]
fn each_kind_of_envelope_is_added_to_each_call_and_is_null_where_the_agent_gets_none() {
    let place = place();
    for (kind, at) in [
        ("failure", "/error/class"),
        ("refusal", "/error"),
        ("dispatch", "/data/kind"),
        ("openai", "/role"),
        ("anthropic", "/is_error"),
    ] {
        let calls = calls(&place, kind);
        assert_eq!(calls.len(), 3);
        assert!(calls[0]["envelope"].pointer(at).is_some_and(|value| !value.is_null()), "{kind}: {}", calls[0]);
        assert_eq!(calls[2]["envelope"].is_null(), kind != "refusal", "a success: {}", calls[2]);
        assert!(!calls[0]["envelope"].to_string().contains("sk_live_1234567890abcdef"), "{kind}: a secret");
        assert_eq!(calls[0]["told"]["retriable"], false, "whatever the recording told");
        assert!(calls[2].get("told").is_none());
    }
    let failure = &calls(&place, "failure")[0];
    assert_eq!(failure["envelope"]["error"]["audit_id"], failure["told"]["audit_id"]);
}

#[test]
fn envelopes_are_for_programs() {
    let place = place();
    let refused = place.run(&["replay", "t.jsonl", "--envelope", "openai"]).exits(2);
    assert!(refused.err.contains("--format json"), "{}", refused.err);
    place.run(&["replay", "t.jsonl", "--envelope", "telegram", "--format", "json"]).exits(2);
}

#[test]
fn advice_that_was_followed_although_the_call_may_have_acted_is_unsafe() {
    let place = place();
    let found = calls(&place, "failure")[1]["findings"].to_string();
    assert!(found.contains(r#""id":"unsafe_advice""#) && found.contains(r#""severity":"unsafe""#), "{found}");
    place.write("t.jsonl", &ADVISED.replace("\"retriable\":true", "\"retriable\":false"));
    let found = calls(&place, "failure")[1]["findings"].to_string();
    assert!(found.contains(r#""id":"ignored_advice""#) && !found.contains("unsafe_advice"), "{found}");
    assert!(place.run(&["help", "unsafe_advice"]).exits(0).out.contains("may act twice"));
}
