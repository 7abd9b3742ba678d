//! The dispatcher that was rehearsed, on tokio. The future of a call drives it: no task is spawned. One lock is held while the
//! machine decides, and never while anything is awaited.
//!
//! ```no_run
//! use playproof_live::{Attempt, Dispatcher, ErrorFacts, Failure, NewCall, plan_of};
//!
//! async fn pay(attempt: Attempt) -> Result<String, Failure> {
//!     match attempt.key {
//!         Some(key) => Ok(format!("receipt of {key}")), // your request, with this key
//!         None => Err(ErrorFacts { status: Some(400), ..ErrorFacts::default() }.into()),
//!     }
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let plan = plan_of("ours", &std::fs::read_to_string("playbooks/ours.yaml")?, None)?;
//!     let dispatcher = Dispatcher::new(plan, None);
//!     let (tool, args) = ("payments.issue_refund".to_owned(), r#"{"order":"o_91"}"#.to_owned());
//!     let refund = NewCall { tool, args, key: Some("ik_91".to_owned()), ..NewCall::default() };
//!     let ended = dispatcher.call(refund, |attempt| pay(attempt)).await;
//!     println!("{}, effect {}: {:?}", ended.outcome.kind.as_str(), ended.outcome.claim.as_str(), ended.value);
//!     Ok(())
//! }
//! ```

mod args;
mod clock;
mod core;
mod dispatcher;
mod journal;
mod plan;
mod recorder;
mod request;
mod timers;
mod transaction;

pub use dispatcher::{Dispatcher, NoJournal, OpenCalls};
pub use plan::{NoPlan, plan_of};
pub use recorder::Recorder;
pub use request::{Attempt, Ended, Failure, LostState, Valid};
pub use transaction::{RolledBack, Transaction};

pub use playproof_engine::drive::NewCall;
pub use playproof_engine::event::{
    AdmissionRefusal, Boundary, EffectClaim, ErrorFacts, FailureClass, Headers, Outcome, OutcomeKind, RequestKind,
    StopReason, Told,
};
pub use playproof_engine::ids::AttemptNo;
pub use playproof_engine::plan::Plan;
pub use playproof_engine::time::Duration as Span;
