//! Properties of the advice over random fixtures: "yes" does no harm in the fixture's own world, and its sentences agree.

use std::cell::RefCell;
use std::collections::BTreeSet;

use playproof_analysis::explain::*;
use playproof_engine::event::{Decision, EffectClaim, ErrorFacts, FindingBy, FindingSeverity};
use playproof_engine::fixture::{ExistingEffect, Fixture, FixtureCall, FixtureTool};
use playproof_engine::ids::AttemptNo;
use playproof_engine::playbook::{Access, Tools};
use playproof_engine::sim::Plan;
use playproof_engine::time::{Duration, Instant};
use playproof_engine::upstream::{KeyDialect, Script, ScriptedAnswer, UpstreamReply};
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook::{embedded, parse};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};

/// A playbook of two verdicts; it may lie about what they prove.
fn playbook_text((effects, then): ([&str; 2], [&str; 2])) -> String {
    let verdict = |n: usize| format!("  v{n}: {{ means: x, effect: {}, then: {} }}\n", effects[n], then[n]);
    format!(
        "format: playbook/1\nname: random\nverdicts:\n{}{}\
         \x20 unclassified: {{ means: x, effect: unknown, then: {{ escalate_to_human: {{ queue: q }} }} }}\n\
         classify:\n  - {{ rule: a, when: {{ kind: a }}, verdict: v0 }}\n\
         \x20 - {{ rule: b, when: {{ kind: timeout }}, verdict: v1 }}\notherwise: unclassified\n\
         default_queue: q\nqueues: [q]\nlimits: {{ max_attempts: 4, deadline_ms: 60000 }}\n",
        verdict(0),
        verdict(1)
    )
}

fn plans() -> impl Strategy<Value = String> {
    let effect = || select(vec!["applied", "not_applied", "unknown"]);
    let then = || {
        select(vec![
            "{ retry_with_backoff: { backoff_ms: [50, 50] } }",
            "{ retry_with_backoff: { backoff_ms: [50], on_unsafe: { issue_reversal: { reason: r } } } }",
            "{ refresh_evidence: { then: retry } }",
            "{ refresh_evidence: { then: abort } }",
            "{ escalate_to_human: { queue: q } }",
            "{ issue_reversal: { reason: r } }",
            "{ issue_reversal: { reason: r, on_refused: { deprecate_tool_call: { reason: s } } } }",
            "{ deprecate_tool_call: { reason: s } }",
        ])
    };
    let random = ([effect(), effect()], [then(), then()]).prop_map(playbook_text);
    let shipped = ["standard", "reversing", "study/retry-everything", "study/typed-verdicts-literal"];
    let shipped = select(shipped.map(|name| embedded(name).unwrap().to_owned()).to_vec());
    prop_oneof![2 => random, 1 => shipped]
}

fn failed(kind: &str, message: &str, status: Option<u16>) -> UpstreamReply {
    let (kind, message) = (Some(kind.into()), Some(message.into()));
    UpstreamReply::failed(ErrorFacts { kind, message, status, ..ErrorFacts::default() })
}

fn answer() -> impl Strategy<Value = ScriptedAnswer> {
    let reply = prop_oneof![
        3 => Just(UpstreamReply::Ok),
        3 => Just(UpstreamReply::Lost),
        4 => Just(failed("a", "x", None)),
        1 => Just(failed("timeout", "x", None)),
        1 => Just(failed("5xx", "x", Some(500))),
        1 => Just(failed("403_forbidden", "x", Some(403))),
        1 => Just(failed("409_conflict", "idempotency_key already processed", Some(409))),
        1 => Just(failed("422_key_reused", "x", Some(422))),
        1 => Just(failed("429_rate_limited", "x", Some(429))),
        1 => Just(failed("429_rate_limited", "refund re_1 created, but slow", Some(429))),
        1 => Just(failed("412_precondition", "evidence", Some(412))),
    ];
    let applied = prop_oneof![4 => Just(None), 1 => Just(Some(true)), 1 => Just(Some(false))];
    (reply, select(vec![10, 900, 1_500, 9_000]), applied).prop_map(|(reply, latency, applied)| {
        // An answer that never comes has no latency of its own.
        let latency = Duration::from_millis(latency);
        ScriptedAnswer { reply, latency, applied }
    })
}

