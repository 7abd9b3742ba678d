//! Stands between an agent and its MCP server over standard input and output: records their calls, shows what a playbook
//! would do, or does it. Threads and blocking reads, no async runtime. Opens no files and reads no environment.
//!
//! All bytes pass as they were read, both ways. What is made or changed is: a further attempt of a call (its id and its
//! progress token), a cancellation of one, its answer and its progress, and the end of a call that failed.

mod acting;
mod call;
mod clock;
mod connection;
mod cut;
mod deciding;
mod message;
mod pipes;
mod proxy;
mod reading;
mod recording;
mod shadow;
mod told;

pub use proxy::{Ended, Mode, Options, StartError, run};
pub use reading::RunFrom;
