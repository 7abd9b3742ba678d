//! One file a command: its arguments, and what it does.

pub mod coverage;
pub mod explain;
pub mod help;
pub mod import;
pub mod lint;
pub mod mutate;
pub mod replay;
pub mod schema;
pub mod tools;
