//! What the agent is told of a failed call: over statuses, tools, keys and playbooks, by runs of scripted scenarios.

use playproof_engine::event::{Boundary, EffectClaim, FailureClass, NoRetry, OutcomeKind, StopReason};
use playproof_engine::playbook::Tools;
use playproof_engine::sim::{Plan, Scenario, SimulationRecord, Simulator, contradictions};
use playproof_formats::diagnostic::Source;
use playproof_formats::{fixture, playbook};

/// Gives every failure up at once: neither limits nor people speak against another try.
fn gives_up(effect: &str, tell: &str) -> String {
    format!(
        "format: playbook/1\nname: p\nqueues: [q]\ndefault_queue: q\notherwise: unclassified\n\
         tools: {{ look: {{ access: read }}, pay: {{ access: write }}, set: {{ access: write, idempotent: true }} }}\n\
         classify: [{{ rule: all, when: {{ status: 400-599 }}, verdict: v }}, {{ rule: late, when: {{ kind: timeout }}, verdict: v }}]\n\
         verdicts: {{ v: {{ means: m, effect: {effect}, then: {{ deprecate_tool_call: {{ reason: r }} }}{tell} }} }}\n"
    )
}

fn plan(text: &str) -> Plan {
    let loaded = playbook::parse(Source::whole("p", text)).unwrap_or_else(|report| panic!("{report}"));
    Plan::new(loaded.playbook, &Tools::default())
}

fn run(plan: &Plan, tool: &str, answers: &str) -> SimulationRecord {
    run_with(plan, tool, &format!("[{answers}]"))
}

fn run_with(plan: &Plan, tool: &str, upstream: &str) -> SimulationRecord {
    let text = format!(
        "format: fixture/1\ntitle: t\ncalls: {{ one: {{ tool: {tool} }} }}\nupstream: {{ one: {upstream} }}\n\
         tools: {{ look: {{ access: read }}, pay: {{ access: write }} }}\nexpect: {{ p: {{ effects: 0 }} }}\n"
    );
    let fixture = fixture::parse(Source::whole("f", text)).unwrap_or_else(|report| panic!("{report}"));
    let scenario = Scenario::of_fixture(&fixture, plan);
    Simulator::new().run_fixture(plan, &scenario).clone()
}

const CALLS: [(&str, bool); 4] =
    [("look", true), ("'look', idempotency_key: k", true), ("pay", false), ("'pay', idempotency_key: k", true)];

/// Statuses 400 to 599 of reads and writes with and without a key: given up at once by two playbooks, and by the standard
/// playbook, which also retries, escalates and waits.
#[test]
fn whether_to_try_again_follows_from_status_tool_key_and_end() {
    let own = [EffectClaim::Unknown, EffectClaim::NotApplied, EffectClaim::Applied];
    let own = own.map(|effect| plan(&gives_up(effect.as_str(), "")));
    let standard = plan(playbook::embedded("standard").unwrap());
    let people =
        gives_up("not_applied", "").replace("deprecate_tool_call: { reason: r }", "escalate_to_human: { queue: q }");
    let people = plan(&people);
    let (mut may, mut may_not) = (0, 0);
    for plan in own.iter().chain([&standard, &people]) {
        for status in 400..=599_u16 {
            for (tool, is_safe) in CALLS {
                let answer = format!("{{ error: {{ status: {status} }}, latency_ms: 5 }}");
                let record = run(plan, tool, &[answer.as_str(); 6].join(", "));
                let (outcome, told) = (record.outcomes[0], record.told[0]);
                let passes = status == 429 || status >= 500;
                let guard_passes = is_safe || outcome.claim == EffectClaim::NotApplied;
                let is_open = match outcome.kind {
                    OutcomeKind::Exhausted(stop) => stop == StopReason::MaxWait,
                    OutcomeKind::Deprecated(_) => outcome.claim != EffectClaim::Applied,
                    OutcomeKind::Escalated(_) => false,
                    kind => panic!("{status} {tool}: {kind:?}"),
                };
                assert_eq!(told.retriable, passes && guard_passes && is_open, "{status} {tool}: {outcome:?}");
                // By these statuses alone, the request itself was refused.
                let is_refused = matches!(status, 400 | 422) && told.class == FailureClass::CapabilityDenied;
                assert!(is_refused || told.class == FailureClass::ExternalApiError, "{status}: {:?}", told.class);
                assert_eq!(told.status, Some(status));
                assert_eq!(told.retried, outcome.attempts - 1);
                if told.retriable { may += 1 } else { may_not += 1 }
            }
        }
    }
    assert!(may > 0 && may_not > 0, "both happen: {may}, {may_not}");
}

