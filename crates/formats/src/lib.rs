//! The files that people write, parsed into models with places: playbooks, fixtures, goldens, locks and histories.
//! Accesses no disk.

mod arguments;
pub mod diagnostic;
pub mod fixture;
pub mod golden;
pub mod history;
mod named_arguments;
pub mod normal_json;
pub mod number;
pub mod plain;
pub mod playbook;
pub mod schema;
pub mod shell;
pub mod steps;
pub mod text;
pub mod yaml;
