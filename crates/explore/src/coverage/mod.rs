//! Coverage: what the fixtures of a playbook exercise, what they do not, and fixtures that would.

mod edges;
mod fixture_builder;
mod measure;
mod observe;
mod path;
mod probes;
mod reach;
mod stand_in;
mod target;
#[cfg(test)]
mod tests;

pub use edges::led_in;
pub use measure::{CoverageReport, NamedFixture, Suggestion, TargetResult, TargetState, measure};
pub use observe::exercised;
pub use probes::{Probe, drafts, probes, probes_of};
pub use target::{Cell, CircuitStep, Target, TargetKind, targets};
