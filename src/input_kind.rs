//! Detects the kind of a file by its first bytes, and rejects the wrong kind in one line. Reads no files; the parsers
//! report errors inside a file of the right kind.

use std::sync::Arc;

use super::exit::Failure;
use super::files::{STDIN_NAME, encoding};
use playproof_formats::diagnostic::{Report, Source};
use playproof_formats::golden::merge_conflict;
use playproof_formats::shell::Command;
use playproof_intake::builtin;
use playproof_intake::import::{foreign_flag, is_own_format, looks_like_a_trace, without_own_lines};

/// The kinds of files that a command line names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// Verdicts, rules, compensations.
    Playbook,
    /// A scenario.
    Fixture,
    /// How foreign JSON becomes a trace.
    Mapping,
    /// Tool facts.
    ToolFacts,
    /// `playproof.yaml`.
    Project,
    /// Accepted survivors of `coverage --mutate`.
    Mutants,
    /// One accepted change.
    History,
    /// What should become of a recorded call.
    Kept,
    /// The approved rows.
    Lock,
    /// The accepted run of a fixture.
    Golden,
    /// Recorded calls in our own format.
    Trace,
    /// Recorded calls in a foreign format that is recognised.
    Recording,
}

impl InputKind {
    /// The kind in words, with its article.
    const fn words(self) -> &'static str {
        match self {
            InputKind::Playbook => "a playbook",
            InputKind::Fixture => "a fixture",
            InputKind::Mapping => "a mapping",
            InputKind::ToolFacts => "a tool facts file",
            InputKind::Project => "a project file",
            InputKind::Mutants => "a list of accepted mutants",
            InputKind::History => "a record of the history",
            InputKind::Kept => "a kept call",
            InputKind::Lock => "the lock of approved rows",
            InputKind::Golden => "a golden",
            InputKind::Trace => "a trace",
            InputKind::Recording => "a recording of calls",
        }
    }

    /// The command that takes such a file.
    fn command(self, path: &str) -> Command {
        let path = if path == STDIN_NAME { "FILE" } else { path };
        match self {
            InputKind::Playbook => Command::new("playproof lint").path(path),
            InputKind::Fixture | InputKind::Trace | InputKind::Recording => Command::new("playproof replay").path(path),
            InputKind::Mapping => Command::new("playproof replay RECORDING").flag("--map", path),
            InputKind::ToolFacts => Command::new("playproof replay TRACE").flag("--tools", path),
            InputKind::Project | InputKind::Golden => "playproof check".into(),
            InputKind::Mutants => "playproof coverage --mutate".into(),
            InputKind::History => "playproof history".into(),
            InputKind::Kept => "playproof check".into(),
            InputKind::Lock => "playproof accept --reason '...'".into(),
        }
    }
}

/// The kind of a file that begins with `start`, and whose format is recognised or not; none if unknown.
fn kind(start: &[u8], is_recognised: bool) -> Option<InputKind> {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    match start.trim_ascii_start().first()? {
        _ if is_recognised => Some(InputKind::Recording),
        b'{' | b'[' => looks_like_a_trace(start).then_some(InputKind::Trace),
        _ => of_yaml(&String::from_utf8_lossy(start)),
    }
}

fn of_yaml(text: &str) -> Option<InputKind> {
    let golden = text.starts_with("---\n") && text.contains("\ninfo:") && text.contains("format: golden/");
    if golden {
        return Some(InputKind::Golden);
    }
    // After prose it is an example in a document, not the format of the file.
    let format = text.lines().take_while(|line| may_be_yaml(line)).find_map(|line| line.strip_prefix("format:"))?;
    match format.trim().trim_matches(['"', '\'']).split('/').next()? {
        "playbook" => Some(InputKind::Playbook),
        "fixture" => Some(InputKind::Fixture),
        "mapping" => Some(InputKind::Mapping),
        "tools" => Some(InputKind::ToolFacts),
        "project" => Some(InputKind::Project),
        "mutants" => Some(InputKind::Mutants),
        "history" => Some(InputKind::History),
        "kept" => Some(InputKind::Kept),
        "lock" => Some(InputKind::Lock),
        _ => None,
    }
}

fn may_be_yaml(line: &str) -> bool {
    let key = |line: &str| line.split_once(':').is_some_and(|(key, _)| !key.trim_end().contains(' '));
    line.trim().is_empty() || line.starts_with(['#', ' ', '-', '%']) || key(line)
}

/// Rejects a file of another kind than `wanted`; `start` are its first bytes.
///
/// # Errors
/// Its kind, and the command that takes it.
pub fn expect(wanted: InputKind, path: &str, start: &[u8]) -> Result<(), Failure> {
    expect_recognised(wanted, path, start, !builtin::detect(start).is_empty())
}

