//! What a file seems to be, so that one that stands in the place of another is told in one line. Reads no files; what
//! is wrong inside a file of the right kind is its parser's to say.

use super::exit::Failure;
use super::files::STDIN_NAME;
use playproof_formats::shell::Command;
use playproof_trace::import;
use playproof_trace::read::looks_like_a_trace;

/// The kinds of files that a command line names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Verdicts, rules, compensations.
    Playbook,
    /// A scenario.
    Fixture,
    /// How foreign JSON becomes a trace.
    Mapping,
    /// What is known of tools.
    ToolFacts,
    /// `playproof.yaml`.
    Project,
    /// Accepted survivors of `mutate`.
    Mutants,
    /// A change of playbook that waits for review.
    Proposal,
    /// One accepted change.
    History,
    /// A call that was handled wrong.
    Feedback,
    /// The approved rows.
    Lock,
    /// What was accepted of a fixture.
    Golden,
    /// Recorded calls in our own format.
    Trace,
    /// Recorded calls in a foreign format that is recognised.
    Recording,
}

impl Kind {
    /// In words, with its article.
    const fn words(self) -> &'static str {
        match self {
            Kind::Playbook => "a playbook",
            Kind::Fixture => "a fixture",
            Kind::Mapping => "a mapping",
            Kind::ToolFacts => "a tool facts file",
            Kind::Project => "a project file",
            Kind::Mutants => "a list of accepted mutants",
            Kind::Proposal => "a proposal",
            Kind::History => "a record of the history",
            Kind::Feedback => "a feedback",
            Kind::Lock => "the lock of approved rows",
            Kind::Golden => "a golden",
            Kind::Trace => "a trace",
            Kind::Recording => "a recording of calls",
        }
    }

    /// The command that takes such a file.
    fn command(self, path: &str) -> Command {
        let path = if path == STDIN_NAME { "FILE" } else { path };
        match self {
            Kind::Playbook => Command::new("playproof lint").path(path),
            Kind::Fixture | Kind::Trace | Kind::Recording => Command::new("playproof replay").path(path),
            Kind::Mapping => Command::new("playproof replay RECORDING").flag("--map", path),
            Kind::ToolFacts => Command::new("playproof replay TRACE").flag("--tools", path),
            Kind::Project | Kind::Golden => "playproof check".into(),
            Kind::Mutants => "playproof mutate".into(),
            Kind::Proposal => "playproof propose check".into(),
            Kind::History => "playproof history".into(),
            Kind::Feedback => "playproof feedback list".into(),
            Kind::Lock => "playproof accept --reason '...'".into(),
        }
    }
}

/// What a file that begins with `start` seems to be; none where nothing tells.
pub fn of(start: &[u8]) -> Option<Kind> {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    match start.trim_ascii_start().first()? {
        b'{' | b'[' if import::detect(start).is_some() => Some(Kind::Recording),
        b'{' | b'[' => looks_like_a_trace(start).then_some(Kind::Trace),
        _ => of_yaml(&String::from_utf8_lossy(start)),
    }
}

fn of_yaml(text: &str) -> Option<Kind> {
    let golden = text.starts_with("---\n") && text.contains("\ninfo:") && text.contains("format: golden/");
    if golden {
        return Some(Kind::Golden);
    }
    // Behind prose it is an example in a document, not the format of the file.
    let format = text.lines().take_while(|line| may_be_yaml(line)).find_map(|line| line.strip_prefix("format:"))?;
    match format.trim().trim_matches(['"', '\'']).split('/').next()? {
        "playbook" => Some(Kind::Playbook),
        "fixture" => Some(Kind::Fixture),
        "mapping" => Some(Kind::Mapping),
        "tools" => Some(Kind::ToolFacts),
        "project" => Some(Kind::Project),
        "mutants" => Some(Kind::Mutants),
        "proposal" => Some(Kind::Proposal),
        "history" => Some(Kind::History),
        "feedback" => Some(Kind::Feedback),
        "lock" => Some(Kind::Lock),
        _ => None,
    }
}

fn may_be_yaml(line: &str) -> bool {
    let key = |line: &str| line.split_once(':').is_some_and(|(key, _)| !key.trim_end().contains(' '));
    line.trim().is_empty() || line.starts_with(['#', ' ', '-', '%']) || key(line)
}

/// Refuses a file that begins with `start` and seems to be something else than `wanted`.
///
/// # Errors
/// What it seems to be, and which command takes it.
pub fn expect(wanted: Kind, path: &str, start: &[u8]) -> Result<(), Failure> {
    let is_fine = |found: Kind| {
        found == wanted || matches!((wanted, found), (Kind::Trace, Kind::Recording) | (Kind::Recording, Kind::Trace))
    };
    match of(start).filter(|found| !is_fine(*found)) {
        None => Ok(()),
        Some(found) => {
            let said = format!("`{path}` is {}, and {} is wanted here", found.words(), wanted.words());
            Err(Failure::said(said).next(found.command(path)))
        }
    }
}

/// Refuses text of another encoding.
///
/// # Errors
/// What it is, and the command that converts it.
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
        .help("no byte of it is lost by converting it")
        .next(convert.into_file(&format!("{name}.utf8"))))
}

