//! `playproof check` and its twins, run as people run them, each in a project of its own.

mod accepting;
mod below;
mod edits;
mod git;
mod history;
mod project;
mod recorded;
mod reports;
mod wrong;
