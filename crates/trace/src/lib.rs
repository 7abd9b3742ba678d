//! Traces: recorded calls and answers, however they come.

mod arguments;
pub mod assemble;
pub mod canonical;
mod emit;
pub mod foreign;
pub mod hash;
pub mod import;
mod iso;
mod json;
pub mod limits;
pub mod mapping;
pub mod marks;
mod number;
pub mod origin;
pub mod own;
pub mod pieces;
pub mod processor;
pub mod read;
pub mod reader;
pub mod redact;
mod scan;
pub mod slice;
mod text;
pub mod toolfacts;
pub mod trouble;
pub mod window;
pub mod wire;
