//! The history of accepted changes: one record for each change, read strictly, and whether the records explain the lock.

mod chain;
mod read;
mod reasons;
mod record;
#[cfg(test)]
mod tests;
mod verify;

pub use chain::{History, HistoryEntry, RowState};
pub use read::{RecordPlaces, RowPlaces, SCHEMA, parse};
pub use reasons::{reason_for, reasons, rewritten, unkept};
pub use record::{AcceptedProposal, Record, RecordKind, next_number, number_of, slug};
pub use verify::{Violation, verify};
