//! What a simulation says happened: decision events, outcomes, ledger entries, findings.
//! The only seam between the engine and every reporter; plain values, no logic of either side.

mod class;
mod decision;
mod describe;
mod error;
mod finding;
mod ledger;
mod outcome;
mod reason;
mod transcript;
mod words;

pub use class::Class;
pub use decision::{Decision, DecisionEvent, Provenance, RequestKind, Status};
pub use describe::{CompensationWord, Description, EventKind, FieldKey, FieldValue, GuardKind};
pub use error::ErrorFacts;
pub use finding::{Finding, FindingBy, FindingId, FindingSeverity};
pub use ledger::{Intent, IntentBalance, LedgerEntry, LedgerKind};
pub use outcome::{EffectClaim, Outcome, OutcomeKind, OutcomeWord};
pub use reason::{AdmissionRefusal, DeprecationReason, ReversalRefusal, StopReason, SuppressionReason};
pub use transcript::{PlaybookNames, Transcript, unnamed};
