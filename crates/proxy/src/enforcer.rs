//! Does what a playbook decides: the client's own line is the first attempt, and every further one differs from it only in its
//! id and its progress token. Each call is kept in the journal before it is sent.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::value::RawValue;

use playproof_engine::drive::NewCall;
use playproof_engine::playbook::Access;
use playproof_engine::time::{Duration, Instant};
use playproof_intake::mcp_messages::Way;
use playproof_protocol::driver_lines;
use playproof_protocol::object::Object;

use crate::call::{Attempt, OpenCall, Progress};
use crate::clock::Clock;
use crate::cut::Cuts;
use crate::deciding::{Deciding, Unheard, Want};
use crate::message::{AnswerKind, Kind, Message, Params, name_of};
use crate::pipes::Ways;
use crate::reading::{Reading, TraceLine};
use crate::shadow;
use crate::told;

/// How often a client that asked for progress hears that its call waits.
const BEAT: Duration = Duration::from_millis(5_000);

/// How long the dispatcher waits where nobody says how long an attempt may take: a hundred days.
const FOREVER: Duration = Duration::from_millis(100 * 86_400_000);

/// The most attempts that are kept for late answers, and the most results for calls with the same key.
const MAX_KEPT: usize = 1_000;

/// The most bytes of results for calls with the same key.
const MAX_RESULT_BYTES: usize = 64 << 20;

/// What stands between the client and the server.
pub(crate) struct Enforcer {
    deciding: Deciding,
    reading: Reading,
    answer_within: Duration,
    /// What distinguishes our ids from those of any client.
    nonce: String,
    made: u64,
    /// By name: the calls that are not answered.
    calls: BTreeMap<String, OpenCall>,
    /// By the client's id: their names.
    ids: BTreeMap<String, String>,
    /// By the id on the wire: attempts without an answer, also those that nobody waits for; their ids, oldest first.
    wires: BTreeMap<String, (String, u32)>,
    oldest: VecDeque<String>,
    /// By the token on the wire: the attempt that it is for.
    tokens: BTreeMap<String, (String, u32)>,
    /// By tool, arguments and state: calls that wait for a round of input.
    legs: BTreeMap<String, String>,
    /// The requests of the server that the client has not answered.
    asked: BTreeSet<String>,
    /// The results of calls with a key, by name, oldest first.
    results: VecDeque<(String, String)>,
    /// The server takes no requests any more.
    is_closed: bool,
    /// What people are told.
    said: Vec<String>,
    has_learned_limit: bool,
}

impl Enforcer {
    pub(crate) fn new(deciding: Deciding, reading: Reading, answer_within: Duration, nonce: String) -> Enforcer {
        Enforcer {
            deciding,
            reading,
            answer_within,
            nonce,
            made: 0,
            calls: BTreeMap::new(),
            ids: BTreeMap::new(),
            wires: BTreeMap::new(),
            oldest: VecDeque::new(),
            tokens: BTreeMap::new(),
            legs: BTreeMap::new(),
            asked: BTreeSet::new(),
            results: VecDeque::new(),
            is_closed: false,
            said: Vec::new(),
            has_learned_limit: false,
        }
    }

    /// What people are to be told.
    pub(crate) fn take_said(&mut self) -> Vec<String> {
        std::mem::take(&mut self.said)
    }

    pub(crate) const fn reading(&self) -> &Reading {
        &self.reading
    }

