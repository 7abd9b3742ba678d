//! What the upstream answers, and the script of answers that a fixture gives it.

use std::sync::Arc;

use crate::call::Reply;
use crate::event::{ErrorFacts, Provenance, RequestKind};
use crate::time::Duration;

/// What the upstream will answer for one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// To its attempts.
    pub attempts: Vec<ScriptedAnswer>,
    /// To requests for new evidence.
    pub refresh: Vec<ScriptedAnswer>,
    /// To the redemption of its reversal token.
    pub reversal: Vec<ScriptedAnswer>,
}

/// One written answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptedAnswer {
    /// What it says.
    pub reply: UpstreamReply,
    /// From the request to the answer.
    pub latency: Duration,
    /// Whether the upstream acted; none: an `ok` acts (once a key, where keys are honoured), nothing else does.
    pub applied: Option<bool>,
}

/// What an answer says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum UpstreamReply {
    /// Yes.
    Ok,
    /// Nothing: the answer never arrives.
    Lost,
    /// No; `None` is a failure without an error object.
    Failed(Option<Arc<ErrorFacts>>),
}

/// What comes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What it says; `Lost` never arrives.
    pub reply: UpstreamReply,
    /// From the request to the answer; none where the recording does not tell.
    pub latency: Option<Duration>,
    /// Whence.
    pub provenance: Provenance,
}

impl Answer {
    /// Whether it takes longer than a request waits.
    pub fn is_late(&self, within: Duration) -> bool {
        self.latency.is_some_and(|latency| latency > within)
    }
}

impl UpstreamReply {
    /// No, with this error object.
    pub fn failed(error: ErrorFacts) -> UpstreamReply {
        UpstreamReply::Failed(Some(Arc::new(error)))
    }
}

impl From<&Reply> for UpstreamReply {
    fn from(reply: &Reply) -> UpstreamReply {
        match reply {
            Reply::Ok => UpstreamReply::Ok,
            Reply::Failed(error) => UpstreamReply::Failed(error.clone()),
        }
    }
}

impl Script {
    /// The answer written for a request, given how many of its kind came before.
    pub(super) fn answer(&self, asked: RequestKind, earlier: usize) -> Option<&ScriptedAnswer> {
        match asked {
            RequestKind::Attempt(attempt) => self.attempts.get(attempt.index()),
            RequestKind::Refresh(_) => self.refresh.get(earlier),
            RequestKind::Reversal => self.reversal.get(earlier),
        }
    }
}
