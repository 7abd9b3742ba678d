//! The one loop: upstream, classifier, dispatcher and event queue, on virtual time.

mod active_call;
mod active_calls;
mod acts;
mod amplification;
mod crash;
mod event_loop;
mod expectation;
mod findings;
mod gate_account;
mod half_open;
mod pace;
mod record;
mod recorded_actions;
mod recording;
mod run_state;
mod scenario;
mod session;
mod session_call;
mod session_memory;
mod session_steps;
#[cfg(test)]
mod sharing_tests;
mod simulator;
mod step_acts;
#[cfg(test)]
mod tests;
mod told;
mod unheeded;
mod usual_calls;

pub use crate::plan::{DrivenCall, GateJudgement, Plan, Reserved};
pub use acts::{GateAct, GateStep, StepAct};
pub use amplification::{Outage, ServerCall, found as found_amplification};
pub use crash::{Crash, CrashAt};
pub use expectation::{Contradiction, contradictions};
pub use pace::Pace;
pub use record::{BudgetLeft, CallTally, OddStep, OffTape, SimulationRecord};
pub use recording::Recording;
pub use scenario::Scenario;
pub use session::{FinishedCall, Session};
pub use session_call::{SessionCall, SharedHashes, StepTie};
pub use session_memory::PATIENCE;
pub use simulator::Simulator;
pub use step_acts::unknown_steps;
pub use usual_calls::UsualCalls;
