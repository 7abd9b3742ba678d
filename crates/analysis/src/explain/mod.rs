//! Explains one call under a playbook: finds it, lists each step, tells the upstream's state, and simulates it again
//! without each rule and guard involved.

mod action_steps;
mod advice;
mod counterfactual;
mod distrust;
mod effect_state;
mod evidence;
mod explanation;
mod find;
mod names;
mod narrative;
mod other_call;
mod others;
mod subject;
mod upstream_state;

pub use action_steps::StepsShown;
pub use advice::{Actor, Advice, ManualCheck, PlannerStart, ResendAdvice, ResendReason};
pub use counterfactual::{Counterfactual, OutcomeDifference, PlaybookChange};
pub use distrust::{Distrust, InputGaps};
pub use effect_state::EffectState;
pub use evidence::{AnswerEvidence, InRun, ProvedEffects, RecordingEvidence};
pub use explanation::Explanation;
pub use find::{CallFinder, CandidateCall, NotFound, Wanted};
pub use names::{CallNames, LISTED};
pub use narrative::{Detail, LetPass, NarrativeStep};
pub use other_call::{OtherCall, OtherName, Relation, UpstreamSaid};
pub use subject::{Simulation, Subject};
pub use upstream_state::{Basis, OnceMore, OwnEffect, Surplus, SurplusDoubt, UpstreamState};
