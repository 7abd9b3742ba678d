//! A driver with a fixture's clock and upstream: asks a dispatcher what to do until nothing is left.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value};

use playproof_engine::clock::{EventPriority, EventQueue};
use playproof_engine::event::{Draw, RequestKind};
use playproof_engine::fixture::Fixture;
use playproof_engine::ids::{AttemptNo, CallId, EvidenceId};
use playproof_engine::plan::Plan;
use playproof_engine::playbook::Access;
use playproof_engine::sim::Scenario;
use playproof_engine::time::{Duration, Instant};
use playproof_engine::upstream::{Ledger, Request, Upstream};
use playproof_intake::number::Decimal;

use super::ends::SaidEnd;
use super::lines;
use crate::driver_lines::{self, Answer};
use crate::protocol::PROTOCOL;
use crate::said::Came;

/// The most lines of one fixture: a dispatcher that needs more does not end.
const LINES_MAX: usize = 20_000;

/// Why a dispatcher cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// What was said last.
    pub said: String,
    /// What is wrong.
    pub why: String,
}

/// What a dispatcher did with a fixture.
#[derive(Clone, Debug, Default)]
pub(super) struct Driven {
    /// Of each call: its requests and its end, each with its moment.
    pub decided: BTreeMap<String, Vec<(Instant, String)>>,
    /// Of each call: its decisions, if the dispatcher tells them.
    pub events: BTreeMap<String, Vec<Value>>,
    /// Of each call that has ended: what its `done` says.
    pub ends: BTreeMap<String, SaidEnd>,
    /// The effects upstream.
    pub effects: u32,
}

/// What happens at a moment.
enum Due {
    Call(usize),
    Cancel(usize),
    Wake(String),
    Answer(String, RequestKind, Came),
}

/// What a dispatcher answers.
#[derive(Deserialize)]
struct Answered {
    #[serde(rename = "do")]
    wants: Option<Vec<Map<String, Value>>>,
    #[serde(default)]
    events: Vec<Map<String, Value>>,
    error: Option<String>,
    /// Of the answer to `hello`.
    protocol: Option<Value>,
}

/// A span in milliseconds, to the nearest microsecond: others compute with floats.
fn nearest(millis: &str) -> Option<Duration> {
    let tenths = Decimal::parse(millis)?.scaled(4)?;
    Some(Duration::from_micros(tenths.saturating_add(5) / 10))
}

/// A fixture that is driven.
pub(super) struct Driver<'a, A> {
    pub plan: &'a Plan,
    pub fixture: &'a Fixture,
    pub scenario: &'a Scenario<'a>,
    /// The draws of waits, by call and attempt.
    pub draws: &'a BTreeMap<(String, AttemptNo), Draw>,
    pub ask: A,
    upstream: Upstream,
    queue: EventQueue<Due>,
    ended: BTreeSet<String>,
    refreshes: BTreeMap<String, u32>,
    driven: Driven,
}

impl<'a, A: FnMut(&str) -> Result<String, String>> Driver<'a, A> {
    pub(super) fn new(
        plan: &'a Plan,
        fixture: &'a Fixture,
        scenario: &'a Scenario<'a>,
        draws: &'a BTreeMap<(String, AttemptNo), Draw>,
        ask: A,
    ) -> Self {
        let mut upstream = Upstream::default();
        upstream.clear(scenario.keys);
        scenario.before.iter().for_each(|effect| upstream.add_existing(*effect));
        let (queue, driven) = (EventQueue::default(), Driven::default());
        let (ended, refreshes) = (BTreeSet::new(), BTreeMap::new());
        Driver { plan, fixture, scenario, draws, ask, upstream, queue, ended, refreshes, driven }
    }

