//! The command line: the only part that touches disk, environment, terminal and exit codes.

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
