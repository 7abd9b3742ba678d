//! `playproof confirm LOG`: asks what reading a log guessed, and writes down the answers.

mod args;
mod ask;
mod draft;
mod question;
mod run;
mod seen;

pub use args::Args;
pub use run::run;
