//! Incidents that people reported, rebuilt as small inputs: each says what is right.

use crate::place::{Place, Ran};

/// A command in a folder with one file.
fn ran(file: &str, text: &str, args: &[&str]) -> Ran {
    let place = Place::new();
    place.write(file, text);
    place.run(args)
}

/// A step that cannot end in time is killed and sent again, and mails each time.
#[test]
fn temporal_sends_a_step_again_that_has_acted_until_its_deadline() {
    let killed = "{ timeout: {}, applied: true }";
    let fixture = format!(
        "format: fixture/1\ntitle: A step is killed, sent again, and mails each time\nplaybooks: [preset/temporal]\n\
         calls: {{ step: {{ tool: run_agent_step, args: {{ task: weekly report }}, timeout_ms: 200000 }} }}\n\
         upstream: {{ step: [{}] }}\nexpect: {{ preset/temporal: {{ effects: 3 }} }}\n",
        [killed; 8].join(", ")
    );
    let run = ran("f.yaml", &fixture, &["replay", "f.yaml"]);
    assert!(run.out.contains("possible_duplicate_effect"), "{}{}", run.out, run.err);
    assert!(!run.out.contains("contradicts"), "{}", run.out);
}

/// What is for study is no playbook for production, whatever its name: a project that uses one does not pass.
#[test]
fn a_project_that_uses_a_preset_does_not_pass_lint() {
    let project = "format: project/1\nplaybook: preset/llm-client\n";
    assert_eq!(ran("playproof.yaml", project, &["lint"]).code, 1);
    assert_eq!(ran("playproof.yaml", project, &["lint", "preset/llm-client"]).code, 0, "it may be looked at");
}

/// The client sends after 1, 2 and 4 s; the upstream had asked for 30 s.
const LIMITED: &str = r#"{"type":"tool_call","run_id":"r","call_id":"hb","tool":"server.ship_logs","at_ms":0,"args":{"n":1},"idempotency_key":"k1"}
{"type":"tool_result","run_id":"r","call_id":"hb","attempt":1,"at_ms":50,"status":"error","error":{"kind":"429_rate_limited","status":429,ASKED}}
{"type":"tool_result","run_id":"r","call_id":"hb","attempt":2,"at_ms":15000,"status":"ok"}
"#;

const IGNORES: &str = "format: playbook/1
name: ignores
verdicts:
  limited: { means: Too many., effect: not_applied, then: { retry_with_backoff: { backoff_ms: [1000] } } }
classify: [{ rule: limit, when: { status: 429, retry_after: present }, verdict: limited }]
default_queue: q
queues: [q, unclassified]
";

/// When attempt 2 is sent, and whether the playbook has the finding.
fn heeds(place: &Place, args: &[&str]) -> (u64, bool) {
    let run = place.run(&[&["replay", "--format", "jsonl"], args].concat());
    let lines: Vec<serde_json::Value> = run.out.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let delay = lines.iter().find_map(|line| line["delay_ms"].as_u64()).expect("a retry");
    let call = lines.iter().find(|line| line["type"] == "call").expect("a call");
    let findings = call["findings"].as_array().cloned().unwrap_or_default();
    let of_playbook = |one: &&serde_json::Value| one["id"] == "retry_after_ignored" && one["by"] == "playbook";
    (delay, findings.iter().any(|one| of_playbook(&one)))
}

