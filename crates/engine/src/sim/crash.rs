//! The death of a dispatcher: a moment between two of its inputs, and what becomes of what was under way. The inputs so far are
//! its journal; it comes back by reading them again.

use crate::drive::Event;
use crate::event::{ErrorFacts, Provenance, RequestKind};
use crate::ids::CallId;
use crate::time::{Duration, Instant};
use crate::upstream::{Answer, UpstreamReply};

/// When a dispatcher dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crash {
    /// After so many inputs.
    pub after: u32,
    /// Whether the requests that the last of them led to have left. Those that have not are sent after the restart.
    pub has_left: bool,
    /// How long until it is there again.
    pub restart: Duration,
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
    /// When it died.
    pub died: Option<Instant>,
}

impl Journal {
    /// The crash that comes now.
    pub fn crash_now(&mut self, has_left: bool) -> Option<Crash> {
        let is_now = |crash: &mut Crash| crash.after == self.taken && crash.has_left == has_left;
        self.crash.take_if(is_now)
    }
}

/// What becomes of an event that was to come at `due` when the dispatcher is back at `back`, and when; none: nobody hears it.
/// What was out is answered with the kind `interrupted`: whoever sent it is gone.
pub(super) fn survives(due: Instant, event: Event, back: Instant) -> Option<(Instant, Event)> {
    let interrupted = |asked: RequestKind, latency: Duration| {
        let latency = latency.plus(back.since(due)).minus(due.since(back));
        let error = ErrorFacts {
            kind: Some("interrupted".into()),
            message: Some("the dispatcher died while the request was out".into()),
            ..ErrorFacts::default()
        };
        let answer =
            Answer { reply: UpstreamReply::failed(error), latency: Some(latency), provenance: Provenance::Modelled };
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
