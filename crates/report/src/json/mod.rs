//! JSON for programs, with keys in a stable order: documents by serde; calls and events, of which a trace has millions,
//! in whole fragments.

mod audit;
mod calls;
mod row;
mod shared;
mod summary;
mod write;

pub use audit::{AUDIT_LINE, write_audit_line};
pub use calls::{CallParts, Events, write_call};
pub use row::RowJson;
pub use summary::{InputJson, PlaceJson, ReplayedJson, inputs, place, replayed};
pub use write::{Map, Millis, append, document, raw};

pub use playproof_protocol::events::{event_objects, write_events};
