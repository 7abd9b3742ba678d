//! The pages of `graph`: a graph as a table or a drawing, a draft as YAML, the history of a run.

mod draft;
mod history;
mod show;

pub use draft::yaml;
pub use history::{history, history_page, next, next_page};
pub use show::{dot, json, mermaid, page};
