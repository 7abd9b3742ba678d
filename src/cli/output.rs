//! Writing to stdout and stderr: a reader that went away ends the program quietly. Formats nothing.

#![expect(clippy::disallowed_methods, reason = "this file owns both output streams")]

use std::io::{self, ErrorKind, Write};

use super::exit::Failure;

/// How many of the files that were changed are named.
const SHOWN: usize = 8;

/// Standard output, in which a closed pipe is not an error; it remembers which files were changed, for whoever cannot
/// read that on it.
#[derive(Debug, Default)]
pub struct Output {
    done: Vec<String>,
}

impl Output {
    /// Remembers that a file was changed.
    pub fn has_done(&mut self, word: &str, path: &str) {
        self.done.push(format!("{word} `{path}`"));
    }

    /// What was done before a command failed; none where nothing was.
    pub fn done(&self) -> Option<String> {
        let (shown, more) = self.done.split_at(self.done.len().min(SHOWN));
        let more = if more.is_empty() { String::new() } else { format!(", and {} more", more.len()) };
        (!shown.is_empty()).then(|| format!("this is done all the same: {}{more}", shown.join(", ")))
    }

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// A closed pipe, or a disk that is full.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        to_stdout(bytes).map_err(|error| refused(&error))
    }

    /// Writes `text` and ends its last line.
    ///
    /// # Errors
    /// As [`Output::write`].
    pub fn page(&mut self, text: &str) -> Result<(), Failure> {
        self.write(text.as_bytes())?;
        if text.is_empty() || text.ends_with('\n') { Ok(()) } else { self.write(b"\n") }
    }
}

/// Writes all of `bytes` to standard output, from whatever thread.
///
/// # Errors
/// What the system gives; [`refused`] says what it means.
pub fn to_stdout(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush())
}

/// What a write that failed means.
pub fn refused(error: &io::Error) -> Failure {
    match error.kind() {
        ErrorKind::BrokenPipe => Failure::PipeClosed,
        _ => Failure::said(format!("standard output cannot be written: {}", super::files::reason(error))),
    }
}

/// Says something beside the result; a closed stderr is no reason to stop.
pub fn to_stderr(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
