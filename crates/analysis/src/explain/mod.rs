//! One call and what a playbook makes of it: found in its input, told step by step, held against the upstream's state,
//! and run again without each rule and guard that had a say.

mod advice;
mod counterfactual;
mod evidence;
mod find;
mod names;
mod narrative;
mod subject;
#[cfg(test)]
mod tests;
mod upstream_state;

pub use advice::{Actor, Advice, ManualCheck, PlannerStart, ResendAdvice};
pub use counterfactual::{Counterfactual, OutcomeDifference, PlaybookChange};
pub use evidence::{AnswerEvidence, OtherCall, OtherName, RecordingEvidence};
pub use find::{CallFinder, CandidateCall, NotFound, Wanted};
pub use names::{CallNames, LISTED};
pub use narrative::{Detail, LetPass, NarrativeStep};
pub use subject::{Explanation, Simulation, Subject};
pub use upstream_state::{Basis, EffectState, OnceMore, OwnEffect, Surplus, UpstreamState};
