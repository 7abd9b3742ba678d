//! The death of a dispatcher: a moment between two of its inputs, and what becomes of what was under way. The inputs so far are
//! its journal; it comes back by reading them again.

use crate::dispatch::Machine;
use crate::drive::Event;
use crate::event::{Death, ErrorFacts, Provenance, RequestKind};
use crate::ids::CallId;
use crate::time::{Duration, Instant};
use crate::upstream::{Answer, UpstreamReply};

/// The death of a dispatcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crash {
    /// When it dies.
    pub when: CrashAt,
    /// How long until it is there again.
    pub restart: Duration,
    /// Whether it comes back without its journal: then it knows nothing, and who waited for a call makes it again.
    pub forgets: bool,
}

/// When a dispatcher dies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CrashAt {
    /// After so many inputs.
    Input {
        /// How many.
        after: u32,
        /// Whether the requests that the last of them led to have left. Those that have not are sent after the restart.
        has_left: bool,
    },
    /// After everything that comes until then.
    Time(Instant),
    /// When all of these calls have ended.
    Ends(Vec<CallId>),
}

/// The crash of a simulation, and the inputs before it.
#[derive(Clone, Debug, Default)]
pub(super) struct Journal {
    /// The crash that is to come.
    pub crash: Option<Crash>,
    /// The inputs so far, if one is to come.
    pub inputs: Vec<(Instant, CallId, Event)>,
    /// How many inputs there were.
    pub taken: u32,
    /// When it died and was there again.
    pub death: Option<Death>,
    /// It has forgotten everything, and the upstream has yet to learn that.
    pub has_forgotten: bool,
}

impl Journal {
    /// The crash that comes now, where the next event comes at `next`.
    pub fn crash_now(&mut self, machine: &Machine, has_left: bool, next: Option<Instant>) -> Option<Crash> {
        let taken = self.taken;
        self.crash.take_if(|crash| match &crash.when {
            CrashAt::Input { after, has_left: left } => (*after, *left) == (taken, has_left),
            CrashAt::Time(at) => has_left && next.is_none_or(|next| next > *at),
            CrashAt::Ends(calls) => has_left && calls.iter().all(|call| machine.has_ended(*call)),
        })
    }
}

/// What becomes of an event that was to come at `due` when the dispatcher is back at `back`, and when; none: nobody hears it.
/// What was out is answered with the kind `interrupted`: whoever sent it is gone.
pub(super) fn survives(due: Instant, event: Event, back: Instant) -> Option<(Instant, Event)> {
    let interrupted = |asked: RequestKind, latency: Duration| {
        let latency = latency.plus(back.since(due)).minus(due.since(back));
        let reply = UpstreamReply::failed(ErrorFacts::interrupted());
        let answer = Answer { reply, latency: Some(latency), provenance: Provenance::Modelled };
        (back, Event::Answered { asked, answer, over_timeout: false })
    };
    match event {
        Event::Answered { asked, answer, .. } if answer.provenance != Provenance::Unanswered => {
            Some(interrupted(asked, answer.latency.unwrap_or_default()))
        }
        Event::TimedOut { asked, timeout, .. } => Some(interrupted(asked, timeout)),
        Event::Late { .. } => None,
        Event::Answered { .. } | Event::Made | Event::Woken | Event::NoStep | Event::Resolved(_) | Event::Cancelled => {
            Some((due.max(back), event))
        }
    }
}
