//! The history of accepted changes: one record a change, read strictly, and whether the records explain the lock.

mod name;
mod past;
mod read;
mod reasons;
mod record;
#[cfg(test)]
mod tests;
mod verify;

pub use name::{next_number, number_of, slug};
pub use past::{Entry, History, Standing};
pub use read::{Places, RowPlaces, SCHEMA, parse};
pub use reasons::{reason_for, reasons, rewritten, unkept};
pub use record::{Kind, Record, Taken};
pub use verify::{Objection, verify};
