//! Checks every fixture under each of its playbooks against what was accepted.

mod case;
mod cause;
mod facts;
mod report;
mod rows;

pub use case::{Case, CaseId, CaseResult, Diverged, GoldenState, body_of, check_one, harm};
pub use cause::{Cause, cause, row_places};
pub use facts::cause_in_facts;
pub use playproof_explore::pool::map;
pub use report::{CheckCounts, CheckReport, CheckStatus};
pub use rows::{PlaybookRows, row_changes};
