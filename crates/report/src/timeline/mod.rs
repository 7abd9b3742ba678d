//! A call's attempts in virtual time, and the words for what was decided.

mod ledger;
mod lines;
#[cfg(test)]
mod tests;

pub use ledger::with_ledger;
pub use lines::{
    LineKind, TimelineLine, actions, became, cause, circuit, failure, millis, of_recording, of_run, outcome, refused,
    stopped, suppressed, suspected, turned_away, unfinished, withheld,
};
