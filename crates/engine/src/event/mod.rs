//! The results of a simulation: decision events, outcomes, ledger entries, findings. The only interface between the
//! engine and reporters; plain values without logic of either side.

#[macro_use]
mod table;
mod events;
mod fields;
mod finding;
mod ledger;
mod outcome;
mod outcome_fields;
mod reason;
mod request;
mod steps_end;
mod transaction;
mod transcript;
mod words;

#[doc(hidden)]
pub use serde; // for the macro `words`

pub use events::{CircuitChange, CompensationWord, Decision, DecisionEvent, EventKind, GuardKind};
pub use fields::{Class, Draw, FieldKey, FieldType, FieldValue, InGoldens, NameId, TokensLeft};
pub use finding::{Finding, FindingBy, FindingId, FindingKind, FindingSeverity, IntentDoubt};
pub use ledger::{Intent, IntentBalance, KeyDialect, KeyHistory, LedgerEntry, LedgerKind};
pub use outcome::{
    Boundary, EffectClaim, FailureClass, NoRetry, Outcome, OutcomeKind, OutcomeWord, Told, Transience, ValidNext,
};
pub use reason::{
    AdmissionRefusal, DeprecationReason, ErrorFacts, Header, Headers, KindFrom, OpenReason, ReversalRefusal,
    ServerSays, StatusFrom, StopReason, SuppressionReason, WishFaults,
};
pub use request::{Provenance, RequestKind, Status};
pub use steps_end::StepsEnd;
pub use transaction::{Act, Became};
pub use transcript::{ActionNames, Death, PlaybookNames, Transcript, unnamed};
