//! Traces: recorded calls and answers, however they come.

pub mod assemble;
pub mod canonical;
pub mod foreign;
mod hash;
pub mod import;
mod iso;
mod json;
mod lines;
pub mod marks;
pub mod model;
mod number;
pub mod pieces;
pub mod read;
pub mod redact;
mod scan;
pub mod trouble;
pub mod wire;
