//! A dispatcher that is spoken to in lines: what was said in, the answer out. Time is what the lines say.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use playproof_analysis::envelope::EnvelopeKind;
use playproof_engine::drive::{Dispatcher, InputFault, NewCall, Want};
use playproof_engine::event::OutcomeKind;
use playproof_engine::ids::CallId;
use playproof_engine::plan::Plan;
use playproof_engine::time::{Duration, Instant};
use playproof_intake::canonical::text_of;

use crate::answered;
use crate::decider::Decider;
use crate::driver_lines;
use crate::entry::Entry;
use crate::error::{ErrorCode, LineError};
use crate::mentioned::Mentioned;
use crate::object::Object;
use crate::protocol::ENDS_KEPT;
use crate::said::{GivenAnswer, Hello, Input, Question, Resolved, Said};
use crate::shadow::Shadow;
use crate::shown;

/// A dispatcher that is spoken to in lines.
#[derive(Debug)]
pub struct Session {
    dispatcher: Dispatcher,
    decider: Decider,
    /// Whether answers have the decisions.
    tells_events: bool,
    /// The forms of what the agent gets that ends have.
    messages: Vec<EnvelopeKind>,
    now: Instant,
    /// Oldest first.
    ended: VecDeque<End>,
    /// Of these: the ids of calls that the dispatcher has forgotten. They stay taken.
    forgotten: BTreeSet<String>,
    mentioned: Mentioned,
    /// What a journal keeps beside the lines, if there is one.
    records: Option<VecDeque<String>>,
    dropped_bytes: usize,
    /// A driver has begun: what it has not committed is known to it.
    has_driver: bool,
    /// Nobody obeys what is decided.
    shadow: Option<Shadow>,
}

/// A call that has ended.
#[derive(Debug, Deserialize, Serialize)]
struct End {
    id: String,
    run: String,
    tool: String,
    /// Its `done`, without its closing brace.
    done: String,
    is_escalated: bool,
    resolved: Option<Resolved>,
}

impl Session {
    /// A session without calls. Under a journal it keeps records.
    pub fn new(plan: Plan, decider: Decider, keeps_records: bool) -> Session {
        Session {
            dispatcher: Dispatcher::new(plan),
            shadow: decider.shadow.then(Shadow::default),
            decider,
            tells_events: false,
            messages: Vec::new(),
            now: Instant::ZERO,
            ended: VecDeque::new(),
            forgotten: BTreeSet::new(),
            mentioned: Mentioned::default(),
            records: keeps_records.then(VecDeque::new),
            dropped_bytes: 0,
            has_driver: false,
        }
    }

    /// What decides.
    pub const fn decider(&self) -> &Decider {
        &self.decider
    }

    /// The playbook, prepared.
    pub fn plan(&self) -> &Plan {
        self.dispatcher.plan()
    }

    /// When a call was made that is not forgotten.
    pub fn made_at(&self, id: &str) -> Option<Instant> {
        self.dispatcher.made_at(self.dispatcher.find(id)?)
    }

    /// Whether a call has not ended.
    pub fn is_open(&self, id: &str) -> bool {
        self.dispatcher.find(id).is_some_and(|call| self.dispatcher.outcome(call).is_none())
    }

    /// What a journal keeps beside the lines so far, oldest first.
    pub fn records(&self) -> impl Iterator<Item = &str> {
        self.records.iter().flatten().map(String::as_str)
    }

    /// Takes an input of a journal: what follows from it; none: it is no input.
    pub(crate) fn read_again(&mut self, entry: &Entry<'_>) -> Option<VecDeque<String>> {
        match entry {
            Entry::Said(at, input) => drop(self.answer(Said::Input(*at, input.clone()))),
            Entry::Crash(at) => {
                self.begin_at(*at);
                self.lose_state();
            }
            _ => return None,
        }
        Some(self.take_records())
    }

