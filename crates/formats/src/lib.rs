//! What people write, from text to a model with places: playbooks, fixtures, goldens, locks and histories. Touches no
//! disk.

pub mod diagnostic;
pub mod fixture;
pub mod golden;
pub mod history;
pub mod playbook;
#[cfg(test)]
mod schema_check;
pub mod shell;
pub mod text;
pub mod yaml;
