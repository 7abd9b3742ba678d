//! `playproof propose`: drafts, checks and lists changes of a playbook.

mod args;
mod check;
pub mod context;
mod evidence;
pub mod find;
mod keep;
mod list;
mod new;
mod playbooks;
mod rebase;
mod run;
pub mod stored;

pub use args::Args;
pub use run::run;
