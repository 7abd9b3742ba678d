//! What calls show of what was done upstream, and what follows from it.

mod told;

pub(crate) use told::{Against, is_told, of_events as told_by_events};
pub use told::{FailedEnd, told};
