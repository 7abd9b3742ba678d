//! Pages: what they hold, and how a terminal, Markdown and a browser draw them.

mod html;
mod markdown;
mod page;
mod terminal;
#[cfg(test)]
mod tests;

pub use page::{Block, Doc, Item, Listed, Table, Text, Tone, first};
pub use terminal::drawn;
