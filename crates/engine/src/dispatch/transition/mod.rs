//! One transition of one call: what an input changes, one file for each phase. Every path ends in an outcome, a wait, or a
//! request.

mod admission;
mod attempt;
mod gate;
mod refresh;
mod retry;
mod reversal;
mod server;
mod start;
mod step;
mod steps;
mod transaction;

pub(super) use step::Transition;
