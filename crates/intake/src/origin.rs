//! Where imported lines come from: the line of the user's own file, and the path of the value in it; and the texts of
//! successful results. Plain values; the readers of foreign formats fill them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::hash;
use crate::ok_texts::OkTexts;
use crate::place_list::{PackedPlace, PlaceList};
use crate::redact::REDACTED;
use playproof_engine::call::{Place, RecordedCall};

/// The place of a value in a source document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SourceSpan {
    /// The line in which it begins, from 1; 0: unknown.
    line: u64,
    /// It is the first value of its line: the line number alone identifies it.
    begins_line: bool,
}

/// Finds the places of values that are borrowed from a text.
#[derive(Debug, Default)]
pub(crate) struct LineFinder {
    /// The address of the text, and its length.
    start: usize,
    length: usize,
    /// Of each line: its start, and the start of its first character that is not white space.
    lines: Vec<(usize, usize)>,
    /// The number of lines before the text.
    before: u64,
}

impl LineFinder {
    /// A finder for values of `text`, whose first line has the number `first_line`.
    pub(crate) fn new(text: &str, first_line: usize) -> LineFinder {
        let bytes = text.as_bytes();
        let starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', bytes).map(|newline| newline + 1));
        let line = |start: usize| {
            let line = bytes.get(start..).unwrap_or_default();
            (start, start + line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count())
        };
        let before = (first_line as u64).saturating_sub(1);
        LineFinder { start: bytes.as_ptr().addr(), length: bytes.len(), lines: starts.map(line).collect(), before }
    }

    /// The place of a value; unknown if it is not borrowed from the text.
    pub(crate) fn find(&self, value: &str) -> SourceSpan {
        let offset = value.as_ptr().addr().checked_sub(self.start).filter(|offset| *offset < self.length);
        let Some(offset) = offset else { return SourceSpan::default() };
        let number = self.lines.partition_point(|(start, _)| *start <= offset);
        let line = number.checked_sub(1).and_then(|n| self.lines.get(n));
        SourceSpan { line: self.before + number as u64, begins_line: line.is_some_and(|(_, begins)| *begins == offset) }
    }
}

/// The most different paths that are looked up to be kept once.
const MAX_KNOWN: usize = 65_536;

/// The place in the user's file of every imported line.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Origins {
    /// The path of a place is twice its number, from 1; 0: it has none. One more: the index of its document comes before the
    /// path, and is that of its line.
    lines: PlaceList,
    /// The different paths, one behind the other, and where each ends.
    paths: String,
    ends: Vec<u32>,
    /// The index of each path in `ends`, by its hash: the conversations of a long file have the same paths.
    #[serde(skip)]
    known: BTreeMap<u64, u32>,
    #[serde(skip)] // as recorded: it leaves no machine
    oks: OkTexts,
}

/// A place in the user's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin<'a> {
    /// The line, from 1.
    pub line: u64,
    /// The path of the value in its document, where the line alone does not identify it.
    pub path: Option<OriginPath<'a>>,
}

/// The path of a value, such as `[7].messages[2]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OriginPath<'a> {
    /// The index of its document, if that is a part of the path.
    document: Option<u32>,
    rest: &'a str,
}

impl fmt::Display for OriginPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.document.map_or(Ok(()), |index| write!(f, "[{index}]"))?;
        f.write_str(self.rest)
    }
}

impl PartialEq for Origins {
    fn eq(&self, other: &Origins) -> bool {
        let all = |origins: &Origins| {
            (0..=origins.lines.len() as u64).map(|line| Some(origins.find(line)?.to_string())).collect()
        };
        let (own, others): (Vec<_>, Vec<_>) = (all(self), all(other));
        own == others && self.oks == other.oks
    }
}

impl Eq for Origins {}

impl Origins {
    /// Adds the place of the next line.
    pub(crate) fn push(&mut self, span: SourceSpan, path: &str) {
        let line = u32::try_from(span.line).unwrap_or(0);
        let path = if span.begins_line { "" } else { in_document(path) };
        let (document, rest) = match after_index(path, line) {
            Some(rest) => (line.checked_sub(1), rest),
            None => (None, path),
        };
        self.push_packed(line, OriginPath { document, rest });
    }

    fn push_packed(&mut self, line: u32, path: OriginPath<'_>) {
        let has_path = path.document.is_some() || !path.rest.is_empty();
        let number = if has_path { self.number_of(path.rest) } else { None };
        let path = number.map_or(0, |number| number * 2 + u32::from(path.document.is_some()));
        self.lines.push(PackedPlace { line, path });
    }

