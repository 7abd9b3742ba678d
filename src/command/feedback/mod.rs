//! `playproof feedback`: failures that a playbook handled wrong, kept so that they can be replayed and answered.

mod add;
mod change;
mod list;
mod run;
mod show;

pub use run::{Args, run};
