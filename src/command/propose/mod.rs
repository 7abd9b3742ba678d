//! `playproof propose`: a change of a playbook from its first draft to its place among the accepted ones.

mod accept;
mod args;
mod check;
mod context;
mod evidence;
mod list;
mod new;
mod playbooks;
mod rebase;
mod reject;
mod run;
mod stored;

pub use args::Args;
pub use playbooks::{Stand, stand};
pub use run::run;
