//! Playproof replays and tests the failure playbooks of LLM agents.
//!
//! A failure gets a *verdict*, a verdict has one *compensation*, a compensation ends in one *outcome*.
//! The dispatcher that decides is a state machine without I/O, clock or randomness; replay drives that very
//! machine against a simulated upstream on a virtual clock. Only `cli` touches disk, environment and terminal.

pub mod cli;
pub mod diagnostic;
pub mod event;
pub mod ids;
pub mod playbook;
pub mod report;
pub mod time;
pub mod trace;
