//! From text to a [`Node`] tree, within limits: size, depth, number of values, aliases, one document.
//! Knows no format; the cursor checks types.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use serde_yaml::granit_parser::{self, ErrorKind, Event, Parser, ScalarStyle, ScanError};

use super::cursor::Cursor;
use super::node::{MapEntry, Node, NodeKind, Scalar};
use super::problems::Problems;
use super::scalar;
use crate::diagnostic::{Diagnostic, Report, Source};

/// The largest file in bytes; files of people are far smaller.
pub const MAX_BYTES: usize = 4 << 20;

/// The longest key in characters, as written. Tool names are keys, and agents may choose any name.
pub const MAX_KEY: usize = 64 << 10;

/// The deepest nesting, aliases followed.
const MAX_DEPTH: usize = 64;

/// The most values of one file, aliases followed: the limit for alias bombs.
const MAX_VALUES: usize = 200_000;

/// Reads `source` and passes its root to `lower`, which returns `None` after it has reported an error.
///
/// # Errors
/// All errors of the text and of `lower`, in the order of their places.
pub fn parse<T>(source: Arc<Source>, lower: impl FnOnce(Cursor<'_>) -> Option<T>) -> Result<T, Report> {
    let problems = Problems::new(source);
    let value = read(&problems).and_then(|node| lower(Cursor::new(&node, &problems)));
    problems.finish(value)
}

/// The tree of `source`, for edits of its text.
///
/// # Errors
/// As [`parse`].
pub fn tree(source: &Arc<Source>) -> Result<Node, Report> {
    parse(Arc::clone(source), |root| Some(root.node().clone()))
}

/// The tree of a recording that a program wrote: tags are passed over, and it may be long.
///
/// # Errors
/// As [`parse`], but for tags.
pub fn recording(source: &Arc<Source>) -> Result<Node, Report> {
    let problems = Problems::new(Arc::clone(source));
    let node = read_as(Writer::Program, &problems);
    problems.finish(node)
}

/// Who writes a file: it decides what is refused.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writer {
    Person,
    Program,
}

impl Writer {
    const fn max_bytes(self) -> usize {
        match self {
            Writer::Person => MAX_BYTES,
            Writer::Program => 16 * MAX_BYTES,
        }
    }

    const fn max_values(self) -> usize {
        match self {
            Writer::Person => MAX_VALUES,
            Writer::Program => 16 * MAX_VALUES,
        }
    }
}

/// The tree of the source; none if it cannot be parsed. Duplicate keys are reported and left out.
fn read(problems: &Problems) -> Option<Node> {
    read_as(Writer::Person, problems)
}

fn read_as(writer: Writer, problems: &Problems) -> Option<Node> {
    let source = Arc::clone(problems.source());
    if source.text.len() > writer.max_bytes() {
        let message = format!("the file has {} bytes; at most {} are read", source.text.len(), writer.max_bytes());
        problems.push(Diagnostic::error("too_large", message).at(0..0, ""));
        return None;
    }
    let options = granit_parser::options! { flow_nesting_limit: MAX_DEPTH, block_nesting_limit: MAX_DEPTH, simple_key_max_lookahead: MAX_KEY };
    let mut reader = Reader::new(&source.text, writer, problems);
    for event in Parser::new_from_str_with_options(&source.text, options) {
        let went_on = match event {
            Ok((event, span)) => reader.on_event(event, &span),
            Err(error) => Err(syntax_error(&error, &source.text)),
        };
        if let Err(diagnostic) = went_on {
            problems.push(diagnostic);
            return None;
        }
    }
    if reader.root.is_none() {
        problems.push(Diagnostic::error("empty_file", "the file is empty").at(0..0, ""));
    }
    reader.root.map(|built| built.node)
}

/// A finished value with its size, aliases followed.
#[derive(Clone)]
struct Built {
    node: Node,
    values: usize,
    depth: usize,
}

