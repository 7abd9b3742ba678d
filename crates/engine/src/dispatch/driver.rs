//! A machine that tests drive by hand, one input after the other.

use super::tests::{META, keyed_write};
use super::{CallFacts, Input, Machine, Output, OutputBuffer, Response};
use crate::event::{AdmissionRefusal, Decision, EffectClaim, OutcomeKind, RequestKind};
use crate::ids::{ArgsId, AttemptNo, CallId, KeyId};
use crate::playbook::Playbook;
use crate::time::Instant;

/// Calls with a key of their own.
pub(super) fn other(n: u32) -> CallFacts {
    CallFacts { key: Some(KeyId(100 + n)), args: ArgsId(n), ..keyed_write() }
}

/// One machine under a playbook, at a moment in milliseconds.
pub(super) struct Dispatcher {
    pub playbook: Playbook,
    pub machine: Machine,
    pub out: OutputBuffer,
    pub now: Instant,
}

impl Dispatcher {
    pub(super) fn of(playbook: Playbook) -> Dispatcher {
        Dispatcher { playbook, machine: Machine::default(), out: OutputBuffer::default(), now: Instant::ZERO }
    }

    pub(super) fn at(&mut self, millis: u64) -> &mut Dispatcher {
        self.now = Instant::from_millis(millis);
        self
    }

    /// The decisions on an input, each with its call.
    pub(super) fn input(&mut self, input: Input) -> Vec<(u32, Decision)> {
        self.out.events.clear();
        self.machine.handle_input(&self.playbook, self.now, input, &mut self.out);
        self.out.events.iter().map(|event| (event.call.0, event.what)).collect()
    }

    pub(super) fn call(&mut self, id: u32, facts: CallFacts) -> Vec<(u32, Decision)> {
        self.input(Input::Call(CallId(id), CallFacts { at: self.now, ..facts }))
    }

    pub(super) fn answer(&mut self, id: u32, attempt: u32, response: Response) -> Vec<(u32, Decision)> {
        let asked = RequestKind::Attempt(AttemptNo::new(attempt));
        self.input(Input::Answered { call: CallId(id), asked, response, meta: META })
    }

    pub(super) fn cancel(&mut self, id: u32) -> Vec<(u32, Decision)> {
        self.input(Input::Cancelled(CallId(id)))
    }

    pub(super) fn ended(&self, id: u32) -> Option<OutcomeKind> {
        self.machine.outcome(CallId(id)).map(|outcome| outcome.kind)
    }

    pub(super) fn stopped_by(&self, id: u32) -> Option<CallId> {
        self.machine.outcome(CallId(id)).and_then(|outcome| outcome.stopped_by)
    }

    pub(super) fn claim(&self, id: u32) -> Option<EffectClaim> {
        self.machine.outcome(CallId(id)).map(|outcome| outcome.claim)
    }

    /// The attempts that were sent, by call.
    pub(super) fn sent(&self) -> Vec<u32> {
        let asked = self.out.outputs.iter().filter_map(|output| match output {
            Output::Ask { call, asked: RequestKind::Attempt(_), .. } => Some(call.0),
            _ => None,
        });
        asked.collect()
    }
}

pub(super) fn refused(why: AdmissionRefusal) -> Option<OutcomeKind> {
    Some(OutcomeKind::Refused(why))
}
