//! Recognises and opens the inputs of a command: traces, foreign recordings, fixtures. Replays nothing.

use std::borrow::Cow;
use std::io::{BufReader, BufWriter, Cursor, Read, Seek};

use super::exit::Failure;
use super::files;
use super::input_kind::{self, InputKind, reject_conflict_markers};
use super::project;
use super::skipped::refuse_mostly_skipped;
use playproof_formats::shell::Command;
use playproof_intake::bad_line::FOREIGN_LINE;
use playproof_intake::builtin;
use playproof_intake::builtin::{BuiltinFormat, FormatOptions};
use playproof_intake::decompress::decode;
use playproof_intake::import::is_own_format;
use playproof_intake::imported::Imported;
use playproof_intake::input::{ReadError, TraceInput};
use playproof_intake::jsonl::{Account, ForeignLines, JsonLinesError};
use playproof_intake::limits;
use playproof_intake::mapping;
use playproof_intake::mapping::{FoundRow, Mapping};
use playproof_intake::origin::Sources;
use playproof_intake::redact::RedactionRules;
use playproof_serve::decider::Decider;
use playproof_serve::journal::{OpenCall, Unusable};
use playproof_serve::trace::{self, is_journal};

/// How many first bytes identify an input.
const SNIFFED: u64 = 64 << 10;

/// How many first bytes identify an input whose first calls come late.
const SNIFFED_MAX: u64 = 1 << 20;

/// The rows or calls that a message names.
const NAMED: usize = 5;

/// The largest foreign recording: it is read as a whole.
const FOREIGN_MAX: u64 = 1 << 30;

/// The names of the inputs; the origins of their lines are added when they are opened.
pub fn sources(paths: &[String]) -> Sources {
    let root = project::root();
    Sources::from_root(paths.iter().map(|path| files::display_name(path)), |name| files::lasting(&root, name))
}

/// A place `FILE:LINE` as typed, with the name of standard input in messages.
pub fn place(written: &str) -> Cow<'_, str> {
    match written.strip_prefix(files::STDIN).filter(|rest| rest.starts_with(':')) {
        Some(rest) => Cow::Owned(format!("{}{rest}", files::STDIN_NAME)),
        None => Cow::Borrowed(written),
    }
}

/// The format of a file, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Our own trace format, or a foreign one that is built in.
    Known,
    /// JSON of another shape, or an unknown format.
    Foreign,
    /// Blank.
    Empty,
}

/// Detects the format of a file.
///
/// # Errors
/// A path that cannot be read.
pub fn shape(path: &str) -> Result<Shape, Failure> {
    let (start, _) = opened(path, &files::display_name(path))?;
    Ok(match without_mark(&start.bytes).trim_ascii().is_empty() {
        true => Shape::Empty,
        false if start.is_own || !start.formats.is_empty() => Shape::Known,
        false => Shape::Foreign,
    })
}

/// All bytes of a file, decompressed.
///
/// # Errors
/// A path that cannot be read, more than 1 GiB.
pub fn whole(path: &str) -> Result<Vec<u8>, Failure> {
    let name = files::display_name(path);
    let (start, rest) = opened(path, &name)?;
    whole_of(&name, Cursor::new(start.bytes).chain(rest))
}

/// Whether the path names a fixture: of the YAML files that are replayed, all but recognised recordings are.
pub fn is_fixture(path: &str) -> bool {
    let is_recording = || opened(path, path).is_ok_and(|(start, _)| !start.formats.is_empty());
    [".yaml", ".yml"].iter().any(|ending| path.ends_with(ending)) && !is_recording()
}

/// Reads a mapping file.
///
/// # Errors
/// A file that cannot be read, or in which something is wrong.
pub fn mapping(path: &str) -> Result<Mapping, Failure> {
    let source = files::read_small(path)?;
    input_kind::expect(InputKind::Mapping, path, source.text.as_bytes())?;
    reject_conflict_markers(&source)?;
    mapping::parse(source).map_err(|report| Failure::from(report).next("playproof schema mapping"))
}

