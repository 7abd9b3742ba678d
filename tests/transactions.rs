//! Transactions: what is done once in them, what becomes of their state, and what recordings show of them.

use crate::place::Place;

const FIXTURE: &str = "format: fixture/1
title: A model fails after a charge, and the transaction begins again
calls:
  first: { act: begin, transaction: order }
  charge: { tool: payments.charge, args: { o: 1 }, transaction: order, at_ms: 10 }
  save: { act: state, name: order.status, args: { is: paid }, transaction: order, at_ms: 20 }
  model: { tool: llm.plan, args: { n: 1 }, transaction: order, at_ms: 30 }
  too-early: { act: commit, transaction: order, at_ms: 100 }
  second: { act: begin, transaction: order, at_ms: 110 }
  charge-again: { tool: payments.charge, args: { o: 1 }, transaction: order, at_ms: 120 }
  save-again: { act: state, name: order.status, args: { is: paid }, transaction: order, at_ms: 130 }
  model-again: { tool: llm.plan, args: { n: 2 }, transaction: order, at_ms: 140 }
  commit: { act: commit, transaction: order, at_ms: 200 }
  charge-later: { tool: payments.charge, args: { o: 1 }, transaction: order, at_ms: 300 }
tools: { payments.charge: { access: write, once: transaction }, llm.plan: { access: read } }
upstream:
  charge: [ { ok: {} } ]
  charge-again: [ { ok: {} } ]
  charge-later: [ { ok: {} } ]
  model: [ { error: { kind: invalid_arguments } } ]
  model-again: [ { ok: {} } ]
expect:
  standard:
    charge: { outcome: succeeded }
    too-early: { outcome: refused, why: rolled_back }
    charge-again: { outcome: cached, leader: charge }
    commit: { outcome: succeeded }
    charge-later: { outcome: succeeded }
    effects: 2
";

#[test]
fn a_tool_runs_once_in_a_transaction_that_begins_again_and_its_state_is_there_after_the_commit() {
    let place = Place::new();
    place.write("f.yaml", FIXTURE);
    let shown = place.run(&["replay", "f.yaml", "--playbook", "standard"]).out;
    assert!(!shown.contains("contradicts"), "{shown}");
    for said in ["rolled back; nothing upstream is undone", "the state is discarded", "committed"] {
        assert!(shown.contains(said), "{said}\n{shown}");
    }
}

#[test]
fn state_that_was_not_committed_is_gone_after_a_crash_and_needs_a_new_beginning() {
    let place = Place::new();
    let text = |commit: &str| {
        format!(
            "format: fixture/1
title: A dispatcher dies between a write of state and its commit
calls:
  first: {{ act: begin }}
  save: {{ act: state, name: order.status, at_ms: 10 }}
  half: {{ act: commit, at_ms: 2000 }}
  again: {{ act: begin, at_ms: 2100 }}
  save-again: {{ act: state, name: order.status, at_ms: 2200 }}
  whole: {{ act: commit, at_ms: 2300 }}
crash: {{ at_ms: 50 }}
expect: {{ standard: {{ half: {{ {commit} }}, whole: {{ outcome: succeeded }}, effects: 0 }} }}
"
        )
    };
    place.write("f.yaml", &text("outcome: refused, why: rolled_back"));
    place.run(&["replay", "f.yaml", "--playbook", "standard"]).exits(0);
    place.write("f.yaml", &text("outcome: succeeded").replace("crash: { at_ms: 50 }\n", ""));
    place.run(&["replay", "f.yaml", "--playbook", "standard"]).exits(0);
}

