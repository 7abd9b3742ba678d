//! A copy of this repository's fixtures, goldens and playbooks in a folder of its own.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Deref;
use std::sync::OnceLock;

use crate::place::Place;
pub use crate::place::Ran;

/// The copy; it is removed with the value.
pub struct Project(Place);

impl Deref for Project {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.0
    }
}

impl Project {
    /// A copy in which everything is as accepted and approved.
    pub fn new() -> Project {
        static ALL: OnceLock<BTreeMap<String, Vec<u8>>> = OnceLock::new();
        Project::with(ALL.get_or_init(|| Project::of(|_| true).files()))
    }

    /// A copy with a few fixtures alone: none of them speaks against another delay or another limit.
    pub fn few() -> Project {
        const FEW: [&str; 5] = [
            "a-denial-escalates-and-is-never-retried",
            "a-gateway-timeout-means-a-timeout",
            "a-reversal-takes-the-effect-back",
            "keys-say-processed",
            "the-worked-refund",
        ];
        static SOME: OnceLock<BTreeMap<String, Vec<u8>>> = OnceLock::new();
        Project::with(SOME.get_or_init(|| Project::of(|stem| FEW.contains(&stem)).files()))
    }

    fn with(files: &BTreeMap<String, Vec<u8>>) -> Project {
        let project = Project::empty();
        files.iter().for_each(|(name, content)| project.write_bytes(name, content));
        project
    }

    /// Accepting takes most of the time of a test, so it is done once for all.
    fn of(is_wanted: impl Fn(&str) -> bool) -> Project {
        let project = Project::empty();
        for folder in ["fixtures", "goldens", "playbooks"] {
            project.copy_folder(folder, |name| folder == "playbooks" || is_wanted(stem(name)));
        }
        let _ = fs::remove_file(project.path("goldens/playbook.lock"));
        assert_eq!(project.run(&["accept", "--reason", "as it came"]).code, 0);
        project
    }

    /// A folder without anything in it.
    pub fn empty() -> Project {
        Project(Place::new())
    }

    /// The names of what waits for review.
    pub fn pending(&self) -> Vec<String> {
        self.files().into_keys().filter(|name| name.ends_with(".snap.new")).collect()
    }
}

/// The name of a file without folders and ending.
fn stem(name: &str) -> &str {
    let file = name.rsplit('/').next().unwrap_or(name);
    file.split('.').next().unwrap_or(file)
}
