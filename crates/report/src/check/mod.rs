//! Renders a check: a page for people, and formats for programs.

mod changes;
mod github;
mod json;
mod junit;
mod known;
mod markdown;
mod page;
mod problems;
mod result;
mod sarif;
#[cfg(test)]
mod sarif_shape;
#[cfg(test)]
mod tests;

pub use changes::{CheckPage, events, rows};
pub(crate) use changes::{class_tone, difference};
pub use github::annotations;
pub use json::json;
pub use junit::junit;
pub use known::is_report;
pub use markdown::{MARKER, comment};
pub use page::page;
pub use problems::{Directions, Level, NOT_CHECKED, Problem, Spot};
pub use result::result;
pub use sarif::sarif;