/// What the user says about foreign recordings.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The mapping of `--map`.
    pub mapping: Option<Mapping>,
    /// The mapping of the project.
    pub of_project: Option<Mapping>,
    /// The format of `--as`.
    pub format: Option<&'static BuiltinFormat>,
    /// Bad lines are skipped and counted.
    pub skip_invalid: bool,
    /// The most lines that may be skipped.
    pub allow_skipped: Option<u64>,
    /// The number of threads that read a foreign recording; 0 counts as 1.
    pub jobs: usize,
}

impl Reading {
    /// A mapping of the user alone.
    pub fn mapped(mapping: Option<Mapping>) -> Reading {
        Reading { mapping, ..Reading::default() }
    }

    /// Finds the known format with this name.
    ///
    /// # Errors
    /// There is none.
    pub fn format(name: &str) -> Result<&'static BuiltinFormat, Failure> {
        builtin::find(name).ok_or_else(|| {
            let failure = Failure::new(format!("no format is called `{name}`"));
            let near: Vec<_> = builtin::nearest(name).into_iter().map(|near| format!("`{near}`")).collect();
            let failure =
                if near.is_empty() { failure } else { failure.help(format!("did you mean {}?", near.join(" or "))) };
            failure.next("playproof formats")
        })
    }

    /// Whether a mapping describes the rows of every input.
    fn describes_rows(&self) -> bool {
        self.mapping.as_ref().is_some_and(|mapping| !mapping.is_override())
    }

    /// How a recognised format is read.
    fn options(&self) -> FormatOptions<'_> {
        let overrides = self.mapping.as_ref().or(self.of_project.as_ref()).filter(|mapping| mapping.is_override());
        let Reading { skip_invalid, allow_skipped, jobs, .. } = *self;
        FormatOptions { overrides, skip_invalid, allow_skipped, jobs }
    }
}

/// Opens an input as a trace, and imports a foreign one. Its lines are as recorded; messages about it are redacted.
///
/// # Errors
/// A path that cannot be read; an unusable foreign recording.
pub fn trace(path: &str, reading: &Reading, redaction: &RedactionRules) -> Result<TraceInput<'static>, Failure> {
    let name = files::display_name(path);
    let (start, rest) = opened(path, &name)?;
    input_kind::expect_recognised(InputKind::Trace, &name, &start.bytes, !start.formats.is_empty())?;
    let how = how(&name, &start, reading)?;
    if how.is_none() && start.formats.is_empty() {
        input_kind::refuse_unreadable(&name, &start.bytes)?;
    }
    if let Some(how) = how.as_ref().filter(|how| how.is_read_by_lines() && is_long_in_lines(path, &start.bytes))
        && let Some(mut input) = by_lines(path, &name, how, redaction)?
    {
        input.loss.iter_mut().for_each(|loss| loss.others = others(&start, reading));
        return Ok(input);
    }
    if how.is_none() {
        input_kind::refuse_foreign(&name, &start.bytes)?;
    }
    let others = others(&start, reading);
    let whole = Cursor::new(start.bytes).chain(rest);
    match how {
        None => Ok(TraceInput::own(name, whole)),
        Some(how) => {
            let bytes = whole_of(&name, whole)?;
            let imported = how.read(&bytes, &name, redaction)?;
            let checked = match how.mapping() {
                Some(mapping) => limits::checked(imported, &bytes, &name, mapping.skips_invalid())
                    .map_err(|report| redaction.report(report))?,
                None => imported, // the reader checks its lines
            };
            if how.mapping().is_some() || reading.skip_invalid {
                let (skipped, read) = checked.loss.skipped_and_read();
                refuse_mostly_skipped(&name, skipped, read, how.allowed_to_skip())?;
            }
            let Imported { lines, origins, mut loss } = checked;
            loss.others = others;
            Ok(TraceInput { name, lines: Box::new(Cursor::new(lines)), loss: Some(loss), origins: Some(origins) })
        }
    }
}

