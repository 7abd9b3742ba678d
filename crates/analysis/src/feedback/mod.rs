//! Feedback: failures that a playbook handled wrong, kept with what people say of them and the slice of the trace that
//! replays them.

mod edit;
mod ending;
mod file;
mod model;
mod slice;
#[cfg(test)]
mod tests;

pub use ending::{Ending, Failed, failure_at, verdict_now};
pub use file::{SCHEMA, parse};
pub use model::{CameFrom, Feedback, Judged, Kept, Places, Refused, State, Waiting, waiting};
pub use slice::{NotCut, Slice, earlier};
