//! Questions about playbooks and traces, and their answers as values. Lays nothing out and touches no disk.

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

pub mod check;
pub mod coverage;
pub mod explain;
pub mod feedback;
pub mod impact;
pub mod mining;
pub mod mutation;
pub mod proposal;
pub mod recorded;
pub mod replay;
pub mod setup;
