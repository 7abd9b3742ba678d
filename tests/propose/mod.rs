//! `playproof propose` on a project of its own: the way of a change, and every way to go astray.

mod consent;
mod drafts;
mod in_turn;
pub mod project;
mod removed;
mod taken_in;
mod way;
mod wrong;
