//! Values in, text out: every page that the product prints. Reads nothing and decides nothing.

pub mod block;
pub mod check;
pub mod coverage;
pub mod decisions;
pub mod diagnostic;
pub mod explain;
pub mod findings;
pub mod graph;
pub mod history;
pub mod html;
pub mod impact;
pub mod json;
pub mod listing;
pub mod mining;
pub mod mutation;
pub mod opening;
pub mod overview;
pub mod proposal;
pub mod setup;
pub mod style;
pub mod summary;
pub mod table;
pub mod text;
pub mod timeline;
pub mod verify;
pub mod view;
