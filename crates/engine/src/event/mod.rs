//! The results of a simulation: decision events, outcomes, ledger entries, findings. The only interface between the
//! engine and reporters; plain values without logic of either side.

mod class;
mod decision;
mod describe;
mod draw;
mod failure;
mod field;
mod finding;
mod headers;
mod key_dialect;
mod key_history;
mod ledger;
mod reason;
mod steps;
mod tokens_left;
mod transcript;
mod valid_next;
mod words;

pub use class::Class;
pub use decision::{
    CircuitChange, Decision, DecisionEvent, EffectClaim, EventKind, Outcome, OutcomeKind, OutcomeWord, Provenance,
    RequestKind, Status,
};
pub use describe::{CompensationWord, Description, FieldValue, GuardKind};
pub use draw::Draw;
pub use failure::{Boundary, FailureClass, NoRetry, Told, Transience};
pub use field::FieldKey;
pub use finding::{Finding, FindingBy, FindingId, FindingKind, FindingSeverity, IntentDoubt};
pub use headers::{Header, Headers, ServerSays, WishFaults};
pub use key_dialect::KeyDialect;
pub use key_history::KeyHistory;
pub use ledger::{Intent, IntentBalance, LedgerEntry, LedgerKind};
pub use reason::{
    AdmissionRefusal, DeprecationReason, ErrorFacts, KindFrom, OpenReason, ReversalRefusal, StatusFrom, StopReason,
    SuppressionReason,
};
pub use steps::StepsEnd;
pub use tokens_left::TokensLeft;
pub use transcript::{ActionNames, PlaybookNames, Transcript, unnamed};
pub use valid_next::ValidNext;
