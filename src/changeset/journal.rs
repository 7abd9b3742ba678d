//! The journal of a committed change: its files, with their old and new hashes. Touches no disk.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::boundary::is_plain;

const FORMAT: &str = "changeset/2";

/// The steps of a changeset, and the folders to which it belongs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Journal {
    format: String,
    /// The identity of the project's root; a copied journal has another.
    pub root: String,
    /// The identity of its own folder.
    pub staging: String,
    /// The steps in order.
    #[serde(rename = "files")]
    pub steps: Vec<Step>,
}

/// One file. Step n is staged as `n.new`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Its path below the root; an absolute path for a place outside that the project names.
    pub path: PathBuf,
    /// The SHA-256 of its old content; none if it did not exist.
    pub old: Option<String>,
    /// The SHA-256 of its new content; none for a removal.
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
    /// Text that is no journal; a path that leads upwards.
    pub fn parse(text: &str) -> Result<Journal, String> {
        let journal: Journal = serde_json::from_str(text).map_err(|_| "it is not a journal".to_owned())?;
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

/// Whether a path, relative or absolute, never leads upwards.
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
