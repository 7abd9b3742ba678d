//! A copy of this project's playbooks and fixtures, in which a test may do what it likes.

use std::ops::Deref;

use crate::place::Place;

/// A copy that is gone with its test.
pub struct Project(Place);

impl Deref for Project {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.0
    }
}

impl Project {
    /// A copy as it is in the repository.
    pub fn copy() -> Project {
        let project = Project(Place::new());
        for folder in ["fixtures", "playbooks"] {
            project.copy_folder(folder, |name| !name.contains('/'));
        }
        project.0.copy("mutants.yaml", "mutants.yaml");
        project
    }
}
