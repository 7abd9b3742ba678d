//! Clusters failures that no rule of a playbook handles by message template, and drafts a rule for each cluster.
//! Renders nothing and changes no playbook.

mod collect;
mod draft;
mod group;
mod members;
mod result;
mod rule;
mod successes;

pub use collect::{MinedPart, Miner};
pub use result::{Cluster, FailureExample, LookAlike, Mined};
pub use rule::{NoRule, RuleDraft};
