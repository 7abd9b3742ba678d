//! The one loop: upstream, classifier, dispatcher and event queue, on virtual time.

mod expectation;
mod findings;
mod plan;
mod record;
mod scenario;
#[cfg(test)]
mod scripted;
mod simulator;
#[cfg(test)]
mod tests;

pub use expectation::{Contradiction, contradictions};
pub use plan::{Plan, Reserved};
pub use record::{OffTape, Record, Tally};
pub use scenario::{Scenario, ScenarioCall};
pub use simulator::Simulator;
