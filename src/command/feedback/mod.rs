//! `playproof feedback`: keeps calls that a playbook handled wrong, until a playbook handles them as expected.

mod add;
mod change;
mod list;
mod run;
mod show;

pub use run::{Args, run};
