//! JSON for programs, with keys in a stable order: documents of [`Object`]s; calls and events, of which a trace has millions,
//! in whole fragments.

mod audit;
mod calls;
mod row;
mod shared;
mod summary;
mod write;

pub use audit::{AUDIT_LINE, write_audit_line};
pub use calls::{CallParts, Events, write_call};
pub use row::row;
pub use summary::{inputs, place, replayed};
pub use write::{Millis, Object, append, document, raw};

pub use playproof_protocol::events::{event_objects, write_events};
