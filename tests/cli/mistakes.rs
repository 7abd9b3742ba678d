//! Typical mistakes in files and on the command line: each message ends in the right text to write.

use crate::place::Place;

/// A playbook that is right, in which one text is replaced by another.
const PLAYBOOK: &str = "\
format: playbook/1
name: it
verdicts:
  down: { means: m, effect: unknown, then: { escalate_to_human: { queue: people } } }
  busy: { means: m, effect: not_applied, then: { retry_with_backoff: { backoff_ms: [200] } } }
classify:
  - { rule: busy, when: { status: 429 }, verdict: busy }
  - { rule: down, when: { kind: 5xx }, verdict: down }
otherwise: down
queues: [people]
default_queue: people
tools:
  pay: { access: write, timeout_ms: 5000 }
limits: { max_attempts: 3, deadline_ms: 60000 }
";

/// The text that is replaced, the mistake, and what the message says to write.
const IN_PLAYBOOKS: [(&str, &str, &str); 27] = [
    ("status: 429", "status: '429'", "write `429` without quotes"),
    ("kind: 5xx", "kind: 402", "write `status: 402`"),
    ("status: 429", "status: 4290", "write a number, or a range such as `\"500-599\"`"),
    ("  - { rule: down", "    - { rule: down", "in the same column"),
    ("otherwise: down", " otherwise: down", "in the same column"),
    ("name: it", "name: 'it", "close the quote on the line where it is opened"),
    ("status: 429", "status: 5xx", "write `\"500-599\"`"),
    ("format: playbook/1\n", "", "write `format: playbook/1`"),
    (
        ", then: { escalate_to_human: { queue: people } } }",
        " }",
        "write `then: { escalate_to_human: { queue: people } }`",
    ),
    ("timeout_ms: 5000", "timeout: 5", "write `timeout_ms: 5000` for 5 s; `timeout_ms: 5` is 5 ms"),
    ("deadline_ms: 60000", "deadline_ms: 60s", "write `60000`, in milliseconds"),
    ("[200]", "200", "write `backoff_ms: [200]`"),
    ("backoff_ms: [200]", "backoff_ms: [200], retries: 3", "write `max_retries: 3`"),
    (
        "{ retry_with_backoff: { backoff_ms: [200] } }",
        "retry",
        "write `{ retry_with_backoff: { backoff_ms: [200, 1000] } }`",
    ),
    ("escalate_to_human: { queue: people }", "escalate: people", "write `escalate_to_human: { queue: people }`"),
    ("effect: not_applied", "effect: none", "write `not_applied`"),
    ("effect: not_applied, ", "", "write `effect: applied`, `effect: not_applied` or `effect: unknown`"),
    ("status: 429", "message: 'rate limit.*'", "write `{ contains: 'rate limit.*' }`"),
    ("status: 429", "http_status: 429", "write `status: 429`"),
    ("backoff_ms: [200]", "backoff_ms: [200], retries: 2", "write `max_retries: 2`"),
    ("verdict: busy", "verdict: bussy", "did you mean `busy`?"),
    ("queue: people", "queue: poeple", "did you mean `people`?"),
    ("access: write", "access: readonly", "write `read`"),
    ("access: write, ", "readonly: true, ", "write `access: read`"),
    ("timeout_ms: 5000", "idempotent: yes", "write `true`"),
    ("classify:\n  - { rule: busy", "rules:\n  - { rule: busy", "write `classify` in place of it"),
    ("max_attempts: 3", "max_retries: 3", "write `max_attempts: 3`"),
];

/// A fixture that is right.
const FIXTURE: &str = "\
format: fixture/1
title: t
calls:
  a: { tool: pay, args: { x: 1 } }
upstream:
  a: [{ error: { kind: 5xx, status: 500 }, latency_ms: 5 }]
expect:
  standard:
    a: { outcome: escalated }
";

const IN_FIXTURES: [(&str, &str, &str); 11] = [
    ("format: fixture/1\n", "", "write `format: fixture/1`"),
    ("[{ error: { kind: 5xx, status: 500 }, latency_ms: 5 }]", "{ ok: {} }", "write `[{ ok: {} }]`"),
    ("{ error: { kind: 5xx, status: 500 }, latency_ms: 5 }", "ok", "write `{ ok: {} }`"),
    ("error: { kind: 5xx, status: 500 }", "status: 500", "write `error: { status: 500 }`"),
    ("error: { kind: 5xx, status: 500 }", "error: 'it broke'", "write `{ message: 'it broke' }`"),
    ("latency_ms: 5", "latency: 5s", "write `latency_ms: 5000`, in milliseconds"),
    ("outcome: escalated", "outcome: success", "write `succeeded`"),
    ("  standard:\n    a:", "  a:", "write `expect: { standard: { a: { ... } } }`"),
    ("expect:\n  standard:\n    a: { outcome: escalated }\n", "", "write `expect: { standard: { effects: 1 } }`"),
    ("args: { x: 1 }", "arguments: { x: 1 }", "write `args` in place of it"),
    ("  a: [", "  b: [", "no call is called `b`"),
];