/// Reads a foreign recording, as [`trace()`] does; none for an unknown format.
///
/// # Errors
/// A path that cannot be read; an unusable recording.
pub fn foreign(
    path: &str,
    reading: &Reading,
    skip_invalid: bool,
    redaction: &RedactionRules,
) -> Result<Option<Imported>, Failure> {
    let name = files::display_name(path);
    let (start, rest) = opened(path, &name)?;
    input_kind::expect_recognised(InputKind::Recording, &name, &start.bytes, !start.formats.is_empty())?;
    let how = how(&name, &start, reading)?;
    if how.is_none() && start.formats.is_empty() {
        input_kind::refuse_unreadable(&name, &start.bytes)?;
    }
    if without_mark(&start.bytes).is_empty() {
        return Err(empty(&name).next("playproof help import"));
    }
    if how.is_none() {
        input_kind::refuse_foreign(&name, &start.bytes)?;
    }
    match how {
        None => Ok(None),
        Some(how) => {
            let others = others(&start, reading);
            let bytes = whole_of(&name, Cursor::new(start.bytes).chain(rest))?;
            let mut imported = how.read(&bytes, &name, redaction)?;
            imported.loss.others = others;
            let checked = limits::checked(imported, &bytes, &name, skip_invalid);
            Ok(Some(checked.map_err(|report| redaction.report(report))?))
        }
    }
}

/// How to read a foreign recording.
enum How<'a> {
    /// By a mapping, on so many threads.
    Mapped(&'a Mapping, usize),
    Known(&'static BuiltinFormat, FormatOptions<'a>),
}

impl How<'_> {
    /// The mapping that is applied; none for a format that is built in.
    fn applied(&self) -> Option<Mapping> {
        match self {
            How::Mapped(mapping, _) => Some((*mapping).clone()),
            How::Known(format, options) => format.applied(*options),
        }
    }

    /// Whether it can be read line by line.
    fn is_read_by_lines(&self) -> bool {
        match self {
            How::Mapped(..) => true,
            How::Known(format, options) => format.mapping().is_some() || format.is_chat_by_lines(*options),
        }
    }

    /// How many lines may be skipped.
    fn allowed_to_skip(&self) -> Option<u64> {
        match self {
            How::Mapped(mapping, _) => mapping.allowed_to_skip(),
            How::Known(_, options) => options.overrides.map_or(options.allow_skipped, Mapping::allowed_to_skip),
        }
    }

    fn read(&self, bytes: &[u8], name: &str, redaction: &RedactionRules) -> Result<Imported, Failure> {
        Ok(match self {
            How::Mapped(mapping, jobs) => mapping::apply_on(*jobs, mapping, bytes, name, redaction),
            How::Known(format, options) => {
                let read = format.read(bytes, name, *options, redaction);
                let start = usize::try_from(SNIFFED).ok().and_then(|end| bytes.get(..end)).unwrap_or(bytes);
                return read.map_err(|report| of_other_format(format, start, Failure::from(report)));
            }
        }?)
    }

    /// How a recognised format is read.
    fn options(&self) -> FormatOptions<'_> {
        match self {
            How::Mapped(_, jobs) => FormatOptions { jobs: *jobs, ..FormatOptions::default() },
            How::Known(_, options) => *options,
        }
    }

    /// The mapping that the user gives.
    fn mapping(&self) -> Option<&Mapping> {
        match self {
            How::Mapped(mapping, _) => Some(mapping),
            How::Known(_, options) => options.overrides,
        }
    }
}

/// Why a file that begins with `start` cannot be read as the format that `--as` names, with what it looks like.
fn of_other_format(named: &BuiltinFormat, start: &[u8], failure: Failure) -> Failure {
    match builtin::detect(start).as_slice() {
        [other] if other.name != named.name => {
            failure.help(format!("the file looks like `{}`: leave out `--as`", other.name))
        }
        [] if is_own_format(start) => failure.help("the file is a trace of our own: leave out `--as`"),
        _ => failure,
    }
}

/// The formats that fit an input which begins with `start`, beside the one that `--as` names: nothing of them is read.
fn others(start: &Beginning, reading: &Reading) -> Vec<String> {
    let Some(named) = reading.format else { return Vec::new() };
    let others = builtin::foreign(&start.bytes).into_iter().filter(|other| other.name != named.name);
    let own = start.is_own.then(|| "a trace of our own".to_owned());
    others.map(|other| format!("`{}`", other.name)).chain(own).collect()
}

