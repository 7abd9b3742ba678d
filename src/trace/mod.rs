//! Traces: recorded calls and answers, however they come.

pub mod canonical;
mod hash;
mod iso;
pub mod lines;
pub mod marks;
pub mod model;
mod number;
pub mod read;
pub mod redact;
mod scan;
pub mod trouble;
pub mod wire;
