//! Two drivers, one result: the run of a fixture, recorded and replayed, has the same events.

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

use playproof_analysis::replay::{CallResult, Observer, ReplayOptions, replay};
use playproof_engine::event::unnamed;
use playproof_engine::fixture::Fixture;
use playproof_engine::playbook::Tools;
use playproof_engine::sim::Plan;
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook::tools;
use playproof_formats::{fixture, playbook};
use playproof_intake::input::TraceInput;
use playproof_report::decisions::{ComparedDecisions, tools_of, trace_of};

/// Compares the decisions of a trace with those of the plan.
struct Decisions(Mutex<ComparedDecisions>);

impl Observer for Decisions {
    type Part = ();

    fn part(&self) {}

    fn on_call(&self, seen: &CallResult<'_>, (): &mut ()) {
        let (record, reference) = (seen.records().next().expect("one plan"), [seen.call.reference()]);
        let transcript = record.transcript(&seen.plans[0].names, &reference, &unnamed);
        self.0.lock().expect("no panic").add(&seen.call, &transcript, |line| line.to_string());
    }
}

/// What differs between a recorded run and its replay under the same plan.
pub fn compared(plan: &Plan, fixture: &Fixture, jobs: usize) -> (String, ComparedDecisions) {
    let trace = trace_of(plan, fixture);
    let facts = tools_of(fixture).map(|text| tools::parse(Source::whole("facts", text)));
    let facts = facts.map(|facts| facts.unwrap_or_else(|report| panic!("{report}")).tools).unwrap_or_default();
    let compared = compared_trace(&Plan::new(plan.playbook.clone(), &facts), &trace, jobs);
    (trace, compared)
}

/// What differs between the decisions of a trace and those of a plan.
fn compared_trace(plan: &Plan, trace: &str, jobs: usize) -> ComparedDecisions {
    let observer = Decisions(Mutex::default());
    let input = std::iter::once(TraceInput::own("run", trace.as_bytes()));
    let options = ReplayOptions { jobs, ..ReplayOptions::default() };
    replay(std::slice::from_ref(plan), Box::new(input), &options, &observer, |()| Ok(()))
        .unwrap_or_else(|error| panic!("{error:?}\n{trace}"));
    observer.0.into_inner().expect("no panic")
}

fn plan(name: &str) -> Plan {
    let text = playbook::embedded(name).unwrap_or_else(|| panic!("no playbook `{name}`"));
    let loaded = playbook::parse(Source::whole(name, text)).unwrap_or_else(|report| panic!("{report}"));
    Plan::new(loaded.playbook, &Tools::default())
}

