//! HTML pages: one file each, without scripts and requests. Nothing in them comes from a trace as markup.

mod chart;
mod document;
mod markup;
pub(crate) mod source;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use chart::bars;
pub(crate) use document::Document;
pub use document::is_page;
pub use markup::Html;
pub(crate) use table::Rows;