/// How an input that begins with `start` is read; none: as a trace of our own.
fn how<'a>(name: &str, start: &Beginning, reading: &'a Reading) -> Result<Option<How<'a>>, Failure> {
    if let Some(mapping) = reading.mapping.as_ref().filter(|_| reading.describes_rows()) {
        return match reading.format {
            None => Ok(Some(How::Mapped(mapping, reading.jobs))),
            Some(format) => Err(Failure::new(format!(
                "the mapping describes the rows itself, and `--as {}` names a format",
                format.name
            ))
            .help("leave out one of them; a mapping without `call` changes a format")
            .next("playproof schema mapping")),
        };
    }
    if let Some(format) = reading.format {
        return Ok(Some(How::Known(format, reading.options())));
    }
    match start.formats.as_slice() {
        [format] => Ok(Some(How::Known(format, reading.options()))),
        [first, ..] if !start.is_own => {
            let names: Vec<_> = start.formats.iter().map(|format| format!("`{}`", format.name)).collect();
            let said = format!("several formats fit: {}", names.join(", "));
            Err(Failure::source(name, "several_formats", said)
                .help(format!("say which one it is, such as `--as {}`", first.name))
                .next("playproof formats"))
        }
        _ if reading.mapping.is_some() => {
            let said = "a mapping without `call` changes a recognised format, and this is none";
            Err(Failure::source(name, "unknown_format", said)
                .help("say how rows become calls (`call`), or name the format with `--as`")
                .next("playproof formats"))
        }
        _ if start.is_own => Ok(None),
        _ => {
            let of_project = reading.of_project.as_ref().filter(|mapping| !mapping.is_override());
            Ok(of_project.map(|mapping| How::Mapped(mapping, reading.jobs)))
        }
    }
}

/// Recordings of this size are read by lines, if they are JSON Lines.
const LONG: u64 = 16 << 20;

/// Whether a file is long, and each of its first lines is a document.
fn is_long_in_lines(path: &str, start: &[u8]) -> bool {
    let is_long = path != files::STDIN && files::size(path).is_some_and(|size| size >= LONG);
    let lines = without_mark(start).split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    let mut lines = lines.filter(|line| !line.trim_ascii().is_empty()).take(2);
    let is_document = |line: &[u8]| serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok();
    is_long && lines.next().is_some_and(is_document)
}

/// A long recording, line by line: its trace lines are in a temporary file. None: it is to be read as a whole, because its
/// conversations are not each on a line, to report what is wrong in it as in a short one, or for want of room for that file.
fn by_lines(
    path: &str,
    name: &str,
    how: &How<'_>,
    redaction: &RedactionRules,
) -> Result<Option<TraceInput<'static>>, Failure> {
    let unreadable = |error: std::io::Error| files::unreadable(name, &error);
    let mapping = how.applied();
    let source = BufReader::new(decode(files::open(path)?).map_err(unreadable)?);
    let recording = ForeignLines { source, name, redaction, jobs: how.options().jobs };
    let is_readable_whole = files::size(path) <= Some(FOREIGN_MAX);
    let mut lines = match files::temporary() {
        Ok(file) => BufWriter::new(file),
        Err(_) if is_readable_whole => return Ok(None),
        Err(failure) => return Err(failure),
    };
    let written = match &mapping {
        Some(mapping) => recording.mapped(mapping, &mut lines),
        None => recording.chat(how.options(), &mut lines),
    };
    let Account { loss, origins } = match written {
        Ok(account) => account,
        Err(JsonLinesError::Unreadable(error)) => return Err(unreadable(error)),
        Err(JsonLinesError::ToBeReadWhole) => return Ok(None),
        Err(JsonLinesError::Unwritable(_)) if is_readable_whole => return Ok(None),
        Err(JsonLinesError::Unwritable(error)) => return Err(files::no_temporary(&error)),
        Err(JsonLinesError::Invalid(_)) if mapping.is_none() && is_readable_whole => return Ok(None),
        Err(JsonLinesError::Invalid(report)) => return Err(Failure::from(*report)),
    };
    let (skipped, read) = loss.skipped_and_read();
    let allowed = mapping.as_ref().map_or_else(|| how.allowed_to_skip(), Mapping::allowed_to_skip);
    refuse_mostly_skipped(name, skipped, read, allowed)?;
    let rewound = lines.into_inner().map_err(std::io::IntoInnerError::into_error).and_then(|mut file| {
        file.rewind()?;
        Ok(file)
    });
    let lines = Box::new(rewound.map_err(|error| files::no_temporary(&error))?);
    Ok(Some(TraceInput { name: name.to_owned(), lines, loss: Some(loss), origins: Some(origins) }))
}

