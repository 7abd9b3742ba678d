//! Writes to stdout and stderr. If the reader went away, the program ends quietly. No text of users reaches a CI system as
//! a command. Formats nothing.

#![expect(clippy::disallowed_methods, reason = "this file owns both output streams")]

use std::io::{self, ErrorKind, Write};

use super::exit::{Failure, describe_io};
use playproof_formats::text::{escape_page, escape_plain_page, escape_unprintable};

/// How many changed files a failure names.
const SHOWN: usize = 8;

/// Standard output. It remembers the changed files, so that a failure to write can name them.
#[derive(Debug, Default)]
pub struct Output {
    /// Whether pages are coloured; if not, every escape sequence in a page is foreign.
    colour: bool,
    done: Vec<String>,
}

impl Output {
    /// An output with or without colour.
    pub fn new(colour: bool) -> Output {
        Output { colour, done: Vec::new() }
    }

    /// Remembers that a file was changed.
    pub fn has_done(&mut self, word: &str, path: &str) {
        self.done.push(format!("{word} `{path}`"));
    }

    /// The changes before a command failed; none if nothing changed.
    pub fn done(&self) -> Option<String> {
        let (shown, more) = self.done.split_at(self.done.len().min(SHOWN));
        let more = if more.is_empty() { String::new() } else { format!(", and {} more", more.len()) };
        (!shown.is_empty()).then(|| format!("this is done all the same: {}{more}", shown.join(", ")))
    }

    /// Writes a page for people and ends its last line; no line becomes a command to a CI system.
    ///
    /// # Errors
    /// A closed pipe, or a disk that is full.
    pub fn page(&mut self, text: &str) -> Result<(), Failure> {
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        let page = format!("{text}{end}");
        let page = if self.colour { escape_page(&page) } else { escape_plain_page(&page) };
        self.own(page.as_bytes())
    }

    /// Writes lines for people; no name in them can break a line.
    ///
    /// # Errors
    /// As [`Output::page`].
    pub fn lines(&mut self, lines: &[String]) -> Result<(), Failure> {
        let lines: Vec<_> = lines.iter().map(|line| escape_unprintable(line)).collect();
        self.page(&lines.join("\n"))
    }

    /// Writes JSON and ends its last line, as [`json_to_stdout`].
    ///
    /// # Errors
    /// As [`Output::page`].
    pub fn json(&mut self, json: impl AsRef<[u8]>) -> Result<(), Failure> {
        let json = json.as_ref();
        let end: &[u8] = if json.is_empty() || json.ends_with(b"\n") { b"" } else { b"\n" };
        json_to_stdout(json).and_then(|()| to_stdout(end)).map_err(|error| refused(&error))
    }

    /// Writes text in which nothing is foreign, or that was looked at before.
    ///
    /// # Errors
    /// As [`Output::page`].
    pub fn own(&mut self, text: &[u8]) -> Result<(), Failure> {
        to_stdout(text).map_err(|error| refused(&error))
    }
}

/// Writes JSON to standard output, from whatever thread. Nothing in it looks like a command to a CI system: `##` only
/// stands in a string, where `#\u0023` is the same.
///
/// # Errors
/// An error of the system; [`refused`] turns it into a failure.
pub fn json_to_stdout(json: &[u8]) -> io::Result<()> {
    if memchr::memmem::find(json, b"##").is_none() {
        return to_stdout(json);
    }
    let mut escaped = Vec::with_capacity(json.len() + 8);
    for byte in json {
        match byte {
            b'#' if escaped.ends_with(b"#") => escaped.extend_from_slice(b"\\u0023"),
            byte => escaped.push(*byte),
        }
    }
    to_stdout(&escaped)
}

fn to_stdout(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush())
}

/// What a write that failed means.
pub fn refused(error: &io::Error) -> Failure {
    match error.kind() {
        ErrorKind::BrokenPipe => Failure::PipeClosed,
        _ => Failure::new(format!("standard output cannot be written: {}", describe_io(error))),
    }
}

/// Says something beside the result; no line of it is a command to a CI system. A closed stderr is no reason to stop.
pub fn to_stderr(text: &str) {
    let _ = io::stderr().write_all(escape_page(text).as_bytes());
}

/// Prints one line on standard error, with foreign names escaped.
pub fn say(line: &str) {
    to_stderr(&format!("{}\n", escape_unprintable(line)));
}

/// Gives commands of our own to the CI system, from which foreign text cannot break out.
pub fn to_runner(commands: &str) {
    let _ = io::stderr().write_all(commands.as_bytes());
}
