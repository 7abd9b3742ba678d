//! `playproof accept`: accepts goldens, edited rows of playbooks, and proposals.

mod named;
mod proposal;
mod rows;
mod run;

pub use named::{ArgumentNames, argument_of_proposal};
pub use proposal::{Proposed, proposed, tried_out};
pub use rows::EditedRows;
pub use run::{Args, run};
