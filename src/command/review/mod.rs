//! `playproof review`: what a check found, one by one, at a terminal.

mod desk;
mod run;
mod session;

pub use run::{Args, run};