/// A list or map that is not finished.
struct Open {
    start: usize,
    end: usize,
    anchor: usize,
    values: usize,
    depth: usize,
    body: OpenBody,
}

enum OpenBody {
    List(Vec<Node>),
    Map { entries: Vec<MapEntry>, seen: BTreeMap<Box<str>, Range<usize>>, key: Option<MapKey>, merged: Vec<MapEntry> },
}

/// A key that waits for its value.
struct MapKey {
    text: Box<str>,
    span: Range<usize>,
    merge: bool,
}

struct Reader<'a> {
    text: &'a str,
    writer: Writer,
    problems: &'a Problems,
    open: Vec<Open>,
    anchors: BTreeMap<usize, Built>,
    values: usize,
    documents: usize,
    root: Option<Built>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, writer: Writer, problems: &'a Problems) -> Reader<'a> {
        Reader {
            text,
            writer,
            problems,
            open: Vec::new(),
            anchors: BTreeMap::new(),
            values: 0,
            documents: 0,
            root: None,
        }
    }

    fn on_event(&mut self, event: Event<'_>, at: &granit_parser::Span) -> Result<(), Diagnostic> {
        let span = at.byte_range().unwrap_or(0..0);
        match event {
            Event::DocumentStart(..) => self.on_document(span),
            Event::Scalar(_, _, _, Some(_))
            | Event::SequenceStart(_, _, Some(_))
            | Event::MappingStart(_, _, Some(_))
                if self.writer == Writer::Person =>
            {
                let tag = at.tag_span().and_then(|tag| tag.byte_range()).unwrap_or(span);
                Err(Diagnostic::error("tag", "YAML tags are not supported").at(tag, "remove this tag"))
            }
            Event::Scalar(text, style, anchor, _) => self.on_scalar(&text, style, anchor, span),
            Event::SequenceStart(_, anchor, _) => self.on_open(span, anchor, OpenBody::List(Vec::new())),
            Event::MappingStart(_, anchor, _) => {
                let body = OpenBody::Map { entries: Vec::new(), seen: BTreeMap::new(), key: None, merged: Vec::new() };
                self.on_open(span, anchor, body)
            }
            Event::SequenceEnd | Event::MappingEnd => self.on_close(span),
            Event::Alias(anchor) => self.on_alias(anchor, span),
            _ => Ok(()),
        }
    }

    fn on_document(&mut self, span: Range<usize>) -> Result<(), Diagnostic> {
        self.documents += 1;
        if self.documents == 1 {
            return Ok(());
        }
        Err(Diagnostic::error("several_documents", "a second document begins here; a file has only one")
            .at(span, "remove this document"))
    }

    fn on_scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        span: Range<usize>,
    ) -> Result<(), Diagnostic> {
        let plain = style == ScalarStyle::Plain;
        if let Some(Open { body: OpenBody::Map { key: key @ None, .. }, .. }) = self.open.last_mut() {
            *key = Some(MapKey { text: text.into(), merge: plain && text == "<<", span });
            return Ok(());
        }
        let value = if plain { scalar::resolve(text) } else { Scalar::Text };
        let node = Node { span, kind: NodeKind::Scalar { text: text.into(), value } };
        self.place(Built { node, values: 1, depth: 0 }, anchor)
    }

    fn on_open(&mut self, span: Range<usize>, anchor: usize, body: OpenBody) -> Result<(), Diagnostic> {
        self.refuse_as_key(&span)?;
        if self.open.len() == MAX_DEPTH {
            return Err(too_deep(span));
        }
        let end = span.end;
        self.open.push(Open { start: span.start, end, anchor, values: 1, depth: 0, body });
        Ok(())
    }

    fn on_close(&mut self, span: Range<usize>) -> Result<(), Diagnostic> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        // The parser ends a block where the next value begins; its text ends with its last value.
        let closed_here = self.text.get(span.clone()).is_some_and(|text| text == "]" || text == "}");
        let end = if closed_here { span.end } else { open.end };
        let kind = match open.body {
            OpenBody::List(items) => NodeKind::List(items),
            OpenBody::Map { mut entries, mut seen, merged, .. } => {
                for entry in merged {
                    if seen.insert(entry.key.clone(), entry.key_span.clone()).is_none() {
                        entries.push(entry);
                    }
                }
                NodeKind::Map(entries)
            }
        };
        let node = Node { span: open.start..end.max(open.start), kind };
        self.place(Built { node, values: open.values, depth: open.depth + 1 }, open.anchor)
    }

    fn on_alias(&mut self, anchor: usize, span: Range<usize>) -> Result<(), Diagnostic> {
        self.refuse_as_key(&span)?;
        let Some(built) = self.anchors.get(&anchor) else {
            return Err(
                Diagnostic::error("endless_alias", "this alias refers to a value that contains it").at(span, "")
            );
        };
        if self.values + built.values > self.writer.max_values() {
            return Err(too_many(span, self.writer));
        }
        if self.open.len() + built.depth > MAX_DEPTH {
            return Err(too_deep(span));
        }
        let built = built.clone();
        self.values += built.values - 1; // `place` counts one
        self.place(built, 0)
    }

    /// Refuses a list, map or alias as a key.
    fn refuse_as_key(&self, span: &Range<usize>) -> Result<(), Diagnostic> {
        match self.open.last() {
            Some(Open { body: OpenBody::Map { key: None, .. }, .. }) => {
                Err(Diagnostic::error("odd_key", "a key must be a plain text, not a list, map or alias")
                    .at(span.clone(), ""))
            }
            _ => Ok(()),
        }
    }

    /// Puts a finished value where it belongs.
    fn place(&mut self, built: Built, anchor: usize) -> Result<(), Diagnostic> {
        self.values += 1; // the values inside a list or map were counted as they came
        if self.values > self.writer.max_values() {
            return Err(too_many(built.node.span, self.writer));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, built.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(built);
            return Ok(());
        };
        open.end = open.end.max(built.node.span.end);
        open.values += built.values;
        open.depth = open.depth.max(built.depth);
        match &mut open.body {
            OpenBody::List(items) => items.push(built.node),
            OpenBody::Map { entries, seen, key, merged } => {
                let Some(key) = key.take() else { return Ok(()) };
                if key.merge {
                    return merge(built.node, merged);
                }
                if let Some(first) = seen.get(&key.text) {
                    self.problems.push(duplicate(&key, first.clone()));
                    return Ok(());
                }
                seen.insert(key.text.clone(), key.span.clone());
                entries.push(MapEntry { key: key.text, key_span: key.span, value: built.node });
            }
        }
        Ok(())
    }
}

