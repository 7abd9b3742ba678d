//! What decides: classifier, dispatcher, simulated upstream, and the one loop that joins them. No I/O, clock, randomness
//! or environment: the same input gives the same decisions.

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

pub mod call;
pub mod classify;
pub mod clock;
pub mod dispatch;
pub mod event;
pub mod fixture;
pub mod glob;
pub mod ids;
pub mod playbook;
pub mod sim;
pub mod time;
pub mod upstream;