/// Refuses an archive: which of its files are meant is not for us to say.
///
/// # Errors
/// It is one.
pub fn refuse_archive(path: &str, start: &[u8]) -> Result<(), Failure> {
    match start.get(257..262) == Some(b"ustar") {
        false => Ok(()),
        true => Err(Failure::source(path, "archive", "it is a tar archive, and a file is wanted")
            .help("unpack it, and name the files in it")
            .next(Command::new("tar -tf").path(if path == STDIN_NAME { "FILE.tar" } else { path }))),
    }
}

/// Refuses what is no line of JSON for a reason that its beginning shows: one document over many lines.
///
/// # Errors
/// What it is, and the command that converts it.
pub fn refuse_unreadable(path: &str, start: &[u8], is_mapped: bool) -> Result<(), Failure> {
    if is_mapped || import::detect(start).is_some() || !is_over_many_lines(start) {
        return Ok(());
    }
    let said = "this is one JSON document over many lines; a trace has an object a line";
    let failure = Failure::source(path, "many_lines", said).help(
        "a mapping (`--map`) reads it as it is: its `records` says where the rows lie; rows of our own fields are \
         written in one line each by `jq -c .` (of a list: `jq -c '.[]'`)",
    );
    Err(match path == STDIN_NAME {
        true => failure.next("playproof schema mapping"), // what was piped has no name that a command could take
        false => failure.next(Command::new("playproof init").flag("--from", path)),
    })
}

/// The name of an encoding of two or four bytes, as `iconv` knows it.
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

/// Whether the first line only begins a document, and is no broken line before those of a trace.
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

    #[test]
    fn files_are_known_by_their_format_line_and_traces_by_their_first_line() {
        for (start, kind) in [
            ("# ours\nformat: playbook/1\n", Some(Kind::Playbook)),
            ("format: 'fixture/1'\n", Some(Kind::Fixture)),
            ("format: mapping/1\n", Some(Kind::Mapping)),
            ("format: tools/1", Some(Kind::ToolFacts)),
            ("format: proposal/1", Some(Kind::Proposal)),
            ("format: history/1", Some(Kind::History)),
            ("format: feedback/1", Some(Kind::Feedback)),
            ("{\"tool\":\"a\"}\n", Some(Kind::Trace)),
            ("[{\"role\":\"user\",\"content\":\"\"}]", Some(Kind::Recording)),
            ("{\"event\":1}\n", None),
            ("verdicts: {}\n  format: playbook/1\n", None),
            ("", None),
        ] {
            assert_eq!(of(start.as_bytes()), kind, "{start}");
        }
    }

    #[test]
    fn a_file_of_another_kind_is_told_in_one_line_with_the_command_that_takes_it() {
        let refused = |wanted, start: &str| expect(wanted, "x", start.as_bytes()).is_err();
        assert!(refused(Kind::Playbook, "format: fixture/1"));
        assert!(refused(Kind::Trace, "format: playbook/1"));
        assert!(!refused(Kind::Playbook, "format: playbook/1"));
        assert!(!refused(Kind::Playbook, "name: no format at all"));
        assert!(!refused(Kind::Trace, "[{\"role\":\"user\",\"content\":\"\"}]"));
    }

    #[test]
    fn other_encodings_and_documents_of_many_lines_are_told() {
        let refused = |start: &[u8], is_mapped| refuse_unreadable("x.json", start, is_mapped).is_err();
        let encodings: [&[u8]; 4] = [b"\xff\xfe{\0", b"{\0\"\0", b"\xff\xfe\0\0{", b"{\0\0\0\""];
        assert_eq!(encodings.map(encoding), ["UTF-16", "UTF-16LE", "UTF-32", "UTF-32LE"].map(Some));
        assert!(refused(b"[\n  {\"tool\": \"a\"}\n]", false) && refused(b"{\n  \"tool\": \"a\"\n}", false));
        assert!(!refused(b"[\n  {\"tool\": \"a\"}\n]", true), "a mapping reads it");
        assert!(!refused(b"{\"tool\":\"a\"}\n", false));
        for broken in ["[", "{"] {
            let text = format!("{broken}\n{{\"tool\":\"a\"}}\n{{\"tool\":\"b\"}}\n");
            assert!(!refused(text.as_bytes(), false), "a broken line of a trace: its parser tells it");
        }
    }

    #[test]
    fn a_document_of_many_lines_is_mapped_or_put_into_lines() {
        let next = |name: &str| match refuse_unreadable(name, b"[\n {\"tool\": 1}\n]", false) {
            Err(Failure::Reports { next: Some(next), .. }) => next.to_string(),
            _ => String::new(),
        };
        assert_eq!(next("x.json"), "playproof init --from x.json");
        assert_eq!(next(STDIN_NAME), "playproof schema mapping");
    }

    #[test]
    fn a_document_that_shows_a_playbook_is_none() {
        let playbook = "format: playbook/1\nname: x\n";
        assert_eq!(of(playbook.as_bytes()), Some(Kind::Playbook));
        assert_eq!(of(format!("# ours\n\nname: x\n{playbook}").as_bytes()), Some(Kind::Playbook));
        assert_eq!(of(format!("# Title\n\nThis is prose: see below.\n\n{playbook}").as_bytes()), None);
    }
}
