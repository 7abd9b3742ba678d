//! What a caller gives and gets: one request of a call, what failed of it, and how the call ended.

use std::sync::Arc;

use playproof_engine::call::Reply;
use playproof_engine::event::{ErrorFacts, Outcome, RequestKind, Told};

/// One request of a call.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// The name of the call; of a step, `CALL/STEP`.
    pub name: String,
    /// The tool; of an action with steps, that of the step.
    pub tool: String,
    /// The arguments as canonical JSON.
    pub args: String,
    /// The idempotency key to send.
    pub key: Option<String>,
    /// The reversal token to redeem.
    pub token: Option<String>,
    /// What is asked: an attempt with its number, new evidence, or a reversal.
    pub asked: RequestKind,
    /// The snapshot of the evidence that an attempt carries: 0 before the first refresh.
    pub evidence: u32,
    /// How long it is waited for.
    pub within: std::time::Duration,
    /// When nobody waits any more.
    pub deadline: tokio::time::Instant,
}

impl Attempt {
    /// What a caller without handlers for refreshes and reversals answers them with: refused. The playbook's next row applies.
    pub fn refused() -> Failure {
        let message = Some("no handler".into());
        Failure::from(ErrorFacts { status: Some(400), message, ..ErrorFacts::default() })
    }
}

/// What came of a request that did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It failed; without facts if there are none, which is not the same as an error without any.
    Failed(Option<ErrorFacts>),
    /// The text suggests a failure and does not prove one.
    Suspected(Option<ErrorFacts>),
    /// The upstream took the work and has not done it.
    Unfinished(Option<ErrorFacts>),
    /// Nothing will ever answer.
    Lost,
}

impl Failure {
    /// The answer that it is; none: there is none.
    pub(crate) fn reply(self) -> Option<Reply> {
        let shared = |facts: Option<ErrorFacts>| facts.map(Arc::new);
        Some(match self {
            Failure::Failed(facts) => Reply::Failed(shared(facts)),
            Failure::Suspected(facts) => Reply::Suspected(shared(facts)),
            Failure::Unfinished(facts) => Reply::Unfinished(shared(facts)),
            Failure::Lost => return None,
        })
    }
}

impl From<ErrorFacts> for Failure {
    fn from(facts: ErrorFacts) -> Failure {
        Failure::Failed(Some(facts))
    }
}

/// How a call ended.
#[derive(Clone, Debug)]
pub struct Ended<T> {
    /// The name of the call.
    pub name: String,
    /// The result, if there is one: of a success, of the call that it joined, or that was kept for its key.
    pub value: Option<T>,
    /// How, with the claimed effect and the number of attempts.
    pub outcome: Outcome,
    /// What the agent is told of a failure.
    pub told: Option<Told>,
    /// The error that is told; else the last one.
    pub error: Option<ErrorFacts>,
    /// Of an escalated call: where people find it.
    pub queue: Option<String>,
    /// Which actions its run may make now, if the playbook has a graph.
    pub valid_next: Option<Valid>,
}

/// The actions of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Valid {
    /// Those that are valid.
    pub next: Vec<String>,
    /// Those that are not offered, because an attempt of them may still be at work.
    pub withheld: Vec<String>,
}

/// State that was not committed when the program ended that had it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostState {
    /// The run.
    pub run: String,
    /// The label of the transaction.
    pub transaction: String,
    /// The name of the state.
    pub name: String,
}
