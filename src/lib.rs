//! The command line: the only part that touches disk, environment, terminal and exit codes.

mod args;
mod boundary;
pub mod changeset;
mod checking;
mod command;
mod duplicate_args;
mod exit;
mod feed;
mod feedback_store;
mod files;
mod fixtures;
mod flags;
mod folders;
mod format;
mod git;
mod input_kind;
mod inputs;
mod manual;
mod missing_answer;
mod output;
mod outputs;
mod panic;
mod pending;
mod playbooks;
mod project;
mod read_options;
mod reason;
mod reports;
mod run;
mod stream;
mod terminal;
mod topics;
mod values;
mod verdicts;
mod workspace;

pub use run::run;