    /// Takes it: the journal has it now.
    pub fn take_records(&mut self) -> VecDeque<String> {
        self.records.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The first lines of a new journal: what decides, and the ends that a driver may not have heard.
    pub(crate) fn head(&self) -> String {
        let mut head = self.decider.head(self.now);
        for end in &self.ended {
            end.write_to_journal(&mut head);
        }
        head
    }

    /// Takes an end of an earlier journal.
    pub(crate) fn take_end(&mut self, line: &str) -> Result<(), String> {
        let end: End = serde_json::from_str(line).map_err(|error| error.to_string())?;
        self.forgotten.insert(end.id.clone());
        self.ended.push_back(end);
        Ok(())
    }

    /// What the journal has yet to say of the lines that it has.
    pub(crate) fn keep_records(&mut self, records: VecDeque<String>) {
        self.records = Some(records);
    }

    /// Bytes of a torn line were dropped from the journal.
    pub(crate) const fn drop_bytes(&mut self, bytes: usize) {
        self.dropped_bytes = bytes;
    }

    /// The bytes of a torn line that were dropped from the journal.
    pub const fn dropped_bytes(&self) -> usize {
        self.dropped_bytes
    }

    /// Time goes on from a moment.
    pub(crate) fn begin_at(&mut self, at: Instant) {
        self.now = self.now.max(at);
    }

    /// Whether no later call can depend on anything of it: a new journal may begin.
    pub(crate) fn is_idle(&self) -> bool {
        self.dispatcher.is_idle()
    }

    /// The answer to what was said, without its line end.
    pub fn answer(&mut self, said: Said) -> String {
        match said {
            Said::Hello(hello) => self.on_hello(hello).unwrap_or_else(|error| error.answer()),
            Said::Ask(question) => self.on_question(&question),
            Said::Input(at, input) => self.on_input(at, input).unwrap_or_else(|error| error.answer()),
        }
    }

    fn on_hello(&mut self, hello: Hello) -> Result<String, LineError> {
        if hello.anew {
            self.forget_all()?;
        }
        let wrong = |word: &str| LineError::new(ErrorCode::BadLine, format!("`{word}` is no form of messages"));
        let form = |word: &String| EnvelopeKind::parse(word).ok_or_else(|| wrong(word));
        self.messages = hello.messages.iter().map(form).collect::<Result<_, _>>()?;
        self.tells_events = hello.events;
        self.has_driver = true;
        let lost = if hello.goes_on { BTreeMap::new() } else { self.lose_state() };
        let mut out = String::new();
        let object = self.decider.write(Object::new(&mut out)).at("at_ms", self.now).truth("transactions", true);
        let object = match self.dropped_bytes {
            0 => object,
            bytes => object.number("dropped_bytes", bytes as u64),
        };
        let object = if lost.is_empty() { object } else { object.list("lost", lost, shown::lost) };
        self.open(object, None).list("ended", &self.ended, |out, end| end.write(out)).end();
        Ok(out)
    }

    /// A driver sends an input; if it has said no `hello` before, it knows of no state of transactions.
    pub(crate) fn begin_driver(&mut self) {
        if !std::mem::replace(&mut self.has_driver, true) {
            self.lose_state();
        }
    }

    /// A program begins that has no state of transactions: what an earlier one has not committed is lost. Gives the names of
    /// that state by run and transaction.
    pub(crate) fn lose_state(&mut self) -> BTreeMap<(String, Option<String>), Vec<String>> {
        let mut names: BTreeMap<_, Vec<String>> = BTreeMap::new();
        let Some(lost) = self.dispatcher.lose_state(self.now) else { return names };
        for made in lost.iter().filter_map(|call| self.dispatcher.made(*call)) {
            names.entry((made.run.clone(), made.transaction.clone())).or_default().push(made.tool.clone());
        }
        if let Some(records) = &mut self.records {
            records.push_back(driver_lines::crash(self.now));
        }
        self.wanted(Vec::new(), ""); // its decisions
        names
    }

    /// Forgets every call, as a new process would.
    fn forget_all(&mut self) -> Result<(), LineError> {
        let is_empty = self.ended.is_empty() && self.dispatcher.calls().next().is_none();
        if self.records.is_some() && !is_empty {
            return Err(LineError::new(ErrorCode::BadLine, "`anew` would forget what the journal keeps"));
        }
        self.dispatcher = self.dispatcher.anew();
        self.now = Instant::ZERO;
        self.ended.clear();
        self.forgotten.clear();
        self.mentioned = Mentioned::default();
        Ok(())
    }

    fn on_question(&self, question: &Question) -> String {
        let mut out = String::new();
        let object = Object::new(&mut out);
        match question {
            Question::Next(run) => match self.dispatcher.valid_in(run) {
                Some(valid) => shown::next(object, "next", &self.dispatcher, &valid).end(),
                None => object.json("next", "null").json("withheld", "[]").end(),
            },
            Question::History(run) => {
                let ended = self.ended.iter().filter(|end| run.as_ref().is_none_or(|run| *run == end.run));
                let object = object.list("history", ended, |out, end| end.write(out));
                self.open(object, run.as_deref()).end();
            }
            Question::Tool(tool) => shown::facts(object, tool, self.dispatcher.plan().facts(tool)),
        }
        out
    }

    /// The calls that have not ended, of one run or of all, in the order in which they were made.
    fn open<'o>(&self, object: Object<'o>, run: Option<&str>) -> Object<'o> {
        let dispatcher = &self.dispatcher;
        let is_open = |(call, made): &(CallId, &NewCall)| {
            dispatcher.outcome(*call).is_none() && run.is_none_or(|run| run == made.run)
        };
        let mut open: Vec<(CallId, &NewCall)> = dispatcher.calls().filter(is_open).collect();
        open.sort_by_key(|(call, made)| (dispatcher.made_at(*call), made.name.clone()));
        object.list("open", open, |out, (call, _)| shown::open(out, dispatcher, call))
    }

    fn on_input(&mut self, at: Instant, input: Input) -> Result<String, LineError> {
        let before = self.now;
        self.now = before.max(at);
        if let Some(shadow) = &mut self.shadow {
            let wants = shadow.pass_time(&mut self.dispatcher, self.now);
            self.note(wants);
        }
        let mut last = String::new();
        let sent = match self.take(input, &mut last) {
            Ok(sent) => sent,
            Err(error) => {
                if self.shadow.is_none() {
                    self.now = before; // in the shadow, what was due has happened
                }
                return Err(error);
            }
        };
        let Some(shadow) = &mut self.shadow else {
            let wants = self.dispatcher.take_wants();
            return Ok(self.wanted(wants, &last));
        };
        let wants = shadow.settle(&mut self.dispatcher, self.now);
        self.note(wants);
        if let Some((name, within)) = sent {
            shown::only_send(&mut last, &name, within);
        }
        Ok(self.wanted(Vec::new(), &last))
    }

    /// Takes what happens now; of a call, its name and timeout. `resolved` gets what a person said.
    fn take(&mut self, input: Input, resolved: &mut String) -> Result<Option<(String, Duration)>, LineError> {
        let now = self.now;
        match input {
            Input::Call(mut new) => {
                new.args = text_of(&new.args);
                new.steps.values_mut().for_each(|args| *args = text_of(args));
                let name = new.name.clone();
                if self.forgotten.contains(&name) {
                    return Err(LineError::of_input(InputFault::NameTaken, &name));
                }
                if new.act.is_some() {
                    self.dispatcher.call(now, *new).map_err(|fault| LineError::of_input(fault, &name))?;
                    return Ok(None); // nothing is sent for it
                }
                let timeout = new.timeout.unwrap_or_else(|| self.dispatcher.plan().facts(&new.tool).timeout);
                self.dispatcher.call(now, *new).map_err(|fault| LineError::of_input(fault, &name))?;
                return Ok(Some((name, timeout)));
            }
            Input::Answer(answer) => match (self.on_answer(now, &answer), &mut self.shadow) {
                (Err(InputFault::NotAsked | InputFault::NotSent), Some(shadow)) => {
                    shadow.answer_unsent(&self.dispatcher, &answer.id);
                }
                (answered, _) => answered.map_err(|fault| LineError::of_input(fault, &answer.id))?,
            },
            Input::Wake(id) => {
                let woken = self.find(&id).and_then(|call| self.dispatcher.wake(now, call));
                woken.map_err(|fault| LineError::of_input(fault, &id))?;
            }
            Input::Cancel(id) => {
                let cancelled = self.find(&id).and_then(|call| self.dispatcher.cancel(now, call));
                cancelled.map_err(|fault| LineError::of_input(fault, &id))?;
            }
            Input::Resolve(id, said) => self.resolve(resolved, now, &id, said)?,
            Input::EndRun(run) => self.end_run(&run)?,
        }
        Ok(None)
    }

    /// Takes ends and steps that nobody hears of.
    fn note(&mut self, wants: Vec<Want>) {
        wants.into_iter().for_each(|want| self.write(&mut String::new(), want));
    }

    fn find(&self, id: &str) -> Result<CallId, InputFault> {
        self.dispatcher.find(id).ok_or(InputFault::UnknownCall)
    }

    fn on_answer(&mut self, now: Instant, given: &GivenAnswer) -> Result<(), InputFault> {
        let draw = answered::take(&mut self.dispatcher, now, given)?;
        if let Some((records, (attempt, draw))) = self.records.as_mut().zip(draw) {
            records.push_back(driver_lines::draw(&given.id, attempt, draw));
        }
        Ok(())
    }

    fn resolve(&mut self, out: &mut String, now: Instant, id: &str, said: Resolved) -> Result<(), LineError> {
        let end = self.ended.iter_mut().find(|end| end.id == *id);
        let Some(end) = end else {
            let fault = match self.dispatcher.find(id) {
                Some(_) => LineError::new(ErrorCode::NotEscalated, format!("`{id}` has not ended")),
                None => LineError::of_input(InputFault::UnknownCall, id),
            };
            return Err(fault);
        };
        if let Some(Resolved { by, .. }) = &end.resolved {
            return Err(LineError::new(ErrorCode::NotEscalated, format!("`{id}` was resolved by {by}")));
        }
        if !end.is_escalated {
            return Err(LineError::new(ErrorCode::NotEscalated, format!("`{id}` is not escalated")));
        }
        let object = Object::new(out).text("resolved", id).text("effect", said.effect().as_str());
        object.text("by", &said.by).end();
        let applied = said.is_applied;
        end.resolved = Some(said);
        if let Some(call) = self.dispatcher.find(id) {
            let _ = self.dispatcher.resolve(now, call, applied); // it has ended
        }
        Ok(())
    }

    fn end_run(&mut self, run: &str) -> Result<(), LineError> {
        let own = self.dispatcher.calls().filter(|(_, made)| made.run == *run);
        let calls: Vec<CallId> = own.map(|(call, _)| call).collect();
        if self.shadow.is_some() {
            for call in &calls {
                let _ = self.dispatcher.cancel(self.now, *call); // it may have ended
            }
        }
        let mut open = calls.iter().filter(|call| self.dispatcher.outcome(**call).is_none());
        if let Some(open) = open.next().and_then(|call| self.dispatcher.made(*call)) {
            return Err(LineError::new(ErrorCode::OpenCalls, format!("`{}` has not ended", open.name)));
        }
        for call in calls {
            self.forgotten.extend(self.dispatcher.made(call).map(|made| made.name.clone()));
            let _ = self.dispatcher.forget(call); // refused: it is a step, which goes with its action
        }
        self.dispatcher.end_run(run);
        Ok(())
    }

    /// Forgets a call that has ended. A step goes with its action.
    fn forget(&mut self, name: &str) {
        if let Some(call) = self.dispatcher.find(name) {
            let _ = self.dispatcher.forget(call); // refused: it is a step
        }
    }

    /// What is wanted now; `last` is one thing more, if it is not empty.
    fn wanted(&mut self, wants: Vec<Want>, last: &str) -> String {
        let mut out = String::new();
        let object = Object::new(&mut out);
        let mut object = object.list("do", wants.into_iter().map(Some).chain((!last.is_empty()).then_some(None)), {
            |out, want| match want {
                Some(want) => self.write(out, want),
                None => out.push_str(last),
            }
        });
        let events = self.dispatcher.take_events();
        if self.tells_events || self.records.is_some() {
            let objects = self.mentioned.objects(&self.dispatcher, &events);
            if let Some(records) = &mut self.records {
                records.extend(objects.iter().map(|event| driver_lines::decision(event)));
            }
            if self.tells_events {
                object = object.list("events", &objects, |out, event| out.push_str(event));
            }
        }
        object.end();
        while self.ended.len() > ENDS_KEPT
            && let Some(oldest) = self.ended.pop_front()
        {
            self.forgotten.remove(&oldest.id);
            self.forget(&oldest.id);
        }
        out
    }

    fn write(&mut self, out: &mut String, want: Want) {
        match want {
            Want::Send { call, asked, .. } => shown::send(out, &self.dispatcher, call, asked),
            Want::Wait { call, until } => {
                shown::wait(out, self.dispatcher.made(call).map_or("", |made| &made.name), until);
            }
            Want::Step { call, action } => {
                let Some((made, of)) = self.dispatcher.made(call).zip(self.dispatcher.made(action)) else { return };
                driver_lines::step(Object::new(out), made, &of.name).end();
                if let Some(records) = &mut self.records {
                    records.push_back(driver_lines::step_record(self.now, made, &of.name));
                }
            }
            Want::End { call } => self.end(out, call),
        }
    }

    /// A call has ended.
    fn end(&mut self, out: &mut String, call: CallId) {
        let start = out.len();
        shown::done(out, &self.dispatcher, (call, self.now), &self.messages, &mut self.mentioned);
        let Some((made, outcome)) = self.dispatcher.made(call).zip(self.dispatcher.outcome(call)) else { return };
        self.ended.push_back(End {
            id: made.name.clone(),
            run: made.run.clone(),
            tool: made.tool.clone(),
            done: out[start..].strip_suffix("}").unwrap_or_default().to_owned(),
            is_escalated: matches!(outcome.kind, OutcomeKind::Escalated(_)),
            resolved: None,
        });
    }
}

impl End {
    /// Its line in a journal.
    fn write_to_journal(&self, out: &mut String) {
        let fields = serde_json::to_string(self).unwrap_or_default(); // texts and flags
        out.push_str("{\"type\":\"end\",");
        out.push_str(fields.get(1..).unwrap_or("}"));
        out.push('\n');
    }

    /// Its `done`, with what a later driver does not know of it.
    fn write(&self, out: &mut String) {
        let mut rest = String::new();
        let run = Some(&*self.run).filter(|run| !run.is_empty());
        let object = Object::new(&mut rest).text("tool", &self.tool).text_if("run", run);
        match &self.resolved {
            None => object.end(),
            Some(said) => {
                let mut resolved = String::new();
                Object::new(&mut resolved).text("effect", said.effect().as_str()).text("by", &said.by).end();
                object.json("resolved", &resolved).end();
            }
        }
        out.push_str(&self.done);
        out.push(',');
        out.push_str(&rest[1..]);
    }
}