fn call() -> impl Strategy<Value = FixtureCall> {
    let answers = |most| prop::collection::vec(answer(), 0..=most);
    let script = (prop::collection::vec(answer(), 1..=3), answers(1), answers(1))
        .prop_map(|(attempts, refresh, reversal)| Script { attempts, refresh, reversal });
    (
        select(vec!["pay", "pay", "pay", "say"]),
        select(vec![r#"{"n":1}"#, r#"{"n":1}"#, r#"{"n":2}"#]),
        select(vec![None, None, Some("k"), Some("k"), Some("l")]),
        select(vec![None, Some("t")]),
        select(vec![0, 500, 20_000]),
        script,
    )
        .prop_map(|(tool, args, key, token, at, script)| FixtureCall {
            tool: tool.to_owned(),
            args: args.to_owned(),
            key: key.map(str::to_owned),
            token: token.map(str::to_owned),
            at: Instant::from_millis(at),
            timeout: Some(Duration::from_millis(1_000)),
            script,
            ..FixtureCall::default()
        })
}

fn fixtures() -> impl Strategy<Value = Fixture> {
    let facts = (prop::bool::weighted(0.85), prop::bool::weighted(0.15), prop::bool::weighted(0.15), any::<bool>());
    let before = prop::collection::vec((select(vec![None, Some("k"), Some("l")]), select(vec![1, 2])), 0..=1);
    let before = prop_oneof![3 => Just(Vec::new()), 1 => before];
    (prop::collection::vec(call(), 1..=3), select(KeyDialect::ALL.to_vec()), before, facts).prop_map(
        |(mut calls, keys, before, (writes, idempotent, repeatable, declared))| {
            for (n, call) in calls.iter_mut().enumerate() {
                call.name = format!("c{n}");
            }
            let row = FixtureTool {
                pattern: "pay".to_owned(),
                writes,
                idempotent: Some(idempotent && writes),
                repeatable: Some(repeatable && writes && !idempotent),
                ..FixtureTool::default()
            };
            let before = before.into_iter().map(|(key, n)| ExistingEffect {
                tool: "pay".to_owned(),
                key: key.map(str::to_owned),
                args: format!(r#"{{"n":{n}}}"#),
            });
            Fixture {
                title: "random".to_owned(),
                calls,
                keys,
                before: before.collect(),
                tools: if declared { vec![row] } else { Vec::new() },
                ..Fixture::default()
            }
        },
    )
}

fn subject(fixture: &Fixture, name: &str) -> Subject {
    let call = fixture.calls.iter().find(|call| call.name == name);
    let tool = call.map(|call| call.tool.clone()).unwrap_or_default();
    Subject::Fixture { fixture: Box::new(fixture.clone()), name: name.to_owned(), tool }
}

const RESENT: &str = "resent";

/// The fixture with one more call like `call`, after everything has landed. A key is answered by its dialect.
fn resent(fixture: &Fixture, call: &FixtureCall) -> Fixture {
    let ok = ScriptedAnswer { reply: UpstreamReply::Ok, latency: Duration::from_millis(10), applied: None };
    let attempts = if call.key.is_some() { Vec::new() } else { vec![ok] };
    let mut world = fixture.clone();
    world.calls.push(FixtureCall {
        name: RESENT.to_owned(),
        at: Instant::from_millis(10_000_000),
        script: Script { attempts, ..Script::default() },
        ..call.clone()
    });
    world
}

/// The net effects of one request: of its intent, and of its tool and arguments under any key.
fn effects(fixture: &Fixture, call: &FixtureCall, simulation: &Simulation) -> [u32; 2] {
    let alike = |tool: &str, args: &str| tool == call.tool && args == call.args;
    let existing = fixture.before.iter().filter(|effect| alike(&effect.tool, &effect.args)).count();
    let net = simulation.record.ledger.net_by_call();
    let made = simulation.record.outcomes.iter().enumerate().filter_map(|(n, _)| {
        let id = playproof_engine::ids::CallId::at(n);
        let made = fixture.calls.iter().find(|call| call.name == simulation.calls[n])?;
        alike(&made.tool, &made.args).then(|| net.get(&id).map_or(0, |net| net.effects))
    });
    [simulation.truth().effects, u32::try_from(existing).unwrap() + made.sum::<u32>()]
}

/// Sends the call once more in the world of `fixture`: the effects before and after, and the second call's simulation.
fn send_again(fixture: &Fixture, call: &FixtureCall, plan: &Plan) -> ([u32; 2], [u32; 2], Simulation) {
    let before = subject(fixture, &call.name).simulate(plan);
    let world = resent(fixture, call);
    let after = subject(&world, RESENT).simulate(plan);
    (effects(fixture, call, &before), effects(&world, call, &after), after)
}

/// The same fixture, where every attempt of unknown effect has acted; none if the agent would see a difference.
fn landed(fixture: &Fixture, name: &str, plan: &Plan) -> Option<Fixture> {
    let seen = subject(fixture, name).simulate(plan);
    let (mut world, mut last) = (fixture.clone(), AttemptNo::FIRST);
    let script = &mut world.calls.iter_mut().find(|call| call.name == name)?.script;
    for (_, decision) in seen.decisions() {
        match decision {
            Decision::AttemptFinished { attempt, .. } => last = attempt,
            Decision::FailureClassified { verdict, .. }
                if plan.playbook.verdict(verdict).effect == EffectClaim::Unknown =>
            {
                script.attempts.get_mut(last.index())?.applied = Some(true);
            }
            _ => {}
        }
    }
    let other = subject(&world, name).simulate(plan);
    (other.record.events == seen.record.events).then_some(world)
}

/// What must hold between the three sentences.
fn agree(advice: &Advice, access: Access) -> Vec<&'static str> {
    let Advice { state, check, next, resend } = advice;
    let writes = access == Access::Write;
    let is = |reason| resend.reason == reason;
    let (done, not_done) = (state.known == EffectState::Done, state.known == EffectState::NotDone);
    let rules = [
        ("yes while a person acts", resend.is_yes() && (check.is_some() || matches!(next, Actor::Person(_)))),
        ("a person decides, and somebody else acts", resend.person.is_some() != matches!(next, Actor::Person(_))),
        ("yes for what contradicts", resend.is_yes() && state.contradicted),
        ("yes after a denial", resend.is_yes() && state.said.denied),
        ("yes for the key of another", resend.is_yes() && (state.takes_key || state.shares_key)),
        (
            "yes for what an answer tells of",
            resend.is_yes() && state.said.done && writes && !is(ResendReason::Idempotent),
        ),
        ("yes for what was processed", resend.is_yes() && state.said.processed),
        ("yes for what is taken back", resend.is_yes() && state.reversed && writes && !is(ResendReason::Idempotent)),
        ("done, and not there", is(ResendReason::Done) && !done),
        ("has not acted, and may have", is(ResendReason::NotDone) && !not_done),
        ("may have acted, and is known", is(ResendReason::MayHaveActed) && (done || not_done)),
        ("may have acted, and is known (key)", is(ResendReason::SameKey) && (done || not_done)),
        ("taken back, and there", is(ResendReason::TakenBack) && !not_done),
        ("a read, and it acted", is(ResendReason::Read) && (writes || done)),
        ("only reads, and changed", state.basis == Basis::ReadOnly && (writes || done)),
        ("treated as made, and not there", *next == Actor::Planner(PlannerStart::Effect) && !done),
        (
            "taken back for the planner, and there",
            *next == Actor::Planner(PlannerStart::Reversal) && !(not_done && state.taken_back),
        ),
        (
            "nobody acts, and the effect is not there",
            writes && *next == Actor::Nobody && !done && check.is_none() && !state.modelled,
        ),
        ("surplus of nothing", state.surplus.is_some() && !done),
        ("checked once more, and not there", *check == Some(ManualCheck::OnceMore) && !done),
    ];
    rules.into_iter().filter_map(|(rule, broken)| broken.then_some(rule)).collect()
}

#[test]
fn yes_adds_no_second_effect_and_the_sentences_agree() {
    let reasons = RefCell::new(BTreeSet::new());
    let mut runner = TestRunner::new_with_rng(
        Config { cases: Config::default().cases.max(1_500), failure_persistence: None, ..Config::default() },
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let cases = (fixtures(), plans());
    let outcome = runner.run(&cases, |(fixture, playbook)| {
        let playbook = parse(Source::whole("p", &playbook)).unwrap_or_else(|report| panic!("{report}")).playbook;
        let plan = Plan::new(playbook, &Tools::default());
        for call in &fixture.calls {
            let subject = subject(&fixture, &call.name);
            let Some(advice) = Explanation::of(&subject, &plan, &Tools::default()).advice else { continue };
            let facts = subject.simulate(&plan).facts;
            reasons.borrow_mut().insert(format!("{:?} {}", advice.resend.reason, advice.resend.is_yes()));
            prop_assert_eq!(agree(&advice, facts.access), Vec::<&str>::new(), "{}: {:#?}", call.name, advice);
            if !advice.resend.is_yes() {
                continue;
            }
            let worlds = [Some(fixture.clone()), landed(&fixture, &call.name, &plan)];
            for world in worlds.into_iter().flatten() {
                let (before, after, second) = send_again(&world, call, &plan);
                let harmful = |n: usize| before[n] > 0 && after[n] > before[n];
                prop_assert!(!(facts.repeatable && before[0] > 0), "{}: {before:?} {advice:#?}", call.name);
                prop_assert!(facts.idempotent || !harmful(0), "{}: {before:?} {after:?} {advice:#?}", call.name);
                let any_key = !facts.idempotent && !facts.repeatable;
                prop_assert!(!(any_key && harmful(1)), "{}, any key: {before:?} {after:?} {advice:#?}", call.name);
                let blamed = second
                    .findings
                    .iter()
                    .find(|finding| finding.by == FindingBy::Recorded && finding.severity == FindingSeverity::Unsafe);
                prop_assert_eq!(blamed, None, "{}: {:#?}", call.name, advice);
            }
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    for reason in [
        "Read true",
        "Idempotent true",
        "NotDone true",
        "SameKey true",
        "KeyOfAnother false",
        "KeyShared false",
        "SaysDone false",
        "GivenUp false",
        "Denied false",
        "Processed false",
        "Done false",
        "Contradicted false",
        "OtherKey false",
        "Repeatable false",
        "TakenBack false",
        "MayHaveActed false",
        "Overwrites false",
    ] {
        assert!(reasons.borrow().contains(reason), "no fixture shows {reason}: {:?}", reasons.borrow());
    }
}
