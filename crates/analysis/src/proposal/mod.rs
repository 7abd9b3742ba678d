//! Proposals: playbook changes that wait for review. Drafts, applies, tries and accepts them.

mod accept;
mod adr;
mod apply;
mod diff;
mod draft;
mod edit;
mod evidence;
mod fixtures;
mod gates;
mod lints;
mod model;
mod parse;
mod report;
mod request;
mod schema;
mod trial;

pub use accept::{ChangedSince, NotAccepted, accepted_goldens, changed_since, goldens_elsewhere, record};
pub use adr::{PARTS, PLACEHOLDER, incomplete, numbered};
pub use apply::{Applied, apply, is_order_alone};
pub use diff::{CallSummary, FixtureDiff, before_and_after};
pub use draft::{Draft, ProposedRule, VerdictChange, flow, proposal_text};
pub use evidence::{DraftEvidence, EvidenceSource, NoCluster};
pub use fixtures::{DraftFixture, RecordedCalls, Title, TrialPlans, changed_look_alikes, fixtures};
pub use gates::{GateKind, ProposalGate, touched, verdicts};
pub use model::{Expected, FieldChange, Operation, OperationKind, Proposal, RulePosition, Snippet, Spanned};
pub use parse::{REBASE, parse, rebased, with_base};
pub use report::{FactLine, ProposalReport};
pub use request::{DraftRequest, NoDraft, Note, WhySynthetic, draft, id_of, place_rule, verdict_is_there};
pub use schema::SCHEMA;
pub use trial::{ProposalContext, TrialInput};
