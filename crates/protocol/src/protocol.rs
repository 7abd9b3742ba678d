//! The protocol's name, its schema and its bounds.

/// The name of the protocol and its version.
pub const PROTOCOL: &str = "dispatch/1";

/// The JSON Schema of its lines.
pub const SCHEMA: &str = include_str!("../../../schemas/dispatch.json");

/// The most bytes of a line.
pub const LINE_MAX: usize = 16 << 20;
