//! Traces: recorded calls and answers, however they come.

#![warn(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::exit,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::unreachable,
    clippy::float_arithmetic,
    clippy::float_cmp,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    clippy::missing_errors_doc
)]

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
