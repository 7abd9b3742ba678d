//! A change of a playbook that waits for review: what it does to the text, to the fixtures, and what speaks against it.

mod accept;
mod adr;
mod apply;
mod diff;
mod draft;
mod edit;
mod evidence;
mod fixtures;
mod gates;
mod judged;
mod lints;
mod model;
mod parse;
mod request;
mod schema;
#[cfg(test)]
mod tests;
mod trial;

pub use accept::{NotAccepted, Since, accepted_goldens, changed_since, goldens_elsewhere, record};
pub use adr::{PARTS, PLACEHOLDER, incomplete, numbered};
pub use apply::{Applied, apply, is_order_alone};
pub use diff::{CallFacts, FixtureDiff, before_and_after};
pub use draft::{Draft, DraftRule, VerdictChange, flow, proposal_text};
pub use evidence::{Evidence, NoCluster, Origin};
pub use fixtures::{Calls, DraftFixture, Title, TrialPlans, changed_look_alikes, fixtures};
pub use gates::{Gate, GateKind, touched, verdicts};
pub use judged::{FactLine, Judged};
pub use model::{Expected, Named, Operation, Part, Place, Proposal, Snippet, What};
pub use parse::{REBASE, parse, rebased, with_base};
pub use request::{MadeUp, NoDraft, Note, Request, draft, id_of, place_rule, verdict_is_there};
pub use schema::SCHEMA;
pub use trial::{Candidate, ProposalContext};
