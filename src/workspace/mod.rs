//! The files of a project: fixtures, their playbooks, goldens, the lock, proposals, history and kept calls; their
//! places, names and contents. Decides nothing about them.

mod fixtures;
mod goldens;
mod named;
mod playbooks;
mod recorded;
mod records;
mod root;

pub use fixtures::{check_names, load_fixture, load_fixture_with_source};
pub use playbooks::Used;
pub use root::{STAGING, Workspace, begin, begin_here, staging, taken_for};