/// What the paths of a mapping find in a recording.
#[derive(Debug)]
pub struct Tried {
    /// The first calls and results.
    pub rows: Vec<FoundRow>,
    /// What the whole recording holds, and what it lacks.
    pub summary: String,
}

/// Tries a mapping or a format on a recording; shows `most` calls and results.
///
/// # Errors
/// A path that cannot be read; a recording of no format that has a mapping; a mapping by which no row is a call.
pub fn tried(path: &str, reading: &Reading, most: usize, redaction: &RedactionRules) -> Result<Tried, Failure> {
    let name = files::display_name(path);
    let (start, rest) = opened(path, &name)?;
    let Some(how) = how(&name, &start, reading)? else {
        return Err(Failure::source(&name, "unknown_format", "this is no recording that is recognised")
            .help("name a mapping file with `--map`")
            .next(Command::new("playproof init").flag("--from", path)));
    };
    let mapping = match &how {
        How::Mapped(mapping, _) => Some(*mapping),
        How::Known(format, _) => format.mapping(),
    };
    let bytes = whole_of(&name, Cursor::new(start.bytes).chain(rest))?;
    let rows = mapping.map(|mapping| mapping::first_rows(mapping, &bytes, &name, most, redaction)).transpose()?;
    let rows = rows.unwrap_or_default();
    let summary = how.read(&bytes, &name, redaction)?.loss.to_string();
    Ok(Tried { rows, summary })
}

fn without_mark(start: &[u8]) -> &[u8] {
    start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start)
}

/// The first bytes of an input, and what they are recognised as: every later question asks this.
struct Beginning {
    bytes: Vec<u8>,
    formats: Vec<&'static BuiltinFormat>,
    is_own: bool,
}

impl Beginning {
    fn of(bytes: Vec<u8>) -> Beginning {
        Beginning { formats: builtin::detect(&bytes), is_own: is_own_format(&bytes), bytes }
    }

    /// That of a journal, which is read as a trace.
    fn of_journal(bytes: &[u8], name: &str) -> Result<Beginning, Failure> {
        let lines = trace::of_journal(bytes).map_err(|why| unusable_journal(name, why))?;
        Ok(Beginning { formats: Vec::new(), is_own: true, bytes: lines.into_bytes() })
    }

    /// Whether more bytes may tell the format: no mapping has recognised these.
    fn is_undecided(&self) -> bool {
        let is_json = self.bytes.starts_with(b"{") || self.bytes.starts_with(b"[");
        is_json && !self.is_own && self.formats.iter().all(|format| format.text().is_none())
    }
}

fn opened(path: &str, name: &str) -> Result<(Beginning, Box<dyn Read + Send>), Failure> {
    let unreadable = |error: std::io::Error| files::unreadable(name, &error);
    let mut source = decode(files::open(path)?).map_err(unreadable)?;
    let mut bytes = Vec::new();
    source.by_ref().take(SNIFFED).read_to_end(&mut bytes).map_err(unreadable)?;
    if is_journal(&bytes) {
        let whole = whole_of(name, Cursor::new(bytes).chain(source))?;
        return Ok((Beginning::of_journal(&whole, name)?, Box::new(std::io::empty())));
    }
    let is_cut = bytes.len() as u64 == SNIFFED;
    let mut start = Beginning::of(bytes);
    if is_cut && start.is_undecided() {
        source.by_ref().take(SNIFFED_MAX - SNIFFED).read_to_end(&mut start.bytes).map_err(unreadable)?;
        start = Beginning::of(start.bytes);
    }
    input_kind::refuse_archive(name, &start.bytes)?;
    input_kind::refuse_encoding(name, &start.bytes)?;
    Ok((start, source))
}

