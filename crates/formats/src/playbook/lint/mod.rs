//! Lints: parts of a playbook that are valid, but probably not what was meant.

mod backoff;
mod checks;
mod globs;
mod graph;
mod reach;
mod refusals;
mod requests;
mod shadow;
mod shared;
mod steps;
mod tells;
#[cfg(test)]
mod tests;

pub use checks::{likely_kind, lint};
pub use globs::{stopped_globs, stopped_globs_of_rows};
pub use graph::reachable_actions;
pub use reach::why_never_unsafe;
pub(crate) use requests::unseen_arguments_of_rows;
pub use requests::{SeenArguments, unseen_arguments};
pub use shadow::silent_rules;
