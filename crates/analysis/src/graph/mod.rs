//! Questions about the order of actions: drafts of a graph from recordings or from another system's graph, and what a run
//! did under one.

mod burr;
mod draft;
mod history;

pub use burr::{NotABurrGraph, burr};
pub use draft::{Draft, DraftAction, DraftEdge, DraftedCall, Drafter};
pub use history::{Historian, HistoryStep, Tried, ValidAt, valid_at};