    /// Drives it to its end.
    pub(super) fn run(mut self) -> Result<Driven, Broken> {
        let mut order: Vec<usize> = (0..self.fixture.calls.len()).collect();
        order.sort_by_key(|&n| self.fixture.calls[n].at); // places of the list
        for n in order {
            let call = &self.fixture.calls[n]; // the same
            if call.after.is_empty() {
                self.queue.push(call.at, EventPriority::Start, Due::Call(n));
            }
            if let Some(at) = call.cancel_at {
                self.queue.push(at, EventPriority::Cancel, Due::Cancel(n));
            }
        }
        self.say(Instant::ZERO, &lines::hello(self.scenario))?;
        let mut said = 0;
        while let Some((now, due)) = self.queue.pop() {
            said += 1;
            let Some(line) = self.line(now, due) else { continue };
            if said > LINES_MAX {
                return Err(Broken { said: line, why: format!("it does not end within {LINES_MAX} lines") });
            }
            self.say(now, &line)?;
        }
        let mut ledger = Ledger::default();
        self.upstream.swap_ledger(&mut ledger);
        self.driven.effects = ledger.net().values().map(|net| net.effects).sum();
        Ok(self.driven)
    }

    /// What is said of what happens; none: it does not matter any more.
    fn line(&self, now: Instant, due: Due) -> Option<String> {
        let is_over = |name: &str| self.ended.contains(name);
        match due {
            Due::Call(n) => {
                let written = self.fixture.calls.get(n)?;
                let driven = self.scenario.calls.iter().find(|known| known.name == written.name)?;
                Some(driver_lines::call(now, &lines::new_call(self.plan, written, driven)))
            }
            Due::Cancel(n) => {
                let name = &self.fixture.calls.get(n)?.name;
                (!is_over(name)).then(|| driver_lines::bare("cancel", now, name))
            }
            Due::Wake(name) => (!is_over(&name)).then(|| driver_lines::bare("wake", now, &name)),
            Due::Answer(name, _, Came::Timeout | Came::Lost) if is_over(&name) => None,
            Due::Answer(name, asked, came) => {
                let draw = match asked {
                    RequestKind::Attempt(attempt) => self.draws.get(&(name.clone(), attempt)).copied(),
                    _ => None,
                };
                let said = Answer { name: &name, asked, came, draw, held: Duration::ZERO };
                Some(driver_lines::answer(now, &said))
            }
        }
    }

    fn say(&mut self, now: Instant, line: &str) -> Result<(), Broken> {
        let broken = |why: String| Broken { said: line.to_owned(), why };
        let answer = (self.ask)(line).map_err(broken)?;
        let answered: Answered = serde_json::from_str(&answer)
            .map_err(|error| broken(format!("it prints no line of the protocol ({error}): {answer}")))?;
        if let Some(error) = answered.error {
            return Err(broken(format!("it answers with an error: {error}")));
        }
        match (answered.protocol, &answered.wants) {
            (None, None) => return Err(broken(format!("its answer has no `do`, and names no protocol: {answer}"))),
            (Some(named), _) if named != PROTOCOL => {
                return Err(broken(format!("it speaks {named}, and not `{PROTOCOL}`")));
            }
            (Some(_), _) | (None, Some(_)) => {}
        }
        for mut event in answered.events {
            let id = event.remove("id").and_then(|id| Some(id.as_str()?.to_owned())).unwrap_or_default();
            self.driven.events.entry(id).or_default().push(Value::Object(event));
        }
        for want in answered.wants.unwrap_or_default() {
            self.want(now, &want).map_err(broken)?;
        }
        Ok(())
    }

