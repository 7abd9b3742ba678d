//! Compares two playbooks on recorded calls, in one pass over the traces. Renders nothing; the totals of each playbook
//! are replay's.

mod blame;
mod call_run;
mod cause;
mod cause_group;
mod compare;
mod dispatchers;
mod gate;
mod pairing;
mod result;
mod rows;
mod tally;
#[cfg(test)]
mod tests;
mod watch;

pub use cause::{ChangeKind, Changes, Direction};
pub use cause_group::Load;
pub use gate::{GateFailure, ImpactGate};
pub use result::{CauseName, CauseRow, ExampleCall, FindingChange, Impact, QueueLoad, Side, SimulatedEnd};
pub use rows::parts;
pub use tally::{CallCounts, Undetermined};
pub use watch::{Comparer, ImpactPart};
