//! The file of a journal: one program at a time, durable before it is answered. Knows nothing of its lines.

#![expect(clippy::disallowed_methods, reason = "a journal is appended to, which `files` and `changeset` do not do")]

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::exit::{Failure, describe_io};
use playproof_formats::shell::Command;
use playproof_serve::chain::Chain;
use playproof_serve::server::Keep;

/// The file of a journal, locked for this program.
#[derive(Debug)]
pub struct JournalFile {
    path: PathBuf,
    file: File,
    /// The chain of its lines, if they are linked.
    chain: Option<Chain>,
    /// The bytes that were kept.
    length: u64,
    /// Bytes that were not kept may stand behind them.
    is_dirty: bool,
    /// An earlier file of this journal: its lock is kept, so that nobody goes on with it.
    earlier: Option<File>,
}

impl JournalFile {
    /// Opens the file, or makes it, and gives its bytes. A file whose lines are linked goes on as a chain; a new one begins one
    /// if it is to be `chained`.
    ///
    /// # Errors
    /// It cannot be read or written; another program has it; its chain is not whole, or it has none.
    pub fn open(path: &str, chained: bool) -> Result<(JournalFile, Vec<u8>), Failure> {
        let refused = |error: &io::Error| unusable(Path::new(path), error);
        if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            return Err(Failure::new(format!("the journal `{path}` cannot be used: it is no regular file"))
                .help("no call was taken"));
        }
        let file = options().open(path).map_err(|error| refused(&error))?;
        lock(&file, path)?;
        let mut bytes = Vec::new();
        (&file).read_to_end(&mut bytes).map_err(|error| refused(&error))?;
        let length = bytes.len() as u64;
        let chain = chain_of(path, &bytes, chained)?;
        let journal = JournalFile { path: path.into(), file, chain, length, is_dirty: false, earlier: None };
        journal.folder_is_durable().map_err(|error| refused(&error))?;
        Ok((journal, bytes))
    }

    /// Drops what stands behind so many bytes.
    ///
    /// # Errors
    /// The file cannot be cut.
    pub fn cut(&mut self, length: u64) -> Result<(), Failure> {
        self.file.set_len(length).map_err(|error| unusable(&self.path, &error))?;
        self.length = length;
        Ok(())
    }

    /// Why it cannot be used.
    pub fn unusable(&self, error: &io::Error) -> Failure {
        unusable(&self.path, error)
    }

    /// Makes the file's name durable.
    fn folder_is_durable(&self) -> io::Result<()> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
    }
}

impl Keep for JournalFile {
    fn keep(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.is_dirty {
            self.file.set_len(self.length)?;
            self.is_dirty = false;
        }
        let (mut linked, mut chain) = (Vec::new(), self.chain);
        let bytes = match &mut chain {
            Some(chain) => {
                chain.link(&mut linked, bytes);
                linked.as_slice()
            }
            None => bytes,
        };
        let kept = self.file.write_all(bytes).and_then(|()| self.file.sync_data());
        if kept.is_err() {
            self.is_dirty = self.file.set_len(self.length).is_err();
            return kept;
        }
        self.length += bytes.len() as u64;
        self.chain = chain;
        Ok(())
    }

    fn length(&self) -> u64 {
        self.length
    }

    /// An old file that has anything stays beside the new one, under a number.
    fn begin_anew(&mut self, beginning: &[u8]) -> io::Result<()> {
        if self.length == 0 {
            return self.keep(beginning);
        }
        let beside = |ending: &str| PathBuf::from(format!("{}.{ending}", self.path.display()));
        let draft = beside("new");
        let file = options().open(&draft)?;
        file.try_lock().map_err(io::Error::other)?;
        let chain = self.chain.map(|_| Chain::default());
        let mut next = JournalFile { path: draft, file, chain, length: 0, is_dirty: true, earlier: None };
        next.keep(beginning)?;
        let free = (1_u32..).map(|number| beside(&number.to_string())).find(|path| fs::symlink_metadata(path).is_err());
        let kept = free.unwrap_or_else(|| beside("old")); // there are fewer files than numbers
        fs::hard_link(&self.path, &kept)?;
        fs::rename(&next.path, &self.path)?;
        (self.length, self.is_dirty, self.chain) = (next.length, next.is_dirty, next.chain);
        self.earlier = Some(std::mem::replace(&mut self.file, next.file));
        self.folder_is_durable()
    }
}

/// The chain that a journal goes on with.
fn chain_of(path: &str, bytes: &[u8], chained: bool) -> Result<Option<Chain>, Failure> {
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    match (Chain::has_begun(bytes), chained) {
        (true, _) => Chain::of(&bytes[..whole]).map(Some).map_err(|why| {
            Failure::new(format!("the journal `{path}` is not gone on with: {why}"))
                .help("nothing was served; keep the file for whoever looks into it, and begin another one")
                .next(Command::new("playproof audit verify").path(path))
        }),
        (false, true) if whole > 0 => Err(Failure::new(format!("the lines of the journal `{path}` are not linked"))
            .help("`--chain` begins with a new file; this one goes on without it")),
        (false, chained) => Ok(chained.then(Chain::default)),
    }
}

/// Readable and writable by the user alone: it has raw values.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn lock(file: &File, path: &str) -> Result<(), Failure> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => Failure::new(format!("another program has the journal `{path}`"))
            .help("one process serves a journal; give each its own"),
        TryLockError::Error(error) => unusable(Path::new(path), &error),
    })
}

fn unusable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("the journal `{}` cannot be used: {}", path.display(), describe_io(error)))
        .help("no call was taken")
}
