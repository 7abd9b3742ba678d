//! Random storms of calls on one dispatcher: its events break no invariant, and its recording replays to the same events.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use playproof_engine::event::{Decision, DecisionEvent, ErrorFacts};
use playproof_engine::fixture::{Fixture, FixtureCall};
use playproof_engine::ids::{CallId, ServerId};
use playproof_engine::playbook::{BudgetUnit, Dedupe, InFlightKey, PermitLimits, ToolCallBudget, Tools};
use playproof_engine::sim::{Plan, Recording, Scenario};
use playproof_engine::time::{Duration, Instant};
use playproof_engine::upstream::{Outage, Script, ScriptedAnswer, UpstreamReply};
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook;
use playproof_report::decisions::trace_of;

use crate::place::Place;
use crate::recordings::compared;
use crate::seeds::{seeds, share};

const PERMITS: u32 = 8;
const BUDGET: u32 = 12;
pub const CALLS: usize = 40;
const TOOLS: [&str; 3] = ["search.web", "pay.charge", "pay.note"];

pub const PLAYBOOK: &str = "
format: playbook/1
name: storm
verdicts:
  transient:
    means: It could not do it now.
    effect: not_applied
    breaker: failure
    then:
      retry_with_backoff:
        backoff: { kind: exponential, base_ms: 20, max_ms: 400, jitter: full }
        max_retries: 2
  unknown:
    means: It may have acted.
    effect: unknown
    breaker: failure
    then: { retry_with_backoff: { backoff_ms: [30] } }
  unclassified:
    means: No rule matches.
    effect: unknown
    then: { escalate_to_human: { queue: people } }
classify:
  - { rule: transient, when: { kind: 5xx }, verdict: transient }
  - { rule: timeout, when: { kind: timeout }, verdict: unknown }
default_queue: people
queues: [people]
breakers:
  default: { window: { calls: 6 }, min_calls: 4, failure_rate: 0.75, open_ms: 150, half_open: { mode: single_probe } }
tools:
  search.web: { access: read, timeout_ms: 200 }
  pay.charge: { access: write, timeout_ms: 120, server: pay }
  pay.note: { access: write, idempotent: true, timeout_ms: 90, server: pay }
limits: { max_attempts: 3 }
";

fn plan() -> Plan {
    plan_of(PLAYBOOK)
}

/// The plan of a playbook whose calls share keys, a budget of tool calls, and permits.
pub fn plan_of(text: &str) -> Plan {
    let loaded = playbook::parse(Source::whole("storm", text)).unwrap_or_else(|report| panic!("{report}"));
    let mut playbook = loaded.playbook;
    let window = Duration::from_millis(100);
    let (min_key_len, max_key_len, most_keys) = (1, 255, 100_000);
    let in_flight = InFlightKey::Join;
    playbook.sharing.dedupe = Some(Dedupe { window, in_flight, takeover: None, min_key_len, max_key_len, most_keys });
    playbook.sharing.budget = Some(ToolCallBudget { tool_calls: BUDGET, counts: BudgetUnit::Attempts });
    playbook.sharing.permits = Some(PermitLimits { max_in_flight: PERMITS, queue: 20 });
    Plan::new(playbook, &Tools::default())
}

/// Numbers of a small generator (Marsaglia's xorshift).
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    pub fn place(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).expect("a place")
    }

    pub fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }
}

pub fn failure(kind: &str) -> UpstreamReply {
    UpstreamReply::failed(ErrorFacts { kind: Some(kind.into()), ..ErrorFacts::default() })
}

/// A storm; seeds differ in the calls, their answers, keys, runs, cancellations and outages.
pub fn storm(seed: u64) -> Fixture {
    let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let calls = (0..CALLS).map(|n| {
        let at = Instant::from_millis(numbers.below(400));
        let tool = TOOLS[numbers.place(TOOLS.len())];
        let key = numbers.one_in(3).then(|| format!("k{}", numbers.below(6)));
        let reply = |numbers: &mut Numbers| match numbers.below(8) {
            0 => UpstreamReply::Lost,
            1 | 2 => failure("5xx"),
            3 => failure("timeout"),
            4 if numbers.one_in(4) => failure("odd"),
            _ => UpstreamReply::Ok,
        };
        let answers = (0..3).map(|_| ScriptedAnswer {
            reply: reply(&mut numbers),
            latency: Duration::from_millis(numbers.below(160)),
            applied: None,
        });
        let attempts = if n % 4 == 0 { Vec::new() } else { answers.collect() };
        let after = if n > 0 && numbers.one_in(6) { vec![numbers.place(n)] } else { Vec::new() };
        FixtureCall {
            name: format!("c{n}"),
            run: Some(format!("r{}", numbers.below(3))),
            tool: tool.to_owned(),
            args: format!("{{\"n\":{}}}", key.as_ref().map_or(n, String::len)),
            cancel_at: (after.is_empty() && numbers.one_in(5))
                .then(|| at.plus(Duration::from_millis(1 + numbers.below(200)))),
            after,
            after_delay: Duration::from_millis(numbers.below(3) * 7),
            key,
            at,
            script: Script { attempts, ..Script::default() },
            ..FixtureCall::default()
        }
    });
    let calls = calls.collect();
    let from = Instant::from_millis(numbers.below(300));
    let answer = ScriptedAnswer { reply: failure("5xx"), latency: Duration::from_millis(15), applied: None };
    let outage = Outage { from, to: Some(from.plus(Duration::from_millis(200))), answer };
    let outages = TOOLS.iter().map(|tool| ((*tool).to_owned(), vec![outage.clone()])).collect();
    Fixture { title: format!("storm {seed}"), seed: Some(seed), calls, outages, ..Fixture::default() }
}

