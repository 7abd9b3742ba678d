//! `explain` on whole traces: what the recording shows of other calls, and which call is meant.

use super::{Place, TRACE};

/// Three refunds for one intent, and one for another.
const THRICE: &str = r#"{"run_id":"r1","call_id":"c1","tool":"payments.issue_refund","args":{"order":"o_91","amount":4200},"status":"ok"}
{"run_id":"r1","call_id":"c2","tool":"payments.issue_refund","args":{"order":"o_92","amount":4200},"status":"ok"}
{"run_id":"r1","call_id":"c3","tool":"payments.issue_refund","args":{"amount":4200,"order":"o_91"},"status":"ok"}
{"run_id":"r1","call_id":"c4","tool":"payments.issue_refund","args":{"order":"o_91","amount":4200.0},"status":"ok"}
"#;

const TOOLS: &str = "format: tools/1\ntools:\n  payments.issue_refund: { access: write, idempotent: false }\n";

fn explained(trace: &str, args: &[&str]) -> String {
    let place = Place::new();
    place.write("trace.jsonl", trace);
    place.write("tools.yaml", TOOLS);
    let run = place.run(&[&["explain", "trace.jsonl"], args].concat());
    assert_eq!(run.code, 0, "{}", run.err);
    run.out.split_whitespace().collect::<Vec<_>>().join(" ") // however its lines are wrapped
}

#[test]
fn an_effect_that_was_made_three_times_is_explained_at_each_of_its_calls() {
    let tools = ["--tools", "tools.yaml"];
    for (call, by) in
        [("r1#1", "this call, r1#3 and r1#4"), ("r1#3", "r1#1, this call and r1#4"), ("c4", "r1#1, r1#3 and this call")]
    {
        let page = explained(THRICE, &[&tools[..], &[call]].concat());
        for said in [
            &format!("The effect is there 3 times, made by {by}."),
            "A person: unless more than one was meant, the 2 surplus effects must be found upstream and taken back.",
            "Three equal partial refunds, one a call, can be correct: a tool of which each call is meant to act is declared \
             `repeatable: true`.",
            "No, because the effect is there already, 3 times, and without an idempotency key",
        ] {
            assert!(page.contains(said), "{said}\n{page}");
        }
        assert_eq!(page.contains("unsafe duplicate_effect"), call != "r1#1", "{page}");
    }
}

#[test]
fn another_intent_of_the_same_tool_is_left_alone() {
    let page = explained(THRICE, &["--tools", "tools.yaml", "c2"]);
    assert!(page.contains("The effect is there: an attempt was answered with ok."), "{page}");
    assert!(page.contains("acts next The agent: it continues"), "{page}");
}

#[test]
fn where_nobody_declared_the_tool_a_repetition_is_a_doubt() {
    let undeclared = THRICE.replace("payments.issue_refund", "pay");
    let page = explained(&undeclared, &["c3"]);
    assert!(page.contains("doubt possible_duplicate_effect: one intent may have had 2 effects"), "{page}");
    assert!(page.contains("3 times if this tool writes, which is not declared"), "{page}");
}

#[test]
fn a_key_that_was_used_twice_may_have_been_honoured() {
    let keyed = THRICE.replace("\"args\"", "\"idempotency_key\":\"k\",\"args\"");
    let page = explained(&keyed, &["--tools", "tools.yaml", "c3"]);
    assert!(page.contains("if the upstream ignores the key, and once if it honours it"), "{page}");
    assert!(!page.contains("duplicate_effect: one intent had"), "{page}");
}

