//! Whether the shipped fixtures are enough: what they exercise, what they would notice, and that taking one away is
//! noticed in turn. Runs the binary on copies of the project.

mod commands;
mod project;
mod shipped;
