//! One driver: each fixture, driven from outside by the dispatcher with names, has the events of its simulation, call by
//! call; and so it has when it is woken more often than it asked for.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use playproof_engine::call::Reply;
use playproof_engine::clock::{EventPriority, EventQueue};
use playproof_engine::drive::{Dispatcher, InputFault, NewCall, Want};
use playproof_engine::event::{DecisionEvent, Provenance, RequestKind, Told, Transcript, unnamed};
use playproof_engine::fixture::{Fixture, FixtureCall};
use playproof_engine::ids::{AttemptNo, CallId, ErrorId, ServerId};
use playproof_engine::playbook::Access;
use playproof_engine::sim::{DrivenCall, Plan, Recording, Scenario};
use playproof_engine::time::{Duration, Instant};
use playproof_engine::upstream::{Request, Upstream, UpstreamReply};
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook::tools;
use playproof_report::decisions::tools_of;
use playproof_report::json::event_objects;

use crate::goldens;

/// What a test's driver has to do at a moment.
enum Due {
    Call(usize),
    Answer(CallId, RequestKind, Reply),
    TimeOut(CallId, RequestKind),
    GiveUp(CallId, RequestKind),
    Late(CallId, AttemptNo, Reply),
    Wake(CallId),
    Cancel(usize),
}

/// Drives the calls of a fixture, whose upstream answers.
struct Shell<'a> {
    fixture: &'a Fixture,
    scenario: &'a Scenario<'a>,
    dispatcher: Dispatcher,
    upstream: Upstream,
    queue: EventQueue<Due>,
    now: Instant,
    /// The moments for which calls asked.
    waits: Vec<(CallId, Instant)>,
    /// Whether each input is followed by wakes that nobody asked for.
    restless: bool,
    /// What was told of each call that failed, when it ended.
    told: BTreeMap<String, Told>,
}

