//! A folder of a test's own, and the program run in it with a cleaned environment. Knows nothing of what lies there.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assert_cmd::Command;
use tempfile::TempDir;

/// A command that runs longer hangs, and is killed, so that its test fails.
const LONGEST: Duration = Duration::from_secs(300);

/// The folder; it is removed with the value.
pub struct Place {
    /// All of it: a test may write beside the folder.
    _around: TempDir,
    folder: PathBuf,
}

/// What the program did.
#[derive(Debug)]
pub struct Ran {
    /// -1 where a signal ended it.
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// Fails unless it ended with `code`.
    #[track_caller]
    pub fn exits(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        self
    }
}

/// The program: the one that was built with the tests, or the absolute path in `PLAYPROOF_BIN`.
pub fn program() -> OsString {
    std::env::var_os("PLAYPROOF_BIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_playproof").into())
}

/// Copies a folder with everything in it.
pub fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").map(|entry| entry.expect("an entry")) {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match from.is_dir() {
            true => copy_tree(&from, &to),
            false => drop(fs::copy(&from, &to).expect("a file is copied")),
        }
    }
}

impl Place {
    /// A folder without anything in it.
    pub fn new() -> Place {
        let around = tempfile::tempdir().expect("a folder");
        let folder = around.path().join("place");
        fs::create_dir(&folder).expect("a folder");
        Place { _around: around, folder }
    }

    /// A folder in which `init` was run.
    pub fn begun() -> Place {
        let place = Place::new();
        place.run(&["init"]).exits(0);
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        if name.is_empty() { self.folder.clone() } else { self.folder.join(name) }
    }

    #[track_caller]
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    #[track_caller]
    pub fn write(&self, name: &str, text: &str) {
        self.write_bytes(name, text.as_bytes());
    }

    /// Writes a file, with the folders above it.
    #[track_caller]
    pub fn write_bytes(&self, name: &str, content: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, content).unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    /// Replaces the one place in a file that says `old`.
    #[track_caller]
    pub fn edit(&self, name: &str, old: &str, new: &str) {
        let text = self.read(name);
        assert_eq!(text.matches(old).count(), 1, "`{old}` in {name}: {text}");
        self.write(name, &text.replace(old, new));
    }

    /// Replaces the first place in a file that says `old`.
    #[track_caller]
    pub fn edit_first(&self, name: &str, old: &str, new: &str) {
        let text = self.read(name);
        assert!(text.contains(old), "`{old}` in {name}: {text}");
        self.write(name, &text.replacen(old, new, 1));
    }

    #[track_caller]
    pub fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    /// Copies a file of the repository here.
    #[track_caller]
    pub fn copy(&self, from: &str, to: &str) {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join(from);
        self.write_bytes(to, &fs::read(&from).unwrap_or_else(|error| panic!("{}: {error}", from.display())));
    }

    /// Copies those files of a folder of the repository whose names are wanted; never what waits for review.
    pub fn copy_folder(&self, folder: &str, is_wanted: impl Fn(&str) -> bool) {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for (name, bytes) in files_of(&from) {
            if !name.ends_with(".snap.new") && is_wanted(&name) {
                self.write_bytes(&format!("{folder}/{name}"), &bytes);
            }
        }
    }

    /// The program, here.
    pub fn command(&self) -> Command {
        let mut command = Command::new(program());
        command.current_dir(&self.folder).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()); // for git
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        ran(self.command().args(args))
    }

    pub fn run_with(&self, args: &[&str], stdin: &str) -> Ran {
        ran(self.command().args(args).write_stdin(stdin))
    }

    /// The same from a folder below.
    pub fn run_below(&self, folder: &str, args: &[&str]) -> Ran {
        ran(self.command().current_dir(self.path(folder)).args(args))
    }

    pub fn run_in_ci(&self, args: &[&str]) -> Ran {
        ran(self.command().env("CI", "true").args(args))
    }

    /// The same as a step of a workflow of GitHub.
    pub fn run_on_github(&self, args: &[&str]) -> Ran {
        ran(self.command().envs([("CI", "true"), ("GITHUB_ACTIONS", "true")]).args(args))
    }

    /// The same in a shell that has set limits before.
    #[cfg(unix)]
    pub fn limited(&self, limits: &str, args: &[&str]) -> Ran {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{limits}; exec \"$0\" \"$@\"")]).arg(program()).args(args);
        ran(shell.current_dir(&self.folder).env_clear())
    }

    /// Runs it and gives the exit code and everything that was said; the files are as they were.
    #[track_caller]
    pub fn refused(&self, args: &[&str]) -> (i32, String) {
        let before = self.files();
        let ran = self.run(args);
        let after = self.files();
        let all = before.keys().chain(after.keys());
        let changed: Vec<_> = all.filter(|name| before.get(*name) != after.get(*name)).collect();
        assert!(changed.is_empty(), "{args:?} changed {changed:?}: {ran:?}");
        (ran.code, ran.out + &ran.err)
    }

    /// Every file with its content, by name; none of git's own.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        files_of(&self.folder)
    }

    /// Every file and folder, files with their content.
    pub fn everything(&self) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        collect(&self.folder, "", &mut found);
        found
    }

    /// Whether git did it; none where there is no git.
    pub fn git(&self, args: &[&str]) -> Option<bool> {
        let who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"];
        let mut git = std::process::Command::new("git");
        let ran = git.current_dir(&self.folder).args(who).args(args).output().ok()?;
        Some(ran.status.success())
    }

    /// A repository in which everything is committed.
    pub fn commit(&self) -> Option<bool> {
        self.git(&["init", "-q", "-b", "main"])?;
        self.git(&["add", "-A"])?;
        self.git(&["commit", "-q", "-m", "all"])
    }
}

pub fn ran(command: &mut Command) -> Ran {
    let output = command.timeout(LONGEST).output().expect("the program runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Ran { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

fn files_of(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    collect(folder, "", &mut found);
    found.retain(|name, _| !name.ends_with('/') && !name.starts_with(".git/"));
    found
}

fn collect(folder: &Path, below: &str, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = format!("{below}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            found.insert(format!("{name}/"), Vec::new());
            collect(&entry.path(), &format!("{name}/"), found);
        } else {
            found.insert(name, fs::read(entry.path()).expect("a file"));
        }
    }
}
