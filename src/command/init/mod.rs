//! `playproof init [DIR] [--from TRACE]...`: a working project in a folder, drawn from the user's own recordings.

mod accepted;
mod page;
mod recorded;
mod run;
mod set;
mod starter;
mod traces;

pub use run::{Args, run};
