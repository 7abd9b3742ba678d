//! `playproof history`: shows the accepted changes with their reasons, and verifies that they explain the current
//! rows.

mod run;
mod verify;

pub use run::{Args, run};
