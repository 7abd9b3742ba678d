//! Each fixture live, on tokio's paused clock: the same events of each call as simulated, and a journal that a session reads.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::sync::Notify;
use tokio::task::{LocalSet, spawn_local};
use tokio::time::sleep_until;

use playproof_engine::fixture::{Fixture, FixtureCall};
use playproof_engine::ids::CallId;
use playproof_engine::plan::Plan;
use playproof_engine::playbook::{Access, Tools};
use playproof_engine::sim::{Recording, Scenario};
use playproof_engine::time::{Duration, Instant};
use playproof_engine::upstream::{Request, Upstream, UpstreamReply};
use playproof_formats::playbook::fingerprint;
use playproof_live::{Attempt, Dispatcher, ErrorFacts, Failure, NewCall, Recorder, RequestKind};

use super::compared::events_of;
use super::lines::new_call;
use super::tests::{facts_of, plan, runs, unlike};
use crate::decider::Decider;
use crate::journal::resume;
use crate::session::Session;

/// A microsecond of a fixture is a millisecond of tokio's clock, whose timers have no less.
const SLOWNESS: u32 = 1_000;

/// A file in memory.
#[derive(Clone, Default)]
pub(crate) struct Memory(Arc<Mutex<Vec<u8>>>);

impl Memory {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A fixture that is driven live. It and its plan live as long as the test, so that tasks may have it.
struct World {
    fixture: &'static Fixture,
    scenario: Scenario<'static>,
    plan: &'static Plan,
    upstream: RefCell<Upstream>,
    dispatcher: Dispatcher<()>,
    start: tokio::time::Instant,
    /// When calls ended.
    ended: RefCell<BTreeMap<String, tokio::time::Instant>>,
    /// A call has ended. (Who waits is woken in order, which `watch` does not promise.)
    has_ended: Notify,
}

impl World {
    fn at(&self, moment: Instant) -> tokio::time::Instant {
        self.start + std::time::Duration::from_micros(moment.since(Instant::ZERO).as_micros()) * SLOWNESS
    }

    fn now(&self) -> Instant {
        let micros = self.start.elapsed().as_micros() / u128::from(SLOWNESS);
        Instant::from_micros(u64::try_from(micros).unwrap())
    }

    /// Waits until a call is to be made.
    async fn begin(&self, written: &FixtureCall) {
        let mut at = self.at(written.at);
        if !written.after.is_empty() {
            let names = || written.after.iter().map(|&n| &*self.fixture.calls[n].name);
            while !names().all(|name| self.ended.borrow().contains_key(name)) {
                self.has_ended.notified().await;
            }
            let last = names().map(|name| self.ended.borrow()[name]).max().unwrap();
            at = at.max(last + std::time::Duration::from_micros(written.after_delay.as_micros()) * SLOWNESS);
        }
        if at > tokio::time::Instant::now() {
            sleep_until(at).await;
        }
    }

    /// The call as it is made.
    fn new_call(&self, written: &FixtureCall) -> NewCall {
        let driven = self.scenario.calls.iter().find(|known| known.name == written.name).unwrap();
        let (draws, seed) = (written.draws.clone(), self.fixture.seed);
        NewCall { draws, seed, ..new_call(self.plan, written, driven) }
    }

    /// The upstream answers a request.
    async fn answer(self: Rc<Self>, attempt: Attempt, may_be_left: bool) -> Result<(), Failure> {
        let place = self.scenario.calls.iter().position(|known| known.name == attempt.name).unwrap();
        let call = &self.scenario.calls[place];
        let (at, id) = (self.now(), CallId::at(place));
        let within = Duration::from_micros(u64::try_from(attempt.within.as_micros()).unwrap());
        let request = Request {
            at,
            call: id,
            asked: attempt.asked,
            tool: call.tool,
            key: call.honoured_key(),
            args: call.args,
            intent: call.booked_intent(id),
            writes: call.facts.access == Access::Write,
            within,
        };
        let answer = self.upstream.borrow_mut().handle_request(&request, call.source);
        let Some(answer) = answer else {
            behind().await;
            return Err(Failure::Lost);
        };
        let is_late = answer.is_late(within) || answer.reply == UpstreamReply::Lost;
        let then = self.at(at.plus(answer.latency.unwrap_or_default()));
        let facts = |facts: Option<Arc<ErrorFacts>>| facts.map(|facts| (*facts).clone());
        let result = match answer.reply {
            UpstreamReply::Ok => Some(Ok(())),
            UpstreamReply::Failed(error) => Some(Err(Failure::Failed(facts(error)))),
            UpstreamReply::Suspected(error) => Some(Err(Failure::Suspected(facts(error)))),
            UpstreamReply::Unfinished(error) => Some(Err(Failure::Unfinished(facts(error)))),
            UpstreamReply::Lost => None,
        };
        // A request that was dropped is answered from elsewhere.
        if let (Some(result), RequestKind::Attempt(number)) = (&result, attempt.asked)
            && (is_late || may_be_left)
        {
            let (world, name, result) = (Rc::clone(&self), attempt.name.clone(), result.clone());
            spawn_local(async move {
                sleep_until(then).await;
                world.dispatcher.late(&name, number, result);
            });
        }
        match result {
            Some(result) if !is_late => {
                if then > tokio::time::Instant::now() {
                    sleep_until(then).await;
                } else {
                    behind().await;
                }
                result
            }
            _ => std::future::pending().await,
        }
    }
}

/// Lets go on what is ready, in its order. (`yield_now` turns the order round.)
async fn behind() {
    let mut is_behind = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut is_behind, true) {
            return std::task::Poll::Ready(());
        }
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}

