//! Failures that a playbook has no use for, by the form of their message, and the rule that would catch each form.
//! Looks at recordings through one playbook; renders nothing and changes no playbook.

mod alike;
mod collect;
mod draw;
mod merge;
mod result;
mod rule;
mod shape;
#[cfg(test)]
mod tests;

pub use collect::{Miner, Part};
pub use result::{Cluster, Example, LookAlike, Mined};
pub use rule::{Drawn, Undrawn};
