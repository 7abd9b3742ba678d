//! Serves a session: reads every line that is ready, keeps them all, and answers them. What is kept is durable before the
//! first of its answers is written.

use std::io::{self, BufRead, BufReader, Read, Write};

use crate::error::{ErrorCode, LineError};
use crate::protocol::LINE_MAX;
use crate::said::Said;
use crate::session::Session;

/// Where lines are kept.
pub trait Keep {
    /// Keeps these bytes, durably, or none of them.
    ///
    /// # Errors
    /// They could not be written.
    fn keep(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// The bytes that are kept since it began anew.
    fn length(&self) -> u64;

    /// Goes on in a new file that begins with these bytes.
    ///
    /// # Errors
    /// It goes on in the old one.
    fn begin_anew(&mut self, beginning: &[u8]) -> io::Result<()>;
}

/// A journal of so many bytes begins anew when nothing depends on it.
pub const ANEW_FROM: u64 = 4 << 20;

/// What was read of a line.
enum ReadLine {
    /// A line.
    Said(Said),
    /// What is wrong with it.
    Wrong(LineError),
}

/// Serves until the input ends.
///
/// # Errors
/// The input cannot be read, or the output not written.
pub fn serve(
    session: &mut Session,
    mut input: BufReader<impl Read>,
    mut output: impl Write,
    mut journal: Option<&mut dyn Keep>,
) -> io::Result<()> {
    let (mut batch, mut kept, mut line, mut answers) = (Vec::new(), Vec::new(), Vec::new(), String::new());
    loop {
        let is_there = read_line(&mut input, &mut line)?;
        if let Some(is_whole) = is_there {
            let read = if is_whole { parse(&line) } else { ReadLine::Wrong(too_long()) };
            if matches!(read, ReadLine::Said(Said::Input(..))) {
                session.begin_driver();
                kept.extend_from_slice(line.trim_ascii());
                kept.push(b'\n');
            }
            // What a `hello` loses stands in the journal before the lines behind it.
            let is_hello = matches!(read, ReadLine::Said(Said::Hello(_)));
            batch.push(read);
            if !is_hello && input.buffer().contains(&b'\n') {
                continue; // what is ready is taken together
            }
        }
        let refused = match &mut journal {
            Some(journal) if !kept.is_empty() => keep(session, *journal, &kept).err(),
            _ => None,
        };
        for read in batch.drain(..) {
            answers.push_str(&match (read, &refused) {
                (ReadLine::Wrong(error), _) => error.answer(),
                (ReadLine::Said(Said::Input(..)), Some(error)) => unkept(error).answer(),
                (ReadLine::Said(said), _) => session.answer(said),
            });
            answers.push('\n');
        }
        output.write_all(answers.as_bytes())?;
        output.flush()?;
        kept.clear();
        answers.clear();
        if let Some(journal) = &mut journal {
            begin_anew(session, *journal);
        }
        if is_there.is_none() {
            break;
        }
    }
    match journal {
        Some(journal) => keep(session, journal, &[]),
        None => Ok(()),
    }
}

/// Keeps lines behind what was decided of those before them.
fn keep(session: &mut Session, journal: &mut dyn Keep, lines: &[u8]) -> io::Result<()> {
    let mut bytes = session.records().fold(Vec::new(), |mut bytes, record| {
        bytes.extend_from_slice(record.as_bytes());
        bytes.push(b'\n');
        bytes
    });
    bytes.extend_from_slice(lines);
    if !bytes.is_empty() {
        journal.keep(&bytes)?;
        session.take_records();
    }
    Ok(())
}

/// Begins a new file if the old one is long and nothing depends on it.
fn begin_anew(session: &mut Session, journal: &mut dyn Keep) {
    if journal.length() >= ANEW_FROM && session.is_idle() && keep(session, journal, &[]).is_ok() {
        let _ = journal.begin_anew(session.head().as_bytes()); // refused: the old file goes on
    }
}

fn parse(line: &[u8]) -> ReadLine {
    let said = std::str::from_utf8(line).map_err(|_| LineError::new(ErrorCode::BadLine, "the line is not UTF-8"));
    match said.and_then(Said::parse) {
        Ok(said) => ReadLine::Said(said),
        Err(error) => ReadLine::Wrong(error),
    }
}

fn too_long() -> LineError {
    LineError::new(ErrorCode::LineTooLong, format!("the line is longer than {} MiB", LINE_MAX >> 20))
}

fn unkept(error: &io::Error) -> LineError {
    let text = format!("the journal cannot be written ({error}): the line was not taken, and nothing follows from it");
    LineError::new(ErrorCode::Journal, text)
}

/// Reads a line without its end. None: the input has ended. Not whole: it was too long, and is dropped.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<bool>> {
    line.clear();
    let (mut is_whole, mut has_begun) = (true, false);
    loop {
        let ready = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            ready => ready?,
        };
        if ready.is_empty() {
            return Ok(has_begun.then_some(is_whole));
        }
        has_begun = true;
        let end = memchr::memchr(b'\n', ready);
        let part = &ready[..end.unwrap_or(ready.len())];
        if line.len() + part.len() > LINE_MAX {
            is_whole = false;
            line.clear();
        }
        if is_whole {
            line.extend_from_slice(part);
        }
        let used = end.map_or(ready.len(), |end| end + 1);
        input.consume(used);
        if end.is_some() {
            return Ok(Some(is_whole));
        }
    }
}