/// The same of a file whose format is recognised or not.
///
/// # Errors
/// Its kind, and the command that takes it.
pub fn expect_recognised(wanted: InputKind, path: &str, start: &[u8], is_recognised: bool) -> Result<(), Failure> {
    let is_fine = |found: InputKind| {
        found == wanted
            || matches!(
                (wanted, found),
                (InputKind::Trace, InputKind::Recording) | (InputKind::Recording, InputKind::Trace)
            )
    };
    match kind(start, is_recognised).filter(|found| !is_fine(*found)) {
        None => Ok(()),
        Some(found) => {
            let said = format!("`{path}` is {}, and {} is wanted here", found.words(), wanted.words());
            Err(Failure::new(said).next(found.command(path)))
        }
    }
}

/// Rejects text in another encoding.
///
/// # Errors
/// The encoding, and the command that converts the file.
pub fn refuse_encoding(path: &str, start: &[u8]) -> Result<(), Failure> {
    let Some(encoding) = encoding(start) else { return Ok(()) };
    let file = if path == STDIN_NAME { "FILE.json" } else { path };
    let mut unpacked = [(".gz", "gzip -dc"), (".zst", "zstd -dc")].into_iter();
    let unpacked = unpacked.find_map(|(ending, unpack)| Some((file.strip_suffix(ending)?, unpack)));
    let iconv = Command::new("iconv").flag("-f", encoding).and("-t UTF-8");
    let (name, convert) = match unpacked {
        Some((name, unpack)) => (name, Command::new(unpack).path(file).then("|", &iconv)),
        None => (file, iconv.path(file)),
    };
    Err(Failure::source(path, "not_utf8", format!("this is {encoding} text, and UTF-8 is wanted"))
        .help("converting it loses nothing")
        .next(convert.into_file(&format!("{name}.utf8"))))
}

/// Rejects an archive: it may hold several files.
///
/// # Errors
/// It is an archive.
pub fn refuse_archive(path: &str, start: &[u8]) -> Result<(), Failure> {
    match start.get(257..262) == Some(b"ustar") {
        false => Ok(()),
        true => Err(Failure::source(path, "archive", "it is a tar archive, and a file is wanted")
            .help("unpack it, and name the files in it")
            .next(Command::new("tar -tf").path(if path == STDIN_NAME { "FILE.tar" } else { path }))),
    }
}

/// Refuses what would be read as a trace of our own, and has lines of another format.
///
/// # Errors
/// It has such lines among the first.
pub fn refuse_foreign(name: &str, start: &[u8]) -> Result<(), Failure> {
    let other = builtin::foreign(&without_own_lines(start)).into_iter().next();
    if let Some(other) = other.filter(|_| is_own_format(start)) {
        let said = format!("some of its lines are those of a trace, and others look like `{}`", other.name);
        let help = "put each format into a file of its own, and name both files";
        return Err(Failure::source(name, "several_formats", said).help(help).next("playproof formats"));
    }
    let said = match foreign_flag(start) {
        Some((line, field)) => {
            format!("line {line} says in `{field}` that its call failed; a trace has `status` for that")
        }
        None if is_of_untyped_rows(start) => {
            "its lines have a `tool`, as those of a trace, and fields that a trace does not have".to_owned()
        }
        None => return Ok(()),
    };
    let help = "a mapping says how they become calls and results; `type: tool_call` marks the lines of a trace";
    Err(Failure::source(name, "foreign_rows", said).help(help).next(drafting(name)))
}

/// Whether the first line could be one of a trace, but neither its `type` nor most fields of the first lines say so.
fn is_of_untyped_rows(start: &[u8]) -> bool {
    let first = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    looks_like_a_trace(start) && !is_own_format(start) && memchr::memmem::find(first, b"\"type\"").is_none()
}

/// Rejects one JSON document over many lines, which no format and no mapping reads.
///
/// # Errors
/// It is one; the command that converts it.
pub fn refuse_unreadable(path: &str, start: &[u8]) -> Result<(), Failure> {
    if !is_over_many_lines(start) {
        return Ok(());
    }
    let said = "this is one JSON document over many lines; a trace has one object a line";
    let failure = Failure::source(path, "many_lines", said).help(
        "a mapping (`--map`) reads it as it is: `records` is the path of the rows; if the rows have the fields of a trace, \
         `jq -c .` writes each in one line (`jq -c '.[]'` for a list)",
    );
    Err(failure.next(drafting(path)))
}

/// The command that drafts a mapping for a recording. Standard input has no name for it.
pub fn drafting(name: &str) -> Command {
    match name == STDIN_NAME {
        true => Command::new("playproof schema mapping"),
        false => Command::new("playproof init").flag("--from", name),
    }
}

/// Which recordings in YAML are read.
pub const YAML_RECORDINGS: &str = "of recordings in YAML, only VCR cassettes are read; write others as JSON Lines";