#[test]
fn what_may_have_acted_is_refused_in_its_transaction_and_what_is_out_is_waited_for() {
    let place = Place::new();
    let text = |first: &str, second: &str| {
        format!(
            "format: fixture/1
title: The same request twice in one transaction
calls:
  one: {{ tool: mail.send, args: {{ to: a }}, transaction: t }}
  two: {{ tool: mail.send, args: {{ to: a }}, transaction: t, at_ms: 20 }}
  other: {{ tool: mail.send, args: {{ to: a }}, transaction: u, at_ms: 500 }}
tools: {{ mail.send: {{ access: write, once: transaction }} }}
upstream: {{ one: [ {first} ], two: [ {{ ok: {{}} }} ], other: [ {{ ok: {{}} }} ] }}
expect: {{ standard: {{ two: {{ {second} }}, other: {{ outcome: succeeded }} }} }}
"
        )
    };
    let cases = [
        ("{ ok: {}, latency_ms: 100 }", "outcome: joined, leader: one"),
        ("{ ok: {} }", "outcome: cached, leader: one"),
        ("{ error: { kind: tool_raised, message: it raised } }", "outcome: refused, why: unsettled, attempts: 0"),
        ("{ error: { kind: not_sent } }, { error: { kind: not_sent } }, { ok: {} }", "effect: applied"),
    ];
    for (first, second) in cases {
        place.write("f.yaml", &text(first, second));
        let shown = place.run(&["replay", "f.yaml", "--playbook", "standard"]);
        assert!(!shown.out.contains("contradicts") && shown.err.is_empty(), "{first}: {shown:?}");
    }
}

/// A run that charges, fails, and begins again from its checkpoint.
const TRACE: &str = r#"{"type":"begin","transaction":"settle:1","run_id":"t1"}
{"run_id":"t1","call_id":"a","tool":"charge_card","args":{"o":91},"transaction":"settle:1","status":"ok"}
{"type":"state","transaction":"settle:1","run_id":"t1","name":"order.status","args":{"secret":"s3cr3t"}}
{"run_id":"t1","call_id":"b","tool":"send_mail","args":{"o":91},"transaction":"settle:1","status":"error","error":{"kind":"tool_error","message":"smtp: connection reset"}}
{"type":"begin","transaction":"settle:1","run_id":"t1"}
{"run_id":"t1","call_id":"c","tool":"charge_card","args":{"o":91},"transaction":"settle:1","status":"ok"}
{"run_id":"t1","call_id":"d","tool":"send_mail","args":{"o":92},"transaction":"settle:1","status":"error","error":{"kind":"tool_error","message":"smtp: connection reset"}}
{"type":"commit","transaction":"settle:1","run_id":"t1"}
{"run_id":"t1","call_id":"e","tool":"charge_card","args":{"o":91},"transaction":"settle:1","status":"ok"}
"#;

#[test]
fn a_fixture_shows_what_ran_again_unless_it_is_done_once() {
    let place = Place::new();
    let again = FIXTURE.replace(", once: transaction", "");
    let again =
        format!("{}expect: {{ standard: {{ effects: 3 }} }}\n", &again[..again.find("expect:").expect("it expects")]);
    for (text, found) in [(&*again, true), (FIXTURE, false)] {
        place.write("f.yaml", text);
        let shown = place.run(&["replay", "f.yaml", "--playbook", "standard"]).out;
        assert_eq!(shown.contains("reexecuted"), found, "{shown}");
    }
}

#[test]
fn a_fixture_with_transactions_is_recorded_and_decides_the_same() {
    let place = Place::new();
    place.write("f.yaml", FIXTURE);
    place.run(&["replay", "f.yaml", "--playbook", "standard", "--record", "f.jsonl"]);
    let trace = place.read("f.jsonl");
    let acts = ["begin", "state", "rollback", "begin", "state", "commit"];
    let kind = |line: &str| acts.iter().find(|act| line.starts_with(&format!("{{\"type\":\"{act}\""))).copied();
    assert_eq!(trace.lines().filter_map(kind).collect::<Vec<_>>(), acts, "{trace}");
    let args = ["replay", "f.jsonl", "--playbook", "standard", "--tools", "f.tools.yaml", "--same-decisions"];
    place.run(&args).exits(0);
}