#[test]
fn a_wish_to_wait_means_the_same_whatever_way_it_comes() {
    let place = Place::new();
    place.write("ignores.yaml", IGNORES);
    place.write(
        "gw.yaml",
        "format: mapping/1
call: { where: { try: 1 }, run: run, id: id, tool: tool, args: args, at: ts }
result: { id: id, attempt: try, started: ts, latency_ms: ms, status: http, message: err, headers: res_headers }
failed: [{ http: 400-599 }]
",
    );
    place.write("gw.jsonl", r#"{"ts":"2026-05-02T10:00:00.000Z","run":"a","id":"q","try":1,"tool":"logs.ship","args":{"n":1},"ms":50,"http":429,"res_headers":{"Retry-After":"30"},"err":"too many requests"}
{"ts":"2026-05-02T10:00:01.050Z","run":"a","id":"q","try":2,"tool":"logs.ship","args":{"n":1},"ms":50,"http":200}
"#);
    place.write("cassette.yaml", "interactions:
- request: {body: '{\"n\":1}', headers: {Content-Type: [application/json]}, method: POST, uri: 'https://logs.example.test/v1/batches'}
  response: {body: {string: '{\"error\":\"too many requests\"}'}, headers: {Retry-After: ['30']}, status: {code: 429, message: Too Many Requests}}
version: 1
");
    let asked = [
        r#""retry_after_ms":30000"#,
        r#""headers":{"Retry-After":"30"}"#,
        r#""headers":{"retry-after":"Sun, 06 Nov 1994 08:50:07 GMT","date":"Sun, 06 Nov 1994 08:49:37 GMT"}"#,
    ];
    for (n, asked) in asked.iter().enumerate() {
        place.write(&format!("{n}.jsonl"), &LIMITED.replace("ASKED", asked));
    }
    let inputs: [&[&str]; 5] =
        [&["0.jsonl"], &["1.jsonl"], &["2.jsonl"], &["gw.jsonl", "--map", "gw.yaml"], &["cassette.yaml"]];
    for input in inputs {
        assert_eq!(heeds(&place, &[input, &["--playbook", "standard"]].concat()), (30_000, false), "{input:?}");
        assert_eq!(heeds(&place, &[input, &["--playbook", "ignores.yaml"]].concat()), (1_000, true), "{input:?}");
    }
}

const BREAKER: &str = "format: playbook/1
name: b
verdicts:
  down: { means: Fails., effect: unknown, breaker: failure, then: { deprecate_tool_call: { reason: r } } }
  refused: { means: Wrong., effect: not_applied,MARK then: { deprecate_tool_call: { reason: r } } }
classify:
  - { rule: down, when: { status: 500-599 }, verdict: down }
  - { rule: refused, when: { status: 400-499 }, verdict: refused }
default_queue: q
queues: [q, unclassified]
tools: { proxy.fetch: { access: read } }
breakers: { default: { window: { calls: 5 }, min_calls: 3, failure_count: 3, open_ms: 1000 } }
";

/// Three failures open the breaker; then the server answers, with 404 or well.
fn breaker(mark: &str, answer: &str) -> Place {
    let call = |n: u32, at: u32| format!("  c{n}: {{ tool: proxy.fetch, args: {{ n: {n} }}, at_ms: {at} }}\n");
    let calls: String =
        [(1, 0), (2, 10), (3, 20), (4, 2000), (5, 2001), (6, 4000), (7, 6000)].map(|(n, at)| call(n, at)).concat();
    let place = Place::new();
    place.write("b.yaml", &BREAKER.replace("MARK", mark));
    place.write(
        "f.yaml",
        &format!(
            "format: fixture/1\ntitle: Probes\nplaybooks: [standard]\ncalls:\n{calls}outages:\n  proxy.fetch:\n    \
         - {{ to_ms: 1000, answer: {{ error: {{ status: 503 }}, latency_ms: 5 }} }}\n    \
         - {{ from_ms: 1000, answer: {{ {answer}, latency_ms: 5 }} }}\nexpect: {{ standard: {{ effects: 0 }} }}\n"
        ),
    );
    place
}

#[test]
fn probes_that_count_neither_way_are_a_lint_and_a_finding() {
    let not_here = "error: { status: 404 }";
    for (mark, is_found) in [("", true), (" breaker: success,", false), (" breaker: failure,", false)] {
        let place = breaker(mark, not_here);
        let lint = place.run(&["lint", "b.yaml"]);
        assert_eq!(lint.out.contains("circuit_stays_half_open"), is_found, "{mark}: {}", lint.out);
        let run = place.run(&["replay", "f.yaml", "--playbook", "b.yaml"]);
        assert_eq!(run.out.contains("uncounted_probes"), is_found, "{mark}: {}", run.out);
    }
}

/// While the probe is out, its answer decides when a request can pass: nobody knows how long that takes.
#[test]
fn a_refusal_beside_a_probe_names_no_wait() {
    let run = breaker(" breaker: success,", "ok: {}").run(&["replay", "f.yaml", "--playbook", "b.yaml"]);
    assert!(run.out.contains("the circuit breaker is open"), "{}", run.out);
    assert!(!run.out.contains("again in"), "{}", run.out);
}
