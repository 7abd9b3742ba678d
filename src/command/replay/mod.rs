//! `playproof replay INPUT...`: runs recorded calls and fixtures under one or several playbooks.

mod alike;
mod args;
mod audit;
mod crashes;
mod equal;
mod page_call;
mod prepared;
mod recording;
mod rehearsal;
mod run;
mod seeds;
mod shown;
mod traces;
mod watch;

pub use args::Args;
pub use crashes::beside_journal;
pub use rehearsal::Rehearsal;
pub use run::run;
pub use traces::{ReplaySums, show_merged};
