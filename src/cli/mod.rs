//! The command line: the only part that touches disk, environment, terminal and exit codes.

mod args;
mod beyond;
mod command;
mod exit;
mod files;
mod fixtures;
mod inputs;
mod output;
mod playbooks;
mod project;
mod reading;
mod run;
mod stream;
mod terminal;
mod topics;
mod view;

pub use run::run;
