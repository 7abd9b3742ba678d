//! Playbooks: from text to a model in which nothing is invalid.

mod embedded;
mod lower;
pub mod model;
pub mod pattern;
mod places;
mod syntax;
pub mod tools;

pub use embedded::{EMBEDDED, embedded};
pub use places::{Loaded, Places, parse};
