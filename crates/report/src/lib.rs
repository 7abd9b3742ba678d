//! Values in, text out: every page that the product prints. Reads nothing and decides nothing.

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

pub mod block;
pub mod check;
pub mod coverage;
pub mod diagnostic;
pub mod explain;
pub mod feedback;
pub mod findings;
pub mod history;
pub mod impact;
pub mod json;
pub mod listing;
pub mod mining;
pub mod mutation;
pub mod overview;
pub mod proposal;
pub mod setup;
pub mod style;
pub mod summary;
pub mod table;
pub mod text;
pub mod timeline;
pub mod view;
