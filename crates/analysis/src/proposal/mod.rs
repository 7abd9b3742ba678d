//! A change of a playbook that waits for review: what it does to the text, to the fixtures, and what speaks against it.

mod adr;
mod apply;
mod diff;
mod draft;
mod edit;
mod gates;
mod judged;
mod lints;
mod model;
mod parse;
mod schema;
#[cfg(test)]
mod tests;

pub use adr::{incomplete, numbered};
pub use apply::{Applied, apply, is_order_alone};
pub use diff::{CallFacts, FixtureDiff, before_and_after};
pub use draft::{Draft, DraftRule, Evidence, VerdictChange, adr_text, compensation, flow, proposal_text};
pub use gates::{Gate, GateKind, Tried, given, judge, touched};
pub use judged::{FactLine, Judged};
pub use model::{Expected, Named, Operation, Part, Place, Proposal, Snippet, What};
pub use parse::{REBASE, parse, rebased, with_base};
pub use schema::SCHEMA;
