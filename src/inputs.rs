//! What the inputs of a command are: traces, foreign recordings or fixtures. Finds out and opens; replays nothing.

use std::borrow::Cow;
use std::io::{Cursor, Read};

use super::exit::Failure;
use super::files;
use super::kinds::{self, Kind};
use super::merged::refuse_halves;
use super::project;
use super::reading::refuse_mostly_skipped;
use playproof_trace::import;
use playproof_trace::import::SourceFormat;
use playproof_trace::imported::Imported;
use playproof_trace::input::TraceInput;
use playproof_trace::limits;
use playproof_trace::mapping;
use playproof_trace::mapping::Mapping;
use playproof_trace::origin::Sources;
use playproof_trace::pieces::decode;
use playproof_trace::redact::RedactionRules;

/// What is looked at to find out what an input is.
const SNIFFED: u64 = 64 << 10;

/// The most that a foreign recording, which is read as a whole, may hold.
const FOREIGN_MAX: u64 = 1 << 30;

/// What the inputs of a command are called; where their lines come from is learnt when they are opened.
pub fn sources(paths: &[String]) -> Sources {
    let root = project::root();
    Sources::from_root(paths.iter().map(|path| files::display_name(path)), |name| files::lasting(&root, name))
}

/// A place as people write it, with the name that its input has in messages.
pub fn place(written: &str) -> Cow<'_, str> {
    match written.strip_prefix(files::STDIN).filter(|rest| rest.starts_with(':')) {
        Some(rest) => Cow::Owned(format!("{}{rest}", files::STDIN_NAME)),
        None => Cow::Borrowed(written),
    }
}

/// What a file looks like, by its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Our own trace format, or a foreign one that is built in.
    Known,
    /// JSON of another shape, or nothing that anyone knows.
    Foreign,
    /// Blank.
    Empty,
}

/// Looks at a file's beginning.
///
/// # Errors
/// A path that cannot be read.
pub fn shape(path: &str) -> Result<Shape, Failure> {
    let (start, _) = opened(path, &files::display_name(path))?;
    Ok(match without_mark(&start).trim_ascii().is_empty() {
        true => Shape::Empty,
        false if import::detect(&start).is_some() || import::is_own_format(&start) => Shape::Known,
        false => Shape::Foreign,
    })
}

/// All bytes of a file, decoded.
///
/// # Errors
/// A path that cannot be read, more than 1 GiB.
pub fn whole(path: &str) -> Result<Vec<u8>, Failure> {
    let name = files::display_name(path);
    let (start, rest) = opened(path, &name)?;
    whole_of(&name, Cursor::new(start).chain(rest))
}

/// Whether the path is that of a fixture: people write those in YAML, and nothing else that is replayed.
pub fn is_fixture(path: &str) -> bool {
    [".yaml", ".yml"].iter().any(|ending| path.ends_with(ending))
}

/// Reads a mapping file.
///
/// # Errors
/// A file that cannot be read, or in which something is wrong.
pub fn mapping(path: &str) -> Result<Mapping, Failure> {
    let source = files::read_small(path)?;
    kinds::expect(Kind::Mapping, path, source.text.as_bytes())?;
    refuse_halves(&source)?;
    mapping::parse(source).map_err(|report| Failure::from(report).next("playproof schema mapping"))
}

