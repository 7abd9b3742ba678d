//! Runs of the engine as its users see them: of scripts, of recordings, and what the agent is told.

#![expect(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a panic fails the test")]

mod recorded;
mod scripted;
mod told;
mod usual_calls;
