//! Traces: reads recorded calls and answers in our own format and in foreign ones.

pub mod assemble;
pub mod bad_line;
pub mod call;
pub mod call_hashes;
pub mod canonical;
pub mod digest;
mod failure;
pub mod hash;
pub mod import;
pub mod imported;
pub mod input;
mod iso;
mod json;
pub mod limits;
pub mod mapping;
mod number;
pub mod origin;
pub mod pieces;
pub mod redact;
mod scan;
pub mod simd;
pub mod slice;
mod source_text;
pub mod tool_facts;
mod trace_writer;
pub mod window;
pub mod wire;