#[test]
fn a_name_of_several_calls_is_refused_with_their_places() {
    let place = Place::with_trace();
    place.write("other.jsonl", TRACE);
    let run = place.run(&["explain", "trace.jsonl", "other.jsonl", "r1#1"]);
    assert_eq!(run.code, 2, "{}", run.out);
    assert!(run.err.contains("`r1#1` is the name of several calls: trace.jsonl:1, other.jsonl:1"), "{}", run.err);
    assert!(run.err.contains("explain trace.jsonl other.jsonl trace.jsonl:1"), "{}", run.err);
    let run = place.run(&["explain", "trace.jsonl", "other.jsonl", "other.jsonl:1"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("other.jsonl:1"), "{}", run.out);
    let ids = place.run(&["explain", "trace.jsonl", "c1"]);
    assert!(ids.err.contains("`c1` is the name of several calls: r1#1, r2#1"), "{}", ids.err);
}

#[test]
fn replay_says_so_where_a_call_is_the_name_of_several() {
    let place = Place::with_trace();
    place.write("other.jsonl", TRACE);
    let run = place.run(&["replay", "trace.jsonl", "other.jsonl", "--call", "r1#1"]);
    assert!(run.err.contains("note: `r1#1` is the name of 2 calls: trace.jsonl:1, other.jsonl:1"), "{}", run.err);
    let run = place.run(&["replay", "trace.jsonl", "other.jsonl", "--call", "other.jsonl:1", "--format", "json"]);
    let page: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
    assert_eq!((run.err.as_str(), page["calls"].as_array().map(Vec::len)), ("", Some(1)));
}

#[test]
fn runs_of_several_inputs_are_told_apart() {
    let place = Place::with_trace();
    place.write("other.jsonl", TRACE);
    let off_tape = |args: &[&str]| {
        let run = place.run(&[&["replay", "--format", "json"], args].concat());
        let page: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
        page["playbooks"][0]["off_tape_runs"].as_u64().unwrap_or_else(|| panic!("{page:#}"))
    };
    let one = off_tape(&["trace.jsonl"]);
    assert!(one > 0);
    assert_eq!(off_tape(&["trace.jsonl", "other.jsonl"]), 2 * one);
}

/// Two calls of one run that failed and have a reversal token in common.
const SHARED_TOKEN: &str = r#"{"run_id":"r1","tool":"pay","args":{"n":1},"reversal_token":"rev","status":"error","error":{"kind":"schema_validation"}}
{"run_id":"r1","tool":"pay","args":{"n":2},"reversal_token":"rev","status":"error","error":{"kind":"schema_validation"}}
"#;

#[test]
fn a_token_that_an_earlier_call_of_the_run_has_sent_is_not_sent_again() {
    let args = ["--playbook", "reversing", "--beyond-tape", "ok"];
    let first = explained(SHARED_TOKEN, &[&args[..], &["r1#1"]].concat());
    assert!(first.contains("the reversal token is redeemed"), "{first}");
    let second = explained(SHARED_TOKEN, &[&args[..], &["r1#2"]].concat());
    assert!(second.contains("The token guard refuses the reversal: the token was sent before."), "{second}");
}

#[test]
fn a_reversal_that_the_upstream_did_not_take_is_not_laid_on_the_guard() {
    let page = explained(SHARED_TOKEN, &["--playbook", "reversing", "--beyond-tape", "fail:5xx", "r1#1"]);
    assert!(page.contains("is sent, but the reversal is not confirmed: the upstream failed"), "{page}");
    assert!(!page.contains("token guard refuses") && !page.contains("With the token guard off"), "{page}");
}

#[test]
fn a_modelled_kind_that_no_rule_names_is_warned_of() {
    let place = Place::with_trace();
    let run = |answer| place.run(&["replay", "trace.jsonl", "--beyond-tape", answer]).err;
    assert_eq!(run("fail:timeout"), "");
    assert_eq!(run("fail:boom"), "warning: no rule of `standard` names the error kind `boom`\n");
    let near = "warning: no rule of `standard` names the error kind `timeot`; did you mean `fail:timeout`?\n";
    assert_eq!(run("fail:timeot"), near);
    let explain = place.run(&["explain", "trace.jsonl", "r1#1", "--beyond-tape", "fail:timeot"]);
    assert_eq!((explain.code, explain.err.as_str()), (0, near));
}

#[test]
fn a_name_that_is_suggested_is_one_call_s_alone() {
    let place = Place::with_trace();
    place.write("other.jsonl", TRACE);
    for (inputs, wanted, said) in [
        (&["trace.jsonl"][..], "r1", "`r1` is a run; its calls are r1#1"),
        (&["trace.jsonl", "other.jsonl"], "r1", "`r1` is a run; its calls are trace.jsonl:1, "),
        (&["trace.jsonl"], "zzzz", "such as r1#1, "),
        (&["trace.jsonl", "other.jsonl"], "nothing", "such as trace.jsonl:1, "),
    ] {
        let run = place.run(&[&["explain"], inputs, &[wanted]].concat());
        assert!(run.code == 2 && run.err.contains(said), "{wanted}: {}", run.err);
        let next = run.err.lines().find_map(|line| line.trim().strip_prefix("next: playproof ")).expect("a command");
        let words: Vec<&str> = next.split(' ').map(|word| word.trim_matches('\'')).collect();
        assert_ne!(place.run(&words).code, 2, "{next}");
    }
}

#[test]
fn the_last_word_is_the_call_unless_a_file_has_that_name() {
    let place = Place::new();
    place.write("trace.jsonl", TRACE);
    place.write("other.jsonl", TRACE);
    let named = place.run(&["explain", "trace.jsonl", "r1#1"]).exits(0).out;
    assert_eq!(place.run(&["explain", "trace.jsonl", "--call", "r1#1"]).exits(0).out, named, "the old spelling");
    assert_eq!(place.run_with(&["explain", "-", "r1#1"], TRACE).exits(0).out.lines().count(), named.lines().count());
    // Two files and no call.
    let ran = place.run(&["explain", "trace.jsonl", "other.jsonl"]).exits(2);
    assert!(ran.err.contains("say which call: trace.jsonl:1"), "{}", ran.err);
    assert!(ran.err.contains("next: playproof explain trace.jsonl other.jsonl trace.jsonl:1\n"), "{}", ran.err);
    // A file that is not there is taken for a call, and told as a file too.
    let ran = place.run(&["explain", "trace.jsonl", "othr.jsonl"]).exits(2);
    assert!(ran.err.contains("no file is called `othr.jsonl` either"), "{}", ran.err);
    let ran = place.run(&["explain", "nowhere.jsonl", "r1#1"]).exits(2);
    assert!(ran.err.contains("nowhere.jsonl"), "{}", ran.err);
    // A call that is named like a file can still be chosen by its number.
    place.write("c1", "");
    let ran = place.run(&["explain", "trace.jsonl", "c1"]).exits(2);
    assert!(ran.err.contains("c1"), "{}", ran.err);
    place.run(&["explain", "trace.jsonl", "r1#1"]).exits(0);
}

#[test]
fn an_input_that_cannot_be_read_does_not_hide_the_others() {
    let place = Place::new();
    let line = |id: &str, answer: &str| {
        format!(
            "{{\"run_id\":\"r1\",\"call_id\":\"{id}\",\"tool\":\"payments.issue_refund\",\"args\":{{\"order\":1}},{answer}}}\n"
        )
    };
    let slow = r#""status":"error","error":{"kind":"429_rate_limited","message":"too many requests"}"#;
    place.write("tools.yaml", TOOLS);
    place.write("in/a.jsonl", line("c1", slow));
    let explain = |args: &[&str]| place.run(&[&["explain"], args, &["--tools", "tools.yaml"]].concat());
    let flat = |page: &str| page.split_whitespace().collect::<Vec<_>>().join(" ");
    let whole = explain(&["in", "c1"]).exits(0);
    assert!(flat(&whole.out).contains("send again? Yes: "), "{}", whole.out);
    let said =
        "No, because an input could not be read to its end, and may show that this request acted. Mend it first.";
    for broken in ["{\n", "[1,\n"] {
        place.write("in/b.jsonl", line("c2", r#""status":"ok""#) + broken);
        let run = explain(&["in", "c1"]).exits(2);
        assert!(run.err.contains("b.jsonl:2"), "{}", run.err);
        assert!(flat(&run.out).contains("but an input could not be read to its end"), "{}", run.out);
        assert!(flat(&run.out).contains(said), "{}", run.out);
    }
    // A call that is nowhere, and a single input, have no page.
    let run = explain(&["in", "c9"]).exits(2);
    assert!(
        run.err.contains("there is no call `c9`") && run.err.contains("b.jsonl") && run.out.is_empty(),
        "{}",
        run.err
    );
    let run = explain(&["in/b.jsonl"]).exits(2);
    assert!(run.out.is_empty(), "{}", run.out);
}

/// A tool that may be called twice is no reason to make a call again that the playbook refuses.
#[test]
fn a_refused_call_of_an_idempotent_tool_is_not_advised_to_be_made_again() {
    let place = Place::new();
    place.write(
        "p.yaml",
        "format: playbook/1
name: p
verdicts: { odd: { means: It failed., effect: unknown, then: { escalate_to_human: { queue: q } } } }
classify: []
otherwise: odd
queues: [q]
default_queue: q
tools: { set: { access: write, idempotent: true, schema: { type: object, properties: { x: { type: integer } } } } }
",
    );
    let advice = |x: &str, ends: &str| {
        let fixture = format!(
            "format: fixture/1\ntitle: set\nplaybooks: [p]\ncalls: {{ set: {{ tool: set, args: {{ x: {x} }} }} }}\n\
             upstream: {{ set: [{{ ok: {{}}, latency_ms: 1 }}] }}\nexpect: {{ p: {{ set: {{ outcome: {ends} }} }} }}\n"
        );
        place.write("f.yaml", &fixture);
        place.run(&["explain", "f.yaml", "set", "--playbook", "p.yaml"]).exits(0).out
    };
    let refused = advice("a", "refused");
    assert!(refused.contains("send again?  No, because the playbook refuses this call as it stands"), "{refused}");
    let sent = advice("1", "succeeded");
    assert!(sent.contains("send again?  Yes, because the tool is declared idempotent"), "{sent}");
}

#[test]
fn the_last_word_is_a_call_also_where_a_folder_has_its_name() {
    let place = Place::with_trace();
    place.write("r1#1/other.jsonl", TRACE);
    let run = place.run(&["explain", "trace.jsonl", "r1#1"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
    assert!(run.out.contains("trace.jsonl:1") && !run.out.contains("other.jsonl"), "{}", run.out);
    let several = place.run(&["explain", "trace.jsonl", "./r1#1"]);
    assert_eq!(several.code, 2, "{several:?}");
    assert!(several.err.contains("error: say which call"), "{}", several.err);
}

#[test]
fn the_last_word_is_one_more_input_only_if_no_call_has_that_name() {
    let place = Place::with_trace();
    place.write("monday/other.jsonl", TRACE);
    let run = place.run(&["explain", "trace.jsonl", "monday"]);
    assert_eq!(run.code, 2, "{run:?}");
    let note = "note: no call is named `monday`, so it is read as one more input";
    assert!(run.err.starts_with(note) && run.err.contains("error: say which call"), "{}", run.err);
}

#[test]
fn reports_beside_the_trace_are_noted_once_also_where_a_folder_has_the_name_of_a_call() {
    let place = Place::new();
    place.write("in/trace.jsonl", TRACE);
    place.write("in/check.json", r#"{"format":"check/1"}"#);
    place.write("r1#1/other.jsonl", TRACE);
    place.write("monday/other.jsonl", TRACE);
    let left_out = "note: 1 report of Playproof left out: in/check.json\n";
    let run = place.run(&["explain", "in", "r1#1"]).exits(0);
    assert_eq!(run.err, left_out);
    let run = place.run(&["explain", "in", "monday"]).exits(2);
    assert_eq!(run.err.matches(left_out).count(), 1, "{}", run.err);
}

#[test]
fn a_wrong_call_in_a_folder_is_answered_with_the_folder_and_names_that_fit_its_files() {
    let place = Place::new();
    for n in 1..=12 {
        let call = format!("{{\"run_id\":\"r{n}\",\"tool\":\"pay\",\"status\":\"ok\"}}\n");
        place.write(&format!("traces/t{n}.jsonl"), &call);
    }
    let all: Vec<String> = (1..=12).map(|n| format!("traces/t{n}.jsonl")).collect();
    let folder = place.run(&["explain", "traces", "nothing"]);
    assert!(folder.err.contains("there is no call `nothing` in traces\n"), "{}", folder.err);
    assert!(folder.err.contains("next: playproof replay traces\n"), "{}", folder.err);
    let files: Vec<&str> = ["explain"].into_iter().chain(all.iter().map(String::as_str)).chain(["nothing"]).collect();
    let files = place.run(&files).err;
    assert!(files.contains("traces/t10.jsonl, and more\n") && !files.contains("t11.jsonl, "), "{files}");
    let fixture = "format: fixture/1\ntitle: t\ncalls: { look: { tool: a }, pay: { tool: b } }\nexpect: { standard: { effects: 0 } }\n";
    place.write("f.yaml", fixture);
    let said = place.run(&["explain", "f.yaml", "f.yaml:3"]).err;
    assert!(
        said.contains("named as their fixture names them, such as look, pay") && !said.contains("FILE:LINE"),
        "{said}"
    );
}
