//! Where the lines that were made of a foreign recording come from: the line of the user's own file, and what leads to
//! the value in it. Plain values; the readers of foreign formats fill them.

use std::sync::{Arc, OnceLock};

use serde_json::value::RawValue;

use crate::redact::REDACTED;
use playproof_engine::call::{Place, RecordedCall};

/// Where a value stands in a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stands {
    /// The line in which it begins, from 1; 0: nobody knows.
    line: u64,
    /// Nothing stands before it in its line, so that the line alone tells it.
    alone: bool,
}

/// Finds the lines of values that were borrowed from a text.
#[derive(Debug, Default)]
pub(crate) struct LineFinder {
    /// Where the text lies in memory, and how long it is.
    start: usize,
    length: usize,
    /// Of each line: where it begins, and where what is not white space does.
    lines: Vec<(usize, usize)>,
    /// The number of its first line, less one.
    before: u64,
}

impl LineFinder {
    /// Finds values in `text`, whose first line has the number `first_line`.
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

    /// Where a value stands, if it was borrowed from the text.
    pub(crate) fn find(&self, value: &RawValue) -> Stands {
        let offset = value.get().as_ptr().addr().checked_sub(self.start).filter(|offset| *offset < self.length);
        let Some(offset) = offset else { return Stands::default() };
        let number = self.lines.partition_point(|(start, _)| *start <= offset);
        let line = number.checked_sub(1).and_then(|n| self.lines.get(n));
        Stands { line: self.before + number as u64, alone: line.is_some_and(|(_, begins)| *begins == offset) }
    }
}

/// The place in the user's file of every line that was made of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins {
    /// By line, and where its path ends among the paths.
    lines: Vec<(Stands, usize)>,
    paths: String,
}

/// A place in the user's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin<'a> {
    /// The line, from 1.
    pub line: u64,
    /// What leads to the value in its document, where the line alone does not tell it.
    pub path: Option<&'a str>,
}

impl Origins {
    /// Notes the place of the next line.
    pub(crate) fn push(&mut self, stands: Stands, path: &str) {
        self.paths.push_str(in_document(path));
        self.lines.push((stands, self.paths.len()));
    }

    /// The same without the lines with these numbers, from 1.
    #[must_use]
    pub(crate) fn without(&self, dropped: &[u64]) -> Origins {
        let mut kept = Origins::default();
        let mut start = 0;
        for (number, &(stands, end)) in (1u64..).zip(&self.lines) {
            if dropped.binary_search(&number).is_err() {
                kept.paths.push_str(self.paths.get(start..end).unwrap_or_default());
                kept.lines.push((stands, kept.paths.len()));
            }
            start = end;
        }
        kept
    }

    /// The place of line `line`, from 1.
    pub fn of(&self, line: u64) -> Option<Origin<'_>> {
        let index = usize::try_from(line.checked_sub(1)?).ok()?;
        let (stands, end) = *self.lines.get(index)?;
        let start = index.checked_sub(1).and_then(|before| self.lines.get(before)).map_or(0, |(_, end)| *end);
        let path = self.paths.get(start..end).filter(|path| !stands.alone && !path.is_empty());
        (stands.line > 0).then_some(Origin { line: stands.line, path })
    }
}

/// A path without the line that its document begins with: that is known anyway.
fn in_document(path: &str) -> &str {
    match path.strip_prefix("line ") {
        Some(rest) => rest.split_once(": ").map_or("", |(_, path)| path),
        None => path,
    }
}

/// The inputs of a command by name, and for each that is foreign where its lines come from, once it has been opened.
/// Cheap to clone: all clones are one.
#[derive(Clone, Debug, Default)]
pub struct Sources(Arc<[Input]>);

/// One input.
#[derive(Debug)]
struct Input {
    /// As people named it.
    name: String,
    /// As what programs read names it: from the project's root.
    from_root: String,
    origins: OnceLock<Origins>,
}

impl Sources {
    /// For the inputs with these names, none of them opened yet.
    pub fn new(names: impl IntoIterator<Item = String>) -> Sources {
        Sources::from_root(names, |name| name.to_owned())
    }

    /// The same, and what programs read calls each of them as `from_root` says.
    pub fn from_root(names: impl IntoIterator<Item = String>, from_root: impl Fn(&str) -> String) -> Sources {
        let input = |name: String| Input { from_root: from_root(&name), name, origins: OnceLock::new() };
        Sources(names.into_iter().map(input).collect())
    }

    /// Notes where the lines of an input come from; only the first time counts.
    pub fn learn(&self, input: usize, origins: Origins) {
        if let Some(input) = self.0.get(input) {
            let _ = input.origins.set(origins);
        }
    }

    /// The name of an input.
    pub fn name(&self, input: u32) -> Option<&str> {
        self.input(input).map(|input| &*input.name)
    }

    /// The name of an input in what programs read: the same from any folder of a project.
    pub fn name_from_root(&self, input: u32) -> Option<&str> {
        self.input(input).map(|input| &*input.from_root)
    }

    fn input(&self, input: u32) -> Option<&Input> {
        self.0.get(usize::try_from(input).ok()?)
    }

