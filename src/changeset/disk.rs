//! Disk operations for staging and applying: identities, hashes, new files, moves. Knows no journal.

#![expect(clippy::disallowed_methods, reason = "beside `files`, this folder owns disk access")]

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::files;

/// The identity of a folder on this machine: device and inode.
#[cfg(unix)]
pub fn identity(folder: &Path) -> io::Result<String> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(folder).map(|facts| format!("{}:{}", facts.dev(), facts.ino()))
}

/// On other systems: its creation time and path.
#[cfg(not(unix))]
pub fn identity(folder: &Path) -> io::Result<String> {
    let made = fs::metadata(folder)?.created()?;
    let made = made.duration_since(std::time::UNIX_EPOCH).map_err(|_| ErrorKind::InvalidData)?;
    Ok(format!("{}:{}", made.as_nanos(), hash(fs::canonicalize(folder)?.to_string_lossy().as_bytes())))
}

/// Whether another user owns it. In a folder that everybody may write, such a file is not trusted.
#[cfg(unix)]
pub fn is_of_another_user(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::symlink_metadata(path).is_ok_and(|facts| facts.uid() != rustix::process::geteuid().as_raw())
}

/// On other systems files have no known owner.
#[cfg(not(unix))]
pub fn is_of_another_user(_: &Path) -> bool {
    false
}

/// The SHA-256 of a text.
pub fn hash(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}"); // writing to a String cannot fail
    }
    text
}

/// The SHA-256 of a file; none if it does not exist.
///
/// # Errors
/// A folder, a link or anything else that is no file; a file that cannot be read.
pub fn hash_of(path: &Path) -> io::Result<Option<String>> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
        Ok(facts) if facts.is_file() => fs::read(path).map(|bytes| Some(hash(&bytes))),
        Ok(_) => Err(io::Error::new(ErrorKind::InvalidInput, "it is not a file")),
    }
}

/// Whether a file of this name exists, and is no link.
pub fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|facts| facts.is_file())
}

/// Writes and syncs a new file, with the permissions of the file that it will replace. Never overwrites a file.
///
/// # Errors
/// The name is taken; the disk is full.
pub fn write_new(path: &Path, bytes: &[u8], like: &Path) -> io::Result<()> {
    write_unsynced(path, bytes, like)?.sync_all()
}

fn write_unsynced(path: &Path, bytes: &[u8], like: &Path) -> io::Result<File> {
    let mut file = File::create_new(path)?;
    file.write_all(bytes)?;
    if let Ok(facts) = fs::metadata(like) {
        file.set_permissions(facts.permissions())?;
    }
    Ok(file)
}

/// From so many files on, one sync of their whole file system is faster than one of each.
const MANY: usize = 64;

/// New files of one folder, which are on the disk once they are synced.
pub struct NewFiles {
    /// The folder, opened before the first file is written, so that a sync reports what went wrong since; none: each file is
    /// synced when it is written.
    of_many: Option<File>,
}

impl NewFiles {
    /// None of the `count` files is written yet.
    pub fn in_folder(folder: &Path, count: usize) -> NewFiles {
        let is_able = cfg!(target_os = "linux") && count >= MANY;
        NewFiles { of_many: is_able.then(|| File::open(folder).ok()).flatten() }
    }

    /// Writes one of them, as [`write_new`] does.
    ///
    /// # Errors
    /// The name is taken; the disk is full.
    pub fn write(&self, path: &Path, bytes: &[u8], like: &Path) -> io::Result<()> {
        match self.of_many {
            None => write_new(path, bytes, like),
            Some(_) => write_unsynced(path, bytes, like).map(drop),
        }
    }

    /// Syncs those that are not.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn sync(self) -> io::Result<()> {
        self.of_many.map_or(Ok(()), sync_file_system)
    }
}

#[cfg(target_os = "linux")]
fn sync_file_system(folder: File) -> io::Result<()> {
    Ok(rustix::fs::syncfs(folder)?)
}

/// Other systems cannot do it: there each file is synced.
#[cfg(not(target_os = "linux"))]
fn sync_file_system(folder: File) -> io::Result<()> {
    folder.sync_all()
}

/// Moves a staged file to its place, also to another file system.
///
/// # Errors
/// A place that cannot be written.
pub fn move_into(staged: &Path, place: &Path) -> io::Result<()> {
    match fs::rename(staged, place) {
        Err(error) if error.kind() == ErrorKind::CrossesDevices => {
            let beside = files::beside(place);
            if is_file(&beside) {
                fs::remove_file(&beside)?; // a killed command left it
            }
            write_new(&beside, &fs::read(staged)?, staged)?;
            fs::rename(&beside, place)?;
            fs::remove_file(staged)
        }
        other => other,
    }
}

/// A free name beside a file.
pub fn aside(path: &Path) -> PathBuf {
    let name = |n: usize| {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(if n == 1 { ".aside".to_owned() } else { format!(".aside-{n}") });
        path.with_file_name(name)
    };
    let free = (1..1_000).map(name).find(|path| fs::symlink_metadata(path).is_err());
    free.unwrap_or_else(|| name(1_000))
}

/// Syncs the names in a folder, if the system can.
pub fn sync_folder(folder: &Path) {
    if cfg!(unix) {
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}

/// The missing folders above a file, outermost first.
pub fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let above = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    let mut missing: Vec<PathBuf> = above.take_while(|folder| !folder.exists()).map(Path::to_path_buf).collect();
    missing.reverse();
    missing
}

/// Removes folders, innermost first; a folder with other files stays.
pub fn remove_all(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        let _ = fs::remove_dir(folder);
    }
}