    fn want(&mut self, now: Instant, want: &Map<String, Value>) -> Result<(), String> {
        let text = |key: &str| want.get(key).and_then(Value::as_str);
        let millis = |key: &str| want.get(key).and_then(|value| nearest(&value.to_string()));
        if let Some(name) = text("send") {
            let number = |key: &str| want.get(key).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
            let asked = match (text("asked"), number("attempt")) {
                (Some("refresh"), _) => {
                    let count = self.refreshes.entry(name.to_owned()).or_default();
                    *count += 1;
                    RequestKind::Refresh(EvidenceId(number("evidence").unwrap_or(*count)))
                }
                (Some("reversal"), _) => RequestKind::Reversal,
                (None, Some(attempt @ 1..)) => RequestKind::Attempt(AttemptNo::new(attempt)),
                _ => return Err(format!("a `send` without `attempt` or `asked`: {}", Value::from(want.clone()))),
            };
            return self.send(now, name, asked, millis("within_ms"));
        }
        if let Some(name) = text("wait") {
            let until = millis("until_ms").ok_or_else(|| match want.get("until_ms") {
                None | Some(Value::Null) => "a `wait` without `until_ms`".to_owned(),
                Some(other) => format!("`until_ms` of a `wait` is a number of milliseconds from 0, not {other}"),
            })?;
            let until = Instant::ZERO.plus(until).max(now);
            self.queue.push(until, EventPriority::Other, Due::Wake(name.to_owned()));
        } else if let Some(name) = text("done") {
            let end = SaidEnd::read(want)?;
            self.done(now, name, end.outcome.as_deref().unwrap_or("no outcome"));
            self.driven.ends.entry(name.to_owned()).or_insert(end);
        } else if text("step").or(text("resolved")).is_none() {
            let want = Value::from(want.clone());
            return Err(format!("it wants what is no `send`, `wait`, `done`, `step` or `resolved`: {want}"));
        }
        Ok(())
    }

    /// The upstream answers a request.
    fn send(&mut self, at: Instant, name: &str, asked: RequestKind, within: Option<Duration>) -> Result<(), String> {
        let place = self.scenario.calls.iter().position(|known| known.name == name);
        let place = place.ok_or_else(|| format!("it sends `{name}`, and there is no such call"))?;
        let call = &self.scenario.calls[place]; // just found
        let within = within.unwrap_or(call.timeout);
        let what = match asked {
            RequestKind::Attempt(attempt) => format!("send {attempt}"),
            other => other.to_string(),
        };
        self.driven.decided.entry(name.to_owned()).or_default().push((at, what));
        let id = CallId::at(place);
        let writes = call.facts.access == Access::Write;
        let (tool, args, key, intent) = (call.tool, call.args, call.honoured_key(), call.booked_intent(id));
        let request = Request { at, call: id, asked, tool, key, args, intent, writes, within };
        let name = name.to_owned();
        let Some(answer) = self.upstream.handle_request(&request, call.source) else {
            self.queue.push(at, EventPriority::Other, Due::Answer(name, asked, Came::Lost));
            return Ok(());
        };
        let is_late = answer.is_late(within);
        let then = at.plus(answer.latency.unwrap_or_default());
        match answer.reply.reply() {
            Some(reply) if !is_late => {
                self.queue.push(then, EventPriority::Other, Due::Answer(name, asked, Came::Reply(reply)));
            }
            reply => {
                self.queue.push(at.plus(within), EventPriority::Other, Due::Answer(name.clone(), asked, Came::Timeout));
                if let (Some(reply), RequestKind::Attempt(_)) = (reply, asked) {
                    self.queue.push(then, EventPriority::Other, Due::Answer(name, asked, Came::Late(reply)));
                }
            }
        }
        Ok(())
    }

    /// A call has ended: those that wait for it are made.
    fn done(&mut self, now: Instant, name: &str, outcome: &str) {
        self.driven.decided.entry(name.to_owned()).or_default().push((now, format!("done {outcome}")));
        self.ended.insert(name.to_owned());
        for (n, later) in self.fixture.calls.iter().enumerate() {
            let mut before = later.after.iter().filter_map(|&n| Some(&*self.fixture.calls.get(n)?.name));
            if before.clone().any(|one| one == name) && before.all(|one| self.ended.contains(one)) {
                let at = now.plus(later.after_delay).max(later.at);
                self.queue.push(at, EventPriority::Start, Due::Call(n));
            }
        }
    }
}