const IN_OTHER_FILES: [(&str, &str, &[&str], &str); 8] = [
    ("tools.yaml", "tools: { pay: { access: write } }\n", TOOLS, "write `format: tools/1`"),
    ("tools.yaml", "format: tools/1\npay: { access: write }\n", TOOLS, "write `tools: { payments.refund: {"),
    ("tools.yaml", "format: tools/1\ntools: { pay: write }\n", TOOLS, "write `{ access: write }`"),
    ("m.yaml", "call: { tool: fn }\n", MAP, "write `format: mapping/1`"),
    ("m.yaml", "format: mapping/1\ntool: fn\nargs: in\n", MAP, "write `call: { args: in }`"),
    ("playproof.yaml", "playbook: standard\n", &["check"], "write `format: project/1`"),
    ("playproof.yaml", "format: playproof/1\n", &["check"], "write `project/1`"),
    ("playproof.yaml", "format: project/1\nplaybooks: standard\n", &["check"], "did you mean `playbook`?"),
];

const TOOLS: &[&str] = &["replay", "t.jsonl", "--tools", "tools.yaml"];
const MAP: &[&str] = &["replay", "t.jsonl", "--map", "m.yaml"];

const COMMANDS: [(&[&str], &str); 8] = [
    (&["run", "t.jsonl"], "next: playproof replay t.jsonl"),
    (&["test"], "next: playproof check"),
    (&["replay", "t.jsonl", "--json"], "next: playproof replay t.jsonl --format json"),
    (&["replay", "t.jsonl", "-o", "out.html"], "next: playproof replay t.jsonl --report html=out.html"),
    (&["replay", "t.jsonl", "-p", "stadnard"], "next: playproof replay t.jsonl -p standard"),
    (&["check", "--update"], "next: playproof check --accept --reason WHY"),
    (&["replay", "t.jsonl", "--verbose"], "next: playproof replay t.jsonl"),
    (&["lint", "t.jsonl"], "next: playproof replay t.jsonl"),
];

const TRACE: &str = "{\"type\":\"tool_call\",\"run_id\":\"r\",\"call_id\":\"a\",\"tool\":\"pay\"}\n";

/// What is said of a file with this text; lines that a page breaks are joined.
fn said(file: &str, text: &str, args: &[&str]) -> String {
    let place = Place::new();
    place.write("t.jsonl", TRACE);
    place.write(file, text);
    let ran = place.run(args);
    let all = format!("{}\n{}", ran.out, ran.err);
    all.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

fn mistaken(right: &str, (old, new, _): &(&str, &str, &str)) -> String {
    assert!(right.contains(old), "{old}");
    right.replacen(old, new, 1)
}

#[test]
fn the_files_without_mistakes_have_none() {
    assert!(said("p.yaml", PLAYBOOK, &["lint", "p.yaml"]).contains("p.yaml: clean"));
    assert!(said("f.yaml", FIXTURE, &["replay", "f.yaml"]).contains("escalated"));
}

#[test]
fn each_typical_mistake_ends_in_the_right_text() {
    let mut wrong = Vec::new();
    let mut ask = |said: String, wanted: &str, mistake: &str| {
        if !said.contains(wanted) {
            wrong.push(format!("{mistake}: {wanted}\n  {said}"));
        }
    };
    for mistake in &IN_PLAYBOOKS {
        ask(said("p.yaml", &mistaken(PLAYBOOK, mistake), &["lint", "p.yaml"]), mistake.2, mistake.1);
    }
    for mistake in &IN_FIXTURES {
        ask(said("f.yaml", &mistaken(FIXTURE, mistake), &["replay", "f.yaml"]), mistake.2, mistake.1);
    }
    for (file, text, args, wanted) in IN_OTHER_FILES {
        ask(said(file, text, args), wanted, text);
    }
    for (args, wanted) in COMMANDS {
        ask(said("other.txt", "", args), wanted, &args.join(" "));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_spare_guard_is_a_note_and_fails_nothing() {
    let place = Place::new();
    let guarded = "backoff_ms: [200], on_unsafe: { escalate_to_human: { queue: people } }";
    place.write("p.yaml", &PLAYBOOK.replace("backoff_ms: [200]", guarded));
    let page = place.run(&["lint", "p.yaml"]).exits(0).out;
    assert!(page.contains("unreached_guard") && page.contains("p.yaml: 1 note"), "{page}");
    let spare = PLAYBOOK.replace("backoff_ms: [200]", guarded).replace("kind: 5xx", "kind: 5xxx");
    place.write("p.yaml", &spare);
    let page = place.run(&["lint", "p.yaml"]).exits(1).out;
    assert!(page.contains("next: playproof help misspelt_kind"), "a warning comes before a note: {page}");
}

#[test]
fn init_takes_no_name_of_a_file_for_a_folder() {
    let place = Place::new();
    let said = place.run(&["init", "ours.yaml"]).exits(2).err;
    assert!(said.contains("`init` takes the folder of a project"), "{said}");
    assert!(place.everything().is_empty());
}
