//! The command line: the only part that touches disk, environment, terminal and exit codes.

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

mod args;
mod beyond;
mod boundary;
pub mod changeset;
mod checking;
mod command;
mod exit;
mod files;
mod fixtures;
mod flags;
mod folders;
mod format;
mod git;
mod inputs;
mod kept;
mod kinds;
mod manual;
mod merged;
mod output;
mod outputs;
mod pending;
mod playbooks;
mod project;
mod reading;
mod reason;
mod repeated;
mod reports;
mod run;
mod stream;
mod terminal;
mod topics;
mod values;
mod verdicts;
mod workspace;

pub use run::run;
