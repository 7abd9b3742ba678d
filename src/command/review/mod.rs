//! `playproof review`: asks at a terminal about each golden, edited playbook and proposal that waits.

mod run;
mod session;
mod terminal;

pub use run::{Args, run};
