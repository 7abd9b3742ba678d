//! Reads and writes single files, and explains what is wrong with a path. Parses nothing.

#![expect(clippy::disallowed_methods, reason = "beside `folders` and `changeset`, this file owns disk access")]

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, IsTerminal, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::exit::{Failure, describe_io};
use playproof_formats::diagnostic::{Diagnostic, Report, Source};
use playproof_formats::shell::Command;
use playproof_intake::decompress::Damaged;

/// The name of standard input on the command line.
pub const STDIN: &str = "-";

/// The name of standard output on the command line.
pub const STDOUT: &str = "-";

/// What standard input is called in messages.
pub const STDIN_NAME: &str = "<stdin>";

/// The largest size of a file that people write.
const SMALL_MAX: u64 = 16 << 20;

/// How long to wait for the other end of a pipe.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(1);

/// Reads a file that people write (or standard input, `-`) as a whole.
///
/// # Errors
/// A path that cannot be read, more than 16 MiB, text that is not UTF-8.
pub fn read_small(path: &str) -> Result<Arc<Source>, Failure> {
    let name = display_name(path);
    let (input, length) = open_measured(path)?;
    let mut bytes = Vec::with_capacity(usize::try_from(length.min(SMALL_MAX)).unwrap_or_default());
    input.take(SMALL_MAX + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&name, &error))?;
    if bytes.len() as u64 > SMALL_MAX {
        let said = format!("more than {} MiB: this does not look like a file that people write", SMALL_MAX >> 20);
        return Err(Failure::source(&name, "too_large", said));
    }
    as_text(&name, bytes)
}

/// The bytes of a file.
///
/// # Errors
/// A path that cannot be read.
pub fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = open_file(path).and_then(|mut file| file.read_to_end(&mut bytes));
    read.map(|_| bytes).map_err(|error| unreadable(&path.to_string_lossy(), &error))
}

/// Opens a file, or standard input for `-`, for streaming.
///
/// # Errors
/// A path that cannot be opened, or names a directory.
pub fn open(path: &str) -> Result<Box<dyn Read + Send>, Failure> {
    open_measured(path).map(|(input, _)| input)
}

/// The same, with the length that the file has now; 0 for a stream.
fn open_measured(path: &str) -> Result<(Box<dyn Read + Send>, u64), Failure> {
    if path == STDIN {
        if io::stdin().is_terminal() {
            super::output::to_stderr("playproof: reading standard input; end it with Ctrl-D\n");
        }
        return Ok((Box::new(io::stdin()), 0));
    }
    let file = open_file(Path::new(path)).map_err(|error| unreadable(path, &error))?;
    match file.metadata() {
        Ok(facts) if facts.is_dir() => Err(a_directory(path)),
        facts => Ok((Box::new(file), facts.map_or(0, |facts| facts.len()))),
    }
}

/// A file without a name, in the folder for temporary files: it goes when it is closed.
///
/// # Errors
/// The folder cannot be written.
pub fn temporary() -> Result<File, Failure> {
    tempfile::tempfile().map_err(|error| no_temporary(&error))
}

/// The failure of a temporary file.
pub fn no_temporary(error: &io::Error) -> Failure {
    let folder = std::env::temp_dir();
    let said = format!("no temporary file can be written in {}: {}", folder.display(), describe_io(error));
    Failure::new(said).help("a long recording needs about its own size there; TMPDIR names another folder")
}

fn open_file(path: &Path) -> io::Result<File> {
    opened(path, File::options().read(true), "write")
}

/// Opens a file. A pipe without another end would block the program for ever, so a thread of its own opens it, and the
/// program waits one second for that.
fn opened(path: &Path, options: &OpenOptions, other: &str) -> io::Result<File> {
    if !is_pipe(path) {
        return options.open(path);
    }
    let (opened, waited_for) = std::sync::mpsc::channel();
    let (pipe, options) = (path.to_path_buf(), options.clone());
    std::thread::spawn(move || opened.send(options.open(pipe)));
    waited_for.recv_timeout(PATIENCE).unwrap_or_else(|_| {
        let said = format!("it is a pipe, and nothing has opened it to {other} within a second");
        Err(io::Error::new(ErrorKind::TimedOut, said))
    })
}