    /// The number of a path, from 1, which is kept once; none: there are too many.
    fn number_of(&mut self, path: &str) -> Option<u32> {
        let hash = hash::seed(path.as_bytes());
        if let Some(known) = self.known.get(&hash).copied().filter(|known| self.path(*known) == Some(path)) {
            return Some(known);
        }
        let end = u32::try_from(self.paths.len() + path.len()).ok()?;
        let number = u32::try_from(self.ends.len() + 1).ok().filter(|number| *number < u32::MAX / 2)?;
        self.paths.push_str(path);
        self.ends.push(end);
        if self.known.len() < MAX_KNOWN {
            self.known.insert(hash, number);
        }
        Some(number)
    }

    /// The path with this number, from 1.
    fn path(&self, number: u32) -> Option<&str> {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| *end as usize);
        self.paths.get(start..*self.ends.get(index)? as usize)
    }

    /// Adds the text of a successful result on the last line.
    pub(crate) fn push_ok(&mut self, text: &str) {
        self.oks.add(self.lines.len() as u64, text);
    }

    /// The texts of successful results that are kept.
    pub(crate) fn ok_texts(&self) -> impl Iterator<Item = &str> {
        self.oks.iter()
    }

    /// Adds the places of `more` behind these.
    pub(crate) fn append(&mut self, more: &Origins) {
        self.oks.append(self.lines.len() as u64, &more.oks);
        more.lines.iter().for_each(|place| self.push_packed(place.line, more.path_of(place)));
    }

    /// A copy without the lines with these numbers, from 1.
    #[must_use]
    pub(crate) fn without(&self, dropped: &[u64]) -> Origins {
        let mut kept = Origins { oks: self.oks.without(dropped), ..Origins::default() };
        for (_, place) in (1u64..).zip(self.lines.iter()).filter(|(number, _)| dropped.binary_search(number).is_err()) {
            kept.push_packed(place.line, self.path_of(place));
        }
        kept
    }

    fn path_of(&self, place: PackedPlace) -> OriginPath<'_> {
        let document = place.line.checked_sub(1).filter(|_| place.path % 2 == 1);
        OriginPath { document, rest: self.path(place.path / 2).unwrap_or_default() }
    }

    /// The place of line `line`, from 1.
    pub fn find(&self, line: u64) -> Option<Origin<'_>> {
        let place = self.lines.get(usize::try_from(line.checked_sub(1)?).ok()?)?;
        let path = (place.path > 0).then(|| self.path_of(place));
        (place.line > 0).then_some(Origin { line: u64::from(place.line), path })
    }
}

/// A path behind the index of its document, if that is the one of line `line`: each line is a document.
fn after_index(path: &str, line: u32) -> Option<&str> {
    let (index, rest) = path.strip_prefix('[')?.split_once(']')?;
    let is_written = index.bytes().all(|digit| digit.is_ascii_digit()) && (index == "0" || !index.starts_with('0'));
    (is_written && index.parse() == Ok(line.checked_sub(1)?)).then_some(rest)
}

/// A path without its `line N: ` prefix: the line is known.
fn in_document(path: &str) -> &str {
    match path.strip_prefix("line ") {
        Some(rest) => rest.split_once(": ").map_or("", |(_, path)| path),
        None => path,
    }
}

/// The inputs of a command by name, and the origins of the lines of each foreign input that was opened. Clones share their
/// state.
#[derive(Clone, Debug, Default)]
pub struct Sources(Arc<[SourceInput]>);

/// One input.
#[derive(Debug)]
struct SourceInput {
    /// Its name as people wrote it.
    name: String,
    /// Its name in output for programs: relative to the project's root.
    from_root: String,
    origins: OnceLock<Origins>,
}

impl Sources {
    /// The inputs with these names; none is opened yet.
    pub fn new(names: impl IntoIterator<Item = String>) -> Sources {
        Sources::from_root(names, |name| name.to_owned())
    }

    /// The inputs with these names; `from_root` gives the name of each in output for programs.
    pub fn from_root(names: impl IntoIterator<Item = String>, from_root: impl Fn(&str) -> String) -> Sources {
        let input = |name: String| SourceInput { from_root: from_root(&name), name, origins: OnceLock::new() };
        Sources(names.into_iter().map(input).collect())
    }

