//! The file of a golden: insta's snapshot format, with our own fields under `info`. Does not read the body, and keeps
//! fields that insta adds.

use std::fmt::Write;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Report, Source};
use crate::yaml;
use crate::yaml::{Cursor, NodeKind, scalar};

/// A golden as it is stored on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoldenFile {
    /// The fixture, by name.
    pub fixture: String,
    /// The playbook, by name.
    pub playbook: String,
    /// Why dangerous changes were accepted, oldest first.
    pub reasons: Vec<Reason>,
    /// Insta's `source`, kept unchanged.
    pub source: Option<String>,
    /// The body; its places are places in the file.
    pub body: Arc<Source>,
}

/// Why a dangerous change was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The class of the divergence, in words.
    pub class: String,
    /// The reason, in the words of the person who accepted it.
    pub why: String,
}

impl GoldenFile {
    /// A golden that is not accepted yet.
    pub fn new(fixture: &str, playbook: &str, body: &str) -> GoldenFile {
        GoldenFile {
            fixture: fixture.to_owned(),
            playbook: playbook.to_owned(),
            reasons: Vec::new(),
            source: None,
            body: Source::whole("", body),
        }
    }

    /// Reads the file.
    ///
    /// # Errors
    /// The file is empty, has a merge conflict, or is not in insta's format.
    pub fn parse(source: &Arc<Source>) -> Result<GoldenFile, Report> {
        let refuse = |said: Diagnostic| Err(Report::one(Arc::clone(source), said));
        if source.text.trim().is_empty() {
            return refuse(Diagnostic::error("empty_file", "the golden is empty").help(RESTORE));
        }
        if let Some(said) = super::lock::merge_conflict(&source.text) {
            return refuse(said.help("take either side, then run `playproof check`"));
        }
        let Some((header, body)) = parts(&source.text) else {
            let said = Diagnostic::error("not_a_golden", "this file is not in insta's format")
                .at(0..source.text.lines().next().map_or(0, str::len), "expected a header between two `---` lines");
            return refuse(said.help(RESTORE));
        };
        let mut file = yaml::parse(window(source, header), read_header)?;
        file.body = window(source, body);
        Ok(file)
    }

    /// The same golden with a new body.
    #[must_use]
    pub fn with_body(&self, body: &str) -> GoldenFile {
        GoldenFile { body: Source::whole("", body), ..self.clone() }
    }

    /// The file's text, as insta would write it.
    pub fn render(&self) -> String {
        let mut text = String::from("---\n");
        // Writing to a String cannot fail.
        if let Some(source) = &self.source {
            let _ = writeln!(text, "source: {}", scalar(source));
        }
        let _ = writeln!(text, "info:\n  fixture: {}\n  playbook: {}", scalar(&self.fixture), scalar(&self.playbook));
        if !self.reasons.is_empty() {
            text += "  reasons:\n";
        }
        for reason in &self.reasons {
            let _ = writeln!(text, "    - class: {}\n      why: {}", scalar(&reason.class), scalar(&reason.why));
        }
        text += "---\n";
        text + self.body.text.trim_end() + "\n"
    }
}

const RESTORE: &str = "restore it from git, or delete it and run `playproof check`";

/// The places of header and body: the text between the first two `---` lines, and the text after them.
fn parts(text: &str) -> Option<(std::ops::Range<usize>, std::ops::Range<usize>)> {
    let mut at = 0;
    let mut header = None;
    for line in text.split_inclusive('\n') {
        let next = at + line.len();
        let is_bar = line.trim_end() == "---";
        match header {
            None if is_bar => header = Some(next),
            None => return None,
            Some(start) if is_bar => return Some((start..at, next..text.len())),
            Some(_) => {}
        }
        at = next;
    }
    None
}

/// A part of the source with its line numbers and Unix line ends.
fn window(source: &Source, part: std::ops::Range<usize>) -> Arc<Source> {
    let (first_line, _) = source.place(part.start);
    let text = source.text.get(part).unwrap_or_default().replace("\r\n", "\n");
    Source::lines(source.name.clone(), text, first_line)
}