/// Opens an input as a trace, importing it where it is foreign. Its lines are as recorded; what is said of it is without
/// what `redaction` takes out.
///
/// # Errors
/// A path that cannot be read; a foreign recording in which something is wrong.
pub fn trace(
    path: &str,
    mapping: Option<&Mapping>,
    redaction: &RedactionRules,
) -> Result<TraceInput<'static>, Failure> {
    let name = files::display_name(path);
    let (start, rest) = opened(path, &name)?;
    kinds::expect(Kind::Trace, &name, &start)?;
    kinds::refuse_unreadable(&name, &start, mapping.is_some())?;
    let whole = Cursor::new(start.clone()).chain(rest);
    match format(&start, mapping) {
        None => Ok(TraceInput::own(name, whole)),
        Some(format) => {
            let bytes = whole_of(&name, whole)?;
            let imported = imported(format, &bytes, &name, redaction)?;
            let checked = match mapping {
                Some(mapping) => limits::checked(imported, &bytes, &name, mapping.skips_invalid())
                    .map_err(|report| redaction.report(report))?,
                None => imported, // the reader checks its lines
            };
            if let Some(mapping) = mapping {
                let (skipped, read) = checked.loss.skipped_and_read();
                refuse_mostly_skipped(&name, skipped, read, mapping.allowed_to_skip())?;
            }
            let Imported { lines, origins, loss } = checked;
            Ok(TraceInput { name, lines: Box::new(Cursor::new(lines)), loss: Some(loss), origins: Some(origins) })
        }
    }
}

/// Reads a foreign recording, as [`trace`] does; none that is known gives none.
///
/// # Errors
/// A path that cannot be read; a recording in which something is wrong.
pub fn foreign(
    path: &str,
    mapping: Option<&Mapping>,
    skip_invalid: bool,
    redaction: &RedactionRules,
) -> Result<Option<Imported>, Failure> {
    let name = files::display_name(path);
    let (start, rest) = opened(path, &name)?;
    kinds::expect(Kind::Recording, &name, &start)?;
    kinds::refuse_unreadable(&name, &start, mapping.is_some())?;
    if without_mark(&start).is_empty() {
        return Err(super::reading::empty(&name).next("playproof help import"));
    }
    match format(&start, mapping) {
        None => Ok(None),
        Some(format) => {
            let bytes = whole_of(&name, Cursor::new(start).chain(rest))?;
            let imported = imported(format, &bytes, &name, redaction)?;
            let checked = limits::checked(imported, &bytes, &name, skip_invalid);
            Ok(Some(checked.map_err(|report| redaction.report(report))?))
        }
    }
}

/// How a foreign recording is read.
enum How<'a> {
    Mapped(&'a Mapping),
    Known(SourceFormat),
}

fn format<'a>(start: &[u8], mapping: Option<&'a Mapping>) -> Option<How<'a>> {
    mapping.map(How::Mapped).or_else(|| import::detect(start).map(How::Known))
}

fn imported(how: How<'_>, bytes: &[u8], name: &str, redaction: &RedactionRules) -> Result<Imported, Failure> {
    let imported = match how {
        How::Mapped(mapping) => mapping::apply(mapping, bytes, name, redaction),
        How::Known(format) => import::import(format, bytes, name).map_err(|report| redaction.report(report)),
    };
    Ok(imported?)
}

fn without_mark(start: &[u8]) -> &[u8] {
    start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start)
}

fn opened(path: &str, name: &str) -> Result<(Vec<u8>, Box<dyn Read + Send>), Failure> {
    let unreadable = |error: std::io::Error| files::unreadable(name, &error);
    let mut source = decode(files::open(path)?).map_err(unreadable)?;
    let mut start = Vec::new();
    source.by_ref().take(SNIFFED).read_to_end(&mut start).map_err(unreadable)?;
    kinds::refuse_archive(name, &start)?;
    kinds::refuse_encoding(name, &start)?;
    Ok((start, source))
}

fn whole_of(name: &str, source: impl Read) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    source.take(FOREIGN_MAX + 1).read_to_end(&mut bytes).map_err(|error| files::unreadable(name, &error))?;
    if bytes.len() as u64 > FOREIGN_MAX {
        let said = format!("more than {} MiB: a foreign recording is read as a whole", FOREIGN_MAX >> 20);
        return Err(
            Failure::source(name, "too_large", said).help("split it, or write it as JSON Lines of our own format")
        );
    }
    Ok(bytes)
}
