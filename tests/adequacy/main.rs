//! Whether the shipped fixtures are enough: what they exercise, what they would notice, and that taking one away is
//! noticed in turn. Runs the binary on copies of the project.

mod commands;
#[path = "../place/mod.rs"]
#[expect(dead_code, reason = "shared by several tests, of which none needs all of it")]
mod place;
mod project;
mod shipped;
