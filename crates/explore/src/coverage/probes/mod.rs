//! Fixtures worth trying under a playbook, made from the playbook alone.

mod all;
mod calls;
mod circuits;
mod headers;
mod limits;
mod order;
pub(super) mod sharing;

pub use all::{Probe, drafts, probes, probes_of};
