//! One call explained in sentences.

mod advice;
mod course;
mod narrative;
mod others;
mod page;
mod resend;
mod steps;
mod words;

pub use course::{CallsBeside, EqualCall, WorstFinding, what_went_wrong};
pub use page::page;
