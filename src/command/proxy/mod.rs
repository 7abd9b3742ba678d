//! `playproof proxy`: its arguments, the file of its recording, and what it does.

mod recording_file;
mod run;

pub use run::{Args, run};