/// `<<: *base` or `<<: [*one, *other]`.
fn merge(node: Node, merged: &mut Vec<MapEntry>) -> Result<(), Diagnostic> {
    let odd = |span| Err(Diagnostic::error("odd_merge", "only maps can be merged with `<<`").at(span, "not a map"));
    match node.kind {
        NodeKind::Map(entries) => merged.extend(entries),
        NodeKind::List(items) => {
            for item in items {
                match item.kind {
                    NodeKind::Map(entries) => merged.extend(entries),
                    _ => return odd(item.span),
                }
            }
        }
        NodeKind::Scalar { .. } => return odd(node.span),
    }
    Ok(())
}

fn duplicate(key: &MapKey, first: Range<usize>) -> Diagnostic {
    Diagnostic::error("duplicate_key", format!("the key `{}` is written twice", super::node::shorten(&key.text)))
        .at(key.span.clone(), "again here")
        .at(first, "first here")
        .help("remove or rename one of them")
}

fn too_deep(span: Range<usize>) -> Diagnostic {
    Diagnostic::error("too_deep", format!("lists and maps are nested more than {MAX_DEPTH} deep here")).at(span, "")
}

fn too_many(span: Range<usize>, writer: Writer) -> Diagnostic {
    let most = writer.max_values();
    Diagnostic::error("too_many_values", format!("the file has more than {most} values, aliases followed"))
        .at(span, "the limit is reached here")
}

