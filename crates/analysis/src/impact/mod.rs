//! What a change of playbook changes on recorded calls: both playbooks in one pass over the traces, call by call.
//! Renders nothing; the numbers of each playbook by itself are replay's.

mod cause;
mod compare;
mod gate;
mod pairing;
mod result;
mod rows;
mod tally;
#[cfg(test)]
mod tests;
mod watch;

pub use cause::{Change, Changes, Direction};
pub use gate::{Gate, Refusal};
pub use result::{CauseName, CauseRow, End, Example, FindingChange, Impact, QueueLoad, Side};
pub use rows::parts;
pub use tally::{Load, Undetermined};
pub use watch::{Part, Watcher};
