//! Traces: recorded calls and answers, however they come.

pub mod foreign;
pub mod import;
mod json;
mod lines;
pub mod model;
