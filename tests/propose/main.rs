//! `playproof propose` on a project of its own: the way of a change, and every way to go astray.

mod drafts;
mod interrupted;
mod project;
mod taken_in;
mod way;
mod wrong;