impl<'a> Shell<'a> {
    fn new(fixture: &'a Fixture, scenario: &'a Scenario<'a>, dispatcher: Dispatcher) -> Shell<'a> {
        let mut upstream = Upstream::default();
        upstream.clear(scenario.keys);
        scenario.before.iter().for_each(|effect| upstream.add_existing(*effect));
        let (queue, now) = (EventQueue::default(), Instant::ZERO);
        let (waits, told) = (Vec::new(), BTreeMap::new());
        Shell { fixture, scenario, dispatcher, upstream, queue, now, waits, restless: false, told }
    }

    fn run(&mut self) {
        let calls = self.fixture.calls.iter().enumerate();
        let mut order: Vec<(usize, &FixtureCall)> = calls.collect();
        order.sort_by_key(|(_, call)| call.at);
        for (n, call) in order {
            if call.after.is_empty() {
                self.queue.push(call.at, EventPriority::Start, Due::Call(n));
            }
            if let Some(at) = call.cancel_at {
                self.queue.push(at, EventPriority::Cancel, Due::Cancel(n));
            }
        }
        while let Some((now, due)) = self.queue.pop() {
            self.now = now;
            self.take(due);
            let wants: VecDeque<Want> = self.dispatcher.take_wants().into();
            wants.into_iter().for_each(|want| self.serve(want));
            self.dispatcher.take_events();
            if self.restless {
                self.wake_early();
            }
        }
    }

    fn take(&mut self, due: Due) {
        if let Due::Call(n) = due {
            let new = self.new_call(n);
            self.dispatcher.call(self.now, new).expect("a name of its own");
            return;
        }
        let (now, dispatcher) = (self.now, &mut self.dispatcher);
        match due {
            Due::Call(_) => {}
            Due::Answer(call, asked, reply) => dispatcher.answer(now, call, asked, &reply).expect("it is out"),
            Due::TimeOut(call, asked) => {
                if dispatcher.outcome(call).is_none() {
                    dispatcher.time_out(now, call, asked).expect("it is out");
                }
            }
            Due::GiveUp(call, asked) => dispatcher.give_up(now, call, asked).expect("it is out"),
            // A caller that went away before the timeout hears the answer of an attempt that is still out.
            Due::Late(call, attempt, reply) => {
                if dispatcher.late(now, call, attempt, &reply) == Err(InputFault::NotSent) {
                    dispatcher.time_out(now, call, RequestKind::Attempt(attempt)).expect("it is out");
                    dispatcher.late(now, call, attempt, &reply).expect("it was sent");
                }
            }
            Due::Wake(call) => {
                dispatcher.wake(now, call).expect("it asked for that");
                let place = self.waits.iter().position(|wait| *wait == (call, now)).expect("it asked for that");
                self.waits.remove(place);
            }
            Due::Cancel(n) => {
                let call = self.fixture.calls.get(n).and_then(|call| dispatcher.find(&call.name));
                call.map_or(Ok(()), |call| dispatcher.cancel(now, call)).expect("it is there");
            }
        }
    }

    fn new_call(&self, n: usize) -> NewCall {
        let call = &self.fixture.calls[n];
        let scenario = self.scenario.calls.iter().find(|known| known.name == call.name).expect("a call of the fixture");
        let has = |name: &str| call.steps.iter().any(|step| *step.step == *name);
        let steps = self.dispatcher.plan().steps_of(scenario.tool_name);
        NewCall {
            name: call.name.clone(),
            run: call.run.clone().unwrap_or_default(),
            tool: scenario.tool_name.to_owned(),
            args: call.args.clone(),
            key: call.key.clone(),
            token: call.token.clone(),
            transaction: call.transaction.clone(),
            act: call.act,
            timeout: call.timeout,
            answer_within: None,
            draws: call.draws.clone(),
            seed: self.fixture.seed,
            steps: call.steps.iter().map(|step| (String::from(&*step.step), step.args.clone())).collect(),
            unknown_steps: steps.iter().filter(|step| !has(&step.name)).map(|step| step.name.to_string()).collect(),
        }
    }

    fn serve(&mut self, want: Want) {
        match want {
            Want::Send { call, asked, within, .. } => {
                let name = self.dispatcher.made(call).expect("a call").name.clone();
                let place = self.scenario.calls.iter().position(|known| known.name == name).expect("a scripted call");
                let DrivenCall { tool, args, facts, source, .. } = self.scenario.calls[place];
                let id = CallId::at(place);
                let (key, intent) =
                    (self.scenario.calls[place].honoured_key(), self.scenario.calls[place].booked_intent(id));
                let (at, writes) = (self.now, facts.access == Access::Write);
                let request = Request { at, call: id, asked, tool, key, args, intent, writes, within };
                let Some(answer) = self.upstream.handle_request(&request, source) else {
                    return self.queue.push(at, EventPriority::Other, Due::GiveUp(call, asked));
                };
                assert_ne!(answer.provenance, Provenance::Recorded, "a fixture has no recording");
                let is_late = answer.is_late(within) || answer.reply == UpstreamReply::Lost;
                let reply = match answer.reply {
                    UpstreamReply::Ok => Some(Reply::Ok),
                    UpstreamReply::Failed(error) => Some(Reply::Failed(error)),
                    UpstreamReply::Suspected(error) => Some(Reply::Suspected(error)),
                    UpstreamReply::Unfinished(error) => Some(Reply::Unfinished(error)),
                    UpstreamReply::Lost => None,
                };
                let then = at.plus(answer.latency.unwrap_or_default());
                match (reply, asked) {
                    (Some(reply), _) if !is_late => {
                        self.queue.push(then, EventPriority::Other, Due::Answer(call, asked, reply));
                    }
                    (reply, _) => {
                        self.queue.push(at.plus(within), EventPriority::Other, Due::TimeOut(call, asked));
                        if let (Some(reply), RequestKind::Attempt(attempt)) = (reply, asked) {
                            self.queue.push(then, EventPriority::Other, Due::Late(call, attempt, reply));
                        }
                    }
                }
            }
            Want::Wait { call, until } => {
                self.waits.push((call, until));
                self.queue.push(until, EventPriority::Other, Due::Wake(call));
            }
            Want::Step { .. } => {}
            Want::End { call } => {
                let has_ended =
                    |name: &str| self.dispatcher.find(name).is_some_and(|call| self.dispatcher.outcome(call).is_some());
                let ended = self.dispatcher.made(call).expect("a call").name.clone();
                self.told.extend(self.dispatcher.told(call).map(|told| (ended.clone(), told)));
                for (n, later) in self.fixture.calls.iter().enumerate() {
                    let before: Vec<&str> = later.after.iter().map(|&n| &*self.fixture.calls[n].name).collect();
                    if before.contains(&&*ended) && before.iter().all(|name| has_ended(name)) {
                        let at = self.now.plus(later.after_delay).max(later.at);
                        self.queue.push(at, EventPriority::Start, Due::Call(n));
                    }
                }
            }
        }
    }

    /// Wakes every call right now, and finds that this is an error where it asked for no such moment.
    fn wake_early(&mut self) {
        let calls: Vec<CallId> = self.dispatcher.calls().map(|(call, _)| call).collect();
        for call in calls {
            if self.waits.iter().any(|(of, due)| *of == call && *due <= self.now) {
                continue; // its moment has come
            }
            assert_eq!(self.dispatcher.wake(self.now, call), Err(InputFault::TooEarly));
            assert_eq!((self.dispatcher.take_wants(), self.dispatcher.take_events().len()), (Vec::new(), 0));
        }
    }

    /// The events, call by call, and what is told and valid next.
    fn shown(&mut self) -> BTreeMap<String, Vec<String>> {
        let dispatcher = &self.dispatcher;
        let all: Vec<(CallId, String)> = dispatcher.calls().map(|(call, new)| (call, new.name.clone())).collect();
        let events: Vec<DecisionEvent> = all.iter().flat_map(|(call, _)| dispatcher.events(*call)).copied().collect();
        let errors: Vec<Arc<_>> = (0..).map_while(|n| dispatcher.error(ErrorId(n)).cloned().map(Arc::new)).collect();
        let servers: Vec<String> = (0..).map_while(|n| dispatcher.server(ServerId(n)).map(str::to_owned)).collect();
        let outcomes: Vec<_> = all.iter().map(|(call, _)| dispatcher.outcome(*call).expect("it has ended")).collect();
        let valid_next: Vec<_> = all.iter().map(|(call, _)| dispatcher.valid_next(*call).cloned()).collect();
        let told: Vec<_> = all.iter().filter_map(|(call, _)| dispatcher.told(*call)).collect();
        let calls: Vec<String> = all.iter().map(|(_, name)| name.clone()).collect();
        let transcript = Transcript {
            names: &dispatcher.plan().names,
            calls: &calls,
            others: &[],
            servers: &servers,
            intent_name: &unnamed,
            events: &events,
            outcomes: &outcomes,
            valid_next: &valid_next,
            ledger: &[],
            errors: &errors,
            findings: &[],
            told: &told,
            death: None,
        };
        by_call(&transcript)
    }
}

/// The calls of a fixture of which its agent is told live, by a dispatcher under `own`, that it may make them again, and
/// after what wait.
pub fn may_be_made_again(plan: &Plan, own: Plan, fixture: &Fixture) -> BTreeSet<(String, Duration)> {
    let scenario = Scenario::of_fixture(fixture, plan);
    let mut shell = Shell::new(fixture, &scenario, Dispatcher::new(own));
    shell.run();
    let told = shell.told.into_iter().filter(|(_, told)| told.retriable);
    told.map(|(name, told)| (name, told.retry_after.unwrap_or_default())).collect()
}

/// The events of each call, as they are shown to programs.
fn by_call(transcript: &Transcript<'_>) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (event, shown) in transcript.events.iter().zip(event_objects(transcript)) {
        all.entry(transcript.calls[event.call.index()].clone()).or_default().push(shown);
    }
    all
}

