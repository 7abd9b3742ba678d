//! Renders a proposal, its changes and the reasons against it: page, Markdown, JSON.

mod draft;
mod json;
mod list;
mod markdown;
mod page;
mod row;

pub use draft::{adr, kept_as, note, title, verdict_there};
pub use json::json;
pub use list::{Listed, list};
pub use markdown::{MARKER, markdown};
pub use page::{page, rows};
pub(crate) use row::row;
