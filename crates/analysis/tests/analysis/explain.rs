//! Calls of small traces found and explained, as values.

use playproof_analysis::explain::*;
use playproof_analysis::replay::SessionOptions;
use playproof_engine::event::{EffectClaim, GuardKind, IntentBalance, OutcomeKind, OutcomeWord};
use playproof_engine::fixture::Fixture;
use playproof_engine::playbook::{Access, GuardMode, ToolFacts, ToolRow, Tools};
use playproof_engine::sim::Plan;
use playproof_engine::upstream::MissingAnswerPolicy;
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook::{embedded, parse};
use playproof_intake::assemble::AssembleOptions;
use playproof_intake::input::TraceInput;
use playproof_intake::origin::Sources;
use playproof_intake::redact::RedactionRules;

/// `pay` writes and `look` reads, as people said.
fn tools() -> Tools {
    let row = |tool, access| ToolRow::new(tool, ToolFacts { access, declared: true, ..ToolFacts::ASSUMED }).unwrap();
    Tools::new(vec![row("pay", Access::Write), row("look", Access::Read)])
}

fn plan(tools: &Tools) -> Plan {
    Plan::new(parse(Source::whole("standard", embedded("standard").unwrap())).unwrap().playbook, tools)
}

const OPTIONS: SessionOptions<'_> = SessionOptions { beyond: &MissingAnswerPolicy::Unanswered, pace: None };

