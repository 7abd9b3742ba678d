//! `playproof impact --candidate B TRACE...`: what a change of playbook changes on recorded calls.

mod args;
mod run;

pub use args::Args;
pub use run::run;
