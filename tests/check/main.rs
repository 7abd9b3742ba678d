//! `playproof check` and its twins, run as people run them, each in a project of its own.

mod accepting;
mod below;
mod edits;
mod git;
mod history;
#[path = "../place/mod.rs"]
#[expect(dead_code, reason = "shared by several tests, of which none needs all of it")]
mod place;
mod project;
mod reports;
mod wrong;
