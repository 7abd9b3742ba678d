//! Storms on what the calls of a server share, and on what the graph of a run orders: probes, retry budgets of each kind,
//! and actions.

use std::collections::{BTreeMap, BTreeSet};

use playproof_engine::event::{Decision, DecisionEvent, OutcomeKind, Status, StopReason};
use playproof_engine::fixture::{Fixture, FixtureCall};
use playproof_engine::ids::CallId;
use playproof_engine::playbook::Tools;
use playproof_engine::sim::{Plan, Recording, Scenario};
use playproof_engine::time::{Duration, Instant};
use playproof_engine::upstream::{Script, ScriptedAnswer, UpstreamReply};
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook;

use crate::place::Place;
use crate::recordings::compared;
use crate::seeds::{seeds, share};
use crate::storms::{CALLS, Numbers, PLAYBOOK, broken_by, failure, many, plan_of, storm};

/// A way to let probes pass, and the most that are out at once.
const PROBES: [(&str, usize); 3] = [
    ("{ mode: single_probe }", 1),
    ("{ mode: thresholds, capacity: 2, success_threshold: 2 }", 2),
    ("{ mode: evaluate_rate, permits: 3 }", 3),
];

/// A kind of retry budget, with what bounds its retries.
const BUDGETS: [(&str, Bound); 5] = [
    (
        "{ kind: token_bucket, capacity: 6, cost: 2, refund: none, per: dispatcher }",
        Bound::Retries { most: 3, each: 0 },
    ),
    ("{ kind: throttle, max_tokens: 8, token_ratio: 0.5, per: dispatcher }", Bound::Throttle),
    (
        "{ kind: deposit_withdraw, ttl_ms: 10000, min_retries_per_sec: 0, retry_percent: 0.1, per: dispatcher }",
        Bound::Retries { most: 0, each: 10 },
    ),
    ("{ kind: concurrency_ratio, budget_percent: 10, min_retry_concurrency: 2, per: dispatcher }", Bound::Share(10)),
    ("{ kind: inflight_share, max_share: 0.1, min_retry_concurrency: 2, per: dispatcher }", Bound::Share(10)),
];

/// What a retry budget allows at most.
#[derive(Clone, Copy)]
enum Bound {
    /// So many retries, and so many for each hundred calls.
    Retries { most: usize, each: usize },
    /// Retries while there are more than 4 of 8 tokens: a failure takes one, a success gives a half.
    Throttle,
    /// Two retries at once, or this part of the calls at once, in percent.
    Share(usize),
}

fn text(probes: &str, budget: &str) -> String {
    let text = PLAYBOOK
        .replace("{ mode: single_probe }", probes)
        .replace("max_retries: 2", "max_retries: 2\n        retry_budget: all");
    let text = text.replace("backoff_ms: [30] }", "backoff_ms: [30], retry_budget: all }");
    format!("{text}retry_budgets: {{ all: {budget} }}\n")
}

/// Probes that are out beyond what may be.
fn surplus_probes(
    events: &[DecisionEvent],
    server: &dyn Fn(CallId) -> String,
    names: &[String],
    most: usize,
) -> Vec<String> {
    let mut half_open: BTreeMap<String, BTreeSet<CallId>> = BTreeMap::new();
    let mut broken = Vec::new();
    for event in events {
        let of_call = server(event.call);
        match event.what {
            Decision::CircuitHalfOpen { server } => {
                half_open.insert(names[server.0 as usize].clone(), BTreeSet::new());
            }
            Decision::CircuitOpened { server, .. } | Decision::CircuitClosed { server } => {
                half_open.remove(&names[server.0 as usize]);
            }
            Decision::AttemptStarted { .. } => {
                let out = half_open.get_mut(&of_call).map_or(0, |probes| {
                    probes.insert(event.call);
                    probes.len()
                });
                if out > most {
                    broken.push(format!("{:?} {:?}: {out} probes are out", event.at, event.call));
                }
            }
            Decision::AttemptFinished { .. } | Decision::Cancelled => {
                half_open.values_mut().for_each(|probes| probes.retain(|probe| *probe != event.call));
            }
            _ => {}
        }
    }
    broken
}

