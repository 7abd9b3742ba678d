//! Scripted scenarios under a playbook: who caused a duplicate effect, and the claim after a failed reversal.

use playproof_engine::event::{Decision, EffectClaim, FindingBy, FindingId, ReversalRefusal};
use playproof_engine::playbook::Tools;
use playproof_engine::sim::{Plan, Scenario, SimulationRecord, Simulator};
use playproof_formats::diagnostic::Source;
use playproof_formats::{fixture, playbook};

const HEAD: &str = "format: fixture/1\ntitle: scripted\ncalls:\n  one: { tool: payments.issue_refund, args: {}";

fn run(playbook: &str, text: &str) -> SimulationRecord {
    run_under(playbook::embedded(playbook).unwrap().to_owned(), text)
}

fn run_under(playbook: String, text: &str) -> SimulationRecord {
    let text = format!("{HEAD}{text}\nexpect: {{ standard: {{ effects: 0 }} }}\n");
    let fixture = fixture::parse(Source::whole("fixture", text)).unwrap_or_else(|report| panic!("{report}"));
    let parsed = playbook::parse(Source::whole("playbook", playbook)).unwrap_or_else(|report| panic!("{report}"));
    let plan = Plan::new(parsed.playbook, &Tools::default());
    let scenario = Scenario::of_fixture(&fixture, &plan);
    Simulator::new().run_fixture(&plan, &scenario).clone()
}

fn duplicates(record: &SimulationRecord) -> Vec<(FindingBy, u32, u32)> {
    let doubled = record.findings.iter().filter(|finding| finding.id == FindingId::DuplicateEffect);
    doubled.map(|finding| (finding.by, finding.call.0, finding.count)).collect()
}

#[test]
fn a_first_attempt_that_lands_after_its_retry_is_a_duplicate_of_the_dispatcher() {
    let late = " }\nupstream: { one: [{ ok: {}, latency_ms: 20000 }, { ok: {}, latency_ms: 40 }] }";
    assert_eq!(duplicates(&run("study/retry-everything", late)), [(FindingBy::Playbook, 0, 2)]);
}

#[test]
fn an_agent_that_asks_twice_causes_the_duplicate_even_if_a_retry_made_the_last_effect() {
    let twice = " }\n  two: { tool: payments.issue_refund, args: {}, at_ms: 10 }\n\
                 upstream: { one: [{ timeout: {} }, { ok: {}, latency_ms: 40 }], two: [{ ok: {}, latency_ms: 40 }] }";
    assert_eq!(duplicates(&run("study/retry-everything", twice)), [(FindingBy::Recorded, 1, 2)]);
}

#[test]
fn agent_and_dispatcher_may_both_cause_duplicates_of_one_intent() {
    let both = " }\n  two: { tool: payments.issue_refund, args: {}, at_ms: 10 }\n\
                upstream: { one: [{ timeout: {}, applied: true }, { ok: {} }], two: [{ ok: {} }] }";
    let record = run("study/retry-everything", both);
    assert_eq!(duplicates(&record), [(FindingBy::Recorded, 1, 3), (FindingBy::Playbook, 0, 3)]);
}

#[test]
fn a_tool_with_outages_knows_keys_as_soon_as_it_works() {
    let effects = |keys: &str| {
        let text = format!(
            ", idempotency_key: k }}\n  two: {{ tool: payments.issue_refund, args: {{}}, idempotency_key: k, at_ms: 5000 }}\n\
             outages: {{ payments.issue_refund: [{{ to_ms: 1000, answer: {{ ok: {{}} }} }}] }}\nkeys: {keys}"
        );
        let record = run("standard", &text);
        record.ledger.net().values().map(|net| net.effects).sum::<u32>()
    };
    assert_eq!((effects("replay"), effects("none")), (1, 2));
}

#[test]
fn a_lossy_upstream_forgets_a_key_only_with_the_answer_of_the_request_that_acted() {
    let text = ", idempotency_key: k }\n  two: { tool: payments.issue_refund, args: {}, idempotency_key: k, at_ms: 100 }\n\
                upstream: { one: [FIRST], two: [{ timeout: {}, applied: false }] }\nkeys: lossy";
    let effects = |first: &str| {
        let record = run("standard", &text.replace("FIRST", first));
        record.ledger.net().values().map(|net| net.effects).sum::<u32>()
    };
    assert_eq!(effects("{ ok: {} }"), 1, "the lost answer belongs to a request that did nothing");
    assert_eq!(effects("{ timeout: {}, applied: true }"), 2);
}

/// How a reversal was refused, and the claim then, under a playbook whose verdict says that the call has acted.
fn failed_reversal(answer: &str) -> (ReversalRefusal, EffectClaim) {
    let text = format!(
        ", reversal_token: rev }}\nupstream:\n  one:\n    attempts: [{{ error: {{ kind: schema_validation }}, applied: true }}]\n    \
         reversal: [{answer}]"
    );
    let unknown = "effect: unknown\n    then: { issue_reversal";
    let playbook = playbook::embedded("reversing").unwrap();
    assert!(playbook.contains(unknown));
    let record = run_under(playbook.replace(unknown, "effect: applied\n    then: { issue_reversal"), &text);
    let why = record.events.iter().find_map(|event| match event.what {
        Decision::ReversalRefused { why } => Some(why),
        _ => None,
    });
    (why.expect("a refused reversal"), record.outcomes[0].claim)
}

