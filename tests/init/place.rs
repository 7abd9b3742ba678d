//! A folder of a test's own, and the program run in it with a cleaned environment.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// The folder; it is removed with the value.
pub struct Place(TempDir);

/// What the program did.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// Fails unless it ended with `code`.
    pub fn exits(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        self
    }
}

impl Place {
    pub fn new() -> Place {
        Place(tempfile::tempdir().expect("a folder"))
    }

    /// A folder in which `init` was run.
    pub fn begun() -> Place {
        let place = Place::new();
        place.run(&["init"]).exits(0);
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    pub fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    /// Copies a file of the repository here.
    pub fn copy(&self, from: &str, to: &str) {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(from)).expect("a file");
        self.write(to, &text);
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        self.run_below("", args)
    }

    /// The same from a folder below.
    pub fn run_below(&self, folder: &str, args: &[&str]) -> Ran {
        ran(Command::new(env!("CARGO_BIN_EXE_playproof")).args(args).current_dir(self.path(folder)))
    }

    /// As `run`, in a shell that has set limits before.
    #[cfg(unix)]
    pub fn limited(&self, limits: &str, args: &[&str]) -> Ran {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{limits}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_playproof")]).args(args);
        ran(shell.current_dir(self.path("")))
    }

    /// Every file and folder, files with their content.
    pub fn everything(&self) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        collect(self.0.path(), "", &mut found);
        found
    }
}

fn ran(command: &mut Command) -> Ran {
    let output = command.env_clear().output().expect("the program runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Ran { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
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
