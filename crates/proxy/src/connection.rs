//! Follows the calls between client and server: reads what each message says of one, and does what is due. The client's own
//! line is the first attempt of a call, and every further one differs from it only in its id and its progress token.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::value::RawValue;

use playproof_engine::drive::NewCall;
use playproof_engine::playbook::Access;
use playproof_engine::time::{Duration, Instant};
use playproof_intake::mcp_messages::Way;
use playproof_protocol::driver_lines;
use playproof_protocol::object::Object;

use crate::call::{Attempt, OpenCall, Progress, Recorded};
use crate::clock::Clock;
use crate::cut::Cuts;
use crate::deciding::Deciding;
use crate::message::{AnswerKind, Kind, Message, Params, name_of};
use crate::pipes::Ways;
use crate::reading::{Reading, TraceLine};
use crate::recording::Recording;
use crate::shadow::Shadow;

/// How long the dispatcher waits where nobody says how long an attempt may take: a hundred days.
const FOREVER: Duration = Duration::from_millis(100 * 86_400_000);

/// The most attempts that are kept for late answers.
const MAX_KEPT: usize = 1_000;

/// The most of a client's id that the name of its call has.
const MAX_ID: usize = 64;

/// What stands between the client and the server.
pub(crate) struct Connection {
    pub(crate) reading: Reading,
    pub(crate) recording: Recording,
    /// What decides, if something does.
    pub(crate) deciding: Option<Deciding>,
    answer_within: Duration,
    /// What distinguishes our ids from those of any client.
    pub(crate) nonce: String,
    made: u64,
    /// By name: the calls that are not answered.
    pub(crate) calls: BTreeMap<String, OpenCall>,
    /// By the client's id: their names.
    pub(crate) ids: BTreeMap<String, String>,
    /// By the id on the wire: attempts without an answer, also those that nobody waits for.
    sent: BTreeMap<String, Sent>,
    /// By the token on the wire: the attempt that it is for.
    tokens: BTreeMap<String, (String, u32)>,
    /// The ids and the tokens of these, oldest first.
    oldest: VecDeque<(String, Option<String>)>,
    /// By tool, arguments and state: calls that wait for a round of input.
    pub(crate) legs: BTreeMap<String, String>,
    /// The requests of the server that the client has not answered.
    pub(crate) asked: BTreeSet<String>,
    /// The results of calls with a key, by name, oldest first.
    pub(crate) results: VecDeque<(String, String)>,
    /// The server takes no requests any more.
    pub(crate) is_closed: bool,
    /// What people are told, and what they were told once.
    pub(crate) said: Vec<String>,
    said_once: BTreeSet<&'static str>,
}

/// An attempt on the wire.
#[derive(Debug)]
struct Sent {
    name: String,
    number: u32,
    run: String,
}

impl Connection {
    pub(crate) fn new(
        reading: Reading,
        recording: Recording,
        deciding: Option<Deciding>,
        answer_within: Duration,
        seed: u64,
    ) -> Connection {
        Connection {
            reading,
            recording,
            deciding,
            answer_within,
            nonce: format!("{:08x}", seed & 0xffff_ffff),
            made: 0,
            calls: BTreeMap::new(),
            ids: BTreeMap::new(),
            sent: BTreeMap::new(),
            oldest: VecDeque::new(),
            tokens: BTreeMap::new(),
            legs: BTreeMap::new(),
            asked: BTreeSet::new(),
            results: VecDeque::new(),
            is_closed: false,
            said: Vec::new(),
            said_once: BTreeSet::new(),
        }
    }

    /// Whether a playbook decides and is obeyed: otherwise all lines pass as they are.
    pub(crate) fn is_obeyed(&self) -> bool {
        self.deciding.as_ref().is_some_and(|deciding| deciding.shadow.is_none())
    }

    /// What is kept of decisions that nobody obeys.
    pub(crate) fn shadow(&mut self) -> Option<&mut Shadow> {
        self.deciding.as_mut()?.shadow.as_mut()
    }

    /// What people are to be told.
    pub(crate) fn take_said(&mut self) -> Vec<String> {
        std::mem::take(&mut self.said)
    }

