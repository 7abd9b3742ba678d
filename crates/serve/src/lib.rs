//! The dispatch protocol: lines in, lines out, over the dispatcher with names. Without clock, threads and I/O.

pub mod error;
mod events;
mod object;
pub mod protocol;
pub mod said;
pub mod session;
mod shown;
#[cfg(test)]
mod tests;
