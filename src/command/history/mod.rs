//! `playproof history`: what was accepted and why, and whether that explains the rows as they are.

mod run;
mod verify;

pub use run::{Args, run};
