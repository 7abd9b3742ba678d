//! The protocol's name, its schema and its bounds.

/// The name of the protocol and its version.
pub const PROTOCOL: &str = "dispatch/1";

/// The JSON Schema of its lines.
pub const SCHEMA: &str = include_str!("../../../schemas/dispatch.json");

/// The ended calls that a dispatcher remembers: their names are taken, and so is what is kept for their keys; they take late
/// answers, and a driver may ask for them.
pub const ENDS_KEPT: usize = 1_000;

/// The most bytes of a line.
pub const LINE_MAX: usize = 16 << 20;