#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    fs::metadata(path).is_ok_and(|facts| facts.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_pipe(_path: &Path) -> bool {
    false
}

/// Whether there is a file or a folder of this name.
pub fn exists(path: &str) -> bool {
    Path::new(path).exists()
}

/// The size of a file in bytes; none for anything else.
pub fn size(path: &str) -> Option<u64> {
    let facts = fs::metadata(path).ok()?;
    facts.is_file().then_some(facts.len())
}

/// Writes a file whole or not at all: into a file beside it, which is then renamed. A link stays a link; a device or a
/// pipe is written to, never replaced.
///
/// # Errors
/// A path that cannot be written.
pub fn write_atomically(path: &str, bytes: &[u8]) -> Result<(), Failure> {
    let target = Path::new(path);
    if fs::metadata(target).is_ok_and(|facts| !facts.is_file() && !facts.is_dir()) {
        let device = opened(target, File::options().write(true), "read");
        let written = device.and_then(|mut device| device.write_all(bytes));
        return written.map_err(|error| unwritable(target, &error));
    }
    // Only a link is followed: errors name the path as people wrote it.
    let is_link = fs::symlink_metadata(target).is_ok_and(|facts| facts.is_symlink());
    let target = &real(target).filter(|_| is_link).unwrap_or_else(|| target.to_owned());
    if target.is_dir() {
        return Err(Failure::new(format!("`{}` is a directory", target.display())).help("name a file to write"));
    }
    let beside = beside(target);
    let written = write_beside(&beside, bytes, target).and_then(|_held| fs::rename(&beside, target));
    written.map_err(|error| {
        // A file of another program under that name stays.
        if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::AlreadyExists) {
            let _ = fs::remove_file(&beside);
        }
        unwritable(target, &error)
    })
}

/// Where the new text of a file is written before it replaces the file. The name depends on the file alone, so that the
/// next writer finds what a killed program left.
pub fn beside(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().as_encoded_bytes();
    let hash: String = Sha256::digest(name).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    target.with_file_name(format!(".playproof-{hash}.tmp"))
}

/// Writes the text with the permissions of the file that it replaces. The returned file holds a lock.
fn write_beside(beside: &Path, bytes: &[u8], like: &Path) -> io::Result<File> {
    let is_file = |path: &Path| fs::symlink_metadata(path).is_ok_and(|facts| facts.is_file());
    if is_file(beside) {
        let held = || io::Error::new(ErrorKind::WouldBlock, "another playproof is writing it");
        File::options().write(true).open(beside)?.try_lock().map_err(|_| held())?;
        fs::remove_file(beside)?;
    }
    let mut file = File::create_new(beside)?;
    let _ = file.try_lock(); // without locks, two writers are not kept apart
    file.write_all(bytes)?;
    if let Ok(facts) = fs::metadata(like) {
        file.set_permissions(facts.permissions())?;
    }
    file.sync_all().map(|()| file)
}

/// Appends to a file, and makes it if it is missing.
///
/// # Errors
/// A path that cannot be written.
pub fn append(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let file = opened(path, File::options().create(true).append(true), "read");
    file.and_then(|mut file| file.write_all(bytes)).map_err(|error| unwritable(path, &error))
}

fn unwritable(target: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("`{}` cannot be written: {}", target.display(), describe_io(error)))
}

/// The nearest file named `name` in the working directory or above it. Anything of that name counts; its reader reports
/// what is no file.
pub fn upwards(name: &str) -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|folder| folder.join(name)).find(|path| fs::symlink_metadata(path).is_ok())
}

/// The nearest folder named `name` in the working directory or above it; a link does not count.
pub fn folder_upwards(name: &str) -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let is_folder = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|facts| facts.is_dir());
    here.ancestors().map(|folder| folder.join(name)).find(is_folder)
}