    /// The place in the user's file: for an input of our own format the place itself.
    pub fn of(&self, place: Place) -> Origin<'_> {
        let known = self.input(place.input).and_then(|input| input.origins.get());
        known.and_then(|origins| origins.of(place.line)).unwrap_or(Origin { line: place.line, path: None })
    }

    /// `FILE:LINE`, with the path behind it where that alone tells the place.
    pub fn say(&self, place: Place) -> String {
        format!("{}{}", self.name(place.input).unwrap_or("?"), self.of(place))
    }

    /// What a command that is suggested calls a call, as it is shown: by its reference, or by its place where that is
    /// redacted, for what stands for a name is known to the inputs that were read together alone.
    pub fn name_of(&self, reference: &str, place: Place) -> String {
        if reference.contains(REDACTED) { self.say(place) } else { reference.to_owned() }
    }

    /// Whether people mean this call by `wanted`: its own place, or that of one of its answers. An answer that was
    /// read as its stands in the lines of another call.
    pub fn is_call_meant(&self, wanted: &str, call: &RecordedCall) -> bool {
        let answers = call.answers.iter().filter(|answer| !answer.inferred).map(|answer| answer.place);
        std::iter::once(call.place).chain(answers).any(|place| self.is_meant(wanted, place))
    }

    /// Whether people mean this place by `wanted`: `FILE:LINE`, with or without the path.
    fn is_meant(&self, wanted: &str, place: Place) -> bool {
        let rest = self.name(place.input).and_then(|name| behind_name(wanted, name));
        let Some(rest) = rest else { return false };
        let (line, path) = rest.split_once(',').map_or((rest, None), |(line, path)| (line, Some(path.trim())));
        let origin = self.of(place);
        line.parse() == Ok(origin.line) && (path.is_none() || path == origin.path)
    }
}

/// What stands behind the name of a file, which may be written with or without `./`, or cut at its beginning as long
/// ones are on pages.
fn behind_name<'w>(wanted: &'w str, name: &str) -> Option<&'w str> {
    let behind = |wanted: &'w str, name| wanted.strip_prefix(name)?.strip_prefix(':');
    let cut = || {
        let shown = wanted.strip_prefix('…')?;
        let mut colons = shown.match_indices(':').filter(|(at, _)| *at > 0);
        let (at, _) = colons.find(|(at, _)| shown.get(..*at).is_some_and(|end| name.ends_with(end)))?;
        shown.get(at + 1..)
    };
    behind(wanted, name).or_else(|| behind(from_here(wanted), from_here(name))).or_else(cut)
}

/// A path without the `./` that it may begin with.
fn from_here(path: &str) -> &str {
    path.strip_prefix("./").map_or(path, |rest| from_here(rest.trim_start_matches('/')))
}

/// `:LINE`, or `:LINE, PATH`: what stands behind a file's name.
impl std::fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, ":{}", self.line)?;
        self.path.map_or(Ok(()), |path| write!(f, ", {path}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn found(text: &str) -> Vec<(u64, bool)> {
        let finder = LineFinder::new(text, 1);
        let document: &RawValue = serde_json::from_str(text).unwrap();
        let items = json::array(document).unwrap().into_iter().map(|item| finder.find(item));
        items.map(|stands| (stands.line, stands.alone)).collect()
    }

    #[test]
    fn a_value_stands_alone_where_its_line_begins_with_it() {
        assert_eq!(found("[1, 2,\n  3,\n\t4, 5]"), [(1, false), (1, false), (2, true), (3, true), (3, false)]);
        assert_eq!(LineFinder::new("[]", 1).find(&RawValue::NULL.to_owned()), Stands::default());
    }

    #[test]
    fn a_place_is_meant_however_the_path_of_its_file_is_written() {
        let inputs = Sources::new(["./logs/own.jsonl".to_owned(), "logs/b:c/their.jsonl".to_owned()]);
        let meant = |wanted: &str, input| inputs.is_meant(wanted, Place { input, line: 7 });
        for wanted in ["./logs/own.jsonl:7", "logs/own.jsonl:7", ".//./logs/own.jsonl:7", "…s/own.jsonl:7"] {
            assert!(meant(wanted, 0) && !meant(wanted, 1), "{wanted}");
        }
        assert!(meant("…c/their.jsonl:7", 1) && meant("…b:c/their.jsonl:7", 1) && meant("./logs/b:c/their.jsonl:7", 1));
        assert!(!meant("…:7", 0) && !meant("…own.jsonl:8", 0) && !meant("s/own.jsonl:7", 0));
    }

    #[test]
    fn a_place_is_meant_by_its_line_and_by_its_path_too() {
        let mut origins = Origins::default();
        origins.push(Stands { line: 1, alone: false }, "[0]");
        origins.push(Stands { line: 1, alone: false }, "[1]");
        origins.push(Stands { line: 7, alone: true }, "[2]");
        let inputs = Sources::new(["own.jsonl".to_owned(), "their.json".to_owned()]);
        inputs.learn(1, origins);
        let place = |input, line| Place { input, line };
        assert_eq!(inputs.say(place(0, 3)), "own.jsonl:3");
        assert_eq!(inputs.say(place(1, 2)), "their.json:1, [1]");
        assert_eq!(inputs.say(place(1, 3)), "their.json:7");
        assert!(inputs.is_meant("their.json:1", place(1, 1)) && inputs.is_meant("their.json:1", place(1, 2)));
        assert!(
            inputs.is_meant("their.json:1, [1]", place(1, 2)) && !inputs.is_meant("their.json:1, [1]", place(1, 1))
        );
        assert!(inputs.is_meant("their.json:7", place(1, 3)) && !inputs.is_meant("their.json:3", place(1, 3)));
        assert!(!inputs.is_meant("own.jsonl:7", place(1, 3)) && !inputs.is_meant("r1#7", place(1, 3)));
    }
}
