//! What `lint` says of globs that a dot stops before a tool of the project or of a trace.

use super::Place;

const BOOK: &str = "tools:\n  payments.issue_refund";

/// A tool one level deeper than a glob of reads is an undeclared write, and is not sent again.
const DEEP: &str = "\
format: fixture/1
title: A glob of reads matches one level of names; a tool one level deeper counts as a write and is not sent again
playbooks: [standard]
calls:
  read: { tool: search.web, args: { q: refund policy } }
  deeper: { tool: search.index.delete, args: { id: 7 } }
  crossed: { tool: archive.index.list, args: { id: 8 } }
upstream:
  read: [{ timeout: {} }, { ok: {}, latency_ms: 40 }]
  deeper: [{ timeout: {}, applied: true }]
  crossed: [{ timeout: {} }, { ok: {}, latency_ms: 40 }]
tools:
  archive.**: { access: read }
expect:
  standard:
    read: { outcome: succeeded_after_compensation, effect: not_applied, attempts: 2 }
    deeper: { outcome: escalated, queue: ambiguous_effects, effect: unknown, attempts: 1, verdicts: [result_unknown] }
    crossed: { outcome: succeeded_after_compensation, effect: not_applied, attempts: 2 }
    effects: 1
";

#[test]
fn a_tool_below_the_level_of_a_glob_of_reads_is_a_write() {
    let place = Place::new();
    place.write("deep.yaml", DEEP);
    place.run(&["replay", "deep.yaml"]).exits(0);
    place.write("deep.yaml", DEEP.replace("archive.**", "archive.*"));
    let run = place.run(&["replay", "deep.yaml"]).exits(1);
    assert!(run.out.contains("crossed.attempts: expected 2, got 1"), "{}", run.out);
}

#[test]
fn a_glob_that_a_dot_stops_is_named_with_the_tools_of_fixtures_facts_and_traces() {
    let place = Place::new();
    place.run(&["init"]).exits(0);
    place.run(&["lint"]).exits(0);
    place
        .write("t.jsonl", "{\"tool\":\"search.a.b\",\"status\":\"ok\"}\n{\"tool\":\"search.web\",\"status\":\"ok\"}\n");
    let run = place.run(&["lint", "--trace", "t.jsonl"]).exits(1);
    assert!(run.out.contains("`search.*` does not match `search.a.b`\n"), "{}", run.out);
    assert!(run.out.contains("next: playproof help glob_stops_at_dot"), "{}", run.out);

    place.write(
        "facts.yaml",
        "format: tools/1\ntools:\n  search.fact.x: { access: read }\n  '*.web': { access: read }\n",
    );
    place.edit("playproof.yaml", "playbook:", "tools: facts.yaml\nplaybook:");
    place.write("fixtures/deep.yaml", DEEP);
    let run = place.run(&["lint"]).exits(1);
    assert!(run.out.contains("`search.*` does not match `search.index.delete`\n"), "{}", run.out);
    assert!(!run.out.contains("archive"), "`**` crosses: {}", run.out);
    place.edit("fixtures/deep.yaml", "archive.**", "'archive.*'");
    place.write("t.jsonl", "{\"tool\":\"a.b.web\",\"status\":\"ok\"}\n");
    let run = place.run(&["lint", "--trace", "t.jsonl"]).exits(1);
    assert!(run.out.contains("`archive.*` does not match `archive.index.list`\n"), "in the fixture: {}", run.out);
    assert!(run.out.contains("`*.web` does not match `a.b.web`\n"), "in the tool facts: {}", run.out);

    place.edit(
        "playbooks/ours.yaml",
        BOOK,
        &BOOK.replace("payments", "search.index.delete: { access: write }\n  payments"),
    );
    place.write("facts.yaml", "format: tools/1\ntools:\n  search.fact.x: { access: read }\n");
    place.edit("fixtures/deep.yaml", "'archive.*'", "archive.**");
    let run = place.run(&["lint"]).exits(0);
    assert!(run.out.contains("clean"), "a row of its own says that it is meant: {}", run.out);
}

/// A playbook that says that a timeout did nothing, and sends it again.
const LIE: &str = "\
format: playbook/1
name: lie
verdicts:
  no_answer:
    means: No answer came.
    effect: not_applied
    then: { retry_with_backoff: { backoff_ms: [500], on_unsafe: { escalate_to_human: { queue: people } } } }
classify:
  - { rule: no-answer, when: { kind: timeout }, verdict: no_answer }
otherwise: unclassified
default_queue: people
queues: [people]
";

#[test]
fn a_claim_that_the_world_contradicts_is_an_error_and_its_guard_is_not_to_be_removed() {
    let place = Place::new();
    place.write("lie.yaml", LIE);
    let run = place.run(&["lint", "lie.yaml"]).exits(2);
    assert!(run.out.contains("`no_answer` claims `not_applied`, and its request may have acted"), "{}", run.out);
    assert!(run.out.contains("── an-unkeyed-write: no answer; it acted → ok\n"), "{}", run.out);
    assert!(run.out.contains("── the ledger has 2 effects of one call: duplicate_effect\n"), "{}", run.out);
    assert!(!run.out.contains("can never run"), "{}", run.out);
    assert!(run.out.contains("next: playproof verify lie.yaml"), "{}", run.out);
    place.edit("lie.yaml", "effect: not_applied", "effect: unknown");
    place.run(&["lint", "lie.yaml"]).exits(0);
}
