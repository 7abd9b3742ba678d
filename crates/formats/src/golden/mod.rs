//! Goldens: the accepted text of what a fixture shows under a playbook, and what a run changes in it.

mod body;
mod compare;
mod file;
mod lock;
mod parse;
mod render;
mod said;
#[cfg(test)]
mod tests;

pub use body::{CallEnd, EventLine, Field, FindingLine, GoldenBody, LedgerLine};
pub use compare::{Because, Comparison, Divergence, FirstChange, Pair, Place, compare};
pub use file::{GoldenFile, Reason};
pub use lock::{Lock, LockedRow, MERGE_CONFLICT, PartChange, RowChange, Section, changes, merge_conflict, row_changes};
pub use parse::parse_body;
pub use playproof_engine::event::Class;
pub use said::Said;
