//! What the fixtures of a playbook exercise, what they do not, and the fixture that would.

mod goal;
mod madeup;
mod measure;
mod observe;
mod prefix;
mod probes;
mod reach;
mod shape;
mod story;
#[cfg(test)]
mod tests;
mod text;

pub use goal::{Cell, Goal, Group, goals};
pub use measure::{Case, CoverageReport, Item, State, Suggestion, measure};
pub use probes::{Probe, probes};
pub use text::{expected, to_yaml};
