//! What a dispatcher's calls share is known to every command that simulates recorded calls: two runs of one dispatcher share,
//! one run with two dispatchers does not.

use super::{Place, Run};

const PLAYBOOK: &str = "\
format: playbook/1
name: sharing
queues: [people]
default_queue: people
verdicts:
  down:
    means: It did not work now.
    effect: not_applied
    then: { retry_with_backoff: { backoff_ms: [100], max_retries: 1 } }
classify: [{ rule: down, when: { kind: 5xx }, verdict: down }]
dedupe: { window_ms: 60000 }
tools: { pay: { access: write } }
";

/// Two calls with one key; the second is made when the first has succeeded, and fails.
fn place(first: &str, second: &str) -> Place {
    let made = |names: &str, call: u32| {
        let at = call * 1_000;
        format!(
            r#"{{"type":"tool_call",{names},"call_id":"c{call}","tool":"pay","args":{{}},"idempotency_key":"k","at_ms":{at}}}"#
        )
    };
    let answered = |names: &str, call: u32, attempt: u32, answer: &str| {
        let at = call * 1_000 + attempt * 100;
        format!(r#"{{"type":"tool_result",{names},"call_id":"c{call}","attempt":{attempt},"at_ms":{at},{answer}}}"#)
    };
    let (ok, fails) = (r#""status":"ok""#, r#""status":"error","error":{"kind":"5xx"}"#);
    let place = Place::new();
    let lines = [
        made(first, 1),
        answered(first, 1, 1, ok),
        made(second, 2),
        answered(second, 2, 1, fails),
        answered(second, 2, 2, fails),
    ];
    place.write("trace.jsonl", lines.join("\n") + "\n");
    place.write("sharing.yaml", PLAYBOOK);
    place.write("alone.yaml", PLAYBOOK.replace("dedupe: { window_ms: 60000 }\n", "").replace("sharing", "alone"));
    place
}

const SHARED: [(&str, &str); 2] = [
    (r#""run_id":"r1","dispatcher_id":"d""#, r#""run_id":"r2","dispatcher_id":"d""#),
    (r#""run_id":"r1""#, r#""run_id":"r1""#),
];

const APART: [(&str, &str); 2] = [
    (r#""run_id":"r1","dispatcher_id":"d""#, r#""run_id":"r1","dispatcher_id":"e""#),
    (r#""run_id":"r1""#, r#""run_id":"r2""#),
];

/// What a command shows of the two calls where they share a dispatcher, and where they do not.
fn shown(args: &[&str], says: impl Fn(&str) -> bool) -> [Vec<bool>; 2] {
    let run = |(first, second): (&str, &str)| says(&place(first, second).run(args).out);
    [SHARED.map(run).to_vec(), APART.map(run).to_vec()]
}

#[test]
fn a_replay_asks_the_dispatcher_of_a_call() {
    let args = ["replay", "trace.jsonl", "--playbook", "sharing.yaml", "--format", "jsonl"];
    assert_eq!(shown(&args, |out| out.contains("served_from_cache")), [[true; 2], [false; 2]]);
}

#[test]
fn explain_asks_the_dispatcher_of_a_call() {
    let args = ["explain", "trace.jsonl", "c2", "--playbook", "sharing.yaml"];
    assert_eq!(shown(&args, |out| out.contains("cached")), [[true; 2], [false; 2]]);
}

#[test]
fn impact_asks_the_dispatcher_of_a_call() {
    let args = ["impact", "--base", "alone.yaml", "--candidate", "sharing.yaml", "trace.jsonl"];
    assert_eq!(shown(&args, |out| out.contains("cached")), [[true; 2], [false; 2]]);
}

#[test]
fn find_asks_the_dispatcher_of_a_call() {
    let args = ["propose", "find", "trace.jsonl", "--playbook", "sharing.yaml"];
    assert_eq!(shown(&args, |out| out.contains(", 0 exhausted")), [[true; 2], [false; 2]]);
}

/// What `propose keep` says of the call `c2` of a trace under a playbook that shares this.
fn kept(shared: &str, trace: &[String]) -> Run {
    let place = Place::new();
    let playbook = PLAYBOOK
        .replace("dedupe: { window_ms: 60000 }", shared)
        .replace("not_applied", "not_applied\n    breaker: failure");
    place.write("sharing.yaml", playbook);
    place.write("trace.jsonl", trace.join("\n") + "\n");
    place.run(&[
        "propose",
        "keep",
        "trace.jsonl",
        "c2",
        "--expect",
        "odd_one",
        "--note",
        "x",
        "--playbook",
        "sharing.yaml",
    ])
}

/// A call and the times and answers of its attempts, in one line each.
fn called(names: &str, id: &str, at: u32, answers: &[(u32, &str)]) -> Vec<String> {
    let call =
        format!(r#"{{"type":"tool_call",{names},"call_id":"{id}","tool":"pay","args":{{"id":"{id}"}},"at_ms":{at}}}"#);
    let answer = |(n, (at, answer)): (usize, &(u32, &str))| {
        let attempt = n + 1;
        format!(r#"{{"type":"tool_result",{names},"call_id":"{id}","attempt":{attempt},"at_ms":{at},{answer}}}"#)
    };
    std::iter::once(call).chain(answers.iter().enumerate().map(answer)).collect()
}

const OK: &str = r#""status":"ok""#;
const DOWN: &str = r#""status":"error","error":{"kind":"5xx"}"#;
const BREAKER: &str = "breakers:\n  pay: { window: { calls: 9 }, failure_count: 2, open_ms: 9000 }";

#[test]
fn the_calls_of_a_dispatcher_are_kept_and_no_others() {
    let trace = |second: &str| {
        let first = called(r#""run_id":"r1","dispatcher_id":"d""#, "c1", 0, &[(5, DOWN), (120, DOWN)]);
        let other = called(r#""run_id":"r3","dispatcher_id":"e""#, "c3", 500, &[(505, OK)]);
        [first, other, called(second, "c2", 1_000, &[(1_005, DOWN)])].concat()
    };
    let closed = BREAKER.replace("failure_count: 2", "failure_count: 8");
    for (dispatcher, calls) in [("d", "2 calls of dispatcher d"), ("f", "1 call of dispatcher f")] {
        let run = kept(&closed, &trace(&format!(r#""run_id":"r2","dispatcher_id":"{dispatcher}""#)));
        let is_kept = run.out.contains("kept as pay-5xx-") && run.out.contains(&format!(": {calls}\n"));
        assert!(is_kept, "{}{}", run.out, run.err);
    }
}

#[test]
fn a_later_call_is_kept_if_it_decides_the_call() {
    let (names, wait) = (r#""run_id":"r1""#, 50);
    let trace = |later: &[(u32, &str)]| {
        [
            called(names, "c2", 0, &[(5, DOWN), (120, OK)])[..2].to_vec(),
            called(names, "c4", wait, later),
            called(names, "c2", 0, &[(5, DOWN), (120, OK)])[2..].to_vec(),
        ]
        .concat()
    };
    let run = kept(BREAKER, &trace(&[(wait + 5, DOWN)]));
    assert!(
        run.out.contains("kept as pay-5xx-") && run.out.contains(": 2 calls of run r1\n"),
        "{}{}",
        run.out,
        run.err
    );
    let run = kept(BREAKER, &trace(&[(wait + 5, OK)]));
    assert!(run.out.contains("kept as pay-5xx-") && run.out.contains(": 1 call of run r1\n"), "{}{}", run.out, run.err);
}

#[test]
fn a_call_that_shares_state_with_too_many_others_is_not_kept_and_told_why() {
    let trace = |calls: u32, answer: &str| {
        let before = (0..calls).flat_map(|n| called(r#""run_id":"r1""#, &format!("b{n}"), 10 * n, &[(10 * n + 5, OK)]));
        before.chain(called(r#""run_id":"r1""#, "c2", 90_000, &[(90_005, answer)])).collect::<Vec<_>>()
    };
    let run = kept("budget: { tool_calls: 1001 }", &trace(1_001, OK));
    assert_eq!(run.code, 2, "{}", run.out);
    assert!(run.err.contains("the call `r1#1002` shares state with too many others to be kept"), "{}", run.err);
    assert!(run.err.contains("a slice holds at most 1,000 other calls of a dispatcher"), "{}", run.err);
    let run = kept("budget: { tool_calls: 1001 }", &trace(1_000, DOWN));
    assert!(
        run.out.contains("kept as pay-5xx-") && run.out.contains(": 1,001 calls of run r1\n"),
        "{}{}",
        run.out,
        run.err
    );
}

#[test]
fn a_fixture_can_expect_how_circuits_and_retry_budgets_end() {
    let place = Place::new();
    let playbook = "format: playbook/1\nname: p\nqueues: [people]\ndefault_queue: people\nverdicts:\n  \
        down: { means: m, effect: unknown, breaker: failure, then: { retry_with_backoff: { backoff_ms: [10], retry_budget: own } } }\n\
        classify: [{ rule: down, when: { kind: down }, verdict: down }]\n\
        breakers: { search: { window: { calls: 2 }, failure_count: 2, open_ms: 1000 } }\n\
        retry_budgets: { own: { kind: token_bucket, capacity: 10, cost: 4 }, all: { kind: token_bucket, capacity: 5, cost: 1, per: dispatcher }, share: { kind: concurrency_ratio, budget_percent: 20, min_retry_concurrency: 1 } }\n\
        tools: { find: { access: read, server: search }, note: { access: read, server: notes } }\n";
    place.write("p.yaml", playbook);
    let fixture = |expect: &str| {
        format!(
            "format: fixture/1\ntitle: t\nplaybooks: [p]\ncalls: {{ one: {{ tool: find }}, two: {{ tool: note }} }}\n\
             upstream: {{ one: [{{ error: {{ kind: down }} }}, {{ error: {{ kind: down }} }}], two: [{{ ok: {{}} }}] }}\n\
             expect: {{ p: {{ {expect} }} }}\n"
        )
    };
    let run = |expect: &str, code| {
        place.write("f.yaml", fixture(expect));
        place.run(&["replay", "f.yaml", "--playbook", "p.yaml"]).exits(code).out
    };
    run("circuits: { search: open }, retry_budgets: { own: { search: 6, notes: 10 }, all: 5 }", 0);
    for (expect, said) in [
        ("circuits: { search: closed }", "circuits: expected search: closed, got search: open"),
        ("circuits: { notes: closed }", "got notes: the server has no breaker"),
        ("circuits: { serch: closed }", "got serch: no call uses this server"),
        ("retry_budgets: { own: { search: 7 } }", "expected own of search: 7, got own of search: 6"),
        ("retry_budgets: { own: 6 }", "got own: each server has its own"),
        ("retry_budgets: { all: { search: 5 } }", "got all of search: all servers share it"),
        ("retry_budgets: { own: { serch: 5 } }", "got own of serch: no call uses this server"),
        ("retry_budgets: { share: { search: 0 } }", "got share of search: it has no tokens"),
        ("retry_budgets: { non: 5 }", "got non: there is no such budget"),
    ] {
        let out = run(expect, 1);
        assert!(out.split_whitespace().collect::<Vec<_>>().join(" ").contains(said), "{out}");
    }
}

#[test]
fn json_says_what_calls_shared_and_how_long_they_waited_for_a_permit() {
    let place = Place::new();
    let playbook = "format: playbook/1\nname: p\nqueues: [people]\ndefault_queue: people\nverdicts:\n  \
        down: { means: m, effect: unknown, breaker: failure, then: { retry_with_backoff: { backoff_ms: [10], max_retries: 1, retry_budget: own } } }\n\
        classify: [{ rule: down, when: { kind: down }, verdict: down }]\n\
        breakers: { search: { window: { calls: 3 }, failure_count: 2, open_ms: 1000 } }\n\
        retry_budgets: { own: { kind: token_bucket, capacity: 10, cost: 4 } }\n\
        permits: { max_in_flight: 1 }\n\
        tools: { find: { access: read, server: search } }\n";
    place.write("p.yaml", playbook);
    place.write(
        "alone.yaml",
        playbook
            .replace("permits: { max_in_flight: 1 }\n", "")
            .replace("retry_budget: own", "")
            .replace(
                "breakers: { search: { window: { calls: 3 }, failure_count: 2, open_ms: 1000 } }\n\
        retry_budgets: { own: { kind: token_bucket, capacity: 10, cost: 4 } }\n",
                "",
            )
            .replace(", }", " }"),
    );
    place.write(
        "f.yaml",
        "format: fixture/1\ntitle: t\nseed: 7\ncalls: { one: { tool: find }, two: { tool: find, at_ms: 5 }, three: { tool: find, at_ms: 100 } }\n\
         upstream: { one: [{ error: { kind: down }, latency_ms: 20 }, { error: { kind: down } }], two: [{ ok: {}, latency_ms: 1 }] }\n\
         expect: { p: { peak_in_flight: 1 } }\n",
    );
    let json = |playbook: &str, more: &[&str]| -> serde_json::Value {
        let args = [&["replay", "f.yaml", "--playbook", playbook, "--format", "json"], more].concat();
        serde_json::from_str(&place.run(&args).out).expect("JSON")
    };
    let all = json("p.yaml", &[]);
    let run = &all["fixtures"][0]["playbooks"][0];
    assert_eq!(run["seed"], 7);
    let shared = serde_json::json!({
        "peak_in_flight": 1,
        "turned_away": { "circuit_open": 1 },
        "circuits": { "search": "open" },
        "retry_budgets": [{ "name": "own", "server": "search", "left": 6 }],
    });
    assert_eq!(run["shared"], shared, "{run}");
    let queued: Vec<_> =
        run["calls"].as_array().expect("calls").iter().map(|call| call["queued_ms"].as_u64()).collect();
    assert_eq!(queued, [None, Some(15), None], "{run}");
    assert_eq!(json("p.yaml", &["--seed", "9"])["fixtures"][0]["playbooks"][0]["seed"], 9);
    let alone = json("alone.yaml", &[]);
    assert_eq!(alone["fixtures"][0]["playbooks"][0].get("shared"), None);

    place.write(
        "t.jsonl",
        "{\"tool\":\"find\",\"call_id\":\"a\",\"dispatcher_id\":\"d1\",\"status\":\"ok\"}\n{\"tool\":\"find\",\"call_id\":\"b\",\"status\":\"ok\"}\n",
    );
    let out = place.run(&["replay", "t.jsonl", "--playbook", "p.yaml", "--format", "jsonl"]).exits(0).out;
    assert_eq!(out.matches("\"dispatcher\":\"d1\"").count(), 1, "{out}");
}

#[test]
fn json_of_a_trace_says_what_each_dispatcher_shared() {
    let place = Place::new();
    place.write(
        "p.yaml",
        "format: playbook/1\nname: p\nqueues: [people]\ndefault_queue: people\nverdicts:\n  \
        down: { means: m, effect: unknown, breaker: failure, then: { retry_with_backoff: { backoff_ms: [10], max_retries: 1, retry_budget: own } } }\n\
        classify: [{ rule: down, when: { kind: down }, verdict: down }]\n\
        breakers: { search: { window: { calls: 3 }, failure_count: 2, open_ms: 1000 } }\n\
        retry_budgets: { own: { kind: token_bucket, capacity: 10, cost: 4 } }\n\
        budget: { tool_calls: 4 }\n\
        tools: { find: { access: read, server: search }, read: { access: read } }\n",
    );
    let failing = |id: &str, run: &str, more: &str, at: u64| {
        let named = format!(r#""call_id":"{id}","run_id":"{run}""#);
        format!(
            "{{\"type\":\"tool_call\",{named},\"tool\":\"find\",\"at_ms\":{at}{more}}}\n\
             {{\"type\":\"tool_result\",{named},\"attempt\":1,\"at_ms\":{},\"error\":{{\"kind\":\"down\"}}}}\n\
             {{\"type\":\"tool_result\",{named},\"attempt\":2,\"started_ms\":{},\"at_ms\":{},\"error\":{{\"kind\":\"down\"}}}}\n",
            at + 5,
            at + 15,
            at + 20
        )
    };
    let of_d = ",\"dispatcher_id\":\"d\"";
    let refused = "{\"type\":\"tool_call\",\"call_id\":\"b\",\"run_id\":\"r2\",\"tool\":\"find\",\"at_ms\":100,\"dispatcher_id\":\"d\"}\n";
    let reads: String = (0..6)
        .map(|n| {
            format!("{{\"tool\":\"read\",\"run_id\":\"r3\",\"call_id\":\"c{n}\",\"at_ms\":{n},\"status\":\"ok\"}}\n")
        })
        .collect();
    place.write("t.jsonl", format!("{}{refused}{reads}", failing("a", "r1", of_d, 0)));
    let json = |playbook: &str| -> serde_json::Value {
        let out = place.run(&["replay", "t.jsonl", "--playbook", playbook, "--format", "json"]).out;
        serde_json::from_str(&out).expect("JSON")
    };
    let all = json("p.yaml");
    let shared = serde_json::json!({
        "turned_away": { "budget_exceeded": 2, "circuit_open": 1 },
        "circuits": {
            "opened": 1, "half_open": 0, "closed": 0, "stopped": 1,
            "by_dispatcher": [
                { "input": "t.jsonl", "dispatcher": "d", "server": "search", "opened": 1, "half_open": 0, "closed": 0, "stopped": 1 },
            ],
        },
        "retry_budgets": [{
            "name": "own", "retries": 1, "tokens": 4, "stopped": 0,
            "by_dispatcher": [
                { "input": "t.jsonl", "dispatcher": "d", "server": "search", "retries": 1, "tokens": 4, "stopped": 0 },
            ],
        }],
        "tool_calls": {
            "taken": 6, "stopped": 2,
            "by_dispatcher": [
                { "input": "t.jsonl", "run": "r3", "taken": 4, "stopped": 2 },
                { "input": "t.jsonl", "run": "r1", "taken": 2, "stopped": 0 },
            ],
        },
    });
    assert_eq!(all["playbooks"][0]["shared"], shared, "{all}");
    assert_eq!(json("standard")["playbooks"][0].get("shared"), None, "its calls share nothing");
}
