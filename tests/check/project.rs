//! A copy of this repository's fixtures, goldens and playbooks in a folder of its own, and the program run in it with
//! a cleaned environment.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;

/// The copy; it is removed with the value.
pub struct Project {
    folder: tempfile::TempDir,
}

/// What the program did.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Project {
    /// A copy in which everything is as accepted and approved.
    pub fn new() -> Project {
        Project::of(|_| true)
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
        Project::of(|stem| FEW.contains(&stem))
    }

    fn of(is_wanted: impl Fn(&str) -> bool) -> Project {
        let project = Project::empty();
        for folder in ["fixtures", "goldens", "playbooks"] {
            let wanted = |name: &str| folder == "playbooks" || is_wanted(stem(name));
            copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &project.path(folder), wanted);
        }
        let _ = fs::remove_file(project.path("goldens/playbook.lock"));
        assert_eq!(project.run(&["approve", "--reason", "as it came"]).code, 0);
        project
    }

    /// A folder without anything in it.
    pub fn empty() -> Project {
        Project { folder: tempfile::tempdir().expect("a folder") }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    /// Replaces the one place in a file that says `old`.
    pub fn edit(&self, name: &str, old: &str, new: &str) {
        let text = self.read(name);
        assert_eq!(text.matches(old).count(), 1, "`{old}` in {name}");
        self.write(name, &text.replace(old, new));
    }

    pub fn command(&self) -> Command {
        let mut command = Command::cargo_bin("playproof").expect("the program");
        command.current_dir(self.folder.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()); // for git
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        ran(self.command().args(args))
    }

    pub fn run_in_ci(&self, args: &[&str]) -> Ran {
        ran(self.command().env("CI", "true").args(args))
    }

    /// Every file with its content, by name.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(self.folder.path(), "", &mut files);
        files
    }

    /// The names of what waits for review.
    pub fn pending(&self) -> Vec<String> {
        self.files().into_keys().filter(|name| name.ends_with(".snap.new")).collect()
    }
}

fn ran(command: &mut Command) -> Ran {
    let output = command.output().expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Ran { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

fn collect(folder: &Path, below: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = format!("{below}{}", entry.file_name().to_string_lossy());
        match entry.path().is_dir() {
            true if name != ".git" => collect(&entry.path(), &format!("{name}/"), files),
            true => {}
            false => drop(files.insert(name, fs::read(entry.path()).expect("a file"))),
        }
    }
}

/// The name of a file without folders and ending.
fn stem(name: &str) -> &str {
    let file = name.rsplit('/').next().unwrap_or(name);
    file.split('.').next().unwrap_or(file)
}

fn copy(from: &Path, to: &Path, is_wanted: impl Fn(&str) -> bool) {
    let mut files = BTreeMap::new();
    collect(from, "", &mut files);
    for (name, bytes) in files.into_iter().filter(|(name, _)| !name.ends_with(".snap.new") && is_wanted(name)) {
        let path = to.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, bytes).expect("a file");
    }
}