fn read_header(root: Cursor<'_>) -> Option<GoldenFile> {
    let mut file = GoldenFile::new("", "", "");
    for (key, value) in root.entries("the header of a golden")? {
        match key.text {
            "source" => file.source = Some(text(value)?),
            "info" => read_info(value, &mut file)?,
            _ => {} // a field of insta
        }
    }
    Some(file)
}

fn read_info(info: Cursor<'_>, file: &mut GoldenFile) -> Option<()> {
    for (key, value) in info.entries("`info`")? {
        match key.text {
            "fixture" => file.fixture = text(value)?,
            "playbook" => file.playbook = text(value)?,
            "reasons" => file.reasons = value.list()?.map(read_reason).collect::<Option<_>>()?,
            _ => {}
        }
    }
    Some(())
}

fn read_reason(value: Cursor<'_>) -> Option<Reason> {
    let record = value.record("a reason", &["class", "why"])?;
    let field = |name: &str| record.required(name).and_then(text);
    Some(Reason { class: field("class")?, why: field("why")? })
}

fn text(value: Cursor<'_>) -> Option<String> {
    match &value.node().kind {
        NodeKind::Scalar { text, .. } => Some(text.to_string()),
        _ => value.string().map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = "refund: { outcome: succeeded }\nledger: {}\n";

    fn parse(text: &str) -> Result<GoldenFile, Report> {
        GoldenFile::parse(&Source::whole("goldens/standard/refund.snap", text))
    }

    fn refused(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn a_rendered_text_reads_back_and_renders_to_the_same_bytes() {
        let mut file = GoldenFile::new("refund", "study/old", BODY);
        file.source = Some("tests/goldens.rs".into());
        let why = "the upstream \"forgets\":\nsee incident 4 \u{1b}";
        file.reasons.push(Reason { class: "effect changed".into(), why: why.into() });
        let text = file.render();
        let again = parse(&text).unwrap();
        assert_eq!(again.render(), text);
        assert_eq!((&*again.fixture, &*again.playbook, &*again.reasons[0].why), ("refund", "study/old", why));
        assert_eq!(again.source.as_deref(), Some("tests/goldens.rs"));
    }

    #[test]
    fn a_file_with_insta_s_own_fields_is_read() {
        let text = format!(
            "---\nsource: tests/goldens.rs\nassertion_line: 70\nexpression: text\ninfo:\n  fixture: refund\n  \
             playbook: standard\n  other: [1]\nsnapshot_kind: text\n---\n{BODY}"
        );
        let file = parse(&text).unwrap();
        assert_eq!(file.fixture, "refund");
        assert_eq!(file.body.text, BODY);
    }

    #[test]
    fn the_body_keeps_its_line_numbers_and_loses_carriage_returns() {
        let file = parse("---\r\ninfo:\r\n  fixture: a\r\n---\r\nx: 1\r\ny: 2\r\n").unwrap();
        assert_eq!(file.body.text, "x: 1\ny: 2\n");
        assert_eq!(file.body.place(5), (6, 1));
    }

    #[test]
    fn an_empty_file_and_other_formats_are_refused() {
        assert!(refused(" \n").ends_with("the golden is empty"));
        assert_eq!(refused("hello\n"), "goldens/standard/refund.snap:1:1: this file is not in insta's format");
        assert_eq!(
            refused("---\ninfo: {}\nno end\n"),
            "goldens/standard/refund.snap:1:1: this file is not in insta's format"
        );
    }

    #[test]
    fn a_merge_conflict_is_reported_at_its_place() {
        let text = "---\ninfo:\n  fixture: a\n---\nx: 1\n<<<<<<< HEAD\ny: 2\n=======\ny: 3\n>>>>>>> other\n";
        assert_eq!(refused(text), "goldens/standard/refund.snap:6:1: git could not merge this file");
    }

    #[test]
    fn a_broken_header_is_refused_with_its_line() {
        let said = refused("---\ninfo:\n  fixture: [a]\n---\nx: 1\n");
        assert!(said.starts_with("goldens/standard/refund.snap:3:12: expected a text"), "{said}");
    }
}
