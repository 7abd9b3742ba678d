//! The command line: the only part that touches disk, environment, terminal and exit codes.

mod args;
mod command;
mod exit;
mod files;
mod output;
mod run;
mod terminal;
mod topics;

pub use run::run;