/// The error for a text that is not YAML, in words for its author.
fn syntax_error(error: &ScanError, text: &str) -> Diagnostic {
    let start = error.marker().byte_offset().unwrap_or(0).min(text.len());
    let width = text.get(start..).and_then(|rest| rest.chars().next()).filter(|c| *c != '\n' && *c != '\r');
    let span = start..start + width.map_or(0, char::len_utf8);
    if let Some(tab) = tab_in_indentation(text, start) {
        return Diagnostic::error("yaml_syntax", "a tab cannot indent").at(tab, "a tab").help("indent with spaces");
    }
    if text.get(start..).is_some_and(|rest| rest.starts_with('*')) {
        return unknown_anchor(text, start);
    }
    let (message, help) = match error.kind() {
        ErrorKind::RecursionLimitExceeded => return too_deep(span),
        ErrorKind::UnclosedQuotedScalar => ("a quote is opened and never closed".into(), Some("close the quote")),
        ErrorKind::UnclosedFlowCollection { open } => (format!("a `{open}` is opened and never closed"), None),
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => (format!("`{close}` does not close `{open}`"), None),
        ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => {
            ("a `:` has no place here".into(), Some("put a text that holds `: ` in quotes, and check the indentation"))
        }
        ErrorKind::InvalidQuotedScalarIndent => {
            ("a text in quotes goes on here".into(), Some("close the quote on the line where it is opened"))
        }
        ErrorKind::UnknownQuotedScalarEscape | ErrorKind::InvalidQuotedScalarHexEscape => {
            ("no escape is written so".into(), Some("write a text with `\\` in single quotes"))
        }
        ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar => {
            ("something follows the closing quote".into(), Some("put the whole text in quotes, or none of it"))
        }
        ErrorKind::ExpectedBlockMappingKey | ErrorKind::ExpectedBlockSequenceEntry => (
            "this line fits neither the list nor the map before it".into(),
            Some("begin the entries of one list, and the keys of one map, in the same column"),
        ),
        other => match other.to_string() {
            message if message.is_empty() => ("this is not YAML".into(), None),
            message => (format!("this is not YAML: {message}"), None),
        },
    };
    let diagnostic = Diagnostic::error("yaml_syntax", message).at(span, "here");
    match help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

/// The error for an alias without its anchor: most often a text such as `*.refund`.
fn unknown_anchor(text: &str, start: usize) -> Diagnostic {
    let rest = text.get(start..).unwrap_or_default();
    let ends = rest.find(|c: char| c.is_whitespace() || ",[]{}".contains(c)).unwrap_or(rest.len());
    let alias = rest.get(..ends).unwrap_or_default().trim_end_matches(':');
    let (said, anchor) = (super::node::shorten(alias), super::node::shorten(alias.trim_start_matches('*')));
    Diagnostic::error("yaml_syntax", format!("`{said}` is an alias, and no anchor `&{anchor}` is before it"))
        .at(start..start + alias.len(), "YAML reads `*` as an alias")
        .help(format!("put a text that begins with `*` in quotes: `\"{said}\"`"))
}

/// The tab among the blanks that begin the line of byte `at` or the next (a text may go on there), whatever error
/// it has led to.
fn tab_in_indentation(text: &str, at: usize) -> Option<Range<usize>> {
    let first = text.get(..at)?.rfind('\n').map_or(0, |newline| newline + 1);
    let next = text.get(at..)?.find('\n').map(|newline| at + newline + 1);
    [Some(first), next].into_iter().flatten().find_map(|line| {
        let rest = text.get(line..)?;
        let indentation = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let tab = line + rest.get(..indentation)?.find('\t')?;
        Some(tab..tab + 1)
    })
}
