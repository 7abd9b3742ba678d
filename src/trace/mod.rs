//! Traces: recorded calls and answers, however they come.

pub mod model;
