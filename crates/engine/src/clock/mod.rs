//! The virtual clock: time passes only when the next event is taken.

mod queue;

pub use queue::{EventPriority, EventQueue};
