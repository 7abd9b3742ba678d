//! The simulated upstream: it answers what it is asked and books what it did. It does not know the plan.

mod keys;
mod ledger;
mod requests;
mod script;
mod tape;

pub use keys::KeyDialect;
pub use ledger::{Ledger, NetEffects};
pub use requests::{Answer, AnswerSource, Request, Upstream};
pub use script::{Script, ScriptedAnswer, UpstreamReply};
pub use tape::{MissingAnswerPolicy, Tape};