/// Retries beyond what the budget allows.
fn surplus_retries(events: &[DecisionEvent], plan: &Plan, bound: Bound) -> Vec<String> {
    let (mut alive, mut retrying, mut entered) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let (mut sent, mut half_tokens) = (0, 16);
    let mut broken = Vec::new();
    for event in events {
        entered.insert(event.call);
        alive.insert(event.call);
        let mut over = |is_over: bool, what: String| {
            if is_over {
                broken.push(format!("{:?} {:?}: {what}", event.at, event.call));
            }
        };
        match event.what {
            Decision::AttemptFinished { status, .. } => {
                retrying.remove(&event.call);
                if status == Status::Ok {
                    half_tokens = 16.min(half_tokens + 1);
                }
            }
            Decision::FailureClassified { verdict, .. } if plan.playbook.verdict(verdict).then.retry().is_some() => {
                half_tokens = 0.max(half_tokens - 2);
            }
            Decision::RetryScheduled { .. } => {
                retrying.insert(event.call);
                match bound {
                    Bound::Throttle => over(half_tokens <= 8, format!("a retry with {half_tokens} half tokens")),
                    Bound::Share(percent) => {
                        let most = 2.max((alive.len() * percent).div_ceil(100));
                        over(retrying.len() > most, format!("{} of {} calls retry", retrying.len(), alive.len()));
                    }
                    Bound::Retries { .. } => {}
                }
            }
            Decision::AttemptStarted { attempt, .. } if attempt.get() > 1 => {
                sent += 1;
                if let Bound::Retries { most, each } = bound {
                    let most = most + entered.len() * each / 100;
                    over(sent > most, format!("{sent} retries of {most}"));
                }
            }
            Decision::Outcome(_) => {
                alive.remove(&event.call);
                retrying.remove(&event.call);
            }
            _ => {}
        }
    }
    broken
}

fn recorded(plan: &Plan, fixture: &Fixture) -> Recording {
    Recording::of_fixture(plan, fixture, &Scenario::of_fixture(fixture, plan))
}

/// What a storm breaks under the kinds of probes and budgets with these numbers.
fn broken_of(recording: &Recording, plan: &Plan, probes: usize, bound: Bound) -> Vec<String> {
    let record = &recording.record;
    let server = |call: CallId| plan.server(recording.calls[call.index()].tool()).to_owned();
    let mut broken = broken_by(recording, plan);
    broken.extend(surplus_probes(&record.events, &server, &record.servers, probes));
    broken.extend(surplus_retries(&record.events, plan, bound));
    broken
}

#[test]
fn no_storm_lets_more_probes_pass_or_overdraws_a_retry_budget() {
    for (kind, (budget, bound)) in (0_u64..).zip(BUDGETS) {
        let (mut half_opened, mut closed, mut stopped, mut retried) = (0, 0, 0, 0);
        for (n, (probes, most)) in (0_u64..).zip(PROBES) {
            let plan = plan_of(&text(probes, budget));
            for seed in seeds(1_000).filter(|seed| seed % 15 == kind * 3 + n) {
                let fixture = storm(seed);
                let recording = recorded(&plan, &fixture);
                let broken = broken_of(&recording, &plan, most, bound);
                assert!(broken.is_empty(), "{budget} {probes}, seed {seed}: {broken:#?}");
                for event in &recording.record.events {
                    match event.what {
                        Decision::CircuitHalfOpen { .. } => half_opened += 1,
                        Decision::CircuitClosed { .. } => closed += 1,
                        Decision::RetryScheduled { .. } => retried += 1,
                        Decision::Outcome(outcome)
                            if outcome.kind == OutcomeKind::Exhausted(StopReason::RetryBudget) =>
                        {
                            stopped += 1;
                        }
                        _ => {}
                    }
                }
                if seed % 5 == 0 {
                    let (trace, compared) = compared(&plan, &fixture, 1);
                    assert_eq!(compared.calls, CALLS as u64, "seed {seed}\n{trace}");
                    assert!(compared.differences.is_empty(), "seed {seed}: {:#?}", compared.differences);
                }
            }
        }
        let seen = [half_opened, closed, stopped, retried];
        assert!(seen.iter().all(|count| *count > share(5)), "storms show too little under {budget}: {seen:?}");
    }
}

#[test]
fn more_probes_and_retries_than_allowed_are_noticed() {
    for (budget, bound) in BUDGETS {
        let plan = plan_of(&text(PROBES[1].0, budget));
        let unbounded = plan_of(&text(PROBES[1].0, "{ kind: token_bucket, capacity: 500, cost: 1 }"));
        let breaks = |plan: &Plan, probes: usize, said: &str| {
            (1..=60).any(|seed| {
                broken_of(&recorded(plan, &storm(seed)), plan, probes, bound).iter().any(|one| one.contains(said))
            })
        };
        assert!(breaks(&plan, 0, "probes are out"), "{budget}");
        assert!(breaks(&unbounded, 2, "retr"), "{budget}");
    }
}

