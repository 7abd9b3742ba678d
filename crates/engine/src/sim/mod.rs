//! The one loop: upstream, classifier, dispatcher and event queue, on virtual time.

mod expectation;
mod findings;
mod plan;
mod record;
mod scenario;
mod session;
mod simulator;
mod steps;
#[cfg(test)]
mod together;

pub use expectation::{Contradiction, contradictions};
pub use plan::{Plan, Reserved};
pub use record::{OffTape, Record, Tally};
pub use scenario::{Scenario, ScenarioCall};
pub use session::{Ended, Session};
pub use simulator::Simulator;
