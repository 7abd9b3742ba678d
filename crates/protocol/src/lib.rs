//! The lines of the dispatch protocol and of its journal, read and written; and decision events as JSON. Without clock and
//! I/O.

pub mod answered;
pub mod chain;
pub mod decider;
pub mod driver_lines;
pub mod entry;
pub mod error;
pub mod events;
pub mod fragment;
pub mod mentioned;
pub mod object;
pub mod protocol;
pub mod said;
mod wrong_type;
