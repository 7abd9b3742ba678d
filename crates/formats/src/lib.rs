//! What people write, from text to a model with places: playbooks, fixtures, goldens, locks and histories. Touches no
//! disk.

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

pub mod diagnostic;
pub mod fixture;
pub mod golden;
pub mod history;
pub mod playbook;
pub mod shell;
pub mod text;
pub mod yaml;
