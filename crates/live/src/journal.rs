//! Going on with a journal: the machine takes its lines again, and the calls that were open when their program died end.

use std::collections::VecDeque;
use std::sync::Arc;

use playproof_engine::call::Reply;
use playproof_engine::drive::{Dispatcher as Machine, InputFault, Want};
use playproof_engine::event::{ErrorFacts, RequestKind};
use playproof_engine::ids::CallId;
use playproof_engine::time::Duration;
use playproof_protocol::entry::{Entry, take_decided};
use playproof_protocol::said::{Came, Input};
use playproof_protocol::{answered, driver_lines};

use crate::args::with_args_by_meaning;
use crate::core::{Core, Slot};
use crate::recorder;
use crate::request::Ended;

/// Why a journal is not read.
pub(crate) enum Unread {
    /// Something else decided it: its head.
    Other(String),
    Damaged {
        line: u64,
        what: String,
    },
}

/// Where a head says when its journal begins.
const AT: &str = ",\"at_ms\":";

impl<T: Clone> Core<T> {
    /// Reads a journal, of which every line is whole: everything is as it was. Gives what was decided and the journal has yet to
    /// say.
    pub(crate) fn read(&mut self, journal: &str) -> Result<VecDeque<String>, Unread> {
        let mut lines = (1..).zip(journal.lines());
        let begins = lines.next().map_or("", |(_, head)| head);
        let known = recorder::head(self.machine.plan());
        if begins.split_once(AT).map(|(head, _)| head) != known.split_once(AT).map(|(head, _)| head) {
            return Err(Unread::Other(begins.to_owned()));
        }
        let mut decided = VecDeque::new();
        for (line, text) in lines {
            self.read_line(text, &mut decided).map_err(|what| Unread::Damaged { line, what })?;
        }
        self.clock.begin_at(self.now);
        Ok(decided)
    }

    /// Takes a line; `decided` has what follows from the lines before and the journal has yet to say.
    fn read_line(&mut self, text: &str, decided: &mut VecDeque<String>) -> Result<(), String> {
        match Entry::parse(text)? {
            Entry::End(_) => {} // of an earlier file
            Entry::Step(_) | Entry::Draw { .. } | Entry::Decision { .. } => take_decided(decided, text)?,
            Entry::Crash(at) => {
                self.now = self.now.max(at);
                self.machine.lose_state(self.now);
                self.take_wants_again(decided);
            }
            Entry::Said(at, input) => {
                let before = self.now;
                self.now = before.max(at);
                if self.take_again(input, decided).is_err() {
                    self.now = before; // what changed nothing then changes nothing now
                }
                self.take_wants_again(decided);
            }
        }
        Ok(())
    }

    fn take_again(&mut self, input: Input, decided: &mut VecDeque<String>) -> Result<(), InputFault> {
        let now = self.now;
        let find = |machine: &Machine, name: &str| machine.find(name).ok_or(InputFault::UnknownCall);
        match input {
            Input::Call(new) => {
                let call = self.machine.call(now, with_args_by_meaning(*new))?;
                *self.slot(call) = Slot::default();
                self.unnamed += 1;
                Ok(())
            }
            Input::Answer(given) => {
                let draw = answered::take(&mut self.machine, now, &given)?;
                decided.extend(draw.map(|(attempt, draw)| driver_lines::draw(&given.id, attempt, draw)));
                Ok(())
            }
            Input::Wake(name) => self.machine.wake(now, find(&self.machine, &name)?),
            Input::Cancel(name) => self.machine.cancel(now, find(&self.machine, &name)?),
            // By another program that had this journal.
            Input::Resolve(name, said) => self.machine.resolve(now, find(&self.machine, &name)?, said.is_applied),
            Input::EndRun(run) => {
                let own = self.calls_of(Some(&run));
                if own.iter().any(|call| self.machine.outcome(*call).is_none()) {
                    return Err(InputFault::NotEnded);
                }
                self.forget_run(&run, own);
                Ok(())
            }
        }
    }

    /// Nobody makes the requests that are wanted, or waits: those who did are gone.
    fn take_wants_again(&mut self, decided: &mut VecDeque<String>) {
        let (wants, events) = (self.machine.take_wants(), self.machine.take_events());
        if let Some(recorder) = &mut self.recorder {
            decided.extend(recorder.records(self.now, &self.machine, &wants, &events));
        }
        for want in wants {
            match want {
                Want::Step { call, action } => self.slot(action).steps.push(call),
                Want::End { call } if self.machine.action_of(call).is_none() => {
                    self.slot(call).is_over = true;
                    self.ended.push_back(call);
                }
                Want::End { .. } | Want::Send { .. } | Want::Wait { .. } => {}
            }
        }
    }

    /// Writes what the journal has yet to say, and ends the calls that were open when their program died: what was out is
    /// answered with `interrupted`, and what waits is cancelled.
    pub(crate) fn go_on(&mut self, decided: VecDeque<String>) -> Vec<Ended<T>> {
        decided.iter().for_each(|record| self.said(|| record.clone()));
        let now = self.pass();
        if self.lose_state() {
            self.said(|| driver_lines::crash(now));
            self.deliver();
        }
        let mut open = self.calls_of(None);
        open.retain(|call| self.machine.outcome(*call).is_none());
        open.sort_by_key(|call| (self.machine.made_at(*call), self.machine.made(*call).map(|made| made.name.clone())));
        let message = Some("the program that sent it has ended".into());
        let interrupted = ErrorFacts { kind: Some("interrupted".into()), message, ..ErrorFacts::default() };
        let reply = Reply::Failed(Some(Arc::new(interrupted)));
        let with_steps = open.iter().flat_map(|call| std::iter::once(*call).chain(self.slot_steps(*call)));
        let out: Vec<(CallId, RequestKind)> =
            with_steps.flat_map(|call| self.machine.asked(call).map(move |asked| (call, asked))).collect();
        for (call, asked) in out {
            let now = self.pass();
            self.say(now, call, asked, Came::Reply(reply.clone()), Duration::ZERO);
            let answered = self.machine.answer(now, call, asked, &reply);
            debug_assert!(answered.is_ok(), "it is out: {answered:?}");
            self.deliver();
        }
        let mut ended = Vec::new();
        for call in open {
            self.cancel(call);
            self.slot(call).is_over = true;
            ended.extend(self.slot(call).ended.take());
        }
        ended
    }
}
