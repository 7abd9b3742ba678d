//! Proposals: playbook changes that wait for review. Drafts, applies, tries and accepts them.

mod accept;
mod adr;
mod copy;
mod diff;
mod draft;
mod edit;
mod evidence;
mod fixtures;
mod gates;
mod lints;
mod report;
mod request;
mod trial;

pub use accept::{NotAccepted, accepted_goldens, goldens_elsewhere, record};
pub use adr::{GOLDENS, GUARDS, PARTS, PLACEHOLDER, golden_line, incomplete, numbered};
pub use copy::{Applied, Proposal, Rebased, apply, copy_of, has_base, is_order_alone, parse, rebased};
pub use diff::{CallSummary, FixtureDiff, before_and_after};
pub use draft::{Draft, ProposedRule, VerdictChange, flow};
pub use edit::with_draft;
pub use evidence::{DraftEvidence, EvidenceSource, NoCluster};
pub use fixtures::{DraftFixture, RecordedCalls, Title, TrialPlans, changed_look_alikes, fixtures};
pub use gates::{GateKind, ProposalGate, touched, verdicts};
pub use report::{FactLine, ProposalReport};
pub use request::{DraftRequest, NoDraft, Note, WhySynthetic, draft, id_of, place_rule, verdict_is_there};
pub use trial::{ProposalContext, TrialInput};