    fn say_once(&mut self, what: &'static str, text: impl FnOnce() -> String) {
        if self.said_once.insert(what) {
            self.said.push(text());
        }
    }

    /// The next moment at which something is to be done.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.calls.values().filter_map(OpenCall::due).min()
    }

    /// Reads a message of a call, and records what it says.
    pub(crate) fn read(&mut self, way: Way, run: &str, at: Instant, message: &str) -> String {
        let (lines, is_cut) = self.reading.read(way, run, at, message);
        if is_cut {
            self.say_once("long", || "arguments that no reader of the file takes are left out of it".to_owned());
        }
        if !self.is_obeyed() {
            self.said.extend(self.recording.write(&lines));
        }
        lines
    }

    // The client.

    /// Whether a line of the client goes another way than as it is, if it may.
    pub(crate) fn takes_of_client(&mut self, clock: &mut Clock, ways: &Ways, line: &[u8]) -> bool {
        let Some((text, message)) = parsed(line) else {
            if line.trim_ascii_start().starts_with(b"[") {
                self.say_once("batch", || "a list of messages passes unread, with the calls in it".to_owned());
            }
            return false;
        };
        match message.kind() {
            Kind::Call => {
                let Some((id, params)) = message.name().zip(message.params()) else { return false };
                let Some(tool) = params.name.as_deref() else { return false };
                let at = clock.now();
                let leg = self.legs.remove(&params.leg(params.request_state)).filter(|_| params.goes_on());
                if let Some(name) = leg {
                    self.on_round(at, text, &message, (id, &params), &name);
                    return false;
                }
                let earlier = self.ids.get(&id).cloned();
                let name = self.on_call(clock, ways, at, (text, &message), (id, tool, &params));
                if let Some(earlier) = earlier {
                    self.said.push("two open calls have one id: nobody knows which answer is whose".to_owned());
                    self.lose(clock, ways, &earlier);
                    self.lose(clock, ways, &name);
                }
                true
            }
            Kind::Cancelled => {
                let Some(params) = message.params() else { return false };
                let id = params.request_id.and_then(name_of);
                let Some(name) = id.and_then(|id| self.ids.get(&id).cloned()) else { return false };
                self.on_cancel(clock, ways, text, &params, &name);
                true
            }
            Kind::Answer => {
                if message.name().is_some_and(|id| self.asked.remove(&id)) && self.asked.is_empty() {
                    let at = clock.now();
                    let running = self.calls.values_mut().filter_map(|call| call.out.as_mut());
                    running.filter(|attempt| !attempt.asks_input).for_each(|attempt| attempt.go_on(at));
                }
                false
            }
            Kind::Other if message.method.as_deref() == Some("tools/call") => {
                self.say_once("no id", || "a call without an id passes unread".to_owned());
                false
            }
            Kind::Request | Kind::Progress | Kind::Other => false,
        }
    }

    /// A new call; gives its name.
    fn on_call(
        &mut self,
        clock: &mut Clock,
        ways: &Ways,
        at: Instant,
        (text, message): (&str, &Message<'_>),
        (id, tool, params): (String, &str, &Params<'_>),
    ) -> String {
        self.made += 1;
        let name = format!("c{}-{}", self.made, plain(&id));
        let run = self.reading.run_of(params);
        let lines = self.read(Way::ToServer, &run, at, text);
        let line = TraceLine::all(&lines).find(|line| line.kind == "tool_call");
        let recorded =
            line.as_ref().and_then(|line| Some(Recorded { run: line.run_id.clone(), call: line.call_id.clone()? }));
        let key = line.as_ref().and_then(|line| line.idempotency_key.clone());
        let plan = self.deciding.as_ref().map(|deciding| deciding.session.plan());
        let has_timeout = plan.is_some_and(|plan| plan.has_timeout(tool));
        let within = plan.map(|plan| plan.facts(tool).timeout).unwrap_or_default();
        let call = OpenCall {
            raw_id: message.id.map_or("", RawValue::get).to_owned(),
            id: id.clone(),
            line: text.to_owned(),
            tool: tool.to_owned(),
            run: run.clone(),
            recorded: recorded.clone(),
            is_new_era: params.is_new_era(),
            is_read: plan.is_some_and(|plan| plan.facts(tool).access == Access::Read),
            has_timeout,
            has_key: key.is_some(),
            token: params.token().map(|token| token.get().to_owned()),
            may_repeat: params.task.is_none() && !params.goes_on(),
            ..OpenCall::default()
        };
        self.ids.insert(id, name.clone());
        self.calls.insert(name.clone(), call);
        let new = NewCall {
            name: name.clone(),
            run,
            tool: tool.to_owned(),
            args: line.and_then(|line| line.args).map_or("{}", RawValue::get).to_owned(),
            key,
            timeout: (!has_timeout).then_some(FOREVER),
            answer_within: Some(self.answer_within),
            ..NewCall::default()
        };
        if let Some(shadow) = self.shadow() {
            shadow.learn(&name, recorded, tool);
        }
        self.decide(clock, ways, at, &name, &driver_lines::call(at, &new));
        if !self.is_obeyed() {
            self.send(clock, ways, at, &name, 1, within);
        }
        name
    }

    /// A call goes on with what the server asked for, under another id: its line passes as it is.
    fn on_round(
        &mut self,
        at: Instant,
        text: &str,
        message: &Message<'_>,
        (id, params): (String, &Params<'_>),
        name: &str,
    ) {
        let is_asked = !self.asked.is_empty();
        let Some(call) = self.calls.get_mut(name) else { return };
        self.ids.remove(&call.id);
        self.ids.insert(id.clone(), name.to_owned());
        call.raw_id = message.id.map_or("", RawValue::get).to_owned();
        call.line = text.to_owned();
        call.token = params.token().map(|token| token.get().to_owned());
        call.progress = Progress::default();
        call.id.clone_from(&id);
        let run = call.run.clone();
        if let Some(attempt) = &mut call.out {
            attempt.asks_input = false;
            if !is_asked {
                attempt.go_on(at);
            }
            attempt.wire.clone_from(&id);
            let number = attempt.number;
            self.learn_sent(id, params.token().and_then(name_of), name, number);
        }
        self.read(Way::ToServer, &run, at, text);
    }

    /// The client waits no longer: nothing of the call is sent again.
    fn on_cancel(&mut self, clock: &mut Clock, ways: &Ways, text: &str, params: &Params<'_>, name: &str) {
        let at = clock.now();
        let Some(call) = self.calls.get_mut(name) else { return };
        call.is_silent = true;
        call.may_repeat = false;
        call.wait_no_longer();
        match &call.out {
            Some(attempt) if attempt.wire == call.id => ways.to_server(text),
            Some(attempt) => {
                let line = params.request_id.map(|id| Cuts::of(text).replace(id, attempt.wire.as_str()).line());
                ways.to_server(line.unwrap_or_else(|| text.to_owned()));
            }
            None => {} // the server has answered all that it was asked
        }
        let (run, is_over) = (call.run.clone(), call.is_over);
        let reason = params.reason.as_deref().unwrap_or_default().to_ascii_lowercase();
        let made_at = self.deciding.as_ref().and_then(|deciding| deciding.session.made_at(name));
        if let Some(made) = made_at.filter(|_| reason.contains("timed out") || reason.contains("timeout")) {
            let waited = at.since(made).as_millis();
            let within = waited.saturating_sub(waited / 10).max(1);
            self.say_once("limit", || {
                format!("the client waits {waited} ms: `--answer-within {within}` leaves it time to hear")
            });
        }
        self.read(Way::ToServer, &run, at, text);
        if !is_over {
            self.decide(clock, ways, at, name, &driver_lines::bare("cancel", at, name));
        }
        self.close_unobeyed(name);
    }

    /// The client sends nothing more: what only waits is over.
    pub(crate) fn on_client_end(&mut self, clock: &mut Clock, ways: &Ways) {
        self.is_closed = true;
        let waiting = self.calls.iter().filter(|(_, call)| call.out.is_none());
        let waiting: Vec<String> = waiting.map(|(name, _)| name.clone()).collect();
        waiting.into_iter().for_each(|name| self.give_up(clock, ways, &name));
    }

    // The server.

    /// Whether a line of the server goes another way than as it is, if it may.
    pub(crate) fn takes_of_server(&mut self, clock: &mut Clock, ways: &Ways, line: &[u8]) -> bool {
        let Some((text, message)) = parsed(line) else { return false };
        match message.kind() {
            Kind::Answer => {
                let Some(sent) = message.name().and_then(|id| self.sent.remove(&id)) else {
                    self.reading.learn_hints(text);
                    return message.name().is_some_and(|id| id.starts_with(&self.wire(""))); // of an attempt that is lost
                };
                self.on_answer(clock, ways, text, &message, sent);
                true
            }
            Kind::Progress => {
                let Some(params) = message.params() else { return false };
                let Some(token) = params.progress_token else { return false };
                let Some(named) = name_of(token) else { return false };
                match self.tokens.get(&named).cloned() {
                    Some(known) => self.on_progress(ways, text, (&params, token), known),
                    None => return named.starts_with(&self.wire("")), // of an attempt that is forgotten
                }
                true
            }
            Kind::Request | Kind::Call => {
                let at = clock.now();
                self.asked.extend(message.name());
                // Of several open calls nobody knows for which the client is asked.
                let asks = matches!(message.method.as_deref(), Some("elicitation/create" | "sampling/createMessage"));
                for call in self.calls.values_mut() {
                    let Some(attempt) = &mut call.out else { continue };
                    attempt.hold(at);
                    call.may_repeat &= !asks;
                }
                false
            }
            Kind::Cancelled | Kind::Other => false,
        }
    }

    /// Progress of an attempt: the client hears of it where it rises.
    fn on_progress(&mut self, ways: &Ways, text: &str, (params, token): (&Params<'_>, &RawValue), of: (String, u32)) {
        let Some(call) = self.calls.get_mut(&of.0).filter(|call| !call.is_silent) else { return };
        if call.out.as_ref().is_none_or(|attempt| attempt.number != of.1) {
            return; // that attempt was given up
        }
        call.progress.total = params.total.map(|total| total.get().to_owned()).or(call.progress.total.take());
        let rises = params.progress.is_some_and(|value| call.progress.rises_to(value.get()));
        match (&call.token, of.1) {
            (_, 1) => ways.to_client(text),
            (Some(own), _) if rises => ways.to_client(Cuts::of(text).replace(token, own.as_str()).line()),
            _ => {}
        }
    }

    fn on_answer(&mut self, clock: &mut Clock, ways: &Ways, text: &str, message: &Message<'_>, sent: Sent) {
        let at = clock.now();
        let lines = self.read(Way::ToClient, &sent.run, at, text);
        let kind = message.answer_kind();
        let (name, number) = (sent.name, sent.number);
        let call = self.calls.get_mut(&name);
        let is_awaited = |call: &&mut OpenCall| call.out.as_ref().is_some_and(|attempt| attempt.number == number);
        let Some(call) = call.filter(is_awaited) else {
            return self.on_late(at, &name, number, &lines, kind);
        };
        let own = Cuts::of(text);
        let own = match message.id.filter(|_| number > 1) {
            Some(id) => own.replace(id, call.raw_id.as_str()),
            None => own,
        };
        let own = own.line();
        if kind == AnswerKind::AsksInput {
            call.may_repeat = false;
            if let Some(attempt) = &mut call.out {
                attempt.hold(at);
                attempt.asks_input = true;
            }
            let state = message.call_result().and_then(|result| result.request_state);
            let leg = Message::parse(&call.line).and_then(|made| Some(made.params()?.leg(state)));
            self.legs.extend(leg.map(|leg| (leg, name)));
            return ways.to_client(own);
        }
        let attempt = call.out.take();
        call.last = Some((own, matches!(kind, AnswerKind::Failed | AnswerKind::OfProtocol)));
        call.is_of_protocol = kind == AnswerKind::OfProtocol;
        call.may_repeat &= !matches!(kind, AnswerKind::OfProtocol | AnswerKind::Task);
        if call.is_over {
            self.on_late(at, &name, number, &lines, kind);
        } else {
            self.settle(clock, ways, at, &name, &answer(at, (&name, number), attempt, &lines, kind, false));
        }
        self.close_unobeyed(&name);
    }

    /// An answer that nobody waits for any more. A session that has forgotten the call refuses it, and a journal that breaks
    /// here says so at its next line.
    fn on_late(&mut self, at: Instant, name: &str, number: u32, lines: &str, kind: AnswerKind) {
        if let Some(deciding) = &mut self.deciding {
            let _ = deciding.say(&answer(at, (name, number), None, lines, kind, true));
            self.cast_shadow();
        }
    }

    /// The server has ended: each open call is answered, and nothing is sent any more.
    pub(crate) fn on_server_end(&mut self, clock: &mut Clock, ways: &Ways, how: &str) {
        self.is_closed = true;
        let mut error = String::new();
        Object::new(&mut error).text("kind", "interrupted").text("message", how).end();
        let open: Vec<String> = self.calls.keys().cloned().collect();
        for name in open {
            let Some(call) = self.calls.get_mut(&name) else { continue };
            let asks_input = call.out.as_ref().is_some_and(|attempt| attempt.asks_input);
            let Some(attempt) = call.out.take().filter(|_| !asks_input) else {
                call.is_silent |= asks_input; // the client has that answer
                self.give_up(clock, ways, &name);
                self.close_unobeyed(&name);
                continue;
            };
            call.may_repeat = false;
            call.last = None;
            let at = clock.now();
            if !call.is_over {
                let mut line = String::new();
                let object = begin_answer(&mut line, at, &name, attempt.number);
                held(object, at, attempt).json("error", &error).end();
                self.decide(clock, ways, at, &name, &line);
            }
            if let Some(call) = self.close_unobeyed(&name) {
                self.said.extend(call.recorded.and_then(|recorded| self.recording.interrupted(&recorded, at, &error)));
            }
        }
        if let Some(deciding) = &mut self.deciding {
            deciding.end();
        }
    }

    // Time.

    /// Does what is due.
    pub(crate) fn on_time(&mut self, clock: &mut Clock, ways: &Ways) {
        while let Some((due, name)) = self
            .calls
            .iter()
            .filter_map(|(name, call)| Some((call.due()?, name)))
            .min()
            .filter(|(due, _)| clock.has_come(*due))
        {
            let name = name.clone();
            let Some(call) = self.calls.get_mut(&name) else { return };
            if call.wake == Some(due) {
                call.wait_no_longer();
                let at = clock.at(due);
                self.decide(clock, ways, at, &name, &driver_lines::bare("wake", at, &name));
            } else if call.beat == Some(due) {
                call.beat(ways, due);
            } else {
                self.time_out(clock, ways, due, &name);
            }
        }
    }

    /// An attempt has had its time. A read is cancelled at the server; a write is not, for its late answer is evidence. In the
    /// shadow the attempt goes on.
    fn time_out(&mut self, clock: &mut Clock, ways: &Ways, due: Instant, name: &str) {
        let at = clock.at(due);
        let is_obeyed = self.is_obeyed();
        let Some(call) = self.calls.get_mut(name) else { return };
        let Some(attempt) = call.out.take() else { return };
        call.last = None;
        if call.is_read {
            let mut params = String::new();
            let wire = if attempt.wire == call.id { &call.raw_id } else { &attempt.wire };
            Object::new(&mut params).json("requestId", wire).text("reason", "playproof: timed out").end();
            ways.to_server(notification("notifications/cancelled", &params));
        }
        if !is_obeyed {
            call.is_over = true;
            call.out = Some(Attempt { due: None, ..attempt.clone() });
        }
        let mut line = String::new();
        let number = attempt.number;
        held(begin_answer(&mut line, at, name, number), at, attempt).truth("timeout", true).end();
        self.settle(clock, ways, at, name, &line);
    }

    // Attempts on the wire.

    /// The id of an attempt of ours, as it is compared and written: its beginning.
    pub(crate) fn wire(&self, rest: &str) -> String {
        format!("\"playproof-{}-{rest}", self.nonce)
    }

    pub(crate) fn learn_sent(&mut self, wire: String, token: Option<String>, name: &str, number: u32) {
        if let Some(token) = &token {
            self.tokens.insert(token.clone(), (name.to_owned(), number));
        }
        let run = self.calls.get(name).map(|call| call.run.clone()).unwrap_or_default();
        self.oldest.push_back((wire.clone(), token));
        self.sent.insert(wire, Sent { name: name.to_owned(), number, run });
        // Nobody waits for most of them: those of open calls stay.
        while self.oldest.len() > MAX_KEPT + self.calls.len() {
            let Some((oldest, token)) = self.oldest.pop_front() else { return };
            let is_open = |sent: &Sent| {
                let out = self.calls.get(&sent.name).and_then(|call| call.out.as_ref());
                out.is_some_and(|attempt| attempt.number == sent.number && attempt.wire == oldest)
            };
            if self.sent.get(&oldest).is_some_and(is_open) {
                self.oldest.push_back((oldest, token));
                return;
            }
            self.sent.remove(&oldest);
            let of = token.as_ref().and_then(|token| self.tokens.get(token));
            if let (Some(token), false) = (&token, of.is_some_and(|(of, _)| self.calls.contains_key(of))) {
                self.tokens.remove(token);
            }
        }
    }

    /// A call whose answer cannot be known any more: it is neither told nor sent again.
    fn lose(&mut self, clock: &mut Clock, ways: &Ways, name: &str) {
        let Some(call) = self.calls.get_mut(name) else { return };
        call.is_silent = true;
        call.may_repeat = false;
        let at = clock.now();
        match call.out.take() {
            Some(attempt) => {
                self.sent.remove(&attempt.wire);
                let mut line = String::new();
                begin_answer(&mut line, at, name, attempt.number).truth("lost", true).end();
                self.decide(clock, ways, at, name, &line);
            }
            None => self.give_up(clock, ways, name),
        }
        self.close_unobeyed(name);
    }
}

/// A line that is a message.
fn parsed(line: &[u8]) -> Option<(&str, Message<'_>)> {
    let text = std::str::from_utf8(line).ok()?;
    Some((text, Message::parse(text)?))
}

/// A client's id as a part of a name.
fn plain(id: &str) -> String {
    id.trim_matches('"').chars().take(MAX_ID).collect()
}

/// A message that nobody answers.
pub(crate) fn notification(method: &str, params: &str) -> String {
    let mut line = String::new();
    Object::new(&mut line).text("jsonrpc", "2.0").text("method", method).json("params", params).end();
    line.push('\n');
    line
}

fn begin_answer<'o>(line: &'o mut String, at: Instant, name: &str, number: u32) -> Object<'o> {
    Object::new(line).text("type", "answer").text("id", name).at("at_ms", at).number("attempt", number)
}

/// For how long the clock of an attempt stood still.
fn held(object: Object<'_>, at: Instant, mut attempt: Attempt) -> Object<'_> {
    attempt.go_on(at);
    object.span_if("held_ms", Some(attempt.held).filter(|held| *held > Duration::ZERO))
}

/// An answer to an attempt as the dispatcher gets it: only a flag of the server makes a failure.
fn answer(
    at: Instant,
    (name, number): (&str, u32),
    attempt: Option<Attempt>,
    lines: &str,
    kind: AnswerKind,
    is_late: bool,
) -> String {
    let mut out = String::new();
    let object = begin_answer(&mut out, at, name, number);
    let object = if is_late { object.truth("late", true) } else { object };
    let object = match attempt {
        Some(attempt) => held(object, at, attempt),
        None => object,
    };
    let error = TraceLine::all(lines).find_map(|line| line.error).map(RawValue::get);
    let object = match (kind, error) {
        (AnswerKind::Task | AnswerKind::AsksInput, _) => object.truth("accepted", true),
        (AnswerKind::Failed | AnswerKind::OfProtocol, Some(error)) => object.json("error", error),
        (AnswerKind::Failed | AnswerKind::OfProtocol, None) => object.truth("ok", false),
        (AnswerKind::Fine, _) => object.truth("ok", true),
    };
    object.end();
    out
}