/// Refuses a list where a fixture is wanted: it may be a recording.
///
/// # Errors
/// It is a list.
pub fn refuse_list(path: &str, text: &str) -> Result<(), Failure> {
    let first = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with(['#', '%']) && *line != "---");
    match first.is_some_and(|line| line.starts_with("- ")) {
        false => Ok(()),
        true => Err(Failure::source(path, "not_a_fixture", "this is a list, and a fixture is a map")
            .help(YAML_RECORDINGS)
            .next("playproof schema fixture")),
    }
}

/// Refuses a text with git's conflict markers.
///
/// # Errors
/// The place of the first marker.
pub fn reject_conflict_markers(source: &Arc<Source>) -> Result<(), Report> {
    match merge_conflict(&source.text) {
        None => Ok(()),
        Some(said) => {
            let help = "keep the right side, or both, and remove git's conflict markers";
            Err(Report::one(Arc::clone(source), said.help(help)))
        }
    }
}

/// Whether the first line opens a document, and is not a broken line before the lines of a trace.
fn is_over_many_lines(start: &[u8]) -> bool {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    let mut lines = start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let (Some(b"{" | b"[" | b"[{"), Some(second)) = (lines.next(), lines.next()) else { return false };
    let closes = lines.next().is_some_and(|third| third.starts_with(b"]")); // a row of a document may look like a line
    closes || !looks_like_a_trace(second)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(start: &[u8]) -> Option<InputKind> {
        kind(start, !builtin::detect(start).is_empty())
    }

    #[test]
    fn files_are_known_by_their_format_line_and_traces_by_their_first_line() {
        for (start, kind) in [
            ("# ours\nformat: playbook/1\n", Some(InputKind::Playbook)),
            ("format: 'fixture/1'\n", Some(InputKind::Fixture)),
            ("format: mapping/1\n", Some(InputKind::Mapping)),
            ("format: tools/1", Some(InputKind::ToolFacts)),
            ("format: history/1", Some(InputKind::History)),
            ("format: kept/1", Some(InputKind::Kept)),
            ("{\"tool\":\"a\"}\n", Some(InputKind::Trace)),
            ("[{\"role\":\"user\",\"content\":\"\"}]", Some(InputKind::Recording)),
            ("{\"event\":1}\n", None),
            ("interactions:\n- request:\n    method: GET\n", Some(InputKind::Recording)),
            ("verdicts: {}\n  format: playbook/1\n", None),
            ("", None),
        ] {
            assert_eq!(detect(start.as_bytes()), kind, "{start}");
        }
    }

    #[test]
    fn a_file_of_another_kind_is_told_in_one_line_with_the_command_that_takes_it() {
        let refused = |wanted, start: &str| expect(wanted, "x", start.as_bytes()).is_err();
        assert!(refused(InputKind::Playbook, "format: fixture/1"));
        assert!(refused(InputKind::Trace, "format: playbook/1"));
        assert!(!refused(InputKind::Playbook, "format: playbook/1"));
        assert!(!refused(InputKind::Playbook, "name: no format at all"));
        assert!(!refused(InputKind::Trace, "[{\"role\":\"user\",\"content\":\"\"}]"));
    }

    #[test]
    fn other_encodings_and_documents_of_many_lines_are_told() {
        let refused = |start: &[u8]| refuse_unreadable("x.json", start).is_err();
        let encodings: [&[u8]; 4] = [b"\xff\xfe{\0", b"{\0\"\0", b"\xff\xfe\0\0{", b"{\0\0\0\""];
        assert_eq!(encodings.map(encoding), ["UTF-16", "UTF-16LE", "UTF-32", "UTF-32LE"].map(Some));
        assert!(refused(b"[\n  {\"tool\": \"a\"}\n]") && refused(b"{\n  \"tool\": \"a\"\n}"));
        assert!(!refused(b"{\"tool\":\"a\"}\n"));
        for broken in ["[", "{"] {
            let text = format!("{broken}\n{{\"tool\":\"a\"}}\n{{\"tool\":\"b\"}}\n");
            assert!(!refused(text.as_bytes()), "a broken line of a trace: its parser tells it");
        }
    }

    #[test]
    fn a_document_of_many_lines_is_mapped_or_put_into_lines() {
        let next = |name: &str| match refuse_unreadable(name, b"[\n {\"tool\": 1}\n]") {
            Err(Failure::Reports { next: Some(next), .. }) => next.to_string(),
            _ => String::new(),
        };
        assert_eq!(next("x.json"), "playproof init --from x.json");
        assert_eq!(next(STDIN_NAME), "playproof schema mapping");
    }

    #[test]
    fn a_document_that_shows_a_playbook_is_none() {
        let playbook = "format: playbook/1\nname: x\n";
        assert_eq!(detect(playbook.as_bytes()), Some(InputKind::Playbook));
        assert_eq!(detect(format!("# ours\n\nname: x\n{playbook}").as_bytes()), Some(InputKind::Playbook));
        assert_eq!(detect(format!("# Title\n\nThis is prose: see below.\n\n{playbook}").as_bytes()), None);
    }
}
