//! `playproof review`: what a check found, one by one, at a terminal.

mod run;
mod session;
mod terminal;

pub use run::{Args, run};
