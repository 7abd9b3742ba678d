//! The texts of a package by their paths. Knows nothing of what the rules ask.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::Path;

/// What is made, not written (in a worktree `.git` is a file).
const GENERATED: [&str; 6] = ["target", ".git", "fuzz/target", "fuzz/corpus", "fuzz/artifacts", "fuzz/coverage"];

/// Whether a path is made by a tool, or lies in a folder that is.
pub fn is_generated(path: &str) -> bool {
    GENERATED.iter().any(|made| path.strip_prefix(made).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

/// Every file of a package that is text, by its path from the root with `/` between names.
#[derive(Debug, Default)]
pub struct Tree {
    texts: BTreeMap<String, String>,
    paths: BTreeSet<String>,
}

/// One place where a rule is broken.
#[derive(Debug, PartialEq, Eq)]
pub struct Violation {
    pub path: String,
    pub line: usize,
    pub message: String,
}

impl Tree {
    /// The package that this test belongs to.
    pub fn of_this_package() -> Tree {
        let mut tree = Tree::default();
        tree.read_folder(Path::new(env!("CARGO_MANIFEST_DIR")), "");
        tree
    }

    /// A tree for seeding violations.
    pub fn of(files: &[(&str, &str)]) -> Tree {
        let mut tree = Tree::default();
        for (path, text) in files {
            tree.add(path, Some((*text).to_owned()));
        }
        tree
    }

    fn read_folder(&mut self, folder: &Path, prefix: &str) {
        for entry in fs::read_dir(folder).expect("a folder of the package") {
            let entry = entry.expect("an entry of a folder");
            let name = entry.file_name().into_string().expect("a name in UTF-8");
            let path = format!("{prefix}{name}");
            if is_generated(&path) {
                continue;
            }
            if entry.file_type().expect("the type of an entry").is_dir() {
                self.read_folder(&entry.path(), &format!("{path}/"));
            } else {
                self.add(&path, fs::read_to_string(entry.path()).ok());
            }
        }
    }

    fn add(&mut self, path: &str, text: Option<String>) {
        let folders = path.match_indices('/').map(|(end, _)| path[..end].to_owned());
        self.paths.extend(folders);
        self.paths.insert(path.to_owned());
        if let Some(text) = text {
            self.texts.insert(path.to_owned(), text);
        }
    }

    /// Whether a file or folder of this path exists.
    pub fn has(&self, path: &str) -> bool {
        self.paths.contains(path.trim_end_matches('/'))
    }

    /// The text of one file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// All texts in the order of their paths.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The Rust sources of the product: of the command line and of the libraries.
    pub fn product(&self) -> impl Iterator<Item = (&str, &str)> {
        self.rust("")
            .filter(|(path, _)| path.starts_with("src/") || path.starts_with("crates/") && path.contains("/src/"))
    }

    /// The Rust sources under a folder.
    pub fn rust<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.texts().filter(move |(path, _)| path.starts_with(folder) && path.ends_with(".rs"))
    }
}

impl Violation {
    /// A violation in the line that holds byte `offset` of `text`.
    pub fn at(path: &str, text: &str, offset: usize, message: impl Into<String>) -> Violation {
        let line = text.as_bytes()[..offset].iter().filter(|&&byte| byte == b'\n').count() + 1;
        Violation { path: path.to_owned(), line, message: message.into() }
    }

    /// A violation of a whole file.
    pub fn of_file(path: &str, message: impl Into<String>) -> Violation {
        Violation { path: path.to_owned(), line: 1, message: message.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// Fails with every violation, one a line.
#[track_caller]
pub fn assert_none(violations: &[Violation]) {
    let lines: Vec<String> = violations.iter().map(Violation::to_string).collect();
    assert!(violations.is_empty(), "{} violation(s)\n{}", lines.len(), lines.join("\n"));
}

/// Fails unless there is exactly one violation, in this file and line, whose message holds `part`.
#[track_caller]
pub fn assert_one(violations: &[Violation], path: &str, line: usize, part: &str) {
    let [only] = violations else { panic!("expected one violation, got {violations:#?}") };
    assert_eq!((only.path.as_str(), only.line), (path, line));
    assert!(only.message.contains(part), "`{}` does not say `{part}`", only.message);
}
