//! Drives the dispatcher: events in, what is wanted out. Without clock, queue and I/O.

mod dispatcher;
mod input;
mod names;
mod open_calls;
mod past_calls;
#[cfg(test)]
mod tests;

pub use dispatcher::{Dispatcher, InputFault, Want};
pub use input::{Calls, Driver, Event};
pub use open_calls::NewCall;

pub(crate) use names::{Mention, NamedCall, Names, SharedBy, SharedIds};
