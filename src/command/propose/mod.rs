//! `playproof propose`: a change of a playbook from its first draft to its place among the accepted ones.

mod accept;
mod args;
mod changed;
mod check;
mod desk;
mod drafting;
mod list;
mod new;
mod rebase;
mod recorded;
mod reject;
mod run;
mod samples;
mod seen;
mod stored;

pub use args::Args;
pub use desk::{Stand, stand};
pub use run::run;
