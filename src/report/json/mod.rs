//! JSON for programs: one object a line, in a stable order, written by hand because a trace has millions of calls.

mod calls;
mod events;
mod fragment;
mod summary;
mod write;

pub use calls::{Events, write_call};
pub use events::write_events;
pub use summary::{fill_replayed, write_inputs, write_place};
pub use write::Object;
