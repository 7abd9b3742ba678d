//! HTML pages: one file each, without scripts and requests. Nothing in them comes from a trace as markup.

mod call;
mod chart;
mod deciding;
mod document;
mod markup;
mod rehearsal;
mod replay;
pub(crate) mod source;
mod table;
#[cfg(test)]
mod tests;

pub use call::{CallPiece, CallShown, call};
pub use document::is_page;
pub(crate) use document::{Document, next};
pub use markup::Html;
pub use rehearsal::{RehearsalPage, rehearsals};
pub use replay::{CallsShown, ReplayPage, replay};
pub(crate) use table::{Cell, Table as Rows};
