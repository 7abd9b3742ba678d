//! `playproof propose`: a change of a playbook from its first draft to its place among the accepted ones.

mod args;
mod check;
pub mod context;
mod evidence;
mod list;
mod new;
mod playbooks;
mod rebase;
mod run;
pub mod stored;

pub use args::Args;
pub use playbooks::{Stand, stand};
pub use run::run;
