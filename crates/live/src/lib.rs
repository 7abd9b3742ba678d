//! The dispatcher that was rehearsed, on tokio. The future of a call drives it: no task is spawned. One lock is held while the
//! machine decides, and never while anything is awaited.
//!
//! ```no_run
//! use playproof_live::{Attempt, Dispatcher, Failure, NewCall, plan_of};
//!
//! # async fn send(_: Attempt) -> Result<String, Failure> { Ok(String::new()) }
//! # async fn refund(text: &str) -> Result<(), Box<dyn std::error::Error>> {
//! let plan = plan_of("ours", text, None)?;
//! let dispatcher = Dispatcher::new(plan, None);
//! let new = NewCall { tool: "payments.issue_refund".into(), args: r#"{"order":"o_91"}"#.into(), ..NewCall::default() };
//! let ended = dispatcher.call(new, |attempt| async move { send(attempt).await }).await;
//! match ended.value {
//!     Some(receipt) => println!("refunded: {receipt}"),
//!     None => println!("{}, effect {}", ended.outcome.kind.as_str(), ended.outcome.claim.as_str()),
//! }
//! # Ok(())
//! # }
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
