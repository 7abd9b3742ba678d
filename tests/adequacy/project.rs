//! A copy of this project's playbooks and fixtures, in which a test may do what it likes.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use tempfile::TempDir;

/// A copy that is gone with its test.
pub struct Project {
    folder: TempDir,
}

/// What a run of the binary left.
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Project {
    /// A copy as it is in the repository.
    pub fn copy() -> Project {
        let project = Project { folder: tempfile::tempdir().expect("a folder") };
        let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        for folder in ["fixtures", "playbooks"] {
            fs::create_dir(project.path(folder)).expect("a folder");
            for entry in fs::read_dir(here.join(folder)).expect("a folder") {
                let from = entry.expect("an entry").path();
                if from.is_file() {
                    let to = project.path(folder).join(from.file_name().expect("a name"));
                    fs::copy(&from, to).expect("copied");
                }
            }
        }
        fs::copy(here.join("mutants.yaml"), project.path("mutants.yaml")).expect("copied");
        project
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("written");
    }

    pub fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).expect("removed");
    }

    pub fn edit(&self, name: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.path(name)).expect("readable");
        assert!(text.contains(from), "{name} has no `{from}`");
        self.write(name, &text.replacen(from, to, 1));
    }

    /// Runs the binary in the copy, in a clean environment.
    pub fn run(&self, args: &[&str]) -> Run {
        run_in(self.folder.path(), args)
    }
}

fn run_in(folder: &Path, args: &[&str]) -> Run {
    let binary = env!("CARGO_BIN_EXE_playproof");
    let output = Command::new(binary).args(args).current_dir(folder).env_clear().output().expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Run { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}
