//! Two playbooks on small traces: each kind of cause, each direction, what is undetermined, and what never counts.

use std::sync::Mutex;

use super::{CauseName, CauseRow, ChangeKind, Comparer, Direction, GateFailure, Impact, ImpactGate, ImpactPart};
use crate::replay::{CallResult, Inputs, Observer, ReplayOptions, TraceInput, replay};
use playproof_engine::event::{EffectClaim, FindingId, FindingSeverity};
use playproof_engine::playbook::Tools;
use playproof_engine::sim::{Plan, SimulationRecord};
use playproof_engine::upstream::MissingAnswerPolicy;
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook;
use playproof_formats::playbook::embedded;

/// An unkeyed refund that times out, a keyed one, a search that times out, one that works, and what no rule knows.
const TRACE: &str = r#"
{"run_id":"r1","tool":"payments.issue_refund","args":{"order":"o_1","amount":10},"status":"error","error":{"kind":"timeout","message":"no answer"}}
{"run_id":"r1","tool":"payments.issue_refund","args":{"order":"o_2"},"idempotency_key":"k2","status":"error","error":{"kind":"timeout","message":"no answer"}}
{"run_id":"r1","tool":"search.web","args":{"q":"x"},"status":"error","error":{"kind":"timeout","message":"no answer"}}
{"run_id":"r1","tool":"search.web","args":{"q":"y"},"status":"ok"}
{"run_id":"r2","tool":"crm.close","args":{"id":7},"idempotency_key":"k7","status":"error","error":{"kind":"odd","message":"boom"}}
{"run_id":"r2","tool":"payments.issue_refund","args":{"o":3},"status":"error","error":{"kind":"timeout","message":"no answer"}}
"#;

/// An answer that cannot be read, to a call that can be taken back.
const MALFORMED: &str = r#"{"tool":"crm.close","args":{},"reversal_token":"t1","status":"error","error":{"kind":"schema_validation","message":"bad"}}"#;

fn text(name: &str) -> String {
    embedded(name).expect("an embedded playbook").to_owned()
}

/// `standard` with one piece of its text replaced.
fn standard(from: &str, to: &str) -> String {
    let text = text("standard");
    assert!(text.contains(from), "{from}");
    text.replace(from, to)
}

fn plan(text: &str) -> Plan {
    let loaded = playbook::parse(Source::whole("playbook.yaml", text)).unwrap_or_else(|report| panic!("{report}"));
    Plan::new(loaded.playbook, &Tools::default())
}

fn impact_on(trace: &str, base: &str, candidate: &str, beyond: MissingAnswerPolicy, jobs: usize) -> Impact {
    let plans = [plan(base), plan(candidate)];
    let [mine, theirs] = &plans;
    let watcher = Comparer::new(mine, theirs);
    let input = TraceInput::own("trace", trace.as_bytes());
    let inputs: Inputs<'_> = Box::new(std::iter::once(input));
    let options = ReplayOptions { jobs, beyond, ..ReplayOptions::default() };
    let mut all = ImpactPart::default();
    let replayed = replay(&plans, inputs, &options, &watcher, |part| {
        all.merge(part);
        Ok(())
    });
    watcher.finish(all, [mine, theirs], &replayed.expect("a trace that can be read"))
}

fn impact(base: &str, candidate: &str) -> Impact {
    impact_on(TRACE, base, candidate, MissingAnswerPolicy::Fail("timeout".into()), 1)
}

fn only(impact: &Impact) -> &CauseRow {
    assert_eq!(impact.causes.len(), 1, "{:?}", impact.causes);
    &impact.causes[0]
}

