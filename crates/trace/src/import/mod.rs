//! Foreign recordings as lines of our own trace format, one file a source format.

mod detect;
mod messages;
mod names;
mod openai;
mod run;
mod source;
mod tau;
mod tau2;
#[cfg(test)]
mod tests;

pub use crate::foreign::{Imported, LossReport, Missing, Oddity, Seen};
pub use detect::{SourceFormat, detect};
pub use source::import;
