//! Lists folders and looks at paths. Reads and writes no file.

#![expect(clippy::disallowed_methods, reason = "beside `files`, this file owns disk access")]

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::exit::Failure;
use super::files::{dangling, from_here, unreadable};
use playproof_formats::shell::Command;

/// The deepest folder that is read.
const MOST_DEEP: usize = 8;

/// The files under `folder` whose names end in `ending`, as paths below it, sorted; empty without such a folder.
///
/// # Errors
/// A folder that cannot be read; a link to a folder in it.
pub fn files_under(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, Failure> {
    files_within(folder, MOST_DEEP, |file| file.as_os_str().as_encoded_bytes().ends_with(ending.as_bytes()))
}

/// The wanted files under `folder`, at most `deepest` folders below it, as paths below it, sorted. What is not wanted
/// at the deepest level is not looked at: it is no file to find, and no folder to enter.
///
/// # Errors
/// A folder that cannot be read; a link to a folder in it.
pub fn files_within(folder: &Path, deepest: usize, is_wanted: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    let search = Search { root: folder, deepest: deepest.min(MOST_DEEP), is_wanted: &is_wanted };
    search.collect(Path::new(""), 0, &mut found)?;
    found.sort();
    Ok(found)
}

/// The YAML files under `folder`, as [`files_under`] gives them.
///
/// # Errors
/// A folder that cannot be read; a file that ends in `.yml`, because it would be skipped without a word.
pub fn yaml_under(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    match files_under(folder, ".yml")?.first() {
        Some(other) => Err(other_ending(&folder.join(other))),
        None => files_under(folder, ".yaml"),
    }
}

/// The refusal of a file that ends in `.yml`.
pub fn other_ending(path: &Path) -> Failure {
    let (here, meant) = (from_here(path), from_here(&path.with_extension("yaml")));
    let said = Failure::new(format!("`{here}` would not be read: files here end in `.yaml`"));
    match has_file(&path.with_extension("yaml")) {
        true => said.help(format!("`{meant}` is there too: remove one of them")),
        false => said.help("give it that ending").next(Command::new("mv").paths([here, meant])),
    }
}

/// Which files are looked for, and where.
struct Search<'a> {
    root: &'a Path,
    deepest: usize,
    is_wanted: &'a dyn Fn(&Path) -> bool,
}

impl Search<'_> {
    fn collect(&self, below: &Path, deep: usize, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
        let folder = self.root.join(below);
        // An empty path is the working directory; the system needs a name for it.
        let folder = if folder.as_os_str().is_empty() { Path::new(".").to_path_buf() } else { folder };
        let refuse = |error: &std::io::Error| unreadable(&folder.to_string_lossy(), error);
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound && dangling(&folder).is_none() => return Ok(()),
            Err(error) => return Err(refuse(&error)),
        };
        for entry in entries {
            let entry = entry.map_err(|error| refuse(&error))?;
            let path = below.join(entry.file_name());
            let (is_wanted, is_deepest) = ((self.is_wanted)(&path), deep == self.deepest);
            if is_deepest && !is_wanted {
                continue;
            }
            if is_folder(&entry)? {
                if !is_deepest {
                    self.collect(&path, deep + 1, found)?;
                }
            } else if is_wanted {
                found.push(path);
            }
        }
        Ok(())
    }
}

/// Whether an entry is a folder to enter.
///
/// # Errors
/// A link to a folder; one that leads nowhere, because it may be meant to lead to a folder, whose files must not be
/// skipped. Editors leave hidden links that lead nowhere.
fn is_folder(entry: &fs::DirEntry) -> Result<bool, Failure> {
    let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
    let is_folder = match fs::metadata(entry.path()) {
        Ok(facts) => facts.is_dir(),
        Err(_) if is_hidden => false,
        Err(error) => return Err(unreadable(&entry.path().to_string_lossy(), &error)),
    };
    match is_folder && entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
        true => Err(linked_folder(&entry.path())),
        false => Ok(is_folder),
    }
}

/// The refusal of a link to a folder: it may lead anywhere, also upwards.
fn linked_folder(link: &Path) -> Failure {
    let said = format!("`{}` is a symbolic link to a folder, and is not looked into", from_here(link));
    Failure::new(said).help("put the folder itself there, or remove the link")
}

/// The path of a folder in its git repository; none outside of one, and for its root.
pub fn below_repository(folder: &Path) -> Option<String> {
    let here = std::env::current_dir().ok()?.join(folder);
    let here = fs::canonicalize(&here).unwrap_or(here);
    let root = here.ancestors().find(|above| above.join(".git").exists())?;
    let below: Vec<_> = here.strip_prefix(root).ok()?.iter().map(|step| step.to_string_lossy()).collect();
    (!below.is_empty()).then(|| below.join("/"))
}

/// What exists at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Nothing, and nothing is in the way.
    Free,
    /// A file, or anything else that is no folder.
    File,
    /// A folder.
    Folder,
}

/// What exists at `path`. A link counts as its target, and as a file if it leads nowhere.
///
/// # Errors
/// A file in place of one of its folders.
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
            Err(Failure::new(said).help("move it away, or name another folder"))
        }
    }
}

/// Whether `path` is free, a file or a folder: no device and no pipe.
pub fn is_file_or_free(path: &Path) -> bool {
    fs::symlink_metadata(path).map_or(true, |facts| facts.is_file() || facts.is_dir() || facts.is_symlink())
}

/// Whether something other than a folder has this name, readable or not.
pub fn is_there(path: &Path) -> bool {
    let none = [ErrorKind::NotFound, ErrorKind::NotADirectory];
    fs::symlink_metadata(path).map_or_else(|error| !none.contains(&error.kind()), |facts| !facts.is_dir())
}

/// Whether there is a folder of this name.
pub fn has_folder(path: &Path) -> bool {
    path.is_dir()
}

/// Whether there is a file of this name.
pub fn has_file(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_below_folders_and_sorted() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.snap", "a/c.snap", "a/d.snap.new", "x.txt"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let found = files_under(folder.path(), ".snap").unwrap();
        assert_eq!(found, [PathBuf::from("a/c.snap"), PathBuf::from("b.snap")]);
        assert!(files_under(&folder.path().join("none"), ".snap").unwrap().is_empty());
    }

    #[test]
    fn a_file_where_a_folder_is_needed_is_named() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("fixtures"), "").unwrap();
        assert_eq!(taken(&root.path().join("fixtures")).unwrap(), Taken::File);
        assert_eq!(taken(&root.path().join("goldens/x/y.snap")).unwrap(), Taken::Free);
        assert_eq!(taken(root.path()).unwrap(), Taken::Folder);
        let Err(Failure::Message { message, .. }) = taken(&root.path().join("fixtures/a.yaml")) else { panic!() };
        assert!(message.ends_with("fixtures` is a file, and a folder of this name is needed"), "{message}");
    }
}