#[test]
fn retries_are_counted_whatever_ended_them() {
    let standard = plan(playbook::embedded("standard").unwrap());
    let unavailable = "{ error: { status: 503 }, latency_ms: 5 }";
    let used_up = run(&standard, "look", &[unavailable; 3].join(", ")).told[0];
    assert_eq!((used_up.retried, used_up.retry, used_up.retriable), (2, Some(NoRetry::Exhausted), false));
    let denied = format!("{unavailable}, {{ error: {{ status: 403 }}, latency_ms: 5 }}");
    let denied = run(&standard, "look", &denied).told[0];
    assert_eq!((denied.retried, denied.retry, denied.status), (1, None, Some(403)));
    let stopped = run(&standard, "pay", unavailable).told[0];
    assert_eq!((stopped.retried, stopped.retry, stopped.retriable), (0, Some(NoRetry::Suppressed), false));
    let asked = "{ error: { status: 429, retry_after_ms: 90000 }, latency_ms: 5 }";
    let later = run(&standard, "pay", asked).told[0];
    assert_eq!((later.retriable, later.retry_after.map(|wait| wait.as_millis())), (true, Some(90_000)));
}

/// A study playbook sends anything again; the agent is not told to do so.
#[test]
fn a_guard_that_is_switched_off_makes_no_call_safe() {
    let study = plan(&format!("{}study: {{ why: w, retry_guard: off }}\n", gives_up("unknown", "")));
    let lost = run(&study, "pay", "{ timeout: {} }").told[0];
    assert_eq!((lost.retriable, lost.retry), (false, Some(NoRetry::Suppressed)));
    assert!(run(&study, "'pay', idempotency_key: k", "{ timeout: {} }").told[0].retriable);
}

#[test]
fn a_client_that_sends_requests_again_by_itself_may_have_acted_before_it_was_refused() {
    let text = gives_up("not_applied", "");
    let text =
        text.replace("tools: {", "tools: { once: { access: write }, again: { access: write, upstream_retries: 2 },");
    let told = |tool: &str| run(&plan(&text), tool, "{ error: { status: 503 } }").told[0].retriable;
    assert!(told("once"));
    assert!(!told("again") && told("'again', idempotency_key: k"), "but for a key");
}

#[test]
fn only_a_call_with_a_key_has_a_key_that_was_processed() {
    let text = gives_up("not_applied", ", tell: { class: network_error }")
        .replace("verdict: v ", "verdict: idempotency_conflict ");
    let plan = plan(&text.replace("{ v: {", "{ idempotency_conflict: {"));
    let told = |tool: &str| run(&plan, tool, "{ error: { status: 503 } }").told[0].retriable;
    assert!(told("pay") && !told("'pay', idempotency_key: k"));
}

#[test]
fn the_error_of_a_failed_refresh_has_a_class_of_its_own() {
    let text = gives_up("not_applied", ", tell: { class: binding_failed, transient: false }");
    let plan = plan(&text.replace("deprecate_tool_call: { reason: r }", "refresh_evidence: {}"));
    let upstream = "{ attempts: [{ error: { status: 412 } }], refresh: [{ error: { status: 503 } }] }";
    let told = run_with(&plan, "pay", upstream).told[0];
    assert_eq!((told.class, told.verdict), (FailureClass::ExternalApiError, None));
}

