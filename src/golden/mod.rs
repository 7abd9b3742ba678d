//! Goldens: the accepted text of what a fixture shows under a playbook.

mod render;

pub use render::render;
