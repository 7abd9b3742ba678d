//! The simulated upstream: it answers requests and records effects in its ledger. It does not know the playbook.

mod answer;
mod keys;
mod ledger;
mod requests;
mod tape;

pub use crate::event::KeyDialect;
pub use answer::{Answer, Outage, Outages, Script, ScriptedAnswer, UpstreamReply};
pub(crate) use ledger::NetList;
pub use ledger::{Ledger, NetEffects};
pub use requests::{AnswerSource, ExistingEffect, Request, Upstream};
pub use tape::{MissingAnswerPolicy, Tape};