#[test]
fn a_recording_shows_what_ran_again_and_what_was_committed_over_a_failure() {
    let place = Place::new();
    place.write("t.jsonl", TRACE);
    place.write("tools.yaml", "format: tools/1\ntools: { charge_card: { access: write } }\n");
    let run = |more: &[&str]| {
        let args = [&["replay", "t.jsonl", "--all", "--format", "jsonl", "--playbook", "standard"], more].concat();
        place.run(&args).out
    };
    let of = |shown: &str, reference: &str| {
        let is_it = |line: &&str| line.contains("\"type\":\"call\"") && line.contains(&format!("\"{reference}\""));
        shown.lines().find(is_it).unwrap_or_else(|| panic!("{reference}\n{shown}")).to_owned()
    };
    let shown = run(&[]);
    assert!(of(&shown, "t1#3").contains(r#""id":"reexecuted","severity":"doubt""#), "{shown}");
    assert!(of(&shown, "t1#4").contains("committed_over_failure") && !of(&shown, "t1#2").contains("committed_over"));
    assert!(!of(&shown, "t1#1").contains("reexecuted") && !of(&shown, "t1#5").contains("reexecuted"));
    assert!(!shown.contains("s3cr3t") && shown.contains("\"other\":0"), "{shown}");
    let shown = run(&["--tools", "tools.yaml"]);
    assert!(of(&shown, "t1#3").contains(r#""id":"reexecuted","severity":"unsafe""#), "{shown}");
    place.write("tools.yaml", "format: tools/1\ntools: { charge_card: { access: write, once: transaction } }\n");
    let shown = run(&["--tools", "tools.yaml"]);
    assert!(of(&shown, "t1#3").contains(r#""outcome":"cached""#), "{shown}");
    assert!(of(&shown, "t1#5").contains(r#""outcome":"succeeded""#), "after the commit it is another request: {shown}");
}

/// The events of a graph whose node charges a card, fails, and runs again from its start; a checkpoint has its name.
fn events() -> String {
    let mut text = String::new();
    let mut event = |kind: &str, name: &str, more: &str| {
        let n = text.lines().count();
        text += &format!(
            "{{\"ts\":\"2026-01-01T00:00:{n:02}+00:00\",\"event\":\"{kind}\",\"name\":\"{name}\",\"thread_id\":\"t\",\"checkpoint_ns\":\"pay:7\"{more}}}\n"
        );
    };
    for (round, mail) in [(1, "on_tool_error"), (2, "on_tool_end")] {
        event("on_chain_start", "pay", &format!(",\"run_id\":\"n{round}\""));
        let (charge, args) = (format!(",\"run_id\":\"c{round}\""), ",\"input\":{\"order\":7}");
        event("on_tool_start", "charge", &format!("{charge}{args}"));
        event("on_tool_end", "charge", &format!("{charge}{args},\"output\":\"charged\""));
        let notify = format!(",\"run_id\":\"m{round}\"{args}");
        event("on_tool_start", "notify", &notify);
        let end = if round == 1 { ",\"error\":\"ConnectionError('reset')\"" } else { ",\"output\":\"sent\"" };
        event(mail, "notify", &format!("{notify}{end}"));
    }
    event("on_chain_end", "pay", ",\"run_id\":\"n2\"");
    text
}

#[test]
fn a_node_of_langgraph_that_runs_again_charges_once_where_its_tool_is_done_once() {
    let place = Place::new();
    place.write("events.jsonl", &events());
    place.write("tools.yaml", "format: tools/1\ntools: { charge: { access: write }, notify: { access: write } }\n");
    let args =
        ["replay", "events.jsonl", "--playbook", "standard", "--tools", "tools.yaml", "--all", "--format", "jsonl"];
    let shown = place.run(&args).out;
    assert!(shown.contains(r#""id":"reexecuted","severity":"unsafe""#), "{shown}");
    let once = "format: tools/1\ntools: { '*': { access: write, once: transaction } }\n";
    place.write("tools.yaml", once);
    let shown = place.run(&args).out;
    assert_eq!(shown.matches(r#""outcome":"cached""#).count(), 2, "the event and the call: {shown}");
}