/// The nearest file named `name` above `folder`, which need not exist.
pub fn above(folder: &Path, name: &str) -> Option<PathBuf> {
    let folder = std::env::current_dir().ok()?.join(folder);
    folder.ancestors().skip(1).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// A path relative to the working directory (`.`) if it lies below it, otherwise as given.
pub fn from_here(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    match path.strip_prefix(&here).unwrap_or(path).to_string_lossy() {
        below if below.is_empty() => ".".to_owned(),
        below => below.into_owned(),
    }
}

/// The absolute path, with links as given; the path itself if the working directory is unknown.
pub fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// A path without `..`, by its text alone: `a/../b` is `b`, whatever `a` is.
pub fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for step in absolute(path).components() {
        match step {
            Component::ParentDir => drop(normal.pop()),
            step => normal.push(step),
        }
    }
    normal
}

/// The path from the working directory up to `root`: `../` for each folder between them.
pub fn way_up(root: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let between =
        if root.as_os_str().is_empty() { 0 } else { here.strip_prefix(root).map_or(0, |path| path.iter().count()) };
    "../".repeat(between)
}

/// An absolute path below `root` relative to the working directory; any other path as given.
pub fn near(root: &Path, path: &str) -> String {
    match Path::new(path).strip_prefix(root) {
        Ok(below) if !root.as_os_str().is_empty() => way_up(root) + &below.to_string_lossy(),
        _ => path.to_owned(),
    }
}

/// A path for files that others read: relative to `root` below it; the name alone of any other absolute path.
pub fn lasting(root: &Path, path: &str) -> String {
    let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
    let below =
        real(Path::new(path)).zip(real(root)).and_then(|(path, root)| Some(path.strip_prefix(root).ok()?.to_owned()));
    match below {
        Some(below) => below.to_string_lossy().replace('\\', "/"),
        None if Path::new(path).is_absolute() => {
            Path::new(path).file_name().map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned())
        }
        None => path.to_owned(),
    }
}

/// The path without links and detours, for comparisons only, never for messages. None if nothing exists there.
pub fn real(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}

/// The broken symbolic link at `path` or on the way to it, and its target.
pub fn dangling(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let path: PathBuf = path.components().collect(); // a final `/` would follow the link
    let link = path.ancestors().find(|above| fs::symlink_metadata(above).is_ok())?;
    let target = fs::read_link(link).ok()?;
    fs::metadata(link).is_err().then(|| (link.to_path_buf(), target))
}

/// Whether two paths lead to the same file.
pub fn is_same(one: &str, other: &str) -> bool {
    let file = |path: &str| real(Path::new(path)).filter(|path| path.is_file());
    file(one).is_some_and(|one| Some(one) == file(other))
}

/// The real path of a file that may not exist yet, for comparisons; none for a device or a pipe, which is never
/// replaced.
pub fn destination(path: &str) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    if let Some(there) = real(&path) {
        return (there.is_file() || there.is_dir()).then_some(there);
    }
    let (folder, below) =
        path.ancestors().skip(1).find_map(|above| Some((real(above)?, path.strip_prefix(above).ok()?)))?;
    Some(folder.join(below))
}

