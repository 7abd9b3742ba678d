//! Does what a playbook decides of a connection: sends, waits, ends. In the shadow nothing is done, and what would be is kept
//! and said.

use std::collections::VecDeque;

use serde_json::value::RawValue;

use playproof_engine::time::{Duration, Instant};
use playproof_intake::mcp_messages::Way;
use playproof_protocol::object::Object;

use crate::call::{Attempt, OpenCall};
use crate::clock::Clock;
use crate::connection::{Connection, notification};
use crate::cut::Cuts;
use crate::deciding::{Ask, End, Want};
use crate::message::{Message, Params, name_of};
use crate::pipes::Ways;
use crate::told;

/// How often a client that asked for progress hears that its call waits.
const BEAT: Duration = Duration::from_millis(5_000);

/// The most results that are kept for calls with the same key, and their bytes.
const MAX_RESULTS: usize = 1_000;
const MAX_RESULT_BYTES: usize = 64 << 20;

impl Connection {
    /// Says a line, and does what follows.
    pub(crate) fn decide(&mut self, clock: &mut Clock, ways: &Ways, at: Instant, name: &str, line: &str) {
        let Some(deciding) = &mut self.deciding else { return };
        let said = deciding.say(line);
        if deciding.shadow.is_some() {
            if let Err(why) = said {
                self.said.push(format!("shadow: nothing is decided of a line ({why})"));
            }
            return self.cast_shadow();
        }
        match said {
            Ok(wants) => wants.into_iter().for_each(|want| self.act(clock, ways, at, want)),
            Err(why) => self.unheard(ways, name, why),
        }
    }

    // In the shadow.

    /// Records what was decided, and says what differs.
    pub(crate) fn cast_shadow(&mut self) {
        let Some(deciding) = &mut self.deciding else { return };
        let Some(shadow) = &mut deciding.shadow else { return };
        let mut lines = String::new();
        for record in deciding.session.take_records() {
            self.said.extend(shadow.decision(&mut lines, &record));
        }
        self.said.extend(self.recording.write(&lines));
    }

    /// Decides of the end of an attempt; in the shadow, gives up what would not be sent again if the playbook were obeyed.
    pub(crate) fn settle(&mut self, clock: &mut Clock, ways: &Ways, at: Instant, name: &str, line: &str) {
        let call = self.calls.get(name).map(|call| (call.may_repeat, call.is_of_protocol));
        if let (Some(shadow), Some((may_repeat, is_of_protocol))) = (self.shadow(), call) {
            shadow.hush(name, may_repeat, is_of_protocol);
        }
        self.decide(clock, ways, at, name, line);
        if self.shadow().is_some() && call.is_some_and(|(may_repeat, _)| !may_repeat) {
            self.give_up(clock, ways, name);
        }
    }

    /// Takes a call that has ended although nobody decided so.
    pub(crate) fn close_unobeyed(&mut self, name: &str) -> Option<OpenCall> {
        if self.is_obeyed() { None } else { self.close(name) }
    }

    // Obeyed.

    /// Nothing follows from a line: its call ends without a playbook, and is never sent again.
    fn unheard(&mut self, ways: &Ways, name: &str, why: String) {
        let Some(call) = self.close(name).filter(|call| !call.is_silent) else { return };
        match &call.last {
            Some((line, _)) => ways.to_client(line.as_str()),
            None if call.was_sent => {
                let prose = format!(
                    "{} has no answer, and {why}. It is not known whether it took effect. Do not make the same call again.",
                    call.tool
                );
                let outcome = "\"playproof/outcome\":{\"outcome\":\"undetermined\",\"effect\":\"unknown\"}";
                ways.to_client(told::own(&call, &prose, outcome));
            }
            None => {
                let prose = format!("{} was not sent: {why}. Nothing was done.", call.tool);
                ways.to_client(told::own(&call, &prose, "\"playproof/outcome\":{\"outcome\":\"refused\"}"));
            }
        }
        self.said.push(why);
    }

