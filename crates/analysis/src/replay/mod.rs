//! Replays recorded calls, as many as there are: streaming, in order, on any number of threads.

mod ahead;
mod attempts;
mod batch;
mod counts;
mod engine;
mod facts;
mod frequent;
mod io;
mod lanes;
mod pipeline;
mod recorded;
mod seen;
mod spare;
mod stages;
mod summary;
mod template;
#[cfg(test)]
mod tests;

pub use attempts::judge as judge_attempts;
pub use counts::Counts;
pub use engine::replay;
pub use frequent::{Frequent, FrequentRow};
pub use io::{InputAccount, Inputs, ReplayError, ReplayOptions, Replayed, Watch};
pub use lanes::Sessions;
pub use recorded::{PossibleDuplicates, Recording, finding};
pub use seen::{FactsUsed, Seen, SeenCall};
pub use summary::{Effects, FindingCounts, Summary};
pub use template::{Forms, write_template};

pub use playproof_trace::read::Firsts;
pub use playproof_trace::reader::Input;
pub use playproof_trace::wire::Unfamiliar;
