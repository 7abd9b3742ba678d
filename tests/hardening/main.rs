//! Attacks: what a hostile repository, trace, file name or moment of a kill may never achieve. One file a kind of attack.

mod bounds;
mod commands;
mod consistency;
mod gates;
mod interrupted;
mod kills;
#[path = "../place/mod.rs"]
#[expect(dead_code, reason = "shared by several tests, of which none needs all of it")]
mod place;
#[path = "../propose/project.rs"]
mod project;
mod project_files;
mod redaction;
mod text;