/// The bytes of a file, if it is a journal of the dispatch protocol. Standard input is read once, as a trace.
///
/// # Errors
/// A path that cannot be read, more than 1 GiB.
pub fn journal(path: &str) -> Result<Option<Vec<u8>>, Failure> {
    if path == files::STDIN {
        return Ok(None);
    }
    let name = files::display_name(path);
    let unreadable = |error: std::io::Error| files::unreadable(&name, &error);
    let mut source = decode(files::open(path)?).map_err(unreadable)?;
    let mut start = Vec::new();
    source.by_ref().take(SNIFFED).read_to_end(&mut start).map_err(unreadable)?;
    match is_journal(&start) {
        true => whole_of(&name, Cursor::new(start).chain(source)).map(Some),
        false => Ok(None),
    }
}

/// What persons have said of the calls of inputs that are journals: a line for each call that is wanted, by its reference.
///
/// # Errors
/// A path that cannot be read; a damaged journal.
pub fn resolved(
    paths: &[String],
    redaction: &RedactionRules,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Vec<String>, Failure> {
    let mut lines = Vec::new();
    for path in paths.iter().filter(|path| files::size(path).is_some()) {
        let Some(bytes) = journal(path)? else { continue };
        let all = trace::resolved(&bytes).map_err(|why| unusable_journal(&files::display_name(path), why))?;
        lines.extend(all.iter().filter(|of| is_wanted(&of.reference)).map(|of| {
            let (reference, by) = (redaction.text(&of.reference), redaction.text(&of.said.by));
            format!("resolved: {reference} as `{}`, by {by}", of.said.effect().as_str())
        }));
    }
    Ok(lines)
}

/// The first of some things, and how many more there are.
pub fn first_of(mut all: impl Iterator<Item = String>) -> String {
    let mut shown: Vec<String> = all.by_ref().take(NAMED).collect();
    match all.count() {
        0 => {}
        more => shown.push(format!("{more} more")),
    }
    shown.join(", ")
}

/// Why a journal cannot be read.
pub fn unusable_journal(name: &str, why: Unusable) -> Failure {
    match why {
        Unusable::Damaged { line, what } => Failure::new(format!("{name}:{line}: {what}"))
            .help("a journal is never changed by hand; move it away after somebody has looked into its open calls"),
        Unusable::Open { by, calls } => {
            let shown = first_of(calls.iter().map(|OpenCall { id, tool }| format!("`{id}` ({tool})")));
            let Decider { playbook, fingerprint, engine, shadow } = *by;
            let short = fingerprint.get(..12).unwrap_or(&fingerprint);
            let said = format!(
                "`{name}` has open calls or transactions that were begun under another playbook, engine or flag: {shown}"
            );
            let how = if shadow { " and `--shadow`" } else { " without `--shadow`" };
            Failure::new(said).help(format!(
                "serve it with the playbook `{playbook}` ({short}){how} and version {engine} until they have ended, or move \
                 the journal away after somebody has looked into them"
            ))
        }
    }
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

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Failure {
        match error {
            ReadError::Unreadable(name, error) => files::unreadable(&name, &error),
            ReadError::Invalid(report) => {
                let is_foreign = report.diagnostics.iter().any(|said| said.id == FOREIGN_LINE);
                let next = is_foreign.then(|| input_kind::drafting(&report.source.name));
                let failure = Failure::from(*report);
                match next {
                    Some(next) => failure.next(next),
                    None => failure,
                }
            }
            ReadError::Empty(name) => empty(&name).next("playproof schema trace"),
        }
    }
}

/// The failure of an empty input.
pub fn empty(name: &str) -> Failure {
    Failure::source(name, "empty_input", "it is empty").help("the file may be incomplete")
}
