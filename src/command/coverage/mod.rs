//! `playproof coverage`: what fixtures exercise of a playbook, and which changes of it they notice.

mod args;
mod mutate;
mod run;

pub use args::Args;
pub use run::run;