fn row_name(cause: &CauseRow) -> &str {
    match &cause.cause {
        CauseName::Row(row) => &row.name,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_loop_against_typed_verdicts_widens_and_the_reverse_narrows() {
    let wider = impact(&text("standard"), &text("study/retry-everything"));
    assert_eq!((wider.counts.calls, wider.counts.failed, wider.counts.unchanged()), (6, 5, 1));
    assert_eq!(wider.counts.directions, [3, 1, 1], "{:?}", wider.causes);
    assert_eq!((wider.base.doubled, wider.candidate.doubled, wider.counts.load.doubled_more), (0, 2, 2));
    assert_eq!((wider.base.people, wider.candidate.people, wider.counts.load.people_fewer), (3, 0, 3));
    let narrower = impact(&text("study/retry-everything"), &text("standard"));
    assert_eq!(narrower.counts.directions, [1, 3, 1]);
    assert_eq!((narrower.counts.load.doubled_fewer, narrower.counts.load.people_more), (2, 3));
    assert_eq!(narrower.counts.load.upstream_more, wider.counts.load.upstream_fewer);
}

#[test]
fn what_more_and_fewer_say_of_effects_and_claims_is_the_difference_of_both_sides() {
    let [standard, bold] = [text("standard"), text("study/retry-everything")];
    for [base, candidate] in [[&standard, &bold], [&bold, &standard]] {
        let impact = impact_on(TRACE, base, candidate, MissingAnswerPolicy::Ok, 1);
        let load = impact.counts.load;
        let sum = |before: u64, more: u64, fewer: u64| before + more - fewer;
        assert_eq!(sum(impact.base.effects, load.effects_more, load.effects_fewer), impact.candidate.effects);
        for n in 0..EffectClaim::ALL.len() {
            let claims = sum(impact.base.claims[n], load.claims_more[n], load.claims_fewer[n]);
            assert_eq!(claims, impact.candidate.claims[n], "claim {n}");
        }
        assert!(load.claims_more.iter().any(|calls| *calls > 0) && load.claims_fewer.iter().any(|calls| *calls > 0));
        assert!(load.effects_more + load.effects_fewer > 0);
    }
}

#[test]
fn causes_name_both_readings_of_a_failure_widening_first() {
    let impact = impact(&text("standard"), &text("study/retry-everything"));
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    let of = |rule: &str, verdict: &str| CauseName::Classified {
        base: pair(rule, verdict),
        candidate: pair("otherwise", "failed"),
    };
    let found: Vec<_> = impact.causes.iter().map(|row| (row.direction, row.cause.clone(), row.calls)).collect();
    let expected = [
        (Direction::Widening, of("unanswered-write", "result_unknown"), 2),
        (Direction::Widening, of("otherwise", "unclassified"), 1),
        (Direction::Narrowing, of("timeout", "transient_timeout"), 1), // the keyed one: 4 attempts become 3
        (Direction::Neutral, of("timeout", "transient_timeout"), 1),   // a read
    ];
    assert_eq!(found, expected);
    assert_eq!(impact.causes[0].tools.rows(), [("payments.issue_refund", 2)]);
}

#[test]
fn the_example_is_the_smallest_call_and_says_both_ends() {
    let impact = impact(&text("standard"), &text("study/retry-everything"));
    let example = impact.causes[0].example.as_ref().expect("an example");
    assert_eq!((&*example.reference, example.place.line), ("r2#2", 7)); // its arguments are the shortest
    assert_eq!((example.base.outcome, example.base.detail.as_deref()), ("escalated", Some("ambiguous_effects")));
    assert_eq!((example.candidate.outcome, example.candidate.attempts), ("exhausted", 3));
}

#[test]
fn a_changed_delay_is_its_verdict_s_row_and_neutral() {
    let impact = impact(&text("standard"), &standard("[200, 600, 1800]", "[200, 600, 900]"));
    let cause = only(&impact);
    assert_eq!((row_name(cause), cause.direction, cause.calls), ("verdict transient_timeout", Direction::Neutral, 2));
    assert_eq!(cause.changes.rows().collect::<Vec<_>>(), [(ChangeKind::Delay, 2)]);
    assert_eq!((impact.counts.load.delay_fewer.as_millis(), impact.counts.load.delay_more.as_millis()), (1_800, 0));
    let CauseName::Row(row) = &cause.cause else { panic!() };
    let parts = super::parts(row);
    assert_eq!(parts[0].path, "then.retry_with_backoff.backoff_ms");
    assert_eq!(parts[0].after.as_deref(), Some("[200,600,900]"));
}

#[test]
fn a_limit_that_is_hit_is_the_limit_s_row() {
    let impact = impact(&text("standard"), &standard("max_attempts: 6", "max_attempts: 2"));
    let found: Vec<_> = impact.causes.iter().map(|row| (row_name(row), row.direction, row.calls)).collect();
    let limit = "limit max_attempts";
    assert_eq!(found, [(limit, Direction::Narrowing, 1), (limit, Direction::Neutral, 1)]);
}

#[test]
fn a_guard_that_is_switched_off_is_the_switch_s_row_and_widens() {
    let study = "name: standard\nstudy: { why: to see it, retry_guard: off }";
    let impact = impact_on(
        &TRACE.replace("timeout", "5xx"),
        &text("standard"),
        &standard("name: standard", study),
        MissingAnswerPolicy::Fail("timeout".into()),
        1,
    );
    let cause = only(&impact);
    assert_eq!((row_name(cause), cause.direction, cause.calls), ("study retry_guard", Direction::Widening, 2));
    assert_eq!(impact.unsafe_gained, 2);
}

#[test]
fn another_fact_of_a_tool_is_said_to_be_the_cause() {
    let fact = "access: write, idempotent: false, timeout_ms";
    let impact = impact_on(
        &TRACE.replace("timeout", "5xx"),
        &text("standard"),
        &standard(fact, "access: write, idempotent: true, timeout_ms"),
        MissingAnswerPolicy::Fail("timeout".into()),
        1,
    );
    let cause = only(&impact);
    assert_eq!((&cause.cause, cause.direction, cause.calls), (&CauseName::ToolFacts, Direction::Widening, 2));
    assert_eq!(impact.counts.load.doubled_more, 0); // to an idempotent tool twice is once
}

#[test]
fn a_queue_and_an_effect_claim_are_changes_of_their_verdict() {
    let queue = standard(
        "then: { escalate_to_human: { queue: unclassified } }",
        "then: { escalate_to_human: { queue: policy_review } }",
    );
    let moved = impact(&text("standard"), &queue);
    let cause = only(&moved);
    assert_eq!((row_name(cause), cause.direction), ("verdict unclassified", Direction::Neutral));
    assert_eq!(
        cause.changes.rows().map(|(what, _)| what).collect::<Vec<_>>(),
        [ChangeKind::Compensation, ChangeKind::Outcome]
    );
    assert_eq!(
        moved.queues.iter().map(|queue| (&*queue.queue, queue.base, queue.candidate)).collect::<Vec<_>>(),
        [("policy_review", 0, 1), ("ambiguous_effects", 2, 2), ("unclassified", 1, 0),]
    );
    let shape = "The answer does not have the declared shape; the upstream may have acted.\n    effect: ";
    let claim = standard(&format!("{shape}unknown"), &format!("{shape}not_applied"));
    let claimed = impact_on(MALFORMED, &text("standard"), &claim, MissingAnswerPolicy::Unanswered, 1);
    assert_eq!(claimed.counts.changes.rows().collect::<Vec<_>>(), [(ChangeKind::Effect, 1)]);
    assert_eq!(claimed.causes[0].example.as_ref().map(|one| one.candidate.claim), Some(EffectClaim::NotApplied));
}

#[test]
fn a_reversal_that_only_the_candidate_redeems_widens() {
    let reverse = standard(
        "then: { deprecate_tool_call: { reason: adapter response failed schema validation, replan: true } }",
        "then: { issue_reversal: { reason: undo it } }",
    );
    for beyond in [MissingAnswerPolicy::Ok, MissingAnswerPolicy::Unanswered, MissingAnswerPolicy::Fail("5xx".into())] {
        assert_eq!(
            impact_on(MALFORMED, &text("standard"), &reverse, beyond.clone(), 1).counts.directions,
            [1, 0, 0],
            "{beyond:?}"
        );
        assert_eq!(
            impact_on(MALFORMED, &reverse, &text("standard"), beyond.clone(), 1).counts.directions,
            [0, 1, 0],
            "{beyond:?}"
        );
    }
}

#[test]
fn an_undetermined_call_is_never_unchanged() {
    let delay = standard("[200, 600, 1800]", "[100, 600, 1800]");
    let impact = impact_on(TRACE, &text("standard"), &delay, MissingAnswerPolicy::Unanswered, 1);
    assert_eq!((impact.counts.undetermined.both, impact.counts.undetermined.calls()), (2, 2));
    assert_eq!((impact.counts.undetermined_differing, impact.counts.changed, impact.counts.unchanged()), (2, 0, 4));
    let alike = standard("[200, 600, 1800]", "[200, 600, 900]"); // what differs lies behind what the recording tells
    let impact = impact_on(TRACE, &text("standard"), &alike, MissingAnswerPolicy::Unanswered, 1);
    assert_eq!(
        (impact.counts.undetermined_differing, impact.counts.undetermined.both, impact.counts.unchanged()),
        (0, 2, 4)
    );
    assert!(impact.causes.is_empty());
    let one_sided =
        impact_on(TRACE, &text("standard"), &text("study/retry-everything"), MissingAnswerPolicy::Unanswered, 1);
    assert_eq!((one_sided.counts.undetermined.base, one_sided.counts.undetermined.candidate), (0, 3));
    assert_eq!((one_sided.counts.changed, one_sided.counts.unchanged()), (0, 1));
}

/// Calls that fail with a 503 and are given up: told as the class of `tell` says.
fn told(tell: &str) -> String {
    format!(
        "format: playbook/1\nname: p\nqueues: [q]\ndefault_queue: q\ntools: {{ look: {{ access: read }} }}\n\
         classify: [{{ rule: down, when: {{ status: 503 }}, verdict: down }}]\n\
         verdicts: {{ down: {{ means: m, effect: unknown, then: {{ deprecate_tool_call: {{ reason: r }} }}{tell} }} }}\n"
    )
}

#[test]
fn an_agent_that_is_newly_told_to_try_again_is_widening() {
    let trace = r#"{"run_id":"r","tool":"look","args":{},"status":"error","error":{"status":503,"message":"down"}}"#;
    let of = |base: &str, candidate: &str| {
        let impact = impact_on(trace, &told(base), &told(candidate), MissingAnswerPolicy::Unanswered, 1);
        impact
            .causes
            .iter()
            .map(|cause| (row_name(cause).to_owned(), cause.direction, cause.changes.count(ChangeKind::Told)))
            .collect::<Vec<_>>()
    };
    let stays = ", tell: { class: binding_failed, transient: false }";
    let passes = ", tell: { class: binding_failed, transient: true }";
    assert_eq!(of(stays, passes), [("verdict down".to_owned(), Direction::Widening, 1)]);
    assert_eq!(of(passes, stays), [("verdict down".to_owned(), Direction::Neutral, 1)]);
    assert_eq!(of(stays, ""), [("verdict down".to_owned(), Direction::Widening, 1)]);
    assert_eq!(of("", ", tell: { class: external_api_error }"), [], "the same is told");
}

#[test]
fn names_texts_and_layout_change_nothing() {
    let reworded =
        standard("No rule knows this failure.", "Nobody knows.").replace("name: standard", "name: other # x");
    let impact = impact(&text("standard"), &reworded);
    assert!(impact.causes.is_empty() && impact.rows.is_empty(), "{:?}", impact.rows);
    assert_eq!(impact.counts.unchanged(), 6);
    let renamed_rule = standard("rule: timeout,", "rule: slow,");
    assert!(super::tests::impact(&text("standard"), &renamed_rule).causes.is_empty());
}

#[test]
fn the_balance_holds_and_causes_account_for_every_difference() {
    for beyond in [MissingAnswerPolicy::Unanswered, MissingAnswerPolicy::Ok, MissingAnswerPolicy::Repeat] {
        let impact = impact_on(TRACE, &text("reversing"), &text("study/typed-verdicts-literal"), beyond, 1);
        assert_eq!(
            impact.counts.unchanged() + impact.counts.changed + impact.counts.undetermined.calls(),
            impact.counts.calls
        );
        let of_causes: u64 = impact.causes.iter().map(|cause| cause.calls).sum();
        assert_eq!(of_causes + impact.counts.overflow, impact.counts.changed + impact.counts.undetermined_differing);
        assert_eq!(impact.counts.directions.iter().sum::<u64>(), of_causes + impact.counts.overflow);
    }
}

#[test]
fn any_number_of_threads_finds_the_same() {
    let many = TRACE.repeat(1_500);
    let run = |jobs| {
        let (base, candidate) = (text("standard"), text("study/retry-everything"));
        format!("{:?}", impact_on(&many, &base, &candidate, MissingAnswerPolicy::Repeat, jobs))
    };
    let one = run(1);
    for jobs in [2, 5, 16] {
        assert_eq!(run(jobs), one);
    }
}

#[test]
fn a_call_that_gains_several_unsafe_findings_is_one_call() {
    let denied = r#"{"tool":"payments.issue_refund","args":{},"status":"error","error":{"kind":"403_forbidden","message":"403 Forbidden"}}"#;
    let fails = MissingAnswerPolicy::Fail("timeout".into());
    let impact = impact_on(denied, &text("standard"), &text("study/retry-everything"), fails, 1);
    let of_severity = |severity| impact.findings.iter().filter(move |change| change.kind.severity == severity);
    assert_eq!(of_severity(FindingSeverity::Unsafe).map(|change| change.gained).collect::<Vec<_>>(), [1, 1, 1]);
    assert_eq!(impact.unsafe_gained, 1);
    assert_eq!(ImpactGate::default().judge(&impact), [GateFailure::Unsafe(1)]);
}

#[test]
fn a_gate_refuses_what_it_names_and_unsafe_findings_always() {
    let wider = impact(&text("standard"), &text("study/retry-everything"));
    let judge = |gate: &ImpactGate| gate.judge(&wider);
    assert_eq!(judge(&ImpactGate::default()), [GateFailure::Unsafe(2)]);
    let both = ImpactGate { widening: true, effects: true, ..ImpactGate::default() };
    assert_eq!(judge(&both), [GateFailure::Unsafe(2), GateFailure::Widening(3), GateFailure::Effects(2)]);
    let allowed = ImpactGate { allow_widening: Some("tried by hand".to_owned()), ..both };
    assert_eq!(judge(&allowed), [GateFailure::Unsafe(2), GateFailure::Effects(2)]);
    let narrower = impact(&text("study/retry-everything"), &text("standard"));
    assert!(ImpactGate::default().judge(&narrower).is_empty());
    let lost = narrower.findings.iter().find(|finding| finding.kind.id == FindingId::UnsafeRetry);
    assert_eq!(lost.map(|finding| (finding.base, finding.candidate, finding.lost)), Some((2, 0, 2)));
}

#[test]
fn other_errors_are_other_errors_whatever_their_numbers() {
    let trace = r#"
{"run_id":"r","call_id":"1","tool":"search.web","at_ms":0,"args":{}}
{"type":"tool_result","run_id":"r","call_id":"1","at_ms":10,"status":"error","error":{"kind":"412_precondition","message":"evidence is stale"}}
{"type":"tool_result","run_id":"r","call_id":"1","at_ms":20,"answers":"refresh","status":"error","error":{"kind":"odd","message":"no snapshot"}}
{"type":"tool_result","run_id":"r","call_id":"1","at_ms":30,"status":"error","error":{"kind":"5xx","status":500,"message":"boom"}}
"#;
    // The refresh fails under both; only the words of its error differ, and both call it their second error.
    let (base, candidate) = (plan(&text("standard")), plan(&text("standard")));
    let call = |message: &str| {
        let trace = trace.replace("no snapshot", message);
        let mut calls = Vec::new();
        let input = TraceInput::own("t", std::io::Cursor::new(trace));
        let plans = [plan(&text("standard"))];
        let seen = Mutex::new(&mut calls);
        let inputs: Inputs<'_> = Box::new(std::iter::once(input));
        replay(&plans, inputs, &ReplayOptions::default(), &Keep(&seen), |()| Ok(())).expect("a trace");
        calls.remove(0)
    };
    let (mine, theirs) = (call("no snapshot"), call("no room"));
    let pairing = super::pairing::Pairing::new(&base, &candidate);
    let ran = |record| {
        super::call_run::CallRun::of(&base, "search.web", record, base.facts("search.web"), &[]).expect("a run")
    };
    assert_eq!(mine.outcomes[0].last_error, theirs.outcomes[0].last_error);
    let difference = super::compare::compare(&pairing, ran(&mine), ran(&theirs)).expect("another error");
    assert_eq!(
        difference.changes.rows().map(|(what, _)| what).collect::<Vec<_>>(),
        [ChangeKind::Compensation, ChangeKind::Outcome]
    );
    assert_eq!(super::compare::compare(&pairing, ran(&mine), ran(&call("no snapshot"))), None);
}

/// Keeps the records of a replay.
struct Keep<'a>(&'a Mutex<&'a mut Vec<SimulationRecord>>);

impl Observer for Keep<'_> {
    type Part = ();

    fn part(&self) {}

    fn on_call(&self, result: &CallResult<'_>, (): &mut ()) {
        self.0.lock().expect("nobody panicked").extend(result.records().cloned());
    }
}

#[test]
fn a_finding_that_comes_without_another_decision_is_gained_all_the_same() {
    let retried = r#"
{"run_id":"r","call_id":"1","tool":"t","args":{}}
{"type":"tool_result","run_id":"r","call_id":"1","status":"error","error":{"kind":"timeout","message":"no answer"}}
{"type":"tool_result","run_id":"r","call_id":"1","status":"ok"}
"#;
    let bold = text("study/retry-everything");
    assert!(bold.contains("tools:\n"));
    let with = |facts: &str| bold.replacen("tools:\n", &format!("tools:\n  t: {{ {facts} }}\n"), 1);
    let (idempotent, not) = (with("access: write, idempotent: true"), with("access: write, idempotent: false"));
    let impact = impact_on(retried, &idempotent, &not, MissingAnswerPolicy::Unanswered, 1);
    let gained = impact.findings.iter().find(|finding| finding.kind.id == FindingId::UnsafeRetry);
    assert_eq!(gained.map(|finding| (finding.candidate, finding.gained)), Some((1, 1)), "{:?}", impact.findings);
}

#[test]
fn a_refusal_is_caused_by_the_registry_or_by_the_facts_of_its_tool() {
    let calls = r#"
{"run_id":"r","call_id":"1","tool":"search.web","args":{"q":7},"status":"ok"}
{"run_id":"r","call_id":"2","tool":"serach.web","args":{"q":"x"},"status":"ok"}
{"run_id":"r","call_id":"3","tool":"search.web","args":{"q":"x"},"status":"ok"}
"#;
    let strict = text("dispatcher");
    let lax = strict.replacen("unknown_tools: refuse", "unknown_tools: allow", 1).replacen(
        "type: string",
        "type: integer",
        1,
    );
    let impact = impact_on(calls, &lax, &strict, MissingAnswerPolicy::Unanswered, 1);
    let name = |cause: &CauseName| match cause {
        CauseName::Row(row) => row.name.clone(),
        other => format!("{other:?}"),
    };
    let mut causes: Vec<(String, u64)> = impact.causes.iter().map(|row| (name(&row.cause), row.calls)).collect();
    causes.sort();
    assert_eq!(causes, [("registry".to_owned(), 1), ("tool search.web".to_owned(), 2)]);
}

/// Reads of one server; what they share is appended.
const SHARING: &str = "\
format: playbook/1
name: sharing
queues: [people]
default_queue: people
verdicts:
  again:
    means: It did not work now.
    effect: unknown
    breaker: failure
    then: { retry_with_backoff: { backoff_ms: [0], max_retries: 2, retry_budget: few } }
  told:
    means: It did not work now, and the answer may say more.
    effect: unknown
    then: { retry_with_backoff: { backoff_ms: [0], max_retries: 2, server_delay: { mode: exact, negative: stop } } }
classify:
  - { rule: down, when: { kind: down }, verdict: again }
  - { rule: told, when: { kind: told }, verdict: told }
tools:
  s1: { access: read, server: s }
retry_budgets:
  few: { kind: token_bucket, capacity: 10, cost: 1 }
breakers:
  s: { window: { calls: 9 }, failure_count: 9, open_ms: 300 }
";

/// A call that fails once in each of two runs of a dispatcher, and one that works.
fn two_runs(kind: &str, dispatchers: [&str; 3]) -> String {
    let call = |n: usize, dispatcher: &str, fails: bool| {
        let at = 20 * n;
        let names = format!(r#""run_id":"r{n}","call_id":"c{n}","dispatcher_id":"{dispatcher}""#);
        let ok = format!(
            r#"{{"type":"tool_result",{names},"attempt":2,"started_ms":{},"at_ms":{},"status":"ok"}}"#,
            at + 5,
            at + 9
        );
        let first = match fails {
            true => format!(r#""status":"error","error":{{"kind":"{kind}","headers":{{"pushback":"-1"}}}}"#),
            false => r#""status":"ok""#.to_owned(),
        };
        let mut lines = vec![
            format!(r#"{{"type":"tool_call",{names},"tool":"s1","args":{{"n":{n}}},"at_ms":{at}}}"#),
            format!(r#"{{"type":"tool_result",{names},"attempt":1,"started_ms":{at},"at_ms":{},{first}}}"#, at + 5),
        ];
        lines.extend(fails.then_some(ok));
        lines.join("\n") + "\n"
    };
    let [first, second, third] = dispatchers;
    [call(1, first, true), call(2, second, true), call(3, third, false)].concat()
}

/// The row of each cause with its calls, and how many of them follow from another.
fn sharing_causes(trace: &str, from: &str, to: &str) -> Vec<(String, u64, u64)> {
    assert!(SHARING.contains(from), "{from}");
    let impact = impact_on(trace, SHARING, &SHARING.replace(from, to), MissingAnswerPolicy::Unanswered, 1);
    let row = |cause: &CauseRow| (row_name(cause).to_owned(), cause.calls, cause.following);
    impact.causes.iter().map(row).collect()
}

#[test]
fn what_calls_share_is_named_by_its_own_row_and_later_calls_follow_from_the_first() {
    let together = two_runs("down", ["d"; 3]);
    let causes = |from, to| sharing_causes(&together, from, to);
    let row = |name: &str, calls, following| vec![(name.to_owned(), calls, following)];
    assert_eq!(causes("failure_count: 9", "failure_count: 1"), row("breaker s", 3, 2));
    assert_eq!(causes("cost: 1 ", "cost: 11 "), row("retry_budget few", 2, 1));
    assert_eq!(causes("tools:\n", "limits: { call_timeout_ms: 5 }\ntools:\n"), row("limit call_timeout_ms", 2, 0));
    assert_eq!(causes("breakers:\n", "budget: { tool_calls: 1 }\nbreakers:\n"), row("budget", 2, 1));
    let sources = "server_delay_sources: [{ header: pushback, format: ms }]\nbreakers:\n";
    let told = sharing_causes(&two_runs("told", ["d"; 3]), "breakers:\n", sources);
    assert_eq!(told, row("server_delay_sources", 2, 0));
}

#[test]
fn calls_of_other_dispatchers_have_a_cause_of_their_own() {
    let apart = two_runs("down", ["d", "e", "f"]);
    let causes = sharing_causes(&apart, "failure_count: 9", "failure_count: 1");
    assert_eq!(causes, [("breaker s".to_owned(), 2, 0)], "the third call works, and its circuit is closed");
}

#[test]
fn the_example_of_a_cause_follows_from_no_other_call() {
    let wider = SHARING.replace("failure_count: 9", "failure_count: 1");
    let impact = impact_on(&two_runs("down", ["d"; 3]), SHARING, &wider, MissingAnswerPolicy::Unanswered, 1);
    let example = only(&impact).example.as_ref().map(|example| &*example.reference);
    assert_eq!(example, Some("r1#1"), "the calls that are refused have fewer decisions");
}

/// An order that can be paid once; what follows an action is appended.
const ORDERED: &str = "\
format: playbook/1
name: ordered
queues: [people]
default_queue: people
verdicts:
  unclassified: { means: m, effect: unknown, then: { escalate_to_human: { queue: people } } }
classify: []
actions:
  order: {}
  pay: { tool: payments.charge }
  ship: { steps: [{ id: look, tool: look }, { id: post, tool: post }] }
graph:
  entry: [order]
  next: { order: [pay], pay: [], ship: [] }
  others: refuse
tools:
  order: { access: write }
  payments.charge: { access: write }
  look: { access: read }
  post: { access: write }
";

/// One call a tool, all ok, with the further fields of each.
fn all_ok(calls: &[(&str, &str)]) -> String {
    let line = |(n, (tool, further)): (usize, &(&str, &str))| {
        format!(r#"{{"run_id":"r1","call_id":"c{n}","tool":"{tool}","args":{{"n":1}}{further},"status":"ok"}}"#) + "\n"
    };
    calls.iter().enumerate().map(line).collect()
}

#[test]
fn what_a_gate_alone_kept_from_being_doubled_is_harm_without_it() {
    let twice = all_ok(&[("order", ""), ("payments.charge", ""), ("payments.charge", "")]);
    let open = ORDERED.replace("pay: []", "pay: [pay]");
    let of = |trace: &str, base: &str, candidate: &str| {
        impact_on(trace, base, candidate, MissingAnswerPolicy::Unanswered, 1)
    };
    let opened = of(&twice, ORDERED, &open);
    let cause = only(&opened);
    assert_eq!((row_name(cause), cause.direction, cause.calls), ("graph next pay", Direction::Widening, 1));
    assert_eq!((opened.base.doubled, opened.candidate.doubled, opened.counts.load.doubled_more), (0, 1, 1));
    let duplicate = opened.findings.iter().find(|change| change.kind.id == FindingId::DuplicateEffect);
    assert_eq!(duplicate.map(|change| (change.base, change.candidate, change.gained)), Some((0, 1, 1)));
    assert_eq!(ImpactGate::default().judge(&opened), [GateFailure::Unsafe(1)], "it fails without any gate");

    let closed = of(&twice, &open, ORDERED);
    assert_eq!((closed.base.doubled, closed.candidate.doubled, closed.counts.load.doubled_fewer), (1, 0, 1));
    assert_eq!(closed.unsafe_gained, 0);

    // What both send, and what is another payment, is not the candidate's doing.
    let both = of(&twice, &open, &open.replace("name: ordered", "name: other"));
    assert_eq!((both.base.doubled, both.candidate.doubled, both.unsafe_gained), (0, 0, 0));
    let other = of(&twice.replacen(r#"{"n":1}"#, r#"{"n":2}"#, 2), ORDERED, &open);
    assert_eq!(
        (other.candidate.doubled, other.unsafe_gained, other.counts.in_direction(Direction::Widening)),
        (0, 0, 1)
    );
    let idempotent = |text: &str| text.replace("charge: { access: write", "charge: { access: write, idempotent: true");
    let harmless = of(&twice, &idempotent(ORDERED), &idempotent(&open));
    assert_eq!((harmless.candidate.doubled, harmless.counts.in_direction(Direction::Widening)), (0, 1));
}

#[test]
fn each_step_of_an_action_that_is_newly_let_through_is_widening() {
    let steps = r#","parent":"c1","step":""#;
    let (look, post) = (format!("{steps}look\""), format!("{steps}post\""));
    let trace = all_ok(&[("order", ""), ("ship", ""), ("look", &look), ("post", &post)]);
    let open = ORDERED.replace("order: [pay]", "order: [pay, ship]");
    let impact = impact_on(&trace, ORDERED, &open, MissingAnswerPolicy::Unanswered, 1);
    assert_eq!(impact.counts.directions, [3, 0, 0], "the action, the step that reads and the one that writes");
    let narrower = impact_on(&trace, &open, ORDERED, MissingAnswerPolicy::Unanswered, 1);
    assert_eq!(narrower.counts.directions, [0, 3, 0]);
}
