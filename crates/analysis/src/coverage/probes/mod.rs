//! Fixtures worth trying under a playbook, made from the playbook alone.

mod all;
mod cells;
mod limits;
mod reversals;
mod rules;
mod tools;

pub use all::{Probe, probes};
