//! Conformance: published cases of other systems, each written as a playbook and run on the engine. Tests alone: nothing
//! of it is built for the program.

#![cfg(test)]

mod amount;
mod backoff;
mod breaker;
mod budget;
mod case;
mod classify;
mod compare;
mod dedupe;
mod driver;
mod knobs;
mod matchers;
mod policy;
mod published;
mod result;
mod results;
mod retry;
mod rules;
mod run;
mod steps;
mod subject;
mod tests;
mod unmet;
mod write;
mod yaml;

pub use case::{Case, CaseError, CaseFile, CaseKind, CaseStep, FORMAT, read_cases};
pub use result::{CaseCounts, CaseOutcome, CaseResult};
pub use results::markdown_tables;
pub use run::{playbook_of, run_cases};
