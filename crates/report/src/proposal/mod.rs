//! Renders a proposal, its changes and the reasons against it: its page and JSON.

mod draft;
mod json;
mod list;
mod page;
mod row;

pub use draft::{adr, kept_as, note, title, verdict_there};
pub use json::json;
pub use list::ProposalList;
pub use page::{MARKER, page, proposals, rows};
pub(crate) use row::row;
