//! Playbooks: from text to a model in which nothing is invalid.

pub mod model;
