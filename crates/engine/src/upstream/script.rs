//! The answers that a fixture's author wrote down, in the order in which they are given.

use std::sync::Arc;

use crate::call::Reply;
use crate::event::{Asked, ErrorFacts};
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
    pub says: Says,
    /// From the request to the answer.
    pub latency: Duration,
    /// Whether the upstream acted; none: an `ok` acts (once a key, where keys are honoured), nothing else does.
    pub applied: Option<bool>,
}

/// What an answer says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Says {
    /// Yes.
    Ok,
    /// Nothing: the answer never arrives.
    Lost,
    /// No; `None` is a failure without an error object.
    Failed(Option<Arc<ErrorFacts>>),
}

impl Says {
    /// No, with this error object.
    pub fn failed(error: ErrorFacts) -> Says {
        Says::Failed(Some(Arc::new(error)))
    }
}

impl From<&Reply> for Says {
    fn from(reply: &Reply) -> Says {
        match reply {
            Reply::Ok => Says::Ok,
            Reply::Failed(error) => Says::Failed(error.clone()),
        }
    }
}

impl Script {
    /// The answer written for a request, given how many of its kind came before.
    pub(super) fn answer(&self, asked: Asked, earlier: usize) -> Option<&ScriptedAnswer> {
        match asked {
            Asked::Attempt(attempt) => self.attempts.get(attempt.index()),
            Asked::Refresh(_) => self.refresh.get(earlier),
            Asked::Reversal => self.reversal.get(earlier),
        }
    }
}
