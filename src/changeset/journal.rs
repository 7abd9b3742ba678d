//! The journal of a change that is decided: which files it is about, what they held and what they will. Touches no disk.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::boundary::is_plain;

const FORMAT: &str = "changeset/2";

/// What a changeset does, and where it may do it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Journal {
    format: String,
    /// The identity of the project's root: a journal that was copied is nobody's.
    pub root: String,
    /// That of the folder in which it lies.
    pub staging: String,
    /// In the order in which they are put in place.
    #[serde(rename = "files")]
    pub steps: Vec<Step>,
}

/// One file. Step n is staged as `n.new`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Its path below the root; from the root of the file system where the project names a place outside.
    pub path: PathBuf,
    /// The SHA-256 of what it held; none where it was not there.
    pub old: Option<String>,
    /// The SHA-256 of what it will hold; none where it goes.
    pub new: Option<String>,
}

impl Journal {
    /// A journal of these steps.
    pub fn new(root: String, staging: String, steps: Vec<Step>) -> Journal {
        Journal { format: FORMAT.to_owned(), root, staging, steps }
    }

    /// Reads a journal.
    ///
    /// # Errors
    /// Text that is none; a path that does not go down step by step.
    pub fn parse(text: &str) -> Result<Journal, String> {
        let journal: Journal = serde_json::from_str(text).map_err(|_| "it is no journal".to_owned())?;
        if journal.format != FORMAT {
            return Err("another version of playproof wrote it".to_owned());
        }
        match journal.steps.iter().find(|step| !is_sound(&step.path)) {
            Some(step) => Err(format!("the path `{}` in it leads out of the project", step.path.display())),
            None => Ok(journal),
        }
    }

    /// Its text.
    pub fn render(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Whether a path goes down step by step, from wherever.
fn is_sound(path: &Path) -> bool {
    let below = if path.is_absolute() { path.strip_prefix("/").unwrap_or(path) } else { path };
    !below.as_os_str().is_empty() && (is_plain(below) || (cfg!(windows) && path.is_absolute()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal(path: &str) -> String {
        format!(
            r#"{{"format":"changeset/2","root":"1:2","staging":"1:3","files":[{{"path":{path:?},"old":null,"new":"00"}}]}}"#
        )
    }

    #[test]
    fn a_journal_is_read_as_it_was_written() {
        let step = Step { path: "goldens/a.snap".into(), old: None, new: Some("00".to_owned()) };
        let written = Journal::new("1:2".to_owned(), "1:3".to_owned(), vec![step]);
        assert_eq!(Journal::parse(&journal("goldens/a.snap")), Ok(written.clone()));
        assert_eq!(written.render(), journal("goldens/a.snap"));
    }

    #[test]
    fn a_path_that_leads_astray_is_refused() {
        for path in ["../a", "a/../../b", "", "/a/../b", "/", "a/.."] {
            assert!(Journal::parse(&journal(path)).unwrap_err().contains("leads out of the project"), "{path}");
        }
        assert!(Journal::parse(&journal("a").replace("set/2", "set/1")).unwrap_err().contains("another version"));
        assert!(Journal::parse(&journal("a").replace("\"root\"", "\"roof\"")).is_err());
    }
}
