//! What is asked of an upstream, how that ended, and how it is known.

use std::fmt;

use crate::ids::{AttemptNo, ErrorId, EvidenceId};
use crate::words;

words! {
    /// Where an answer came from.
    pub enum Provenance {
        /// The trace holds it.
        Recorded = "recorded",
        /// An identical later call of the trace, read as this call's next attempt.
        Inferred = "inferred",
        /// A fixture's script says it.
        Scripted = "scripted",
        /// The key dialect or `--beyond-tape` made it.
        Modelled = "modelled",
        /// There is none.
        Unanswered = "unanswered",
    }
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Status {
    /// The upstream answered with success.
    Ok,
    /// It failed; the error, if there is one, is in the record's table.
    Failed(Option<ErrorId>),
    /// Its text suggests a failure and does not prove one.
    Suspected(Option<ErrorId>),
    /// The work that was asked for is not done yet.
    Unfinished(Option<ErrorId>),
    /// No answer came, and no later answer is known.
    Unanswered,
}

impl Status {
    /// Its words in JSON; goldens say the kind of the error instead of `error`.
    pub const WORDS: [&str; 5] = ["ok", "error", "suspected", "unfinished", "unanswered"];

    /// Its word of these.
    #[inline]
    pub const fn as_str(self) -> &'static str {
        let [ok, error, suspected, unfinished, unanswered] = Status::WORDS;
        match self {
            Status::Ok => ok,
            Status::Failed(_) => error,
            Status::Suspected(_) => suspected,
            Status::Unfinished(_) => unfinished,
            Status::Unanswered => unanswered,
        }
    }
}

/// A request of the dispatcher to the upstream for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub enum RequestKind {
    /// The call itself, as attempt number N.
    Attempt(AttemptNo),
    /// A new snapshot of the call's evidence.
    Refresh(EvidenceId),
    /// The redemption of the call's reversal token.
    Reversal,
}

impl RequestKind {
    /// Parses the displayed form.
    pub fn parse(text: &str) -> Option<RequestKind> {
        match text.split_once(' ')? {
            ("attempt", number) => Some(RequestKind::Attempt(AttemptNo::new(number.parse().ok()?))),
            ("refresh", number) => Some(RequestKind::Refresh(EvidenceId(number.parse().ok()?))),
            ("the", "reversal") => Some(RequestKind::Reversal),
            _ => None,
        }
    }
}

impl fmt::Display for RequestKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestKind::Attempt(attempt) => write!(f, "attempt {attempt}"),
            RequestKind::Refresh(evidence) => write!(f, "refresh {}", evidence.0),
            RequestKind::Reversal => f.write_str("the reversal"),
        }
    }
}