    /// Sets the origins of the lines of an input; only the first call counts.
    pub fn set_origins(&self, input: usize, origins: Origins) {
        if let Some(input) = self.0.get(input) {
            let _ = input.origins.set(origins);
        }
    }

    /// The origins of the lines of an input that was opened; none: it is in our own format.
    pub fn origins(&self, input: usize) -> Option<&Origins> {
        self.0.get(input)?.origins.get()
    }

    /// Whether no other input has its name, as those have that came through a pipe.
    pub fn is_named_apart(&self, input: u32) -> bool {
        let name = self.name(input);
        self.0.iter().filter(|other| Some(&*other.name) == name).count() == 1
    }

    /// The name of an input.
    pub fn name(&self, input: u32) -> Option<&str> {
        self.input(input).map(|input| &*input.name)
    }

    /// The name of an input in output for programs: the same from any folder of a project.
    pub fn name_from_root(&self, input: u32) -> Option<&str> {
        self.input(input).map(|input| &*input.from_root)
    }

    fn input(&self, input: u32) -> Option<&SourceInput> {
        self.0.get(usize::try_from(input).ok()?)
    }

    /// The place in the user's file; for an input in our own format the given place.
    pub fn find(&self, place: Place) -> Origin<'_> {
        let known = self.input(place.input).and_then(|input| input.origins.get());
        known.and_then(|origins| origins.find(place.line)).unwrap_or(Origin { line: place.line, path: None })
    }

    /// The beginning of the successful result at this place, as recorded; none if its input does not keep it.
    pub fn ok_text(&self, place: Place) -> Option<&str> {
        self.input(place.input)?.origins.get()?.oks.text(place.line)
    }

    /// `FILE:LINE`, and the path where the line alone does not identify the value.
    pub fn describe(&self, place: Place) -> String {
        format!("{}{}", self.name(place.input).unwrap_or("?"), self.find(place))
    }

    /// The name of a call in a suggested command: its reference, or its place if the reference is redacted, because the
    /// replacement of a name depends on which inputs are read together.
    pub fn name_of(&self, reference: &str, place: Place) -> String {
        if reference.contains(REDACTED) { self.describe(place) } else { reference.to_owned() }
    }

    /// Whether `wanted` is the place of this call or of one of its answers. Inferred answers are excluded: they are on the
    /// lines of another call.
    pub fn is_place_of_call(&self, wanted: &str, call: &RecordedCall) -> bool {
        let answers = call.answers.iter().filter(|answer| !answer.inferred).map(|answer| answer.place);
        std::iter::once(call.place).chain(answers).any(|place| self.is_place(wanted, place))
    }

    /// Whether `wanted` is this place: `FILE:LINE`, with or without the path.
    fn is_place(&self, wanted: &str, place: Place) -> bool {
        let rest = self.name(place.input).and_then(|name| after_name(wanted, name));
        let Some(rest) = rest else { return false };
        let (line, path) = rest.split_once(',').map_or((rest, None), |(line, path)| (line, Some(path.trim())));
        let origin = self.find(place);
        let is_path = |path: &str| origin.path.is_some_and(|own| own.to_string() == path);
        line.parse() == Ok(origin.line) && path.is_none_or(is_path)
    }
}

/// The text after a file's name and colon. The name may be written with or without `./`, or with its beginning replaced by
/// `…`, as pages show long names.
fn after_name<'w>(wanted: &'w str, name: &str) -> Option<&'w str> {
    let after = |wanted: &'w str, name| wanted.strip_prefix(name)?.strip_prefix(':');
    let cut = || {
        let shown = wanted.strip_prefix('…')?;
        let mut colons = shown.match_indices(':').filter(|(at, _)| *at > 0);
        let (at, _) = colons.find(|(at, _)| shown.get(..*at).is_some_and(|end| name.ends_with(end)))?;
        shown.get(at + 1..)
    };
    after(wanted, name).or_else(|| after(from_here(wanted), from_here(name))).or_else(cut)
}

/// A path without a leading `./`.
fn from_here(path: &str) -> &str {
    path.strip_prefix("./").map_or(path, |rest| from_here(rest.trim_start_matches('/')))
}

/// `:LINE` or `:LINE, PATH`: the text after a file's name.
impl fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ":{}", self.line)?;
        self.path.map_or(Ok(()), |path| write!(f, ", {path}"))
    }
}

#[cfg(test)]
mod tests {
    use crate::raw_value::RawValue;

    use super::*;
    use crate::json;

