//! One call explained in sentences.

mod advice;
mod narrative;
mod others;
mod page;
mod resend;
mod steps;

pub use page::page;
