//! One file a command: its arguments, and what it does.

pub mod explain;
pub mod help;
pub mod impact;
pub mod import;
pub mod lint;
pub mod mine;
pub mod replay;
pub mod schema;
pub mod tools;