/// Runs of the coffee playbook: some do what is not valid, some at the same time.
fn gated(seed: u64) -> Fixture {
    const ACTIONS: [&str; 6] = ["show_menu", "take_order", "add_modifier", "pay", "fulfill", "cancel"];
    let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let calls = (0..CALLS).map(|n| {
        let run = numbers.below(6);
        let action = ACTIONS[if numbers.one_in(4) { numbers.place(6) } else { (n / 7).min(5) }];
        let args = match action {
            "take_order" => "{\"item\":\"latte\"}",
            "add_modifier" => "{\"modifier\":\"oat\"}",
            "pay" => "{\"amount\":4.5}",
            _ => "{}",
        };
        let answers = (0..2).map(|_| ScriptedAnswer {
            reply: match numbers.below(8) {
                0 => UpstreamReply::Lost,
                1 => failure("timeout"),
                2 => failure("action_error"),
                _ => UpstreamReply::Ok,
            },
            latency: Duration::from_millis(numbers.below(60)),
            applied: None,
        });
        let attempts = answers.collect();
        let at = Instant::from_millis(n as u64 * 12 + numbers.below(30));
        FixtureCall {
            name: format!("c{n}"),
            run: Some(format!("r{run}")),
            is_action: true,
            tool: match action {
                "show_menu" => "menu.show",
                "pay" => "payments.charge",
                "fulfill" => "kitchen.make",
                other => other,
            }
            .to_owned(),
            args: args.to_owned(),
            key: (action == "pay").then(|| format!("order-{run}-{}", numbers.below(2))),
            cancel_at: numbers.one_in(8).then(|| at.plus(Duration::from_millis(1 + numbers.below(100)))),
            at,
            script: Script { attempts, ..Script::default() },
            ..FixtureCall::default()
        }
    });
    let calls = calls.collect();
    Fixture { title: format!("gated {seed}"), seed: Some(seed), calls, ..Fixture::default() }
}

fn coffee() -> Plan {
    let text = playbook::embedded("coffee").expect("the playbook");
    let loaded = playbook::parse(Source::whole("coffee", text)).unwrap_or_else(|report| panic!("{report}"));
    Plan::new(loaded.playbook, &Tools::default())
}

#[test]
fn gated_runs_do_one_action_at_a_time_and_every_call_ends_once() {
    let plan = coffee();
    let (mut waited, mut refused) = (0, 0);
    for seed in seeds(200) {
        let fixture = gated(seed);
        let recording = recorded(&plan, &fixture);
        let (mut ended, mut out) = (BTreeSet::new(), BTreeMap::new());
        for event in &recording.record.events {
            let run = recording.calls[event.call.index()].run().unwrap_or_default();
            match event.what {
                Decision::AttemptStarted { .. } => {
                    let other = out.insert(run, event.call);
                    assert!(other.is_none_or(|other| other == event.call), "seed {seed}: {other:?} and {event:?}");
                }
                Decision::AttemptFinished { .. } | Decision::Cancelled => drop(out.remove(run)),
                Decision::Queued { .. } => waited += 1,
                Decision::Refused { .. } => refused += 1,
                Decision::Outcome(_) => assert!(ended.insert(event.call), "seed {seed}: {event:?} again"),
                _ => {}
            }
        }
        assert_eq!(ended.len(), CALLS, "seed {seed}");
        if seed % 5 == 0 {
            let (trace, compared) = compared(&plan, &fixture, 1);
            assert!(compared.differences.is_empty(), "seed {seed}: {:#?}\n{trace}", compared.differences);
        }
    }
    assert!(waited > share(60) && refused > share(60), "{waited} {refused}");
}

#[test]
fn these_storms_too_have_the_same_bytes_with_any_number_of_threads() {
    let place = Place::new();
    let shared = "dedupe: { window_ms: 100 }\nbudget: { tool_calls: 12 }\npermits: { max_in_flight: 8, queue: 20 }\n";
    let storms = text(PROBES[1].0, BUDGETS[0].0);
    place.write("storm.yaml", &format!("{}{shared}", storms.trim_start()));
    place.write("storms.jsonl", &many(&plan_of(&storms), storm, 1..=20));
    place.write("gated.jsonl", &many(&coffee(), gated, 1..=20));
    for (trace, playbook) in [("storms.jsonl", "storm.yaml"), ("gated.jsonl", "coffee")] {
        let bytes = |jobs: &str| {
            let run = place.run(&["replay", trace, "--playbook", playbook, "--format", "jsonl", "--jobs", jobs]);
            assert!(run.out.len() > 10_000, "{}", run.err);
            run.out
        };
        let one = bytes("1");
        for jobs in ["2", "3"] {
            assert!(bytes(jobs) == one, "{trace} --jobs {jobs}");
        }
    }
}
