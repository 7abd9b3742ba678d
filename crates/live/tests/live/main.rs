//! The dispatcher on tokio as its callers have it: what they do to it, what it writes, crowds, and what its package needs.
#![expect(clippy::disallowed_methods, reason = "tests read the project's files, block threads and start Cargo")]

mod callers;
mod crowd;
mod journal;
mod packages;
mod place;
