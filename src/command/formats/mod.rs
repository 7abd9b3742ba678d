//! `playproof formats`: lists the formats of recordings, converts recordings, and tries mappings.

mod convert;
mod run;
mod tried;

pub use run::{Args, run};
