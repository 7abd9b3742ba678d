//! Feedback: calls that a playbook handled wrong, each with a note and the trace slice that replays it.

mod edit;
mod ending;
mod file;
mod model;
mod slice;
#[cfg(test)]
mod tests;

pub use ending::{ClassifiedFailure, Ending, failure_at, verdict_now};
pub use file::{SCHEMA, parse};
pub use model::{
    CameFrom, EditRefused, Feedback, FeedbackPlaces, FeedbackState, JudgedFeedback, Kept, OpenFeedback, waiting,
};
pub use slice::{MOST_SHARING, NotCut, OtherCalls, Slice};
