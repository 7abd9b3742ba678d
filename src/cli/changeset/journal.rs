//! The journal of a changeset: which files it is about, in their order, and what tells whether a step was made. Changes
//! no file but its own.

#![expect(clippy::disallowed_methods, reason = "beside `files`, this folder owns disk access")]

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::change::Change;

const NAME: &str = "journal.json";
const FORMAT: &str = "changeset/1";

/// What a changeset does, and from what it began.
#[derive(Debug, Default)]
pub struct Journal {
    /// In the order in which they are made.
    pub steps: Vec<Step>,
    /// Folders that were not there before, the outermost first.
    pub made: Vec<PathBuf>,
}

/// One file.
#[derive(Debug)]
pub struct Step {
    /// The file; where it is a link, what that leads to.
    pub path: PathBuf,
    /// Whether there was one before: then a copy of it is laid out.
    pub was_there: bool,
    /// Whether it is gone afterwards.
    pub removes: bool,
    /// The hash of what is written; none where that is not known.
    becomes: Option<String>,
}

impl Step {
    /// The step of a change, at the file that it is really about.
    pub fn of(change: &Change, path: PathBuf, was_there: bool) -> Step {
        let becomes = change.text().map(hash);
        Step { path, was_there, removes: becomes.is_none(), becomes }
    }

    /// Whether step `n` was made: its new text lies where it was laid out until then.
    pub fn is_made(&self, staging: &Path, n: usize) -> bool {
        let new = staged(staging, n, "new");
        match self.removes {
            true => self.was_there && fs::symlink_metadata(&self.path).is_err(),
            false => fs::symlink_metadata(&new).is_err() || is_same_file(&new, &self.path),
        }
    }

    /// Whether these bytes are what the step wrote.
    pub fn wrote(&self, bytes: &[u8]) -> bool {
        self.becomes.as_ref().is_none_or(|becomes| *becomes == hash(bytes))
    }
}

impl Journal {
    /// Reads the journal; none where there is none.
    ///
    /// # Errors
    /// One that cannot be read.
    pub fn read(staging: &Path) -> Option<Result<Journal, String>> {
        let text = match fs::read_to_string(path(staging)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => return Some(Err(crate::cli::files::reason(&error))),
            Ok(text) => text,
        };
        let read: Option<Value> = serde_json::from_str(&text).ok();
        Some(read.and_then(|value| parse(&value, &base(staging))).ok_or_else(|| "it is no journal".to_owned()))
    }

    /// Writes it, whole or not at all.
    ///
    /// # Errors
    /// A disk that is full, a folder that cannot be written.
    pub fn write(&self, staging: &Path) -> io::Result<()> {
        let base = base(staging);
        let from_base = |path: &Path| {
            let whole = whole(path);
            whole.strip_prefix(&base).unwrap_or(&whole).to_string_lossy().into_owned()
        };
        let steps = self.steps.iter().map(|step| {
            json!({
                "path": from_base(&step.path),
                "was_there": step.was_there,
                "removes": step.removes,
                "becomes": step.becomes,
            })
        });
        let made: Vec<_> = self.made.iter().map(|folder| from_base(folder)).collect();
        let journal = json!({ "format": FORMAT, "files": steps.collect::<Vec<_>>(), "made": made });
        let draft = staging.join("journal.tmp");
        let mut file = File::create(&draft)?;
        file.write_all(journal.to_string().as_bytes())?;
        file.sync_all()?;
        fs::rename(draft, path(staging))
    }

    /// Whether any of its steps was made.
    pub fn is_begun(&self, staging: &Path) -> bool {
        self.steps.iter().enumerate().any(|(n, step)| step.is_made(staging, n))
    }
}

/// Where the journal of a changeset lies.
pub fn path(staging: &Path) -> PathBuf {
    staging.join(NAME)
}

/// Where the text before (`old`) or after (`new`) a step is laid out.
pub fn staged(staging: &Path, n: usize, what: &str) -> PathBuf {
    staging.join(format!("{n}.{what}"))
}

/// Paths are written from here, so that a project that is found under another path can be put back too.
fn base(staging: &Path) -> PathBuf {
    let staging = whole(staging);
    staging.ancestors().nth(2).unwrap_or(&staging).to_path_buf()
}

/// The way back may be asked for from another folder.
fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

fn parse(value: &Value, base: &Path) -> Option<Journal> {
    let text = |value: &Value| value.as_str().map(|text| base.join(text));
    let step = |file: &Value| {
        let says = |key: &str| file.get(key).and_then(Value::as_bool);
        Some(Step {
            path: text(file.get("path")?)?,
            was_there: says("was_there")?,
            removes: says("removes").unwrap_or(false),
            becomes: file.get("becomes").and_then(Value::as_str).map(str::to_owned),
        })
    };
    let list = |key: &str| value.get(key).and_then(Value::as_array);
    if value.get("format")? != FORMAT {
        return None;
    }
    Some(Journal {
        steps: list("files")?.iter().map(step).collect::<Option<_>>()?,
        made: list("made")?.iter().map(text).collect::<Option<_>>()?,
    })
}

fn hash(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}"); // writing to a String cannot fail
    }
    text
}

/// Whether two names are those of one file.
#[cfg(unix)]
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let facts = |path: &Path| fs::symlink_metadata(path).map(|facts| (facts.dev(), facts.ino())).ok();
    facts(one).is_some_and(|one| facts(other) == Some(one))
}

/// Elsewhere nothing is ever linked.
#[cfg(not(unix))]
pub fn is_same_file(_: &Path, _: &Path) -> bool {
    false
}
