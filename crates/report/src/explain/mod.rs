//! One call explained in sentences.

mod advice;
mod narrative;
mod page;

pub use page::page;