/// What events show of the calls: enough for the invariants.
struct Shown<'a> {
    run: &'a dyn Fn(CallId) -> String,
    server: &'a dyn Fn(CallId) -> String,
    server_names: &'a [String],
}

/// The invariants that the events of a dispatcher break, in words.
fn broken(events: &[DecisionEvent], shown: &Shown<'_>) -> Vec<String> {
    let mut broken = Vec::new();
    let (mut out, mut open, mut ended) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut started: BTreeMap<String, u32> = BTreeMap::new();
    let mut queue: VecDeque<CallId> = VecDeque::new();
    let mut leaders: BTreeMap<CallId, CallId> = BTreeMap::new();
    let name = |server: ServerId| shown.server_names.get(server.0 as usize).cloned().unwrap_or_default();
    for event in events {
        let (call, at) = (event.call, event.at);
        let mut wrong = |what: &str| broken.push(format!("{at:?} {call:?}: {what}"));
        match event.what {
            Decision::Queued { .. } => queue.push_back(call),
            Decision::AttemptStarted { .. } => {
                if queue.contains(&call) && queue.pop_front() != Some(call) {
                    wrong("it overtook a call in the queue");
                    queue.retain(|queued| *queued != call);
                }
                if open.contains(&(shown.server)(call)) {
                    wrong("it was sent to an open circuit");
                }
                let count = started.entry((shown.run)(call)).or_default();
                *count += 1;
                if *count > BUDGET {
                    wrong("its run has no tool calls left");
                }
                out.insert(call);
                if out.len() > PERMITS as usize {
                    wrong("more attempts are out than permits");
                }
            }
            Decision::AttemptFinished { .. } => drop(out.remove(&call)),
            Decision::CircuitOpened { server, .. } => drop(open.insert(name(server))),
            Decision::CircuitHalfOpen { server } | Decision::CircuitClosed { server } => {
                open.remove(&name(server));
            }
            Decision::Joined { leader } => drop(leaders.insert(call, leader)),
            Decision::TookOver { .. } => drop(leaders.remove(&call)),
            Decision::Cancelled => {
                out.remove(&call);
                leaders.remove(&call);
            }
            Decision::Outcome(_) => {
                if !ended.insert(call) {
                    wrong("it ended twice");
                }
                if leaders.get(&call).is_some_and(|leader| !ended.contains(leader)) {
                    wrong("it ended before its leader");
                }
                queue.retain(|queued| *queued != call);
            }
            _ => {}
        }
    }
    if ended.len() != CALLS {
        broken.push(format!("{} of {CALLS} calls ended", ended.len()));
    }
    broken
}

pub fn broken_by(recording: &Recording, plan: &Plan) -> Vec<String> {
    let run = |call: CallId| recording.calls[call.index()].run().unwrap_or_default().to_owned();
    let server = |call: CallId| plan.server(recording.calls[call.index()].tool()).to_owned();
    let shown = Shown { run: &run, server: &server, server_names: &recording.record.servers };
    broken(&recording.record.events, &shown)
}

#[test]
fn storms_break_no_invariant_and_replay_to_the_same_events() {
    let plan = plan();
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for seed in seeds(1_000) {
        let fixture = storm(seed);
        let recording = Recording::of_fixture(&plan, &fixture, &Scenario::of_fixture(&fixture, &plan));
        let broken = broken_by(&recording, &plan);
        assert!(broken.is_empty(), "seed {seed}: {broken:#?}");
        for event in &recording.record.events {
            let what = match event.what {
                Decision::Queued { .. } => "queued",
                Decision::Joined { .. } => "joined",
                Decision::ServedFromCache { .. } => "cached",
                Decision::TookOver { .. } => "took over",
                Decision::Cancelled => "cancelled",
                Decision::LateAnswer { .. } => "late",
                Decision::Refused { why, .. } => why.as_str(),
                Decision::CircuitOpened { .. } => "opened",
                Decision::CircuitClosed { .. } => "closed",
                Decision::RetryScheduled { draw: Some(_), .. } => "drawn",
                _ => continue,
            };
            *seen.entry(what).or_default() += 1;
        }
        if seed % 5 == 0 {
            let jobs = usize::try_from(1 + seed / 5 % 3).expect("a small number");
            let (trace, compared) = compared(&plan, &fixture, jobs);
            assert_eq!((compared.calls, compared.undecided), (CALLS as u64, 0), "seed {seed}\n{trace}");
            assert!(compared.differences.is_empty(), "seed {seed}: {:#?}\n{trace}", compared.differences);
        }
    }
    println!("{seen:?}");
    for what in ["queued", "joined", "cached", "took over", "cancelled", "late", "opened", "closed", "drawn"] {
        assert!(
            seen.get(what).is_some_and(|count| u64::from(*count) > share(20)),
            "storms show too little of `{what}`: {seen:?}"
        );
    }
    assert!(seen.contains_key("budget_exceeded") && seen.contains_key("circuit_open"), "{seen:?}");
}

