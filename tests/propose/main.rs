//! `playproof propose` on a project of its own: the way of a change, and every way to go astray.

mod drafts;
mod in_turn;
#[path = "../place/mod.rs"]
#[expect(dead_code, reason = "shared by several tests, of which none needs all of it")]
mod place;
mod project;
mod removed;
mod taken_in;
mod way;
mod wrong;
