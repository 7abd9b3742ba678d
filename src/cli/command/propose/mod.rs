//! `playproof propose`: a change of a playbook from its first draft to its place among the accepted ones.

mod accept;
mod args;
mod check;
mod desk;
mod list;
mod new;
mod recorded;
mod reject;
mod run;
mod stored;

pub use args::Args;
pub use run::run;
