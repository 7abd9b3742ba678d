//! Values in, text out: every page that the product prints. Reads nothing and decides nothing.

pub mod diagnostic;
pub mod style;
pub mod table;
pub mod text;
