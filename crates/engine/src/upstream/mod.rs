//! The simulated upstream: it answers what it is asked and books what it did. It does not know the plan.

mod keys;
mod ledger;
mod script;
mod tape;
mod world;

pub use keys::KeyDialect;
pub use ledger::{Ledger, NetEffects};
pub use script::{Says, Script, ScriptedAnswer};
pub use tape::{BeyondTape, Tape};
pub use world::{Answer, Request, Source, World};
