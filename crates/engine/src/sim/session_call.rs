//! A closed call as it is fed to a session: its recording, and what it may share with other calls.

use std::sync::Arc;

use crate::call::RecordedCall;
use crate::playbook::ToolFacts;

/// A closed call for a session.
#[derive(Debug)]
pub struct SessionCall {
    /// Its number, which comes back with its record.
    pub number: u64,
    /// Its recording.
    pub call: Arc<RecordedCall>,
    /// The facts of its tool.
    pub facts: ToolFacts,
    /// Its token was sent before this session.
    pub token_spent: bool,
    /// What it may share with other calls; none: only its token.
    pub shared: Option<SharedHashes>,
    /// What it has to do with an action of several steps.
    pub tie: StepTie,
}

/// What a call has to do with an action of several steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepTie {
    /// Nothing.
    #[default]
    None,
    /// It is one.
    Action {
        /// A hash of its id.
        id: u128,
        /// A hash of what identical calls of the action share.
        same: u128,
        /// A hash of its key.
        key: Option<u128>,
    },
    /// It is a step of the call whose id has this hash.
    Step(u128),
    /// It says that it is one, and no action has this step with its tool.
    NoStep(u128),
}

/// Hashes of what a call may share with others, and its name for them.
#[derive(Debug)]
pub struct SharedHashes {
    /// Its run.
    pub run: u128,
    /// Its tool.
    pub tool: u128,
    /// What its breaker and its retry budgets are kept for.
    pub server: String,
    /// Its idempotency key.
    pub key: Option<u128>,
    /// Its transaction, if that matters, and whether its request is done once in it.
    pub transaction: Option<(u128, bool)>,
    /// Its arguments by meaning.
    pub args: u128,
    /// Whether the arguments of calls without a key are compared too.
    pub compares_args: bool,
    /// Its name for people.
    pub name: String,
}

impl SessionCall {
    /// A call that shares at most its token.
    pub fn alone(number: u64, call: Arc<RecordedCall>, facts: ToolFacts) -> SessionCall {
        SessionCall { number, call, facts, token_spent: false, shared: None, tie: StepTie::None }
    }
}
