//! The simulated upstream: it answers what it is asked and books what it did. It does not know the plan.

mod answer;
mod keys;
mod ledger;
mod requests;
mod tape;

pub use answer::{Answer, Script, ScriptedAnswer, UpstreamReply};
pub use keys::KeyDialect;
pub use ledger::{Ledger, NetEffects};
pub use requests::{AnswerSource, Request, Upstream};
pub use tape::{MissingAnswerPolicy, Tape};
