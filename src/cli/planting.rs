//! New files that are all there in the end, or none of them: what was written is taken back where a later one fails.
//! Never overwrites.

#![expect(clippy::disallowed_methods, reason = "beside `files` and `folders`, this file owns disk access")]

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::exit::Failure;
use super::files::reason;

/// What a path is taken by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Nothing is there, and nothing stands in the way.
    Free,
    /// A file, or something else that is no folder.
    File,
    /// A folder.
    Folder,
}

/// What stands at `path`; a link counts as what it leads to, and as a file where it leads nowhere.
///
/// # Errors
/// A file where one of its folders should be.
pub fn taken(path: &Path) -> Result<Taken, Failure> {
    if let Ok(facts) = fs::metadata(path) {
        return Ok(if facts.is_dir() { Taken::Folder } else { Taken::File });
    }
    if fs::symlink_metadata(path).is_ok() {
        return Ok(Taken::File);
    }
    let in_the_way = path.ancestors().skip(1).find(|above| fs::symlink_metadata(above).is_ok());
    match in_the_way.filter(|above| !above.is_dir()) {
        None => Ok(Taken::Free),
        Some(file) => {
            let said = format!("`{}` is a file, and a folder of this name is needed", file.display());
            Err(Failure::said(said).help("move it away, or name another folder"))
        }
    }
}

/// New files and folders; what is not kept is removed again.
#[derive(Debug, Default)]
pub struct Planting {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

impl Planting {
    /// Makes a folder and those above it, where they are missing.
    ///
    /// # Errors
    /// A folder that cannot be made.
    pub fn folder(&mut self, folder: &Path) -> Result<(), Failure> {
        let missing = |above: &&Path| !above.as_os_str().is_empty() && !above.exists();
        let mut wanted: Vec<&Path> = folder.ancestors().take_while(missing).collect();
        wanted.reverse();
        for folder in wanted {
            fs::create_dir(folder)
                .map_err(|error| Failure::said(format!("`{}` cannot be made: {}", folder.display(), reason(&error))))?;
            self.folders.push(folder.to_path_buf());
        }
        Ok(())
    }

    /// Writes a file as a whole, in a folder that is made where it is missing.
    ///
    /// # Errors
    /// A file that is there already, or cannot be written.
    pub fn file(&mut self, path: &Path, text: &str) -> Result<(), Failure> {
        let unwritable = |error: &std::io::Error| {
            let why = match error.kind() {
                ErrorKind::AlreadyExists => "there is a file of this name now".to_owned(),
                _ => reason(error),
            };
            Failure::said(format!("`{}` cannot be written: {why}", path.display()))
        };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        self.folder(folder)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(".playproof-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666)); // the umask takes away what it wants
        }
        let mut beside = builder.tempfile_in(folder).map_err(|error| unwritable(&error))?;
        let written = beside.write_all(text.as_bytes()).and_then(|()| beside.as_file().sync_all());
        written.map_err(|error| unwritable(&error))?;
        beside.persist_noclobber(path).map_err(|error| unwritable(&error.error))?;
        self.files.push(path.to_path_buf());
        Ok(())
    }

    /// Keeps all of it.
    pub fn keep(mut self) {
        self.files.clear();
        self.folders.clear();
    }
}

impl Drop for Planting {
    /// Takes everything back, the last first; what cannot be removed stays, because nothing better can be done.
    fn drop(&mut self) {
        for file in self.files.drain(..).rev() {
            let _ = fs::remove_file(file);
        }
        for folder in self.folders.drain(..).rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_kept_is_taken_back_with_its_folders() {
        let root = tempfile::tempdir().unwrap();
        let mut planting = Planting::default();
        planting.file(&root.path().join("a/b/one.txt"), "1").unwrap();
        planting.file(&root.path().join("two.txt"), "2").unwrap();
        drop(planting);
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
        let mut planting = Planting::default();
        planting.file(&root.path().join("a/b/one.txt"), "1").unwrap();
        planting.keep();
        assert_eq!(fs::read_to_string(root.path().join("a/b/one.txt")).unwrap(), "1");
    }

    #[test]
    fn a_file_that_is_there_is_never_overwritten_or_removed() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("one.txt");
        fs::write(&path, "theirs").unwrap();
        let mut planting = Planting::default();
        assert!(planting.file(&path, "ours").is_err());
        drop(planting);
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_where_a_folder_is_needed_is_named() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("fixtures"), "").unwrap();
        assert_eq!(taken(&root.path().join("fixtures")).unwrap(), Taken::File);
        assert_eq!(taken(&root.path().join("goldens/x/y.snap")).unwrap(), Taken::Free);
        assert_eq!(taken(root.path()).unwrap(), Taken::Folder);
        let Err(Failure::Said { message, .. }) = taken(&root.path().join("fixtures/a.yaml")) else { panic!() };
        assert!(message.ends_with("fixtures` is a file, and a folder of this name is needed"), "{message}");
    }
}
