//! What an agent gets of a call: the told failure in the forms that agents and their harnesses read. Values for a writer;
//! sends nothing.

mod audit_id;
mod call;
mod details;
mod dispatch;
mod failure;
mod graph_answer;
mod kind;
mod message;
mod refusal;

pub use audit_id::audit_id;
pub use call::{EnvelopeCall, NextActions, UnfitInput, WITHHELD};
pub use details::{Detail, Details};
pub use dispatch::{DispatchData, DispatchError};
pub use failure::{FailureBody, FailureEnvelope};
pub use graph_answer::GraphAnswer;
pub use kind::{Envelope, EnvelopeKind, envelope};
pub use message::{ToolMessage, ToolResult};
pub use refusal::{ActionSchemas, RefusalDetails, RefusalEnvelope};
