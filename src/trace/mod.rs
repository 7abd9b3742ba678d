//! Traces: recorded calls and answers, however they come.

pub mod canonical;
mod fields;
mod hash;
mod iso;
pub mod model;
mod number;
mod scan;
pub mod wire;
