//! Pages: what they hold, and how a terminal, Markdown and a browser draw them.

mod html;
mod markdown;
mod page;
mod terminal;
#[cfg(test)]
mod tests;

pub use page::{Bar, Bars, Block, Doc, Excerpt, Item, Listed, Pair, Side, Table, Text, TimedLine, Tone, first};
pub use terminal::drawn;