#[test]
fn a_clearly_refused_reversal_leaves_the_claim_unchanged() {
    for refused in ["{ error: { kind: token_expired, status: 410 } }", "{ error: { kind: 403_forbidden } }"] {
        assert_eq!(failed_reversal(refused), (ReversalRefusal::UpstreamRefused, EffectClaim::Applied), "{refused}");
    }
}

#[test]
fn a_reversal_that_failed_otherwise_may_have_reversed_the_effect() {
    for failed in [
        "{ error: { kind: 5xx, status: 503 } }",
        "{ error: { status: 499 } }",
        "{ error: { kind: timeout } }",
        "{ error: absent }",
    ] {
        assert_eq!(failed_reversal(failed), (ReversalRefusal::UpstreamFailed, EffectClaim::Unknown), "{failed}");
    }
    assert_eq!(failed_reversal("{ timeout: {} }"), (ReversalRefusal::NoAnswer, EffectClaim::Unknown));
}

/// What the agent did over several calls: the finding, its call and its count.
fn by_agent(text: &str) -> Vec<(&'static str, u32, u32)> {
    let record = run("standard", text);
    let recorded = record.findings.iter().filter(|finding| finding.by == FindingBy::Recorded);
    recorded.map(|finding| (finding.id.as_str(), finding.call.0, finding.count)).collect()
}

#[test]
fn a_key_is_reused_once_for_each_further_request_of_a_write() {
    let calls = |tool: &str| {
        let call = |name: &str, at: u32, n: u32| {
            format!("\n  {name}: {{ tool: {tool}, args: {{ n: {n} }}, idempotency_key: k, at_ms: {at} }}")
        };
        let calls = call("two", 100, 1) + &call("three", 200, 2) + &call("four", 300, 2);
        let ok = "[{ ok: {}, applied: false }]";
        format!(" }}{calls}\nupstream: {{ one: {ok}, two: {ok}, three: {ok}, four: {ok} }}")
    };
    assert_eq!(by_agent(&calls("payments.issue_refund")), [("key_reused", 2, 1)]);
    assert_eq!(by_agent(&calls("search.web")), []);
}

#[test]
fn under_a_key_that_the_upstream_ignores_a_call_is_as_without_one() {
    let calls = |key: &str, other: &str, tools: &str| {
        let tool = "payments.issue_refund";
        by_agent(&format!(
            "{key} }}\n  two: {{ tool: {tool}, args: {{}}, at_ms: 90000{other} }}\n\
             upstream: {{ one: [{{ timeout: {{}} }}], two: [{{ ok: {{}} }}] }}{tools}"
        ))
    };
    let ignored = "\ntools: { payments.issue_refund: { access: write, keys: ignored } }";
    let (k, l) = (", idempotency_key: k", ", idempotency_key: l");
    let unsafe_retry = vec![("unsafe_retry", 1, 1), ("possible_duplicate_effect", 1, 2)];
    assert_eq!(calls("", "", ""), unsafe_retry);
    assert_eq!((calls(k, k, ignored), calls(k, l, ignored)), (unsafe_retry.clone(), unsafe_retry));
    assert_eq!(calls(k, l, ""), [("resent_under_new_key", 1, 2)], "an upstream that honours keys looks at them");
}

#[test]
fn a_call_was_made_with_its_first_attempt() {
    let calls = |at: u32| {
        format!(
            " }}\n  two: {{ tool: payments.issue_refund, args: {{}}, at_ms: {at} }}\nupstream: {{ one: [{{ error: {{ kind: 403_forbidden, status: 403 }}, latency_ms: 50 }}], \
             two: [{{ error: {{ kind: 429_rate_limited, status: 429 }}, latency_ms: 1 }}, {{ ok: {{}} }}] }}"
        )
    };
    assert_eq!(by_agent(&calls(10)), [], "its second attempt came after the denial");
    assert_eq!(by_agent(&calls(60)), [("retried_after_denial", 1, 1)]);
}

#[test]
fn a_failed_call_is_not_futile_after_a_write() {
    let calls = |between: &str| {
        let refused = "[{ error: { kind: tool_error, message: seat not found }, latency_ms: 1 }]";
        format!(
            " }}\n  two: {{ tool: payments.issue_refund, args: {{ n: 1 }}, at_ms: 100 }}\n  three: {{ tool: payments.issue_refund, args: {{}}, at_ms: 200 }}\n\
             upstream: {{ one: {refused}, two: [{between}], three: {refused} }}"
        )
    };
    assert_eq!(by_agent(&calls("{ ok: {} }")), []);
    assert_eq!(by_agent(&calls("{ ok: {}, applied: false }")), [("futile_retry", 2, 1)]);
}

#[test]
fn a_loop_is_more_than_ten_identical_calls_of_one_run() {
    let loops = |calls: &str| -> Vec<(u32, u32)> {
        let found = by_agent(&format!(", {calls}\nupstream: {{ one: [{{ ok: {{}}, applied: false }}] }}"));
        found.into_iter().filter(|(id, ..)| *id == "runaway_loop").map(|(_, call, count)| (call, count)).collect()
    };
    let times = |n: u32| format!("times: {n}, every_ms: 100 }}");
    assert_eq!(loops(&times(10)), []);
    assert_eq!(loops(&times(12)), [(10, 11), (11, 12)]);
    let other =
        |more: &str| format!("{}\n  two: {{ tool: payments.issue_refund, args: {{}}{more}, at_ms: 9000 }}", times(10));
    assert_eq!(loops(&other("")), [(10, 11)]);
    assert_eq!(loops(&other(", run: other")), []);
    assert_eq!(loops(&other("").replace("args: {}, at", "args: { n: 1 }, at")), []);
}
