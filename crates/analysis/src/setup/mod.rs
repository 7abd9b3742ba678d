//! Plans a new project: its initial files, and what it takes from the user's recordings.

mod plan;
mod recordings;
mod starter;

pub use plan::{ByHand, HISTORY, NoPlan, ProjectFile, ProjectFiles, ProjectFolder, Purpose, Settings, plan};
pub use recordings::{DraftMapping, NoMapping, RecordingSummary, Recordings};
pub use starter::PLAYBOOK_FILE;
