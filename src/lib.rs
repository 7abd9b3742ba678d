//! Playproof replays and tests the failure playbooks of LLM agents.
//!
//! A failure gets a *verdict*, a verdict has one *compensation*, a compensation ends in one *outcome*.
//! The dispatcher that decides is a state machine without I/O, clock or randomness; replay drives that very
//! machine against a simulated upstream on a virtual clock. Only `cli` touches disk, environment and terminal.

// What binds the product but not its tests and benches; the lists and their reasons are in clippy.toml.
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
pub mod classify;
pub mod cli;
pub mod clock;
pub mod coverage;
pub mod diagnostic;
pub mod dispatch;
pub mod event;
pub mod feedback;
pub mod fixture;
pub mod glob;
pub mod golden;
pub mod history;
pub mod ids;
pub mod impact;
pub mod mining;
pub mod mutation;
pub mod playbook;
pub mod proposal;
pub mod replay;
pub mod report;
pub mod shell;
pub mod sim;
pub mod text;
pub mod time;
pub mod trace;
pub mod upstream;
pub mod yaml;
