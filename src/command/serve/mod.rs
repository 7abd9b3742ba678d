//! `playproof serve`: its arguments, its journal's file, and what it does.

mod journal_file;
mod run;

pub use run::{Args, approved_only, refuse_study, run};