    fn act(&mut self, clock: &mut Clock, ways: &Ways, at: Instant, want: Want) {
        match want {
            Want::Ask(Ask { name, asked }) => {
                let mut line = String::new();
                let object = Object::new(&mut line).text("type", "answer").text("id", &name).at("at_ms", at);
                let error = "{\"kind\":\"not_sent\",\"message\":\"a proxy makes no such request\"}";
                object.text("asked", &asked).json("error", error).end();
                self.decide(clock, ways, at, &name, &line);
            }
            Want::Send(attempt) => self.send(clock, ways, at, &attempt.name, attempt.number, attempt.within()),
            Want::Wait(wait) => self.wait(clock, ways, at, &wait.name, wait.until()),
            Want::End(end) => self.done(ways, &end),
        }
    }

    pub(crate) fn send(
        &mut self,
        clock: &mut Clock,
        ways: &Ways,
        at: Instant,
        name: &str,
        number: u32,
        within: Duration,
    ) {
        let ours = self.wire(&format!("{}-{number}\"", name.split('-').next().unwrap_or_default()));
        let Some(call) = self.calls.get_mut(name) else { return };
        if number > 1 && (self.is_closed || !call.may_repeat) {
            return self.give_up(clock, ways, name);
        }
        let mut token = call.token.as_ref().and_then(|token| name_of(&raw(token)?));
        call.wait_no_longer();
        call.was_sent = true;
        let (wire, line) = match number {
            1 => (call.id.clone(), call.line.clone()),
            _ => {
                token = token.map(|_| ours.clone());
                let line = again(&call.line, &ours);
                (ours, line)
            }
        };
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
        let run = call.run.clone();
        self.learn_sent(wire, token, name, number);
        if number > 1 {
            self.read(Way::ToServer, &run, at, &line);
        }
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
            call.beat(ways, at);
        }
    }

    /// A call is not sent again, whatever the playbook says: for the dispatcher its caller went away.
    pub(crate) fn give_up(&mut self, clock: &mut Clock, ways: &Ways, name: &str) {
        let is_open = self.deciding.as_ref().is_some_and(|deciding| deciding.session.is_open(name));
        let Some(call) = self.calls.get(name).filter(|_| is_open) else { return };
        let why = match () {
            () if call.is_of_protocol => "an error of the protocol is the client's",
            () if self.is_closed => "the connection ends",
            () if call.is_silent => "another call has its id",
            () => "it asked for input, or is a task",
        };
        let at = clock.now();
        let mut line = String::new();
        let object = Object::new(&mut line).text("type", "cancel").text("id", name).at("at_ms", at);
        object.text("why", why).end();
        self.decide(clock, ways, at, name, &line);
    }

    fn done(&mut self, ways: &Ways, end: &End) {
        let Some(call) = self.close(&end.name) else { return };
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
                    self.keep_result(&end.name, line.clone());
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
        while self.results.len() > MAX_RESULTS || bytes(&self.results) > MAX_RESULT_BYTES {
            self.results.pop_front();
        }
    }

    /// Takes a call that has ended; its attempts may still be answered.
    fn close(&mut self, name: &str) -> Option<OpenCall> {
        let call = self.calls.remove(name)?;
        if self.ids.get(&call.id).is_some_and(|of| of == name) {
            self.ids.remove(&call.id);
        }
        self.legs.retain(|_, of| of != name);
        Some(call)
    }
}

impl OpenCall {
    /// Tells a client that asked for progress that its call waits.
    pub(crate) fn beat(&mut self, ways: &Ways, at: Instant) {
        let (Some(token), Some(until)) = (&self.token, self.wake) else { return };
        let left = until.since(at).as_millis();
        let mut params = String::new();
        let (next, total) = self.progress.next();
        let object = Object::new(&mut params).json("progressToken", token).json("progress", &next);
        let object = match total {
            Some(total) => object.json("total", total),
            None => object,
        };
        let message = format!("waits {}.{} s before it is sent again", left / 1_000, left % 1_000 / 100);
        object.text("message", &message).end();
        ways.to_client(notification("notifications/progress", &params));
        self.beat = Some(at.plus(BEAT)).filter(|next| *next < until);
    }
}

/// The client's line once more, under an id of ours, which is its progress token as well.
fn again(line: &str, wire: &str) -> String {
    let message = Message::parse(line);
    let params = message.as_ref().and_then(Message::params);
    let changed = [message.as_ref().and_then(|message| message.id), params.as_ref().and_then(Params::token)];
    changed.into_iter().flatten().fold(Cuts::of(line), |cuts, value| cuts.replace(value, wire)).line()
}

fn raw(text: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(text.to_owned()).ok()
}
