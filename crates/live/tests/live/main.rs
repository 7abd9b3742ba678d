//! The dispatcher on tokio as its callers have it: what they do to it, what it writes, crowds, and what its package needs.
#![expect(
    clippy::disallowed_methods,
    clippy::unreachable,
    clippy::unwrap_used,
    reason = "a panic fails the test; tests read the files of the project, block threads and start Cargo"
)]

mod callers;
mod crowd;
mod journal;
mod packages;
mod place;
mod transactions;
