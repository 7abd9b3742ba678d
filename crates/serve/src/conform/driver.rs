//! A driver with a fixture's clock and upstream: asks a dispatcher what to do until nothing is left.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value};

use playproof_engine::call::Reply;
use playproof_engine::clock::{EventPriority, EventQueue};
use playproof_engine::event::{Draw, Intent, RequestKind};
use playproof_engine::fixture::Fixture;
use playproof_engine::ids::{AttemptNo, CallId, EvidenceId, Interner, KeyId};
use playproof_engine::plan::{DrivenCall, Plan};
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
    /// Whether nothing is, and it only knows no transactions.
    pub lacks_transactions: bool,
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
    /// The ledger of the upstream.
    pub ledger: Ledger,
    /// The attempts, in their order.
    pub sends: Vec<Sent>,
}

/// An attempt that was made.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub at: Instant,
    /// The place of its call.
    pub call: CallId,
    pub attempt: AttemptNo,
    /// The key that was sent.
    pub key: Option<String>,
    /// Whose effect it books.
    pub intent: Intent,
    /// The fixture says nothing of it: it was taken as done.
    pub is_assumed: bool,
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
    /// Of the answer to `hello`: whether it knows transactions.
    #[serde(default)]
    transactions: bool,
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
    /// Plain code is asked: what the script does not answer is taken as done.
    pub is_plain: bool,
    upstream: Upstream,
    keys: Interner,
    queue: EventQueue<Due>,
    /// The wakes in the queue: one for the same call and moment is enough.
    wakes: BTreeSet<(String, Instant)>,
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
        let (ended, refreshes, wakes) = (BTreeSet::new(), BTreeMap::new(), BTreeSet::new());
        let (keys, is_plain) = (scenario.key_names.clone(), false);
        Driver { plan, fixture, scenario, draws, ask, is_plain, upstream, keys, queue, wakes, ended, refreshes, driven }
    }

    /// Drives it to its end; what was done by then is there also if it has none.
    pub(super) fn run(mut self, asked: &[usize]) -> (Driven, Result<(), Broken>) {
        let ended = self.drive(asked);
        self.upstream.swap_ledger(&mut self.driven.ledger);
        self.driven.effects = self.driven.ledger.net().values().map(|net| net.effects).sum();
        (self.driven, ended)
    }

    /// Asks some calls of the fixture, in their order.
    fn drive(&mut self, asked: &[usize]) -> Result<(), Broken> {
        let mut order: Vec<usize> = asked.to_vec();
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
                let why = format!("it does not end within {LINES_MAX} lines");
                return Err(Broken { said: line, why, lacks_transactions: false });
            }
            self.say(now, &line)?;
        }
        Ok(())
    }

    /// What is said of what happens; none: it does not matter any more.
    fn line(&mut self, now: Instant, due: Due) -> Option<String> {
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
            Due::Wake(name) => {
                let wake = (name, now);
                self.wakes.remove(&wake);
                (!is_over(&wake.0)).then(|| driver_lines::bare("wake", now, &wake.0))
            }
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
        let broken = |why: String| Broken { said: line.to_owned(), why, lacks_transactions: false };
        let answer = (self.ask)(line).map_err(broken)?;
        let answered: Answered = serde_json::from_str(&answer)
            .map_err(|error| broken(format!("it prints no line of the protocol ({error}): {answer}")))?;
        if let Some(error) = answered.error {
            return Err(broken(format!("it answers with an error: {error}")));
        }
        let has_acts = || self.fixture.calls.iter().any(|call| call.act.is_some());
        if answered.protocol.is_some() && !answered.transactions && has_acts() {
            return Err(Broken { lacks_transactions: true, ..broken("it knows no transactions".to_owned()) });
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
            let key = want.get("key").map(|key| key.as_str().map(str::to_owned));
            return self.send(now, name, asked, millis("within_ms"), key);
        }
        if let Some(name) = text("wait") {
            let until = millis("until_ms").ok_or_else(|| match want.get("until_ms") {
                None | Some(Value::Null) => "a `wait` without `until_ms`".to_owned(),
                Some(other) => format!("`until_ms` of a `wait` is a number of milliseconds from 0, not {other}"),
            })?;
            let until = Instant::ZERO.plus(until).max(now);
            if self.wakes.insert((name.to_owned(), until)) {
                self.queue.push(until, EventPriority::Other, Due::Wake(name.to_owned()));
            }
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

    /// The upstream answers a request. `key` is the one that it really has, where the sender says so; else it is the call's.
    fn send(
        &mut self,
        at: Instant,
        name: &str,
        asked: RequestKind,
        within: Option<Duration>,
        key: Option<Option<String>>,
    ) -> Result<(), String> {
        let place = self.scenario.calls.iter().position(|known| known.name == name);
        let place = place.ok_or_else(|| format!("it sends `{name}`, and there is no such call"))?;
        let call = &self.scenario.calls[place]; // just found
        let within = within.unwrap_or(call.timeout);
        let id = CallId::at(place);
        let (mut key_id, mut intent) = (call.honoured_key(), call.booked_intent(id));
        if let Some(key) = &key {
            let sent = key.as_ref().map(|key| KeyId(self.keys.intern(key)));
            let with_it = DrivenCall { key: sent, ..*call };
            (key_id, intent) = (with_it.honoured_key(), with_it.booked_intent(id));
        }
        let writes = call.facts.access == Access::Write;
        let request =
            Request { at, call: id, asked, tool: call.tool, key: key_id, args: call.args, intent, writes, within };
        let answer = self.upstream.handle_request(&request, call.source);
        let is_assumed = answer.is_none() && self.is_plain;
        let what = match asked {
            RequestKind::Attempt(attempt) => {
                let key = key.unwrap_or_else(|| call.key_text().map(str::to_owned));
                self.driven.sends.push(Sent { at, call: id, attempt, key, intent, is_assumed });
                format!("send {attempt}")
            }
            other => other.to_string(),
        };
        self.driven.decided.entry(name.to_owned()).or_default().push((at, what));
        let name = name.to_owned();
        let Some(answer) = answer else {
            let came = if is_assumed { Came::Reply(Reply::Ok) } else { Came::Lost };
            self.queue.push(at, EventPriority::Other, Due::Answer(name, asked, came));
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