/// Where a fixture that is driven differs from its simulation.
fn differences(plan: &dyn Fn() -> Plan, fixture: &Fixture, restless: bool) -> BTreeSet<String> {
    let own = plan();
    let scenario = Scenario::of_fixture(fixture, &own);
    let simulated = Recording::of_fixture(&own, fixture, &scenario);
    let calls: Vec<String> = scenario.calls.iter().map(|call| call.name.to_owned()).collect();
    let expected = by_call(&simulated.record.transcript(&own.names, &calls, &unnamed));
    let facts = tools_of(fixture).map(|text| tools::parse(Source::whole("facts", text)));
    let facts = facts.map(|facts| facts.unwrap_or_else(|report| panic!("{report}")).tools).unwrap_or_default();
    let dispatcher = Dispatcher::new(Plan::new(plan().playbook, &facts));
    let mut shell = Shell { restless, ..Shell::new(fixture, &scenario, dispatcher) };
    shell.run();
    let shown = shell.shown();
    let names: BTreeSet<&String> = expected.keys().chain(shown.keys()).collect();
    let differ = names.into_iter().filter(|name| expected.get(*name) != shown.get(*name));
    differ.map(|name| format!("{name}:\n{:#?}\n{:#?}", expected.get(name), shown.get(name))).collect()
}

fn all_fixtures(restless: bool) {
    let (mut runs, mut different) = (0, Vec::new());
    for (name, fixture) in goldens::fixtures().into_iter().filter(|(_, fixture)| fixture.crash.is_none()) {
        for playbook in goldens::playbooks(&fixture) {
            runs += 1;
            let differ = differences(&|| goldens::plan(&playbook), &fixture, restless);
            different.extend(differ.iter().map(|call| format!("{name} under {playbook}: {call}")));
        }
    }
    assert!(runs > 200, "{runs} runs");
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
}

#[test]
fn every_fixture_that_is_driven_from_outside_has_the_events_of_its_simulation() {
    all_fixtures(false);
}

#[test]
fn a_wake_that_comes_earlier_than_asked_changes_nothing() {
    all_fixtures(true);
}
