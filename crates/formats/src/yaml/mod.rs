//! Strict reading of YAML with places and several errors at once. The only module that uses the YAML crate.
//!
//! A format is read in three steps, of which the first two are here: the text becomes a [`Node`] tree (duplicate keys,
//! limits, syntax), a [`Cursor`] walks the tree and collects errors, and the format's own `lower` makes its model:
//!
//! ```
//! use playproof_formats::diagnostic::Source;
//! use playproof_formats::yaml;
//!
//! let source = Source::whole("tool.yaml", "name: search\ntimeout_ms: 5000\n");
//! let tool = yaml::parse(source, |root| {
//!     let record = root.record("a tool", &["name", "timeout_ms"])?;
//!     let name = record.required("name").and_then(|name| name.string()).map(str::to_owned);
//!     let timeout = record.optional("timeout_ms").and_then(|timeout| timeout.whole(1..=60_000));
//!     Some((name?, timeout))
//! });
//! assert_eq!(tool, Ok(("search".to_owned(), Some(5000))));
//! ```

mod cursor;
pub mod lines;
mod node;
mod problems;
mod quantity;
mod read;
mod scalar;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use cursor::dangling;
pub use cursor::{Cursor, Key, MapReader};
pub use node::{MapEntry, Node, NodeKind, Scalar, shorten};
pub use problems::Problems;
pub(crate) use quantity::{in_millis, millis, one_of};
pub use read::{MAX_BYTES, MAX_KEY, parse, recording, tree};
pub use scalar::range;
pub(crate) use scalar::resolve;
pub use write::{GUESSED, flow, quoted, scalar};
