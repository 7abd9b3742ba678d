//! Answers of the upstream, and the script of answers in a fixture.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::call::Reply;
use crate::event::{ErrorFacts, Provenance, RequestKind};
use crate::time::{Duration, Instant};

/// The scripted answers for one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// To its attempts.
    pub attempts: Vec<ScriptedAnswer>,
    /// To requests for new evidence.
    pub refresh: Vec<ScriptedAnswer>,
    /// To the redemption of its reversal token.
    pub reversal: Vec<ScriptedAnswer>,
}

/// One scripted answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptedAnswer {
    /// Its content.
    pub reply: UpstreamReply,
    /// From the request to the answer.
    pub latency: Duration,
    /// Whether the upstream acted; none: only an `ok` of a write acts, whatever its key.
    pub applied: Option<bool>,
}

/// The outages of a fixture's tools.
pub type Outages = BTreeMap<String, Vec<Outage>>;

/// A time in which a tool answers every attempt in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    /// From when.
    pub from: Instant,
    /// Until when; none: for ever.
    pub to: Option<Instant>,
    /// The answer.
    pub answer: ScriptedAnswer,
}

/// The answer of a tool that has outages to an attempt in none of them, whose key it does not know: an `ok` at once.
pub(super) const NO_OUTAGE: &ScriptedAnswer =
    &ScriptedAnswer { reply: UpstreamReply::Ok, latency: Duration::ZERO, applied: None };

/// The answer to an attempt at `at`; none: it is in none of these outages.
pub(super) fn in_outage(outages: &[Outage], at: Instant) -> Option<&ScriptedAnswer> {
    let lasts = |outage: &&Outage| outage.from <= at && outage.to.is_none_or(|to| at < to);
    outages.iter().find(lasts).map(|outage| &outage.answer)
}

/// The content of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum UpstreamReply {
    /// Success.
    Ok,
    /// The answer never arrives.
    Lost,
    /// Failure; `None`: without an error object.
    Failed(Option<Arc<ErrorFacts>>),
    /// Its text suggests a failure and does not prove one.
    Suspected(Option<Arc<ErrorFacts>>),
    /// The work that was asked for is not done yet: how it ends is open.
    Unfinished(Option<Arc<ErrorFacts>>),
}

/// An answer of the upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its content; `Lost` never arrives.
    pub reply: UpstreamReply,
    /// From the request to the answer; none if the recording has no times.
    pub latency: Option<Duration>,
    /// Where the answer comes from.
    pub provenance: Provenance,
}

impl Answer {
    /// Whether it comes later than the timeout `within`.
    pub fn is_late(&self, within: Duration) -> bool {
        self.latency.is_some_and(|latency| latency > within)
    }
}

impl UpstreamReply {
    /// A failure with this error object.
    pub fn failed(error: ErrorFacts) -> UpstreamReply {
        UpstreamReply::Failed(Some(Arc::new(error)))
    }
}

impl From<&Reply> for UpstreamReply {
    fn from(reply: &Reply) -> UpstreamReply {
        match reply {
            Reply::Ok => UpstreamReply::Ok,
            Reply::Failed(error) => UpstreamReply::Failed(error.clone()),
            Reply::Suspected(error) => UpstreamReply::Suspected(error.clone()),
            Reply::Unfinished(error) => UpstreamReply::Unfinished(error.clone()),
        }
    }
}

impl UpstreamReply {
    /// What was answered; none: nothing ever is.
    pub fn reply(self) -> Option<Reply> {
        match self {
            UpstreamReply::Ok => Some(Reply::Ok),
            UpstreamReply::Failed(error) => Some(Reply::Failed(error)),
            UpstreamReply::Suspected(error) => Some(Reply::Suspected(error)),
            UpstreamReply::Unfinished(error) => Some(Reply::Unfinished(error)),
            UpstreamReply::Lost => None,
        }
    }
}

impl Script {
    /// The scripted answer to a request, given the number of earlier requests of its kind.
    pub(super) fn answer(&self, asked: RequestKind, earlier: usize) -> Option<&ScriptedAnswer> {
        match asked {
            RequestKind::Attempt(_) => self.attempts.get(earlier),
            RequestKind::Refresh(_) => self.refresh.get(earlier),
            RequestKind::Reversal => self.reversal.get(earlier),
        }
    }
}