/// A line of run `r1`: a call `id` of `pay`, and what its answer says.
fn line(id: &str, rest: &str) -> String {
    format!(r#"{{"run_id":"r1","call_id":"{id}","tool":"pay","args":{{"order":"o1"}},{rest}}}"#) + "\n"
}

const OK: &str = r#""status":"ok""#;
const TIMEOUT: &str = r#""status":"error","error":{"kind":"timeout","message":"none"}"#;
const DENIED: &str = r#""status":"error","error":{"kind":"403_forbidden"}"#;

fn search(traces: &[&str], wanted: Option<&str>, beyond: &MissingAnswerPolicy) -> Result<Subject, NotFound> {
    let names = (0..traces.len()).map(|n| format!("t{n}.jsonl"));
    let (sources, plan) = (Sources::new(names), plan(&tools()));
    let wanted = wanted.map(|name| Wanted { name, place: name });
    let mut finder = CallFinder::new(&plan, wanted, SessionOptions { beyond, pace: None }, &sources);
    for (n, trace) in traces.iter().enumerate() {
        let input = TraceInput::own(format!("t{n}.jsonl"), trace.as_bytes());
        finder.take_trace(n, input, AssembleOptions::default(), &RedactionRules::default()).unwrap();
    }
    finder.finish()
}

fn found(trace: &str, wanted: &str) -> Subject {
    search(&[trace], Some(wanted), &MissingAnswerPolicy::Unanswered)
        .unwrap_or_else(|_| panic!("no {wanted} in {trace}"))
}

fn explained(subject: &Subject) -> Explanation {
    let tools = tools();
    Explanation::of(subject, &plan(&tools), &tools)
}

fn advice(subject: &Subject) -> Advice {
    explained(subject).advice.unwrap()
}

const fn said(reason: ResendReason) -> ResendAdvice {
    ResendAdvice { person: None, not_now: None, reason }
}

fn reference(name: &str) -> OtherName {
    OtherName::Reference(name.to_owned())
}

/// Another call that was answered with ok.
fn made(name: OtherName, later: bool) -> OtherCall {
    let said = UpstreamSaid::default();
    OtherCall { effects: 1, maybe: false, claim: EffectClaim::Applied, said, ..maybe(name, later) }
}

/// Another call that failed with more words than a refusal and may have acted.
fn maybe(name: OtherName, later: bool) -> OtherCall {
    let (relation, said) = (Relation::Same, UpstreamSaid { more: true, ..UpstreamSaid::default() });
    let (taken_back, reversed) = (false, false);
    OtherCall {
        name,
        relation,
        hides_args: false,
        later,
        order_unknown: false,
        effects: 0,
        taken_back,
        may_be_taken_back: false,
        reversed,
        maybe: true,
        claim: EffectClaim::Unknown,
        said,
    }
}

#[test]
fn a_call_is_found_by_reference_place_and_id_and_the_only_one_without_a_name() {
    let two = line("a", OK) + &line("b", OK);
    for (wanted, reference) in [("r1#2", "r1#2"), ("t0.jsonl:1", "r1#1"), ("b", "r1#2")] {
        assert_eq!(found(&two, wanted).reference(), reference);
    }
    let only = search(&[&line("a", OK)], None, &MissingAnswerPolicy::Unanswered);
    assert_eq!(only.ok().unwrap().reference(), "r1#1");
    assert_eq!(found(&(line("r1#2", OK) + &line("b", OK)), "r1#2").reference(), "r1#2", "a reference wins over an id");
}

#[test]
fn a_name_of_several_calls_gives_names_that_tell_them_apart() {
    let several = |traces: &[&str], wanted| match search(traces, wanted, &MissingAnswerPolicy::Unanswered) {
        Err(NotFound::Several(found)) => {
            CandidateCall::names(&found).into_iter().map(|name| name.unwrap().to_owned()).collect::<Vec<_>>()
        }
        _ => panic!("{wanted:?} is not the name of several"),
    };
    let two = line("a", OK) + &line("a", OK);
    assert_eq!(several(&[&two], Some("a")), ["r1#1", "r1#2"]);
    assert_eq!(several(&[&two], None), ["r1#1", "r1#2"]);
    assert_eq!(several(&[&line("a", OK), &line("a", OK)], Some("r1#1")), ["t0.jsonl:1", "t1.jsonl:1"]);
    assert_eq!(several(&[&line("a", OK).repeat(50)], None).len(), LISTED + 1);
}

#[test]
fn a_name_that_no_call_has_gives_what_is_near() {
    let trace = line("charge", OK) + &line("refund", OK);
    let names = |wanted| match search(&[&trace], Some(wanted), &MissingAnswerPolicy::Unanswered) {
        Err(NotFound::Unknown(names)) => names,
        _ => panic!("{wanted} is there"),
    };
    assert_eq!(names("refnd").near("refnd"), Some("refund"));
    assert_eq!(names("r1").of_run(), ["r1#1", "r1#2"]);
    assert_eq!(names("?").such_as(), ["r1#1", "charge", "r1#2", "refund"]);
    assert!(names("?").of_run().is_empty() && !names("?").is_empty());
}

#[test]
fn a_call_of_a_fixture_is_found_and_its_ledger_is_the_truth() {
    let text = "format: fixture/1\ntitle: t\nplaybooks: [standard]\ncalls:\n  one: { tool: pay, args: { a: 1 } }\n\
                upstream:\n  one: [{ ok: {} }]\nexpect:\n  standard: { effects: 1 }\n";
    let fixture: Fixture =
        playproof_formats::fixture::parse(Source::whole("f.yaml", text)).unwrap_or_else(|report| panic!("{report}"));
    let (sources, plan) = (Sources::new([]), plan(&Tools::default()));
    let mut finder = CallFinder::new(&plan, None, OPTIONS, &sources);
    finder.take_fixture(0, &fixture);
    let subject = finder.finish().ok().unwrap();
    let truth = IntentBalance { effects: 1, ..IntentBalance::default() };
    let advice = advice(&subject);
    assert_eq!((subject.reference(), subject.tool(), subject.is_timed()), ("one".to_owned(), "pay", true));
    assert_eq!(advice.state.basis, Basis::Ledger(truth, EffectClaim::Applied));
    assert_eq!((advice.state.known, advice.resend), (EffectState::Done, said(ResendReason::Done)));
}

#[test]
fn a_keyed_timeout_and_conflict_are_told_step_by_step() {
    let call = r#"{"type":"tool_call","run_id":"r1","call_id":"c","tool":"pay","args":{},"idempotency_key":"k","at_ms":0}
{"type":"tool_result","run_id":"r1","call_id":"c","attempt":1,"at_ms":5000,"status":"error","error":{"kind":"timeout"}}
{"type":"tool_result","run_id":"r1","call_id":"c","attempt":2,"at_ms":5900,"status":"error","error":{"kind":"409_conflict","message":"idempotency_key already processed"}}
"#;
    let explanation = explained(&found(call, "c"));
    let plan = plan(&tools());
    let steps: Vec<(&str, Vec<&str>)> = explanation
        .steps
        .iter()
        .map(|step| {
            let matched = match &step.detail {
                Detail::Tried(trials) => trials.iter().filter(|trial| trial.matched).collect(),
                _ => Vec::new(),
            };
            let names = matched.into_iter().map(|trial| plan.names.rule(Some(trial.rule))).collect();
            (step.decision.kind().as_str(), names)
        })
        .collect();
    assert_eq!(
        steps,
        [
            ("attempt_started", vec![]),
            ("attempt_finished", vec![]),
            ("failure_classified", vec!["timeout"]),
            ("retry_scheduled", vec![]),
            ("attempt_started", vec![]),
            ("attempt_finished", vec![]),
            ("failure_classified", vec!["key-already-processed"]),
            ("deprecated", vec![]),
            ("outcome", vec![]),
        ]
    );
    assert_eq!(explanation.steps[3].detail, Detail::LetPass(LetPass::Keyed));
    let advice = explanation.advice.unwrap();
    assert_eq!((advice.state.basis, advice.state.known), (Basis::Said, EffectState::Done));
    assert_eq!((advice.next, advice.resend), (Actor::Planner(PlannerStart::Effect), said(ResendReason::Done)));
}

#[test]
fn each_rule_and_guard_that_had_a_say_is_taken_away() {
    let failed = r#""status":"error","error":{"kind":"5xx"}"#;
    let explanation = explained(&found(&line("a", failed), "a"));
    let [rule, guard] = &explanation.counterfactuals[..] else { panic!("{:?}", explanation.counterfactuals) };
    let PlaybookChange::WithoutRule(id) = rule.change else { panic!("{rule:?}") };
    assert_eq!(plan(&tools()).names.rule(Some(id)), "server-error");
    let OutcomeDifference::End { verdicts, outcome, truth } = &rule.difference else { panic!("{rule:?}") };
    assert_eq!((&verdicts[..], outcome.kind.word()), (&["unclassified".to_owned()][..], OutcomeWord::Escalated));
    assert_eq!(*truth, Some(IntentBalance { unobserved: 1, ..IntentBalance::default() }));
    assert_eq!(guard.change, PlaybookChange::Guard(GuardKind::Retry, GuardMode::Off));
    let OutcomeDifference::End { verdicts, outcome, truth: None } = &guard.difference else { panic!("{guard:?}") };
    assert_eq!((&verdicts[..], outcome.kind.word()), (&[][..], OutcomeWord::Undetermined));
    let other = explained(&found(&line("a", TIMEOUT), "a"));
    let [Counterfactual { difference: OutcomeDifference::Verdicts(verdicts), .. }] = &other.counterfactuals[..] else {
        panic!("{:?}", other.counterfactuals)
    };
    assert_eq!(verdicts, &["transient_timeout"]);
    let calm = explained(&found(&line("a", OK), "a"));
    assert!(calm.counterfactuals.is_empty(), "nothing failed and no guard was asked");
}

#[test]
fn one_effect_is_known_by_this_call_or_by_others() {
    let basis = |trace: &str, wanted| advice(&found(trace, wanted)).state.basis;
    let (ok, timeout, denied) = (line("a", OK), line("b", TIMEOUT), line("c", DENIED));
    assert_eq!(basis(&ok, "a"), Basis::Ok);
    let others = vec![made(reference("r1#1"), false)];
    assert_eq!(basis(&(ok.clone() + &denied), "c"), Basis::OthersOk { others: others.clone(), own: OwnEffect::No });
    assert_eq!(basis(&(ok.clone() + &timeout), "b"), Basis::OthersOk { others, own: OwnEffect::Maybe });
    assert_eq!(basis(&denied, "c"), Basis::NoneActed);
    assert_eq!(basis(&timeout, "b"), Basis::Unknown(Vec::new(), OwnEffect::Maybe));
    let unanswered = line("d", "\"at_ms\":1");
    assert_eq!(basis(&unanswered, "d"), Basis::Unknown(Vec::new(), OwnEffect::Unanswered));
    let others = vec![maybe(reference("r1#2"), true)];
    assert_eq!(basis(&(denied + &timeout), "c"), Basis::Unknown(others, OwnEffect::No));
    let read = line("e", OK).replace("\"pay\"", "\"look\"");
    assert_eq!((basis(&read, "e"), advice(&found(&read, "e")).resend), (Basis::ReadOnly, said(ResendReason::Read)));
}

#[test]
fn another_run_with_the_same_key_is_named_by_its_line() {
    let keyed = |id| line(id, &format!(r#""idempotency_key":"k",{OK}"#));
    let trace = keyed("a") + &keyed("b").replace("r1", "r2");
    let advice = advice(&found(&trace, "b"));
    let others = vec![made(OtherName::Place { line: 1, path: None }, false)];
    let surplus = Surplus { effects: 2, doubt: Some(SurplusDoubt::Key) };
    assert_eq!(advice.state.basis, Basis::SeveralOk { surplus, own: 1, others });
    assert_eq!(advice.check, Some(ManualCheck::Key));
}

#[test]
fn effects_beyond_the_first_are_a_person_s_to_take_back() {
    let trace = ["a", "b", "c"].map(|id| line(id, OK)).concat();
    let certain = advice(&found(&trace, "b"));
    let others = vec![made(reference("r1#1"), false), made(reference("r1#3"), true)];
    let surplus = Surplus { effects: 3, doubt: None };
    assert_eq!(certain.state.basis, Basis::SeveralOk { surplus, own: 1, others });
    assert_eq!(
        (certain.check, certain.next, certain.resend),
        (Some(ManualCheck::Surplus(2)), Actor::Nobody, said(ResendReason::Done))
    );
    let assumed = advice(&found(&trace.replace("\"pay\"", "\"other\""), "b"));
    assert_eq!(assumed.check, Some(ManualCheck::ToolFacts));
}

#[test]
fn an_effect_that_is_there_may_have_been_made_once_more() {
    let trace = line("a", OK) + &line("b", TIMEOUT);
    let state = advice(&found(&trace, "a")).state;
    let others = vec![maybe(reference("r1#2"), true)];
    assert_eq!((state.known, state.once_more), (EffectState::Done, Some(OnceMore { own: false, others })));
    assert_eq!(advice(&found(&trace, "a")).check, Some(ManualCheck::OnceMore));
    let denied = line("a", OK) + &line("b", DENIED);
    assert_eq!(advice(&found(&denied, "a")).state.once_more, None);
}

#[test]
fn an_answer_that_the_playbook_leaves_unused_still_proves_the_effect() {
    let call = r#"{"type":"tool_call","run_id":"r1","call_id":"c","tool":"pay","args":{}}
{"type":"tool_result","run_id":"r1","call_id":"c","attempt":1,"status":"error","error":{"kind":"timeout"}}
{"type":"tool_result","run_id":"r1","call_id":"c","attempt":2,"status":"ok"}
"#;
    let unkeyed = advice(&found(call, "c"));
    assert_eq!((unkeyed.state.basis, unkeyed.state.unused), (Basis::Ok, 1));
    assert_eq!(unkeyed.state.once_more, Some(OnceMore { own: true, others: Vec::new() }));
    assert!(matches!((unkeyed.check, unkeyed.next, unkeyed.resend.person), (None, Actor::Person(_), Some(_))));
    let keyed = advice(&found(&call.replace("\"args\"", "\"idempotency_key\":\"k\",\"args\""), "c"));
    assert_eq!((keyed.state.unused, keyed.state.once_more), (0, None));
}

#[test]
fn a_reversal_takes_the_effect_back() {
    let call = line("c", OK).replace("\"args\"", "\"reversal_token\":\"t\",\"args\"")
        + "{\"type\":\"tool_result\",\"run_id\":\"r1\",\"call_id\":\"c\",\"answers\":\"reversal\",\"status\":\"ok\"}\n";
    let advice = advice(&found(&call, "c"));
    assert_eq!((advice.state.basis, advice.state.known), (Basis::TakenBack(Vec::new()), EffectState::NotDone));
    assert!(advice.state.taken_back && advice.resend == said(ResendReason::TakenBack));
}

#[test]
fn what_was_modelled_proves_nothing() {
    let keyed = line("c", &format!(r#""idempotency_key":"k",{TIMEOUT}"#));
    let subject = search(&[&keyed], None, &MissingAnswerPolicy::Ok).ok().unwrap();
    let explanation = explained(&subject);
    assert_eq!(explanation.simulation.outcome().unwrap().kind, OutcomeKind::SucceededAfterCompensation);
    let state = explanation.advice.unwrap().state;
    assert_eq!((state.known, state.modelled), (EffectState::MaybeDone, true));
    assert_eq!(state.basis, Basis::Unknown(Vec::new(), OwnEffect::Maybe));
}

#[test]
fn an_ok_that_belongs_to_no_call_may_be_the_answer_to_a_call_that_was_refused() {
    const REFUSED: &str = r#""status":"error","error":{"kind":"429_rate_limited"}"#;
    let result = |rest: &str| format!(r#"{{"type":"tool_result","run_id":"r1","call_id":"gone",{rest}}}"#) + "\n";
    let reason = |traces: &[&str]| {
        let subject = search(traces, Some("a"), &MissingAnswerPolicy::Unanswered).ok().unwrap();
        let advice = advice(&subject);
        let gaps = advice.state.gaps;
        (gaps.unclaimed_oks + gaps.unclaimed_doubts, advice.resend.reason)
    };
    let refused = line("a", REFUSED);
    assert_eq!(reason(&[&refused]), (0, ResendReason::NotDone));
    assert_eq!(reason(&[&(refused.clone() + &result(OK))]), (1, ResendReason::Unclaimed));
    assert_eq!(reason(&[&refused, &(result(OK) + &result(OK))]), (2, ResendReason::Unclaimed), "in another input too");
    // The same key is harmless whatever the ok is about.
    let keyed = refused.replace(r#""tool":"pay""#, r#""tool":"pay","idempotency_key":"k""#);
    assert_eq!(reason(&[&(keyed + &result(OK))]), (1, ResendReason::SameKey));
}

#[test]
fn a_failure_that_belongs_to_no_call_may_be_an_attempt_that_acted_unless_it_is_a_plain_refusal() {
    const REFUSED: &str =
        r#""status":"error","error":{"kind":"429_rate_limited","status":429,"message":"Too many requests"}"#;
    const PROCESSED: &str = r#""status":"error","error":{"status":409,"message":"idempotency key already processed"}"#;
    let result =
        |rest: &str| format!(r#"{{"type":"tool_result","run_id":"r1","call_id":"a","attempt":2,{rest}}}"#) + "\n";
    let of = |traces: &[&str]| {
        let advice = advice(&search(traces, Some("a"), &MissingAnswerPolicy::Unanswered).ok().unwrap());
        (advice.state.known, advice.state.basis, advice.resend.reason)
    };
    let unclaimed =
        (EffectState::MaybeDone, Basis::Distrusted(Distrust::Unclaimed, EffectClaim::Unknown), ResendReason::Unclaimed);
    let (refused, lost) = (line("a", REFUSED), result(TIMEOUT));
    assert_eq!(of(&[&refused, &lost]), unclaimed);
    assert_eq!(of(&[&lost, &refused]), unclaimed, "in either order");
    let suspected = result(r#""status":"suspected","error":{"message":"Error: 12 left"}"#);
    assert_eq!(of(&[&refused, &suspected]), unclaimed);
    assert_eq!(of(&[&refused, &result(r#""status":"error""#)]), unclaimed, "it says nothing");
    assert_eq!(of(&[&refused, &result(REFUSED)]), (EffectState::NotDone, Basis::NoneActed, ResendReason::NotDone));
    // A key makes another request harmless, unless the upstream may have said that it has processed this one.
    let keyed = refused.replace(r#""tool":"pay""#, r#""tool":"pay","idempotency_key":"k""#);
    assert_eq!(of(&[&keyed, &lost]), (unclaimed.0, unclaimed.1.clone(), ResendReason::SameKey));
    assert_eq!(of(&[&keyed, &result(PROCESSED)]), unclaimed);
    // What is known of the call itself comes first.
    assert_eq!(of(&[&line("a", OK), &lost]), (EffectState::Done, Basis::Ok, ResendReason::Done));
}

#[test]
fn what_the_upstream_says_not_to_send_again_is_not_recommended() {
    let tools = tools();
    let grpc =
        Plan::new(parse(Source::whole("preset/grpc", embedded("preset/grpc").unwrap())).unwrap().playbook, &tools);
    let reason = |tool: &str, pushback: &str| {
        let headers = format!(r#"{{"grpc-retry-pushback-ms":"{pushback}"}}"#);
        let answer = format!(r#""status":"error","error":{{"code":"UNAVAILABLE","headers":{headers}}}"#);
        let subject = found(&line("a", &answer).replace("pay", tool), "a");
        Explanation::of(&subject, &grpc, &tools).advice.unwrap().resend.reason
    };
    assert_eq!(reason("look", "-1"), ResendReason::ToldNotTo);
    assert_eq!(reason("look", "10"), ResendReason::Read);
    assert_eq!(reason("pay", "-1"), ResendReason::MayHaveActed, "the reason that matters more");
}

#[test]
fn a_key_that_the_upstream_ignores_makes_nothing_safe() {
    let keyed =
        |id: &str, rest: &str| line(id, rest).replace(r#""tool":"pay""#, r#""tool":"pay","idempotency_key":"k""#);
    let trace = keyed("a", TIMEOUT) + &keyed("b", r#""status":"error","error":{"kind":"429_rate_limited"}"#);
    let subject = found(&trace, "b");
    let reason = |ignores_keys| {
        let facts = ToolFacts { declared: true, ignores_keys, ..ToolFacts::ASSUMED };
        let tools = Tools::new(vec![ToolRow::new("pay", facts).unwrap()]);
        Explanation::of(&subject, &plan(&tools), &tools).advice.unwrap().resend.reason
    };
    assert_eq!((reason(false), reason(true)), (ResendReason::SameKey, ResendReason::MayHaveActed));
}

#[test]
fn effects_under_a_key_that_the_upstream_ignores_are_counted_as_without_one() {
    let keyed = |id: &str, key: &str| {
        line(id, OK).replace(r#""tool":"pay""#, &format!(r#""tool":"forgets","idempotency_key":"{key}""#))
    };
    let tools = Tools::new(vec![
        ToolRow::new("forgets", ToolFacts { declared: true, ignores_keys: true, ..ToolFacts::ASSUMED }).unwrap(),
    ]);
    let state = |trace: &str| {
        let (sources, plan) = (Sources::new(["t".to_owned()]), plan(&tools));
        let wanted = Some(Wanted { name: "b", place: "b" });
        let mut finder = CallFinder::new(&plan, wanted, OPTIONS, &sources);
        let input = TraceInput::own("t", trace.as_bytes());
        finder.take_trace(0, input, AssembleOptions::default(), &RedactionRules::default()).unwrap();
        let subject = finder.finish().ok().unwrap();
        Explanation::of(&subject, &plan, &tools).advice.unwrap().state
    };
    let twice = Some(Surplus { effects: 2, doubt: None });
    assert_eq!(state(&(keyed("a", "k") + &keyed("b", "k"))).surplus, twice);
    assert_eq!(state(&(keyed("a", "k") + &keyed("b", "l"))).surplus, twice, "under whatever key");
    let other = keyed("a", "k").replace("o1", "o2") + &keyed("b", "k");
    let other = state(&other);
    assert_eq!((other.surplus, other.basis, other.takes_key), (None, Basis::Ok, false), "the key is nobody's");
}

/// A call without an answer, and results of it; `call` says more of the call.
fn with_results(call: &str, results: &[&str]) -> String {
    let call =
        format!(r#"{{"type":"tool_call","run_id":"r1","call_id":"c","tool":"pay","args":{{}},"at_ms":0{call}}}"#);
    let result = |rest: &&str| format!("\n{{\"type\":\"tool_result\",\"run_id\":\"r1\",\"call_id\":\"c\",{rest}}}");
    call + &results.iter().map(result).collect::<String>() + "\n"
}

const LIMITED: &str = r#""attempt":1,"at_ms":10,"status":"error","error":{"kind":"429_rate_limited"}"#;
const LATER_OK: &str = r#""attempt":1,"at_ms":20,"status":"ok""#;

#[test]
fn a_second_answer_to_an_attempt_is_evidence_and_a_copy_of_the_first_is_not() {
    let known = |results: &[&str]| {
        let advice = advice(&found(&with_results("", results), "c"));
        (advice.state.known, advice.resend.is_yes())
    };
    let limited_later = LIMITED.replace("\"at_ms\":10", "\"at_ms\":15");
    let timeout_later = format!(r#""attempt":1,"at_ms":20,{TIMEOUT}"#);
    assert_eq!(known(&[LIMITED]), (EffectState::NotDone, true));
    assert_eq!(known(&[LIMITED, &limited_later]), (EffectState::NotDone, true), "a copy");
    assert_eq!(known(&[LIMITED, LATER_OK]), (EffectState::Done, false));
    assert_eq!(known(&[LATER_OK, LIMITED]), (EffectState::Done, false), "in the other order of lines");
    assert_eq!(known(&[LIMITED, &timeout_later]), (EffectState::MaybeDone, false));
}

#[test]
fn a_late_ok_is_an_effect_of_its_attempt() {
    let state = |results: &[&str]| advice(&found(&with_results("", results), "c")).state;
    let late = LATER_OK.replace("\"status\"", "\"answers\":\"late\",\"status\"");
    let timeout = format!(r#""attempt":1,"at_ms":10,{TIMEOUT}"#);
    for first in [LIMITED, &timeout] {
        let state = state(&[first, &late]);
        assert_eq!((state.known, state.basis, state.once_more), (EffectState::Done, Basis::Ok, None), "{first}");
    }
    let ok = LATER_OK.replace("20", "10");
    assert_eq!(state(&[&ok, &late]).surplus, None, "one attempt has one effect");
    let second = r#""attempt":2,"at_ms":30,"status":"ok""#;
    assert_eq!(state(&[&timeout, &late, second]).surplus, Some(Surplus { effects: 2, doubt: None }));
    assert_eq!(state(&[&timeout, second]).surplus, None);
    let keyed = with_results(r#","idempotency_key":"k""#, &[&timeout, &late, second]);
    let surplus = advice(&found(&keyed, "c")).state.surplus;
    assert_eq!(surplus, Some(Surplus { effects: 2, doubt: Some(SurplusDoubt::Key) }));
    assert_eq!(state(&[&late]).known, EffectState::Done, "also where the attempt has no other answer");
}

#[test]
fn after_a_reversal_under_its_key_an_answer_proves_no_effect() {
    let call = |id: &str, said: &str, more: &str| {
        let tool = format!(r#""tool":"pay","reversal_token":"t"{more}"#);
        line(id, said).replace(r#""tool":"pay""#, &tool)
    };
    let reversed = |id: &str, at: u32| {
        format!(
            r#"{{"type":"tool_result","run_id":"r1","call_id":"{id}","answers":"reversal","at_ms":{at},"status":"ok"}}"#
        ) + "\n"
    };
    let known = |trace: &str, wanted: &str| {
        let Advice { state, resend, .. } = advice(&found(trace, wanted));
        (state.known, state.basis == Basis::KeyReversed, resend.is_yes())
    };
    const KEY: &str = r#","idempotency_key":"k""#;
    const PROCESSED: &str =
        r#""status":"error","error":{"kind":"409_conflict","message":"idempotency key already processed"}"#;
    let open = (EffectState::MaybeDone, true, false);
    for again in [OK, PROCESSED] {
        let trace = call("a", OK, KEY) + &reversed("a", 20) + &call("b", again, KEY);
        assert_eq!((known(&trace, "a"), known(&trace, "b")), (open, open), "{again}");
    }
    let before = call("a", OK, KEY) + &call("b", OK, KEY) + &reversed("a", 20);
    assert_eq!(known(&before, "b"), open, "which effect was it, if there were two?");
    let conflict = call("a", PROCESSED, KEY) + &reversed("a", 20);
    assert_eq!(known(&conflict, "a"), open, "the reversal may have found nothing");
    // Look-alikes: one effect that was reversed; no key; another key.
    let alone = call("a", OK, KEY) + &reversed("a", 20);
    assert_eq!(known(&alone, "a"), (EffectState::NotDone, false, false));
    let unkeyed = call("a", OK, "") + &reversed("a", 20) + &call("b", OK, "");
    assert_eq!(known(&unkeyed, "b"), (EffectState::Done, false, false));
    let other_key = alone + &call("b", OK, r#","idempotency_key":"l""#);
    assert_eq!(known(&other_key, "b"), (EffectState::Done, false, false));
}

#[test]
fn a_reversal_of_a_call_that_was_not_answered_proves_nothing() {
    let basis = |results: &[&str]| {
        let trace = with_results(r#","reversal_token":"t""#, results);
        advice(&found(&trace, "c")).state.basis
    };
    const REVERSED: &str = r#""answers":"reversal","at_ms":20,"status":"ok""#;
    assert_eq!(basis(&[REVERSED]), Basis::Unknown(Vec::new(), OwnEffect::MayLand));
    assert_eq!(basis(&[LIMITED, REVERSED]), Basis::NoneActed, "it was refused");
    assert_eq!(basis(&[r#""attempt":1,"at_ms":10,"status":"ok""#, REVERSED]), Basis::TakenBack(Vec::new()));
}

#[test]
fn what_was_taken_back_is_not_made_again_because_its_tool_is_idempotent() {
    let facts = ToolFacts { declared: true, idempotent: true, ..ToolFacts::ASSUMED };
    let tools = Tools::new(vec![ToolRow::new("pay", facts).unwrap()]);
    let reason = |results: &[&str]| {
        let subject = found(&with_results(r#","reversal_token":"t""#, results), "c");
        Explanation::of(&subject, &plan(&tools), &tools).advice.unwrap().resend.reason
    };
    const DONE: &str = r#""attempt":1,"at_ms":10,"status":"ok""#;
    const REVERSED: &str = r#""answers":"reversal","at_ms":20,"status":"ok""#;
    assert_eq!(reason(&[DONE, REVERSED]), ResendReason::TakenBack);
    assert_eq!(reason(&[REVERSED]), ResendReason::TakenBack, "it may still land");
    assert_eq!(reason(&[DONE]), ResendReason::Idempotent);
    assert_eq!(reason(&[LIMITED]), ResendReason::Idempotent);
}

#[test]
fn a_line_that_was_skipped_may_show_what_became_of_a_call() {
    let reason = |trace: &str| {
        let (sources, plan) = (Sources::new(["t".to_owned()]), plan(&tools()));
        let wanted = Some(Wanted { name: "c", place: "c" });
        let mut finder = CallFinder::new(&plan, wanted, OPTIONS, &sources);
        let options = AssembleOptions { skip_invalid: true, ..AssembleOptions::default() };
        finder.take_trace(0, TraceInput::own("t", trace.as_bytes()), options, &RedactionRules::default()).unwrap();
        let advice = advice(&finder.finish().ok().unwrap());
        (advice.state.gaps.skipped_lines, advice.resend.reason)
    };
    let refused = with_results("", &[LIMITED]);
    assert_eq!(reason(&refused), (0, ResendReason::NotDone));
    assert_eq!(reason(&(refused.clone() + r#"{"run_id":"r1","call_id":"c","status":"o"#)), (1, ResendReason::Skipped));
    assert_eq!(reason(&(refused + r#"{"run_id":"r1","call_id":"c","status":"OK"}"#)), (1, ResendReason::Skipped));
    let keyed = with_results(r#","idempotency_key":"k""#, &[LIMITED]) + "{";
    assert_eq!(reason(&keyed), (1, ResendReason::SameKey), "the same key is harmless");
}

#[test]
fn whose_a_key_is_in_two_inputs_their_times_decide_and_never_the_order_of_files() {
    let call = |id: &str, order: &str, at: &str| {
        let args = format!(r#""idempotency_key":"k",{at}{OK}"#);
        line(id, &args).replace("o1", order)
    };
    let advice_on = |traces: &[&str], wanted: &str| {
        let subject = search(traces, Some(wanted), &MissingAnswerPolicy::Unanswered).ok().unwrap();
        let explanation = explained(&subject);
        let claim = explanation.simulation.outcome().unwrap().claim;
        let Advice { state, resend, .. } = explanation.advice.unwrap();
        ((state.known, resend.reason), claim, state.key_order_unknown)
    };
    let (monday, tuesday) = (call("mon", "o1", r#""at_ms":5,"#), call("tue", "o2", r#""at_ms":9,"#));
    let (own, taken) = ((EffectState::Done, ResendReason::Done), (EffectState::MaybeDone, ResendReason::KeyOfAnother));
    for traces in [[&*monday, &*tuesday], [&*tuesday, &*monday]] {
        assert_eq!(advice_on(&traces, "mon"), (own, EffectClaim::Applied, false), "{traces:?}");
        assert_eq!(advice_on(&traces, "tue"), (taken, EffectClaim::Unknown, false), "{traces:?}");
    }
    for untimed in [monday.replace(r#""at_ms":5,"#, ""), monday.replace(":5,", ":9,")] {
        for traces in [[&*untimed, &*tuesday], [&*tuesday, &*untimed]] {
            assert_eq!(advice_on(&traces, "mon"), (taken, EffectClaim::Unknown, true), "{traces:?}");
            assert_eq!(advice_on(&traces, "tue"), (taken, EffectClaim::Unknown, true), "{traces:?}");
        }
    }
    let one_input = monday.replace(r#""at_ms":5,"#, "") + &tuesday;
    assert_eq!(advice_on(&[&one_input], "mon").0, own, "in one input, the lines decide");
    let other_key = tuesday.replace(r#""k""#, r#""l""#);
    assert_eq!(advice_on(&[&other_key, &monday], "tue").0, own);
}

/// A call of `pay` with the key `k`, and its answer.
fn keyed(id: &str, answer: &str) -> String {
    line(id, answer).replace(r#""tool":"pay""#, r#""tool":"pay","idempotency_key":"k""#)
}

#[test]
fn a_key_under_which_all_was_refused_proves_no_effect_when_it_was_processed() {
    const PROCESSED: &str = r#""status":"error","error":{"kind":"409_conflict","status":409,"message":"idempotency key already processed"}"#;
    let after = |first: &str| {
        let explanation = explained(&found(&(first.to_owned() + &keyed("c", PROCESSED)), "c"));
        let claim = explanation.simulation.outcome().unwrap().claim;
        let Advice { state, next, resend, .. } = explanation.advice.unwrap();
        (claim, state.basis, next, resend.reason)
    };
    let effect_is_there =
        |basis| (EffectClaim::Applied, basis, Actor::Planner(PlannerStart::Effect), ResendReason::Done);
    for status in [400, 402, 403, 422] {
        let refused = format!(r#""status":"error","error":{{"status":{status},"message":"Invalid request"}}"#);
        let (claim, basis, next, reason) = after(&keyed("a", &refused));
        assert_eq!((claim, basis), (EffectClaim::Unknown, Basis::RefusedBefore), "{status}");
        assert_eq!(next, Actor::Planner(PlannerStart::State));
        assert!(!reason.is_yes(), "{reason:?}");
        let twice = keyed("a", &refused) + &keyed("b", PROCESSED);
        assert_eq!(after(&twice).0, EffectClaim::Unknown, "said twice, it proves no more");
        let other = keyed("a", &refused).replace(r#""idempotency_key":"k""#, r#""idempotency_key":"k2""#);
        assert_eq!(after(&other), effect_is_there(Basis::Said), "another key says nothing of this one");
    }
    assert_eq!(after(""), effect_is_there(Basis::Said), "the request that was processed is not recorded");
    assert_eq!(after(&keyed("a", TIMEOUT)).0, EffectClaim::Applied, "the first one may have been processed");

    // The same within one call: of its own requests, too, only refusals are known.
    let own = |first: &str| {
        let answers = [first, PROCESSED].into_iter().zip(1..).map(|(answer, n)| {
            format!(r#"{{"type":"tool_result","run_id":"r1","call_id":"c","attempt":{n},{answer}}}"#) + "\n"
        });
        let call = r#"{"type":"tool_call","run_id":"r1","call_id":"c","tool":"pay","args":{"order":"o1"},"idempotency_key":"k"}"#;
        format!("{call}\n{}", answers.collect::<String>())
    };
    let of = |trace: &str| {
        let explanation = explained(&found(trace, "c"));
        (explanation.simulation.outcome().unwrap().claim, explanation.advice.unwrap().state.basis)
    };
    const BUSY: &str = r#""status":"error","error":{"kind":"429_rate_limited","status":429}"#;
    assert_eq!(of(&own(BUSY)), (EffectClaim::Unknown, Basis::RefusedBefore));
    assert_eq!(of(&own(TIMEOUT)), (EffectClaim::Applied, Basis::Said), "its first request may have been processed");
    let lost_before = keyed("a", TIMEOUT) + &own(BUSY);
    assert_eq!(of(&lost_before).0, EffectClaim::Applied, "the other call may have been processed");
    let again = own(BUSY).replace(r#""call_id":"c""#, r#""call_id":"b""#) + &keyed("c", PROCESSED);
    assert_eq!(of(&again), (EffectClaim::Unknown, Basis::RefusedBefore), "said of the first call, it proves no more");
}

#[test]
fn a_reversal_that_was_not_confirmed_may_land_later() {
    const REVERSAL: &str = r#"{"type":"tool_result","run_id":"r1","call_id":"c","answers":"reversal","#;
    let reason = |reversal: &str| {
        let call = line("c", r#""status":"error","error":{"kind":"429_rate_limited"}"#);
        let call = call.replace("\"args\"", "\"reversal_token\":\"t\",\"args\"");
        let trace = if reversal.is_empty() { call } else { call + REVERSAL + reversal + "}\n" };
        let advice = advice(&found(&trace, "c"));
        (advice.state.known, advice.state.reversal_may_land, advice.resend.reason)
    };
    assert_eq!(reason(""), (EffectState::NotDone, false, ResendReason::NotDone));
    assert_eq!(reason(TIMEOUT), (EffectState::NotDone, true, ResendReason::TakenBack));
    assert_eq!(reason(OK), (EffectState::NotDone, false, ResendReason::TakenBack), "it found nothing");
    let refused = r#""status":"error","error":{"status":404,"message":"Not Found"}"#;
    assert_eq!(reason(refused), (EffectState::NotDone, false, ResendReason::NotDone), "it was refused");
}

#[test]
fn a_refused_call_of_a_repeatable_tool_names_the_later_one_that_acted() {
    let row = |tool| {
        let facts = ToolFacts { access: Access::Write, declared: true, repeatable: true, ..ToolFacts::ASSUMED };
        ToolRow::new(tool, facts).unwrap()
    };
    let tools = Tools::new(vec![row("pay")]);
    let plan = plan(&tools);
    let reason = |trace: &str| {
        let sources = Sources::new(["t".to_owned()]);
        let wanted = Some(Wanted { name: "a", place: "a" });
        let mut finder = CallFinder::new(&plan, wanted, OPTIONS, &sources);
        let input = TraceInput::own("t", trace.as_bytes());
        finder.take_trace(0, input, AssembleOptions::default(), &RedactionRules::default()).unwrap();
        let advice = Explanation::of(&finder.finish().ok().unwrap(), &plan, &tools).advice.unwrap();
        (advice.resend.reason, advice.state.made_since.into_iter().map(|other| other.name).collect::<Vec<_>>())
    };
    let refused = |id| line(id, r#""status":"error","error":{"kind":"429_rate_limited"}"#);
    let made = (ResendReason::Repeatable, vec![reference("r1#2")]);
    assert_eq!(reason(&(refused("a") + &line("b", OK))), made);
    let none = (ResendReason::NotDone, Vec::new());
    assert_eq!(reason(&(refused("a") + &refused("b"))), none);
    assert_eq!(reason(&(line("b", OK) + &refused("a"))), none, "the one before was asked for by itself");
}

#[test]
fn a_write_that_the_graph_withholds_is_not_to_be_sent_again() {
    let tools = tools();
    let text = "format: playbook/1\nname: p\nqueues: [q]\ndefault_queue: q\notherwise: unclassified\n\
                classify: [{ rule: late, when: { kind: timeout }, verdict: v }]\n\
                verdicts: { v: { means: m, effect: not_applied, then: { deprecate_tool_call: { reason: r } } } }\n";
    let advised = |text: &str| {
        let plan = Plan::new(parse(Source::whole("p", text)).unwrap().playbook, &tools);
        let sources = Sources::new(["t".to_owned()]);
        let mut finder = CallFinder::new(&plan, Some(Wanted { name: "a", place: "a" }), OPTIONS, &sources);
        let trace = line("a", r#""status":"error","error":{"kind":"timeout"}"#);
        let input = TraceInput::own("t", trace.as_bytes());
        finder.take_trace(0, input, AssembleOptions::default(), &RedactionRules::default()).unwrap();
        let explanation = Explanation::of(&finder.finish().ok().unwrap(), &plan, &tools);
        (explanation.simulation.record.told[0].retriable, explanation.advice.unwrap().resend.reason)
    };
    assert_eq!(advised(text), (true, ResendReason::NotDone), "nothing was done, and no graph withholds it");
    let ordered = format!("{text}actions: {{ pay: {{}} }}\ngraph: {{ entry: [pay], next: {{ pay: [pay] }} }}\n");
    assert_eq!(advised(&ordered), (false, ResendReason::Withheld));
}

#[test]
fn the_agent_is_not_told_to_do_what_the_page_warns_of() {
    let tools = tools();
    let stripe =
        Plan::new(parse(Source::whole("stripe", embedded("preset/stripe").unwrap())).unwrap().playbook, &tools);
    let limited = |message: &str| format!(r#""status":"error","error":{{"status":429,"message":"{message}"}}"#);
    let refused = limited("Too many requests");
    let said = |trace: &str| {
        let sources = Sources::new(["t".to_owned()]);
        let wanted = Some(Wanted { name: "c", place: "c" });
        let mut finder = CallFinder::new(&stripe, wanted, OPTIONS, &sources);
        let input = TraceInput::own("t", trace.as_bytes());
        finder.take_trace(0, input, AssembleOptions::default(), &RedactionRules::default()).unwrap();
        let explanation = Explanation::of(&finder.finish().ok().unwrap(), &stripe, &tools);
        let told = explanation.simulation.record.told.first().is_some_and(|told| told.retriable);
        (told, explanation.advice.unwrap().resend.is_yes())
    };
    let with_key = |id: &str, key: &str, answer: &str| {
        line(id, answer).replace(r#""tool":"pay""#, &format!(r#""tool":"pay","idempotency_key":"{key}""#))
    };
    let yes = [
        line("c", &refused),
        line("a", &refused) + &line("c", &refused),
        line("a", OK).replace("o1", "o2") + &line("c", &refused),
        line("a", OK).replace("r1", "r2") + &line("c", &refused),
        with_key("a", "k", TIMEOUT) + &with_key("c", "k", &refused),
        line("c", &refused).replace("pay", "look"),
    ];
    for trace in yes {
        assert_eq!(said(&trace), (true, true), "{trace}");
    }
    let no = [
        line("a", OK) + &line("c", &refused),
        line("a", TIMEOUT) + &line("c", &refused),
        line("a", DENIED) + &line("c", &refused),
        with_key("a", "k", OK) + &with_key("c", "k", &refused),
        with_key("a", "k", TIMEOUT) + &with_key("c", "k2", &refused),
        line("a", TIMEOUT) + &with_key("c", "k", &refused),
        with_key("a", "k", OK).replace("o1", "o2") + &with_key("c", "k", &refused),
        line("c", &limited("Transfer accepted, limit reached")),
    ];
    for trace in no {
        assert_eq!(said(&trace), (false, false), "{trace}");
    }
}
