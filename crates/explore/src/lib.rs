//! Tries the answers of an upstream against a playbook: the world that reads no playbook, the search over all scripts of
//! answers, and what it says of the playbook. Runs nothing by itself: the engine's simulator does.

mod alphabet;
mod assumption;
mod calls;
mod changed;
mod claims;
mod compared;
pub mod coverage;
mod fixture_text;
mod lint;
#[cfg(test)]
mod mistakes;
mod normal_form;
pub mod pool;
mod property;
mod search;
pub mod shape;
pub mod synthesize;
#[cfg(test)]
mod tests;
mod verify;
pub mod world;

pub use changed::Changed;
pub use compared::{Assumed, Compared, Guarantees, compare, guarantees};
pub use fixture_text::{expected, to_yaml, tool_facts};
pub use lint::{CONTRADICTED_CLAIM, lint};
pub use property::PROPERTIES;
pub use verify::{Counterexample, Fate, PropertyResult, Question, RestsOn, Verified, verify};
pub use world::can_hide;
