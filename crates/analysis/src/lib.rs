//! Questions about playbooks and traces, and their answers as values. Lays nothing out and touches no disk.

pub mod check;
pub mod confirm;
pub mod envelope;
pub mod explain;
pub mod graph;
pub mod impact;
pub mod kept;
pub mod mining;
pub mod mutation;
pub mod proposal;
pub mod recorded;
pub mod replay;
pub mod setup;
