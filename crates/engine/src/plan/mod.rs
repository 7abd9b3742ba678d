//! A playbook prepared for driving, and a call as its driver knows it. Drives nothing.

mod call;
mod draws;
mod prepared;

pub use call::DrivenCall;
pub(crate) use call::steps_of;
pub use prepared::{GateJudgement, Plan, Reserved};
