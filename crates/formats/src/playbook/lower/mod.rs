//! Lowers a playbook from its syntax to the model, with every check that needs a place.

mod breakers;
mod compensation;
mod context;
mod graph;
mod header;
mod names;
mod playbook;
mod retry_budgets;
mod rule;
mod sharing;
mod steps;
mod tell;
mod tools;
mod verdict;
mod waiting;

pub use playbook::{changes, of_tree, parse};
pub(super) use tools::tools;
pub(crate) use tools::{refuse_repeatable, same_if};
