//! Permits: at most so many attempts are out at the same time, the others wait in their order. A permit is held only while
//! an attempt is out, never during a wait.

use std::collections::BTreeMap;

use crate::ids::CallId;
use crate::playbook::PermitLimits;

/// The attempts that are out, and the calls that wait.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Permits {
    in_flight: u32,
    /// Waiting calls by ticket: first come, first served.
    queue: BTreeMap<Ticket, CallId>,
}

/// A place in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Ticket(u64);

/// What a call that wants a permit gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PermitUse {
    /// A permit.
    Granted,
    /// A place in the queue, from 1.
    Waits(Ticket, u32),
    /// Nothing: the queue is full.
    QueueFull,
}

impl Permits {
    /// Asks for a permit. Only a first attempt can find the queue full: the others were admitted.
    pub(super) fn ask(&mut self, limits: PermitLimits, call: CallId, is_first: bool) -> PermitUse {
        if self.queue.is_empty() && self.in_flight < limits.max_in_flight {
            self.in_flight += 1;
            return PermitUse::Granted;
        }
        let waiting = u32::try_from(self.queue.len()).unwrap_or(u32::MAX);
        if is_first && waiting >= limits.queue {
            return PermitUse::QueueFull;
        }
        let last = self.queue.last_key_value().map_or(0, |(ticket, _)| ticket.0);
        let ticket = Ticket(last.saturating_add(1));
        self.queue.insert(ticket, call);
        PermitUse::Waits(ticket, waiting.saturating_add(1))
    }

    /// Gives a free permit to the call that has waited longest.
    pub(super) fn grant_next(&mut self, limits: PermitLimits) -> Option<CallId> {
        if self.in_flight >= limits.max_in_flight {
            return None;
        }
        let (_, call) = self.queue.pop_first()?;
        self.in_flight += 1;
        Some(call)
    }

    /// Frees a permit.
    pub(super) fn release(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// Takes a call out of the queue.
    pub(super) fn leave(&mut self, ticket: Ticket) {
        self.queue.remove(&ticket);
    }
}
