//! Attacks: what a hostile repository, trace, file name or moment of a kill may never achieve. One file a kind of attack.

mod attacks;
mod bounds;
pub mod commands;
mod consistency;
mod gates;
mod interrupted;
mod kills;
mod project_files;
mod redaction;
mod text;