#[test]
fn every_fixture_replays_from_its_recording_to_the_same_events() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).expect("fixtures/").map(|entry| entry.expect("entry").path()).collect();
    paths.sort();
    let mut different = Vec::new();
    let mut runs = 0;
    for path in paths {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let source = Source::whole(&*name, fs::read_to_string(&path).expect("readable"));
        let fixture = fixture::parse(source).unwrap_or_else(|report| panic!("{report}"));
        if fixture.crash.is_some() {
            continue; // `--record` refuses it: what a crash lost left no line
        }
        let own = fixture.playbooks.clone();
        for playbook in if own.is_empty() { vec!["standard".to_owned()] } else { own } {
            runs += 1;
            let (trace, compared) = compared(&plan(&playbook), &fixture, 1);
            // The calls of the fixture, and those of their steps.
            let made = trace.lines().filter(|line| line.starts_with(r#"{"type":"tool_call""#)).count();
            let called = fixture.calls.iter().filter(|call| call.act.is_none()).count();
            assert!(made >= called, "{trace}");
            assert_eq!((compared.calls, compared.undecided), (made as u64, 0), "{trace}");
            if let Some(first) = compared.differences.first() {
                different.push(format!("{name} under {playbook}: {first:?}"));
            }
        }
    }
    assert!(different.is_empty() && runs > 0, "of {runs} runs\n{}", different.join("\n"));
}

/// A playbook with a graph, an action with steps, and a tool that looks at its arguments.
const SHOP: &str = "format: playbook/1
name: shop
verdicts: { timed_out: { means: no answer, effect: unknown, then: { deprecate_tool_call: { reason: slow } } } }
classify: [{ rule: timeout, when: { kind: timeout }, verdict: timed_out }]
default_queue: q
queues: [q]
tools:
  find: { access: read }
  post: { access: write }
  pay: { access: write, schema: { type: object, properties: { x: { type: integer } } } }
actions: { ship: { steps: [{ id: find, tool: find }, { id: post, tool: post }] }, pay: {} }
graph: { entry: [ship, pay], next: { ship: [], pay: [ship] } }
";

/// The recorded run of calls, which has to replay to the same events; and how many decisions it has.
fn recorded(plan: &Plan, calls: &str, upstream: &str) -> (String, u64) {
    recorded_where(plan, "none", calls, upstream)
}

/// The same with a key dialect.
fn recorded_where(plan: &Plan, keys: &str, calls: &str, upstream: &str) -> (String, u64) {
    let text = format!(
        "format: fixture/1\ntitle: t\nkeys: {keys}\ncalls: {{ {calls} }}\nupstream: {{ {upstream} }}\nexpect: {{ {}: {{ sends: 0 }} }}\n",
        plan.playbook.name
    );
    let fixture = fixture::parse(Source::whole("f", text)).unwrap_or_else(|report| panic!("{report}"));
    let (trace, compared) = compared(plan, &fixture, 1);
    assert_eq!(compared.differences, [], "{trace}");
    (trace, compared.decisions)
}

/// The playbook of the shop, with `more` in place of its graph.
fn shop(more: &str) -> Plan {
    let (ordered, _) = SHOP.split_once("graph: ").expect("a graph");
    let loaded = playbook::parse(Source::whole("shop", format!("{ordered}{more}")));
    Plan::new(loaded.unwrap_or_else(|report| panic!("{report}")).playbook, &Tools::default())
}

/// The recorded run of calls under the playbook of the shop.
fn recorded_in_the_shop(calls: &str, upstream: &str) -> String {
    let loaded = playbook::parse(Source::whole("shop", SHOP)).unwrap_or_else(|report| panic!("{report}"));
    recorded(&Plan::new(loaded.playbook, &Tools::default()), calls, upstream).0
}

#[test]
fn an_action_with_steps_stands_before_the_call_that_was_made_after_it_at_the_same_time() {
    let steps = "steps: { find: [{ ok: {}, latency_ms: 10 }], post: [{ ok: {}, latency_ms: 10 }] }";
    let pay = "pay: [{ ok: {}, latency_ms: 10 }]";
    let trace =
        recorded_in_the_shop("ship: { action: ship }, pay: { tool: pay }", &format!("ship: {{ {steps} }}, {pay}"));
    assert!(trace.find(r#""tool":"ship""#) < trace.find(r#""tool":"pay""#), "{trace}");
    assert!(trace.contains(r#""why":"invalid_transition""#), "the shipped order is not paid: {trace}");
    // An action that waits at the gate makes its steps when it has its turn, and not later.
    let trace =
        recorded_in_the_shop("pay: { tool: pay }, ship: { action: ship }", &format!("{pay}, ship: {{ {steps} }}"));
    assert!(trace.contains(r#""call_id":"ship/post","at_ms":20"#), "{trace}");
}

#[test]
fn skipped_steps_stand_before_the_end_of_their_action_and_the_call_that_waited_for_it() {
    let upstream = "one: { steps: { find_pr: [{ error: { status: 403 }, latency_ms: 40 }], post: [], react: [] } }, two: { steps: { find_pr: [{ ok: {} }], read_checks: [{ ok: {} }] } }";
    let calls = "one: { action: ship_update, args: { pr: 7 } }, two: { action: review, args: { pr: 7 }, after: [one] }";
    let (trace, decisions) = recorded(&plan("steps"), calls, upstream);
    let line = |part: &str| trace.lines().position(|line| line.contains(part)).expect("a line");
    assert!(line("\"call_id\":\"one/react\"") < line("\"call_id\":\"two\""), "{trace}");
    assert!(decisions > 10, "{trace}");
}

#[test]
fn a_call_made_at_the_end_of_a_held_call_of_another_run_follows_it() {
    let calls = "a: { tool: payments.charge, args: { order: o, amount: 1 }, run: r1 }, \
                 b: { tool: db.write, idempotency_key: k, after: [a], run: r2 }, \
                 c: { tool: db.write, idempotency_key: k, after: [b], run: r3 }";
    let upstream = "a: [{ ok: {}, latency_ms: 50 }], b: [{ error: { status: 403 }, latency_ms: 10 }], c: [{ ok: {} }]";
    let (trace, decisions) = recorded(&plan("dispatcher"), calls, upstream);
    assert!(decisions > 10, "{trace}");
}

#[test]
fn a_key_of_a_call_that_was_never_sent_is_free() {
    let calls = "a: { tool: pay, args: { x: a }, idempotency_key: k }, \
                 b: { tool: pay, args: { x: 1 }, idempotency_key: k, at_ms: 100 }";
    let trace = recorded_in_the_shop(calls, "b: [{ ok: {}, latency_ms: 1 }]");
    assert!(trace.contains(r#""outcome":"succeeded","effect":"applied""#), "{trace}");
}

#[test]
fn nothing_comes_late_of_an_answer_that_is_missing() {
    let trace = recorded_in_the_shop("c: { tool: pay, at_ms: 50, cancel_at_ms: 50 }", "");
    assert!(trace.contains(r#""outcome":"cancelled""#) && !trace.contains("late_answer"), "{trace}");
}

#[test]
fn a_key_that_comes_again_with_other_arguments_claims_what_the_fixture_claims() {
    let upstream = "a: [{ ok: {}, latency_ms: 1 }], b: [{ ok: {}, latency_ms: 1 }]";
    let calls = "a: { tool: pay, args: { x: 1 }, idempotency_key: k }, \
                 b: { tool: pay, args: { x: 2 }, idempotency_key: k, after: [a] }";
    let plan = shop("");
    for keys in ["replay", "ietf", "conflict", "lossy", "none"] {
        let (trace, _) = recorded_where(&plan, keys, calls, upstream);
        assert!(trace.lines().next().is_some_and(|line| line.ends_with(&format!(r#","seed":0,"keys":"{keys}"}}"#))));
        assert_eq!(trace.matches(r#""outcome":"succeeded","effect":"applied""#).count(), 2, "{trace}");
        // Where the upstream was not simulated, it is unknown what it did with the key.
        let differences = compared_trace(&plan, &trace.replace(&format!(r#","keys":"{keys}""#), ""), 1).differences;
        let decided = differences.first().and_then(|one| one.decided.as_ref()).expect("a difference");
        assert_eq!((&decided["event"], &decided["effect"]), (&"outcome".into(), &"unknown".into()), "{keys}");
    }
}

#[test]
fn a_processed_key_claims_what_the_fixture_claims_after_a_refusal_under_it() {
    let processed = "{ error: { kind: 409_conflict, status: 409, message: idempotency_key already processed } }";
    let upstream = format!("a: [{{ error: {{ status: 403 }} }}], b: [{processed}]");
    let calls = "a: { tool: pay, args: { x: 1 }, idempotency_key: k }, \
                 b: { tool: pay, args: { x: 1 }, idempotency_key: k, after: [a] }";
    let (trace, _) = recorded(&plan("standard"), calls, &upstream);
    assert!(trace.contains(r#""effect":"applied""#), "{trace}");
    let differences = compared_trace(&plan("standard"), &trace.replace(r#","keys":"none""#, ""), 1).differences;
    assert!(!differences.is_empty(), "a real upstream may keep refusals: {trace}");
}

#[test]
fn steps_of_a_refused_action_stand_before_its_end() {
    let calls = "one: { action: ship }, two: { action: ship }, last: { tool: pay, after: [one] }";
    let steps = "{ steps: { find: [{ ok: {}, latency_ms: 10 }], post: [{ ok: {} }] } }";
    let trace = recorded_in_the_shop(calls, &format!("one: {steps}, two: {steps}, last: []"));
    let line = |part: &str| trace.lines().position(|line| line.contains(part)).expect("a line");
    let end = line(r#""call_id":"two","at_ms":10,"event":"outcome","outcome":"refused""#);
    assert!(
        line(r#""call_id":"two/post""#) < end && end < line(r#""call_id":"two/post","at_ms":10,"event":"outcome""#)
    );
}

#[test]
fn a_step_whose_caller_goes_away_in_the_queue_has_done_nothing() {
    let calls = "a: { tool: pay }, ship: { action: ship, cancel_at_ms: 20 }";
    let upstream = "a: [{ ok: {}, latency_ms: 50 }], ship: { steps: { find: [{ ok: {} }], post: [{ ok: {} }] } }";
    let (trace, _) = recorded(&shop("permits: { max_in_flight: 1 }\n"), calls, upstream);
    let ends = trace.matches(r#""outcome":"cancelled","effect":"not_applied","attempts":0"#).count();
    assert_eq!(ends, 2, "the action and its step: {trace}");
}

#[test]
fn an_action_has_the_errors_of_the_call_that_its_step_followed() {
    let calls = "one: { action: ship, idempotency_key: k }, two: { action: ship, idempotency_key: k, at_ms: 5 }";
    let failing = "{ steps: { find: [{ ok: {} }], post: [{ error: { status: 403 }, latency_ms: 20 }] } }";
    let (trace, _) = recorded(&shop("dedupe: { window_ms: 30 }\n"), calls, &format!("one: {failing}, two: {failing}"));
    let joined = trace.lines().filter(|line| line.contains(r#""outcome":"joined""#));
    let with_error = joined.filter(|line| line.contains(r#""last_error":{"status":403}"#)).count();
    assert_eq!(with_error, 2, "the action and its step: {trace}");
}

#[test]
fn of_calls_that_start_at_one_moment_the_earlier_line_starts_first() {
    let calls = "a: { tool: pay, run: r1, idempotency_key: k }, \
                 ship: { action: ship, run: r1, at_ms: 10 }, \
                 b: { tool: find, run: r1, idempotency_key: k, at_ms: 10 }, \
                 c: { tool: find, run: r2, after: [a], after_ms: 10 }";
    let upstream = "a: [{ ok: {} }], b: [], c: [{ ok: {}, latency_ms: 10 }], \
                    ship: { steps: { find: [{ ok: {}, latency_ms: 10 }], post: [{ ok: {} }] } }";
    let more = "dedupe: { window_ms: 30 }\npermits: { max_in_flight: 1 }\n";
    let (trace, _) = recorded(&shop(more), calls, upstream);
    let line = |part: &str| trace.lines().position(|line| line.contains(part)).expect("a line");
    assert!(line(r#""call_id":"c","tool""#) < line(r#""call_id":"ship/find","tool""#), "{trace}");
    assert!(trace.contains(r#""call_id":"ship/find","at_ms":10,"event":"queued""#), "{trace}");
}
