//! What each part of the package does by its public interface: one file a part. Tests of a part's inside stand beside it.

#![expect(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a panic fails the test")]

mod check;
mod envelope;
mod explain;
mod explain_properties;
mod mining;
mod mutation;
mod proposal;
mod replay;
mod replay_properties;
mod second_model;
mod setup;