/// Drives a fixture, and gives the journal.
fn journal_of(name: &str, fixture: &Fixture) -> Vec<u8> {
    let fixture: &'static Fixture = Box::leak(Box::new(fixture.clone()));
    let own: &'static Plan = Box::leak(Box::new(plan(name, &Tools::default())));
    let memory = Memory::default();
    let clock = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let recorder = Some(Recorder::new(memory.clone()));
    LocalSet::new().block_on(&clock, async {
        let scenario = Scenario::of_fixture(fixture, own);
        let mut upstream = Upstream::default();
        upstream.clear(scenario.keys);
        scenario.before.iter().for_each(|effect| upstream.add_existing(*effect));
        let world = Rc::new(World {
            fixture,
            plan: own,
            upstream: RefCell::new(upstream),
            dispatcher: Dispatcher::in_slow_motion(plan(name, &facts_of(fixture)), recorder, SLOWNESS),
            start: tokio::time::Instant::now(),
            ended: RefCell::default(),
            has_ended: Notify::new(),
            scenario,
        });
        let mut order: Vec<&FixtureCall> = fixture.calls.iter().collect();
        order.sort_by_key(|call| call.at);
        let calls: Vec<_> = order.into_iter().map(|written| spawn_local(call(Rc::clone(&world), written))).collect();
        for call in calls {
            call.await.unwrap();
        }
        let hour = std::time::Duration::from_secs(3_600) * SLOWNESS;
        tokio::time::sleep(hour).await; // what is late
        assert_eq!(world.dispatcher.open_calls(), 0);
    });
    memory.bytes()
}

/// Makes a call of a fixture when its moment comes, until it ends or its caller goes away.
async fn call(world: Rc<World>, written: &'static FixtureCall) {
    world.begin(written).await;
    let may_be_left = written.cancel_at.is_some();
    let upstream = |attempt| Rc::clone(&world).answer(attempt, may_be_left);
    let made = world.dispatcher.call(world.new_call(written), upstream);
    match written.cancel_at {
        Some(at) => tokio::select! {
            biased;
            () = sleep_until(world.at(at)) => {}
            _ = made => {}
        },
        None => drop(made.await),
    }
    world.ended.borrow_mut().insert(written.name.clone(), tokio::time::Instant::now());
    world.has_ended.notify_waiters();
}

/// The decisions of a journal, by call, as objects without its name.
pub(crate) fn decisions(journal: &[u8]) -> BTreeMap<String, Vec<String>> {
    let mut decisions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in std::str::from_utf8(journal).unwrap().lines() {
        let mut line: BTreeMap<String, Value> = serde_json::from_str(line).unwrap();
        if line.remove("type").is_some_and(|kind| kind == "decision") {
            let call = line.remove("id").unwrap().as_str().unwrap().to_owned();
            decisions.entry(call).or_default().push(serde_json::to_value(line).unwrap().to_string());
        }
    }
    decisions
}

/// A session that has read a journal of a dispatcher under a plan.
pub(crate) fn read_again(plan: Plan, journal: &[u8]) -> Result<Session, String> {
    let decider = Decider {
        playbook: plan.playbook.name.to_string(),
        fingerprint: fingerprint(&plan.playbook).to_string(),
        engine: env!("CARGO_PKG_VERSION").to_owned(),
        shadow: false,
    };
    let session = Session::new(plan, decider, true);
    resume(journal, session).map(|resumed| resumed.session).map_err(|why| format!("{why:?}"))
}

#[test]
fn every_fixture_has_the_same_decisions_live_and_again_from_its_journal() {
    let why = |(fixture_name, name, fixture): (String, String, Fixture)| {
        Some(format!("{fixture_name} under {name}: {}", is_same(&name, &fixture).err()?))
    };
    let differ: Vec<String> = runs().into_iter().filter_map(why).collect();
    assert!(differ.is_empty(), "{} differ:\n{}", differ.len(), differ.join("\n"));
}

/// Whether a fixture has the same decisions live as simulated, and when its journal is read again, decided again or replayed.
fn is_same(name: &str, fixture: &Fixture) -> Result<(), String> {
    let own = plan(name, &Tools::default());
    let scenario = Scenario::of_fixture(fixture, &own);
    let names: Vec<String> = scenario.calls.iter().map(|call| call.name.to_owned()).collect();
    let expected = events_of(&Recording::of_fixture(&own, fixture, &scenario).record, &own, &names);
    let journal = journal_of(name, fixture);
    let of_fixture = || plan(name, &facts_of(fixture));
    let text = std::str::from_utf8(&journal).unwrap();
    let session = read_again(of_fixture(), &journal).map_err(|why| format!("{why}\n{text}"))?;
    assert_eq!(session.records().count(), 0, "the journal has all that was decided");
    let live = decisions(&journal);
    if expected.len() != live.len() {
        return Err("there are other calls".to_owned());
    }
    if let Some((call, events)) = expected.iter().find(|(call, events)| live.get(*call) != Some(events)) {
        return Err(format!("{call}:\n{events:#?}\n{:#?}", live.get(call)));
    }
    unlike(&of_fixture, text, fixture.keys).map_or(Ok(()), Err)
}