    fn found(text: &str) -> Vec<(u64, bool)> {
        let finder = LineFinder::new(text, 1);
        let document: RawValue<'_> = serde_json::from_str(text).unwrap();
        let items = json::array(document).unwrap().into_iter().map(|item| finder.find(item.get()));
        items.map(|span| (span.line, span.begins_line)).collect()
    }

    #[test]
    fn the_first_value_of_a_line_begins_it() {
        assert_eq!(found("[1, 2,\n  3,\n\t4, 5]"), [(1, false), (1, false), (2, true), (3, true), (3, false)]);
        assert_eq!(LineFinder::new("[]", 1).find("null"), SourceSpan::default());
    }

    #[test]
    fn the_paths_of_many_conversations_are_kept_once() {
        let mut origins = Origins::default();
        for line in 1..=10_000 {
            let place = format!("[{}].messages[2].tool_calls[{}]", line - 1, line % 3);
            origins.push(SourceSpan { line, begins_line: false }, &place);
            origins.push(SourceSpan { line, begins_line: false }, &format!("[{line}].messages[2]"));
        }
        let path = |line| origins.find(line).and_then(|origin| origin.path).map(|path| path.to_string());
        assert_eq!(path(1).as_deref(), Some("[0].messages[2].tool_calls[1]"));
        assert_eq!(path(19_999).as_deref(), Some("[9999].messages[2].tool_calls[1]"));
        assert_eq!(path(20_000).as_deref(), Some("[10000].messages[2]"), "not the index of its line: kept as it is");
        assert_eq!(origins.ends.len(), 10_003);
        let mut again = Origins::default();
        again.append(&origins);
        assert_eq!((again.ends.len(), again == origins), (10_003, true));
        let strange = ["[00]x", "[+0]x", "[0]", "[]", "[0"];
        let mut origins = Origins::default();
        strange.iter().for_each(|path| origins.push(SourceSpan { line: 1, begins_line: false }, path));
        let read = (1..).map_while(|line| origins.find(line)?.path).map(|path| path.to_string());
        assert_eq!(read.collect::<Vec<_>>(), strange);
    }

    #[test]
    fn a_place_is_recognised_however_the_path_of_its_file_is_written() {
        let inputs = Sources::new(["./logs/own.jsonl".to_owned(), "logs/b:c/their.jsonl".to_owned()]);
        let is_place = |wanted: &str, input| inputs.is_place(wanted, Place { input, line: 7 });
        for wanted in ["./logs/own.jsonl:7", "logs/own.jsonl:7", ".//./logs/own.jsonl:7", "…s/own.jsonl:7"] {
            assert!(is_place(wanted, 0) && !is_place(wanted, 1), "{wanted}");
        }
        assert!(
            is_place("…c/their.jsonl:7", 1)
                && is_place("…b:c/their.jsonl:7", 1)
                && is_place("./logs/b:c/their.jsonl:7", 1)
        );
        assert!(!is_place("…:7", 0) && !is_place("…own.jsonl:8", 0) && !is_place("s/own.jsonl:7", 0));
    }

    #[test]
    fn a_place_is_recognised_by_its_line_with_or_without_its_path() {
        let mut origins = Origins::default();
        origins.push(SourceSpan { line: 1, begins_line: false }, "[0]");
        origins.push(SourceSpan { line: 1, begins_line: false }, "[1]");
        origins.push(SourceSpan { line: 7, begins_line: true }, "[2]");
        let inputs = Sources::new(["own.jsonl".to_owned(), "their.json".to_owned()]);
        inputs.set_origins(1, origins);
        let place = |input, line| Place { input, line };
        assert_eq!(inputs.describe(place(0, 3)), "own.jsonl:3");
        assert_eq!(inputs.describe(place(1, 2)), "their.json:1, [1]");
        assert_eq!(inputs.describe(place(1, 3)), "their.json:7");
        assert!(inputs.is_place("their.json:1", place(1, 1)) && inputs.is_place("their.json:1", place(1, 2)));
        assert!(
            inputs.is_place("their.json:1, [1]", place(1, 2)) && !inputs.is_place("their.json:1, [1]", place(1, 1))
        );
        assert!(inputs.is_place("their.json:7", place(1, 3)) && !inputs.is_place("their.json:3", place(1, 3)));
        assert!(!inputs.is_place("own.jsonl:7", place(1, 3)) && !inputs.is_place("r1#7", place(1, 3)));
    }
}