/// Many storms as one trace, each on a dispatcher of its own.
pub fn many(plan: &Plan, storm: fn(u64) -> Fixture, seeds: std::ops::RangeInclusive<u64>) -> String {
    let one = |seed: u64| {
        let mut trace = trace_of(plan, &storm(seed));
        for (from, to) in [("\"dispatcher_id\":\"", "d"), ("\"run_id\":\"", "s")] {
            trace = trace.replace(from, &format!("{from}{to}{seed}-"));
        }
        trace
    };
    seeds.map(one).collect()
}

#[test]
fn storms_have_the_same_bytes_with_any_number_of_threads() {
    let place = Place::new();
    let shared = "dedupe: { window_ms: 100 }\nbudget: { tool_calls: 12 }\npermits: { max_in_flight: 8, queue: 20 }\n";
    place.write("storm.yaml", &format!("{}{shared}", PLAYBOOK.trim_start()));
    place.write("storms.jsonl", &many(&plan(), storm, seeds(120)));
    for format in ["jsonl", "json"] {
        let replay =
            ["replay", "storms.jsonl", "--playbook", "storm.yaml", "--format", format, "--seed", "7", "--jobs"];
        let bytes = |jobs: &str| place.run(&[&replay[..], &[jobs]].concat()).exits(1).out; // agents send again
        let one = bytes("1");
        assert!(one.len() > 1_000);
        for event in ["\"joined\"", "\"cached\"", "\"circuit_opened\""].into_iter().filter(|_| format == "jsonl") {
            assert!(one.contains(event), "{event}");
        }
        for jobs in ["2", "3", "8"] {
            assert!(bytes(jobs) == one, "--format {format} --jobs {jobs}");
        }
    }
}

#[test]
fn every_invariant_can_be_broken() {
    let plan = plan();
    let recordings: Vec<Recording> = (1..=40)
        .map(storm)
        .map(|fixture| Recording::of_fixture(&plan, &fixture, &Scenario::of_fixture(&fixture, &plan)))
        .collect();
    let is_broken = |said: &str, change: &dyn Fn(&mut Vec<DecisionEvent>)| {
        let breaks = |recording: &Recording| {
            let mut recording = recording.clone();
            change(&mut recording.record.events);
            broken_by(&recording, &plan).iter().any(|one| one.contains(said))
        };
        assert!(recordings.iter().any(breaks), "{said}");
    };
    let keep = |events: &mut Vec<DecisionEvent>, kept: fn(&Decision) -> bool| events.retain(|event| kept(&event.what));
    let again = |events: &mut Vec<DecisionEvent>, which: fn(&Decision) -> bool| {
        let copies: Vec<DecisionEvent> = events.iter().filter(|event| which(&event.what)).copied().collect();
        events.extend(copies);
    };
    is_broken("more attempts are out", &|events| {
        keep(events, |what| !matches!(what, Decision::AttemptFinished { .. }));
    });
    is_broken("ended twice", &|events| again(events, |what| matches!(what, Decision::Outcome(_))));
    is_broken("calls ended", &|events| keep(events, |what| !matches!(what, Decision::Outcome(_))));
    is_broken("no tool calls left", &|events| again(events, |what| matches!(what, Decision::AttemptStarted { .. })));
    is_broken("open circuit", &|events| {
        keep(events, |what| !matches!(what, Decision::CircuitHalfOpen { .. } | Decision::CircuitClosed { .. }));
    });
    is_broken("before its leader", &|events| {
        let joined = events.iter().find_map(|event| match event.what {
            Decision::Joined { leader } => Some(leader),
            _ => None,
        });
        let end = |event: &DecisionEvent| Some(event.call) == joined && matches!(event.what, Decision::Outcome(_));
        events.sort_by_key(end);
    });
    is_broken("overtook", &|events| {
        let mut queued: Vec<CallId> = Vec::new();
        let is_queued = |event: &DecisionEvent| matches!(event.what, Decision::Queued { .. });
        queued.extend(events.iter().filter(|event| is_queued(event)).map(|event| event.call));
        events
            .iter_mut()
            .filter(|event| is_queued(event))
            .for_each(|event| event.call = queued.pop().expect("as many"));
    });
}