/// The graph refuses a call of a withheld action, whatever the verdict says of the attempt without an answer.
#[test]
fn an_action_that_is_withheld_is_not_told_to_be_made_again() {
    let text = gives_up("not_applied", "");
    let lost = |text: &str, answer: &str| run(&plan(text), "pay", answer).told[0];
    let timeout = "{ timeout: {} }";
    assert!(lost(&text, timeout).retriable, "nothing was done, and no graph withholds it");
    let ordered = format!("{text}actions: {{ pay: {{}} }}\ngraph: {{ entry: [pay], next: {{ pay: [pay] }} }}\n");
    let withheld = lost(&ordered, timeout);
    assert_eq!((withheld.retriable, withheld.retry), (false, Some(NoRetry::Suppressed)));
    assert!(lost(&ordered, "{ error: { status: 503 } }").retriable, "an answer withholds nothing");
}

#[test]
fn a_success_a_cancelled_call_and_a_missing_answer_are_told_nothing() {
    let standard = plan(playbook::embedded("standard").unwrap());
    assert_eq!(run(&standard, "look", "{ ok: {} }").told, []);
    assert_eq!(run(&standard, "look", "{ error: { status: 503 } }, { ok: {} }").told, []);
    assert_eq!(run(&standard, "look", "{ error: { status: 503 } }").told, [], "undetermined");
    assert_eq!(run(&standard, "look, cancel_at_ms: 1", "{ ok: {}, latency_ms: 9 }").told, []);
}

#[test]
fn an_answer_that_never_came_is_a_network_error_and_a_verdict_may_say_more() {
    let silent = run(&plan(&gives_up("unknown", "")), "look", "{ timeout: {} }").told[0];
    assert_eq!(
        (silent.class, silent.boundary, silent.retriable),
        (FailureClass::NetworkError, Boundary::External, true)
    );
    assert!(!run(&plan(&gives_up("unknown", "")), "pay", "{ timeout: {} }").told[0].retriable, "it may have acted");
    let rebind = ", tell: { class: binding_failed, transient: false, details: { binding: slack } }";
    let bound = run(&plan(&gives_up("not_applied", rebind)), "pay", "{ error: { status: 503 } }").told[0];
    assert_eq!((bound.class, bound.boundary), (FailureClass::BindingFailed, Boundary::Runtime));
    assert!(!bound.retriable, "the class does not pass, whatever the status");
}

/// A follower gets the result of its leader, and is told the same.
#[test]
fn a_follower_is_told_what_its_leader_is_told() {
    let tell = ", tell: { class: resource_limit_exceeded }";
    let plan = plan(&format!("{}dedupe: {{ window_ms: 60000 }}\n", gives_up("not_applied", tell)));
    let call = "{ tool: pay, idempotency_key: k, args: {} }";
    let text = format!(
        "format: fixture/1\ntitle: t\ncalls: {{ one: {call}, two: {call} }}\n\
         upstream: {{ one: [{{ error: {{ status: 503, kind: k }}, latency_ms: 5 }}] }}\n\
         tools: {{ pay: {{ access: write }} }}\n\
         expect: {{ p: {{ two: {{ told: network_error, retriable: true }}, one: {{ told: resource_limit_exceeded }} }} }}\n"
    );
    let fixture = fixture::parse(Source::whole("f", text)).unwrap_or_else(|report| panic!("{report}"));
    let scenario = Scenario::of_fixture(&fixture, &plan);
    let record = Simulator::new().run_fixture(&plan, &scenario).clone();
    let [one, two] = record.told.as_slice() else { panic!("{:?}", record.told) };
    assert_eq!((one.class, two.class), (FailureClass::ResourceLimitExceeded, FailureClass::ResourceLimitExceeded));
    assert_eq!((two.retried, two.status, two.verdict), (0, Some(503), one.verdict));
    let said = contradictions(&fixture.expect["p"], &plan, &scenario, &record);
    let said: Vec<String> = said.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        ["two.told: expected network_error, got resource_limit_exceeded", "two.retriable: expected true, got false"]
    );
}
