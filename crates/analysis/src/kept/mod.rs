//! Kept calls: recorded calls with the verdict that they should have, each with the trace slice that replays it.

mod ending;
mod file;
mod model;
mod slice;
#[cfg(test)]
mod tests;

pub use ending::{ClassifiedFailure, Ending, failure_at, verdict_now};
pub use file::{SCHEMA, parse};
pub use model::{CameFrom, JudgedKept, Kept, KeptFile, KeptPlaces};
pub use slice::{MOST_SHARING, NotCut, OtherCalls, Slice};
