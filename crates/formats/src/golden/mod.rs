//! Goldens: the accepted result of a fixture under a playbook, and the comparison of a run with it.

mod body;
mod compare;
mod file;
mod lock;
mod parse;
mod render;
#[cfg(test)]
mod tests;
mod value;

pub use body::{CallEnd, EventLine, FindingLine, GoldenBody, GoldenField, LedgerLine};
pub use compare::{Comparison, Divergence, DivergencePlace, EventPair, FirstChange, PrecedingVerdict, compare};
pub use file::{GoldenFile, Reason};
pub use lock::{
    Lock, LockedPlaybook, LockedRow, MERGE_CONFLICT, PartChange, RowChange, changes, merge_conflict, row_changes,
};
pub use parse::parse_body;
pub use playproof_engine::event::Class;
pub use value::GoldenValue;