    /// The next moment at which something is to be done.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.calls.values().filter_map(OpenCall::due).min()
    }

    // The client.

    /// A line of the client.
    pub(crate) fn on_client(&mut self, clock: &mut Clock, ways: &Ways, line: Vec<u8>) {
        let passes = match std::str::from_utf8(&line).ok().and_then(|text| Some((text, Message::parse(text)?))) {
            Some((text, message)) => !self.takes_of_client(clock, ways, text, &message),
            None => true,
        };
        if passes {
            ways.to_server(line);
        }
    }

    /// Whether a message of the client goes another way than as it is.
    fn takes_of_client(&mut self, clock: &mut Clock, ways: &Ways, text: &str, message: &Message<'_>) -> bool {
        match message.kind() {
            Kind::Call => {
                let id = message.name().filter(|id| !self.ids.contains_key(id));
                let Some((id, params)) = id.zip(message.params()) else { return false };
                let Some(tool) = params.name.as_deref() else { return false };
                match self.legs.remove(&params.leg(params.request_state)).filter(|_| params.goes_on()) {
                    Some(name) => self.on_round(clock, text, message, (id, &params), &name),
                    None => {
                        self.on_call(clock, ways, text, message, (id, tool, &params));
                        return true;
                    }
                }
                false
            }
            Kind::Cancelled => {
                let id = message.params().and_then(|params| name_of(params.request_id?));
                let Some(name) = id.and_then(|id| self.ids.remove(&id)) else { return false };
                self.on_cancel(clock, ways, text, message, &name);
                true
            }
            Kind::Answer => {
                if message.name().is_some_and(|id| self.asked.remove(&id)) && self.asked.is_empty() {
                    let at = clock.now();
                    let running = self.calls.values_mut().filter_map(|call| call.out.as_mut());
                    running.filter(|attempt| !attempt.asks_input).for_each(|attempt| attempt.go_on(at));
                }
                let at = clock.now();
                self.reading.read(Way::ToServer, at, message, text);
                false
            }
            Kind::Request => {
                let at = clock.now();
                self.reading.read(Way::ToServer, at, message, text);
                false
            }
            Kind::Progress | Kind::Other => false,
        }
    }

    fn on_call(
        &mut self,
        clock: &mut Clock,
        ways: &Ways,
        text: &str,
        message: &Message<'_>,
        (id, tool, params): (String, &str, &Params<'_>),
    ) {
        let at = clock.now();
        self.made += 1;
        let name = format!("c{}", self.made);
        let lines = self.reading.read(Way::ToServer, at, message, text);
        let recorded = TraceLine::all(&lines).find(|line| line.kind == "tool_call");
        let args = recorded.as_ref().and_then(|line| line.args).map_or("{}", RawValue::get);
        let plan = self.deciding.session.plan();
        let has_timeout = plan.has_timeout(tool);
        let new = NewCall {
            name: name.clone(),
            run: self.reading.run_of(params),
            tool: tool.to_owned(),
            args: args.to_owned(),
            key: recorded.as_ref().and_then(|line| line.idempotency_key.clone()),
            timeout: (!has_timeout).then_some(FOREVER),
            answer_within: Some(self.answer_within),
            ..NewCall::default()
        };
        let call = OpenCall {
            raw_id: message.id.map_or("", RawValue::get).to_owned(),
            id: id.clone(),
            line: text.to_owned(),
            tool: tool.to_owned(),
            is_new_era: params.is_new_era(),
            is_read: plan.facts(tool).access == Access::Read,
            has_timeout,
            has_key: new.key.is_some(),
            token: params.token().map(|token| token.get().to_owned()),
            progress: Progress::default(),
            out: None,
            wake: None,
            beat: None,
            last: None,
            may_repeat: params.task.is_none() && !params.goes_on(),
            is_of_protocol: false,
            is_silent: false,
        };
        self.ids.insert(id, name.clone());
        self.calls.insert(name.clone(), call);
        self.decide(clock, ways, at, &name, &driver_lines::call(at, &new));
    }

    /// A call goes on with what the server asked for, under another id: its line passes as it is.
    fn on_round(
        &mut self,
        clock: &mut Clock,
        text: &str,
        message: &Message<'_>,
        (id, params): (String, &Params<'_>),
        name: &str,
    ) {
        let at = clock.now();
        self.reading.read(Way::ToServer, at, message, text);
        let is_asked = !self.asked.is_empty();
        let Some(call) = self.calls.get_mut(name) else { return };
        self.ids.remove(&call.id);
        self.ids.insert(id.clone(), name.to_owned());
        call.raw_id = message.id.map_or("", RawValue::get).to_owned();
        call.line = text.to_owned();
        call.token = params.token().map(|token| token.get().to_owned());
        call.progress = Progress::default();
        call.id.clone_from(&id);
        let token = params.token().and_then(name_of);
        if let Some(attempt) = &mut call.out {
            attempt.asks_input = false;
            if !is_asked {
                attempt.go_on(at);
            }
            attempt.wire.clone_from(&id);
            let number = attempt.number;
            self.learn_wire(id, token, name, number);
        }
    }

    /// The client waits no longer: nothing of the call is sent again.
    fn on_cancel(&mut self, clock: &mut Clock, ways: &Ways, text: &str, message: &Message<'_>, name: &str) {
        let at = clock.now();
        let Some(call) = self.calls.get_mut(name) else { return };
        call.is_silent = true;
        call.may_repeat = false;
        call.wait_no_longer();
        let params = message.params();
        match &call.out {
            Some(attempt) if attempt.wire == call.id => ways.to_server(text),
            Some(attempt) => {
                let id = params.as_ref().and_then(|params| params.request_id);
                let line = id.map(|id| Cuts::of(text).replace(id, attempt.wire.as_str()).line());
                ways.to_server(line.unwrap_or_else(|| text.to_owned()));
            }
            None => {} // the server has answered all that it was asked
        }
        let reason = params.and_then(|params| params.reason).unwrap_or_default().to_ascii_lowercase();
        let made_at = self.deciding.session.made_at(name);
        if !self.has_learned_limit && (reason.contains("timed out") || reason.contains("timeout")) {
            self.has_learned_limit = true;
            let waited = made_at.map_or(0, |made| at.since(made).as_millis());
            self.said.push(format!(
                "the client waits {waited} ms: `--answer-within {}` leaves it time to hear",
                waited.saturating_sub(waited / 10).max(1)
            ));
        }
        self.decide(clock, ways, at, name, &driver_lines::bare("cancel", at, name));
    }

    /// The client sends nothing more: what only waits is over.
    pub(crate) fn on_client_end(&mut self, clock: &mut Clock, ways: &Ways) {
        self.is_closed = true;
        let waiting = self.calls.iter().filter(|(_, call)| call.out.is_none());
        let waiting: Vec<String> = waiting.map(|(name, _)| name.clone()).collect();
        waiting.into_iter().for_each(|name| self.give_up(clock, ways, &name));
    }

    // The server.

    /// A line of the server.
    pub(crate) fn on_server(&mut self, clock: &mut Clock, ways: &Ways, line: Vec<u8>) {
        let passes = match std::str::from_utf8(&line).ok().and_then(|text| Some((text, Message::parse(text)?))) {
            Some((text, message)) => !self.takes_of_server(clock, ways, text, &message),
            None => true,
        };
        if passes {
            ways.to_client(line);
        }
    }

    /// Whether a message of the server goes another way than as it is.
    fn takes_of_server(&mut self, clock: &mut Clock, ways: &Ways, text: &str, message: &Message<'_>) -> bool {
        match message.kind() {
            Kind::Answer => {
                let Some(known) = message.name().and_then(|id| self.wires.remove(&id)) else {
                    let at = clock.now();
                    self.reading.read(Way::ToClient, at, message, text);
                    return false;
                };
                self.on_answer(clock, ways, text, message, known);
                true
            }
            Kind::Progress => {
                let Some(params) = message.params() else { return false };
                let Some(token) = params.progress_token else { return false };
                let Some(known) = name_of(token).and_then(|token| self.tokens.get(&token).cloned()) else {
                    return false;
                };
                self.on_progress(ways, text, (&params, token), known);
                true
            }
            Kind::Request | Kind::Call => {
                let at = clock.now();
                self.reading.read(Way::ToClient, at, message, text);
                self.asked.extend(message.name());
                self.calls.values_mut().filter_map(|call| call.out.as_mut()).for_each(|attempt| attempt.hold(at));
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

    fn on_answer(&mut self, clock: &mut Clock, ways: &Ways, text: &str, message: &Message<'_>, of: (String, u32)) {
        let at = clock.now();
        let lines = self.reading.read(Way::ToClient, at, message, text);
        let kind = message.answer_kind();
        let (name, number) = of;
        let call = self.calls.get_mut(&name);
        let is_awaited = |call: &&mut OpenCall| call.out.as_ref().is_some_and(|attempt| attempt.number == number);
        let Some(call) = call.filter(is_awaited) else {
            let line = answer(at, &name, number, None, &lines, kind, true);
            let _ = self.deciding.say(&line); // one that nothing lacks means nothing
            return;
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
        let line = answer(at, &name, number, attempt, &lines, kind, false);
        self.decide(clock, ways, at, &name, &line);
    }

    /// The server has ended: each open call is answered, and nothing is sent any more.
    pub(crate) fn on_server_end(&mut self, clock: &mut Clock, ways: &Ways, how: &str) {
        self.is_closed = true;
        let open: Vec<String> = self.calls.keys().cloned().collect();
        for name in open {
            let Some(call) = self.calls.get_mut(&name) else { continue };
            let Some(attempt) = call.out.take() else {
                self.give_up(clock, ways, &name);
                continue;
            };
            call.may_repeat = false;
            call.last = None;
            let at = clock.now();
            let (mut line, mut error) = (String::new(), String::new());
            Object::new(&mut error).text("kind", "interrupted").text("message", how).end();
            let object = begin_answer(&mut line, at, &name, attempt.number);
            held(object, at, attempt).json("error", &error).end();
            self.decide(clock, ways, at, &name, &line);
        }
        self.deciding.end();
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
                beat(call, ways, due);
            } else {
                self.time_out(clock, ways, due, &name);
            }
        }
    }

    /// An attempt has had its time. A read is cancelled at the server; a write is not, for its late answer is evidence.
    fn time_out(&mut self, clock: &mut Clock, ways: &Ways, due: Instant, name: &str) {
        let at = clock.at(due);
        let Some(call) = self.calls.get_mut(name) else { return };
        let Some(attempt) = call.out.take() else { return };
        call.last = None;
        if call.is_read {
            let mut params = String::new();
            let wire = if attempt.wire == call.id { &call.raw_id } else { &attempt.wire };
            Object::new(&mut params).json("requestId", wire).text("reason", "playproof: timed out").end();
            ways.to_server(notification("notifications/cancelled", &params));
        }
        let mut line = String::new();
        let number = attempt.number;
        held(begin_answer(&mut line, at, name, number), at, attempt).truth("timeout", true).end();
        self.decide(clock, ways, at, name, &line);
    }

    // Decisions.

    /// Says a line, and does what follows.
    fn decide(&mut self, clock: &mut Clock, ways: &Ways, at: Instant, name: &str, line: &str) {
        match self.deciding.say(line) {
            Ok(wants) => wants.into_iter().for_each(|want| self.act(clock, ways, at, want)),
            Err(why) => self.unheard(ways, name, why),
        }
    }

    /// Nothing follows from a line: its call ends without a playbook, and is never sent again.
    fn unheard(&mut self, ways: &Ways, name: &str, why: Unheard) {
        let (Unheard::Unkept(why) | Unheard::Refused(why)) = why;
        let Some(call) = self.close(name).filter(|call| !call.is_silent) else { return };
        match call.last {
            Some((line, _)) => ways.to_client(line),
            None => {
                let prose = format!("{} was not sent: {why}. Nothing was done.", call.tool);
                ways.to_client(told::own(&call, &prose, "\"playproof/outcome\":{\"outcome\":\"refused\"}"));
            }
        }
        self.said.push(why);
    }

    fn act(&mut self, clock: &mut Clock, ways: &Ways, at: Instant, want: Want) {
        if let (Some(name), Some(asked)) = (&want.send, &want.asked) {
            // The connection has nothing that refreshes or reverses.
            let mut line = String::new();
            let object = Object::new(&mut line).text("type", "answer").text("id", name).at("at_ms", at);
            let error = "{\"kind\":\"not_sent\",\"message\":\"a proxy makes no such request\"}";
            object.text("asked", asked).json("error", error).end();
            return self.decide(clock, ways, at, &name.clone(), &line);
        }
        if let Some(name) = &want.send {
            return self.send(clock, ways, at, &name.clone(), want.attempt.unwrap_or(1), want.within());
        }
        if let Some(name) = &want.wait {
            return self.wait(clock, ways, at, &name.clone(), want.until());
        }
        if let Some(name) = &want.done {
            self.done(ways, &name.clone(), &want);
        }
    }

    fn send(&mut self, clock: &mut Clock, ways: &Ways, at: Instant, name: &str, number: u32, within: Duration) {
        let Some(call) = self.calls.get_mut(name) else { return };
        if number > 1 && (self.is_closed || !call.may_repeat) {
            return self.give_up(clock, ways, name);
        }
        let mut token = call.token.as_ref().and_then(|token| name_of(&raw(token)?));
        let (wire, line) = match number {
            1 => (call.id.clone(), call.line.clone()),
            _ => {
                let wire = format!("\"playproof-{}-{name}-{number}\"", self.nonce);
                token = token.map(|_| wire.clone());
                let line = again(&call.line, &wire);
                let message = Message::parse(&line);
                if let Some(message) = message {
                    self.reading.read(Way::ToServer, at, &message, &line);
                }
                (wire, line)
            }
        };
        call.wait_no_longer();
        let mut attempt = Attempt {
            number,
            wire: wire.clone(),
            due: call.has_timeout.then(|| at.plus(within)),
            held_since: None,
            held: Duration::ZERO,
            asks_input: false,
        };
        if !self.asked.is_empty() {
            attempt.hold(at);
        }
        call.out = Some(attempt);
        self.learn_wire(wire, token, name, number);
        ways.to_server(line);
    }

    fn wait(&mut self, clock: &mut Clock, ways: &Ways, at: Instant, name: &str, until: Instant) {
        let is_closed = self.is_closed;
        let Some(call) = self.calls.get_mut(name) else { return };
        // A call without an attempt waits for a permit or for the leader of its key.
        if is_closed || (call.last.is_some() && !call.may_repeat) {
            return self.give_up(clock, ways, name);
        }
        call.wake = Some(until);
        if call.token.is_some() {
            beat(call, ways, at);
        }
    }

    /// A call is not sent again, whatever the playbook says: for the dispatcher its caller went away.
    fn give_up(&mut self, clock: &mut Clock, ways: &Ways, name: &str) {
        let at = clock.now();
        self.decide(clock, ways, at, name, &driver_lines::bare("cancel", at, name));
    }

    fn done(&mut self, ways: &Ways, name: &str, end: &Want) {
        let Some(call) = self.close(name) else { return };
        let result = end.value_of.as_ref().and_then(|of| self.results.iter().find(|(name, _)| name == of));
        if let Some((_, line)) = result {
            let message = Message::parse(line);
            let id = message.as_ref().and_then(|message| message.id);
            let line = id.map(|id| Cuts::of(line).replace(id, call.raw_id.as_str()).line());
            return ways.to_client(line.unwrap_or_default());
        }
        match &call.last {
            Some((line, false)) => {
                if call.has_key && line.len() <= MAX_RESULT_BYTES {
                    self.keep_result(name, line.clone());
                }
                if !call.is_silent {
                    ways.to_client(line.as_str());
                }
            }
            _ if call.is_silent => {}
            Some((line, true)) if call.is_of_protocol => ways.to_client(line.as_str()),
            Some(_) | None => ways.to_client(told::failed(&call, end)),
        }
    }

    fn keep_result(&mut self, name: &str, line: String) {
        self.results.push_back((name.to_owned(), line));
        let bytes = |results: &VecDeque<(String, String)>| results.iter().map(|(_, line)| line.len()).sum::<usize>();
        while self.results.len() > MAX_KEPT || bytes(&self.results) > MAX_RESULT_BYTES {
            self.results.pop_front();
        }
    }

    /// Takes a call that has ended; its attempts may still be answered.
    fn close(&mut self, name: &str) -> Option<OpenCall> {
        let call = self.calls.remove(name)?;
        if self.ids.get(&call.id).is_some_and(|of| of == name) {
            self.ids.remove(&call.id);
        }
        self.tokens.retain(|_, (of, _)| of != name);
        self.legs.retain(|_, of| of != name);
        Some(call)
    }

    fn learn_wire(&mut self, wire: String, token: Option<String>, name: &str, number: u32) {
        if let Some(token) = token {
            self.tokens.insert(token, (name.to_owned(), number));
        }
        self.oldest.push_back(wire.clone());
        self.wires.insert(wire, (name.to_owned(), number));
        // Nobody waits for most of them: those of open calls stay.
        while self.oldest.len() > MAX_KEPT + self.calls.len() {
            let Some(oldest) = self.oldest.pop_front() else { return };
            let is_open = |(name, number): &(String, u32)| {
                let out = self.calls.get(name).and_then(|call| call.out.as_ref());
                out.is_some_and(|attempt| attempt.number == *number && attempt.wire == oldest)
            };
            if self.wires.get(&oldest).is_some_and(is_open) {
                self.oldest.push_back(oldest);
                return;
            }
            self.wires.remove(&oldest);
        }
    }
}

/// The client's line once more, under an id of ours, which is its progress token as well.
fn again(line: &str, wire: &str) -> String {
    let message = Message::parse(line);
    let params = message.as_ref().and_then(Message::params);
    let changed = [message.as_ref().and_then(|message| message.id), params.as_ref().and_then(Params::token)];
    changed.into_iter().flatten().fold(Cuts::of(line), |cuts, value| cuts.replace(value, wire)).line()
}

/// Tells a client that asked for progress that its call waits.
fn beat(call: &mut OpenCall, ways: &Ways, at: Instant) {
    let (Some(token), Some(until)) = (&call.token, call.wake) else { return };
    let left = until.since(at).as_millis();
    let mut params = String::new();
    let object = Object::new(&mut params).json("progressToken", token).json("progress", &call.progress.next());
    let object = match &call.progress.total {
        Some(total) => object.json("total", total),
        None => object,
    };
    let message = format!("waits {}.{} s before it is sent again", left / 1_000, left % 1_000 / 100);
    object.text("message", &message).end();
    ways.to_client(notification("notifications/progress", &params));
    call.beat = Some(at.plus(BEAT)).filter(|next| *next < until);
}

fn notification(method: &str, params: &str) -> String {
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

/// An answer to an attempt as the dispatcher gets it: what the server calls a success is none that is sent again.
fn answer(
    at: Instant,
    name: &str,
    number: u32,
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
    let line = TraceLine::all(lines).find(|line| line.kind == "tool_result");
    let error = line.as_ref().and_then(|line| line.error).map(RawValue::get);
    let object = match (kind, &line) {
        (AnswerKind::Task | AnswerKind::AsksInput, _) => object.truth("accepted", true),
        (AnswerKind::Fine, Some(line)) if line.status.as_deref() == Some("error") => {
            let object = object.truth("suspected", true);
            match error {
                Some(error) => object.json("error", error),
                None => object,
            }
        }
        (AnswerKind::Failed | AnswerKind::OfProtocol, Some(line)) if line.status.as_deref() == Some("error") => {
            shadow::answer(object, line)
        }
        (AnswerKind::Failed | AnswerKind::OfProtocol, _) => object.truth("ok", false),
        (AnswerKind::Fine, Some(line)) => shadow::answer(object, line),
        (AnswerKind::Fine, None) => object.truth("ok", true),
    };
    object.end();
    out
}

fn raw(text: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(text.to_owned()).ok()
}

/// A part of our ids, which no client makes.
pub(crate) fn nonce(seed: u64) -> String {
    format!("{:08x}", seed & 0xffff_ffff)
}