/// At most `most` first bytes of a file; none without a readable file.
pub fn beginning(path: &str, most: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = fs::metadata(path).ok()?.is_file().then(|| File::open(path).ok())??;
    file.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The name of a path in messages.
pub fn display_name(path: &str) -> String {
    if path == STDIN { STDIN_NAME.to_owned() } else { path.to_owned() }
}

/// The failure of reading `name`.
pub fn unreadable(name: &str, error: &io::Error) -> Failure {
    if let Some((link, target)) = dangling(Path::new(name)).filter(|_| error.kind() == ErrorKind::NotFound) {
        let link = if link == Path::new(name) { "it".to_owned() } else { format!("`{}`", link.display()) };
        let said = format!("{link} is a symbolic link to `{}`, which does not exist", target.display());
        return Failure::source(name, "unreadable", said).help("make its target, or remove the link");
    }
    let failure = Failure::source(name, "unreadable", describe_io(error));
    match error.kind() {
        ErrorKind::NotFound => failure.help("paths are taken from the working directory"),
        ErrorKind::PermissionDenied => failure.help("make it readable for this user, or pipe it in and name it `-`"),
        ErrorKind::IsADirectory => a_directory(name),
        ErrorKind::TimedOut => failure.help("start what writes to it first, or pipe it in and name it `-`"),
        ErrorKind::Unsupported => failure.help("unpack it first, or pipe it in unpacked and name it `-`"),
        _ => match error.get_ref().and_then(|error| error.downcast_ref()) {
            Some(Damaged { by }) => {
                let failure = failure.help("is it still being written? its program can test it");
                let test = Command::new(if *by == "gzip" { "gzip -t" } else { "zstd -t" });
                if name == STDIN_NAME { failure } else { failure.next(test.path(name)) }
            }
            None => failure,
        },
    }
}

fn a_directory(path: &str) -> Failure {
    Failure::source(path, "directory", "it is a directory, not a file").help("name the files in it")
}

/// The name of a UTF-16 or UTF-32 encoding, for `iconv`.
pub fn encoding(start: &[u8]) -> Option<&'static str> {
    match start {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => Some("UTF-32"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("UTF-16"),
        [b'{' | b'[', 0, 0, 0, ..] => Some("UTF-32LE"),
        [0, 0, 0, b'{' | b'[', ..] => Some("UTF-32BE"),
        [b'{' | b'[', 0, _, 0, ..] => Some("UTF-16LE"),
        [0, b'{' | b'[', 0, _, ..] => Some("UTF-16BE"),
        _ => None,
    }
}

fn as_text(name: &str, bytes: Vec<u8>) -> Result<Arc<Source>, Failure> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source::whole(name, text)),
        Err(error) => {
            let encoding = encoding(error.as_bytes());
            let said =
                encoding.map_or_else(|| "this is not UTF-8 text".to_owned(), |name| format!("this is {name} text"));
            let at = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            let said = Diagnostic::error("not_utf8", said)
                .at(at..at + '\u{fffd}'.len_utf8(), "the first byte that is not")
                .help("save the file as UTF-8");
            Err(Report::one(Source::whole(name, text), said).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(failure: Failure) -> String {
        match failure {
            Failure::Reports { reports, .. } => reports.iter().map(ToString::to_string).collect(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_missing_file_and_a_directory_are_said_in_words() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("x.yaml");
        assert!(message(read_small(missing.to_str().unwrap()).unwrap_err()).ends_with("x.yaml: no such file"));
        let directory = folder.path().to_str().unwrap();
        assert!(message(read_small(directory).unwrap_err()).ends_with("it is a directory, not a file"));
    }

    #[test]
    fn text_that_is_not_utf8_is_refused_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.yaml");
        fs::write(&path, b"a: 1\nb: \xff\n").unwrap();
        assert!(message(read_small(path.to_str().unwrap()).unwrap_err()).ends_with(":2:4: this is not UTF-8 text"));
    }

    #[test]
    fn a_write_replaces_the_whole_file_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        fs::write(&path, "old and long").unwrap();
        write_atomically(path.to_str().unwrap(), b"new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_a_pipe_a_pipe() {
        use std::os::unix::fs::FileTypeExt;

        let folder = tempfile::tempdir().unwrap();
        let (file, link, pipe) =
            (folder.path().join("out.txt"), folder.path().join("link.txt"), folder.path().join("pipe"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_atomically(link.to_str().unwrap(), b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");

        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read_to_string(pipe).unwrap()
        });
        write_atomically(pipe.to_str().unwrap(), b"through").unwrap();
        assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
        assert_eq!(reader.join().unwrap(), "through");
    }
}
