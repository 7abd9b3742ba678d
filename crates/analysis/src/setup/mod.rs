//! A new project: the files that it begins with, and what it takes from the user's own recordings.

mod plan;
mod recordings;
mod starter;
#[cfg(test)]
mod tests;

pub use plan::{ByHand, HISTORY, NoPlan, ProjectFile, ProjectFiles, ProjectFolder, Purpose, Settings, plan};
pub use recordings::{DraftMapping, NoMapping, RecordingSummary, Recordings};
pub use starter::PLAYBOOK_FILE;
