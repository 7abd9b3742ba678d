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

pub use advice::{Actor, Advice, After, Check, Resend};
pub use counterfactual::{Change, Counterfactual, Difference};
pub use evidence::{Evidence, OtherCall, OtherName, Recorded};
pub use find::{Candidate, Finder, NotFound, Wanted};
pub use names::{LISTED, Names};
pub use narrative::{Detail, LetPass, Step};
pub use subject::{Explanation, Simulation, Subject};
pub use upstream_state::{Basis, Known, OnceMore, Own, Surplus, UpstreamState};
