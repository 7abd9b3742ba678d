//! What was accepted and why: a page, Markdown and JSON; and what a verification objects to.

mod json;
mod page;
#[cfg(test)]
mod tests;

pub use json::{json, objections_json};
pub use page::page;
