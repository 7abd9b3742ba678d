//! The rows of a document, each with the objects around it. Parses every object once for all paths. Knows no mapping.

use std::rc::Rc;
use std::sync::Arc;

use super::path::{Path, PathStep, Root, follow, joined};
use crate::json::{Fields, Parsed};
use crate::raw_value::RawValue;
use crate::source_value::SourceValue;

/// A row.
#[derive(Clone, Debug)]
pub(super) struct SourceRow<'a> {
    pub(super) value: Parsed<'a>,
    around: Option<Rc<Enclosing<'a>>>,
    /// Its place in its document.
    pub(super) path: String,
    /// The name of its file.
    file: Arc<str>,
}

/// An object around a row.
#[derive(Debug)]
struct Enclosing<'a> {
    value: Parsed<'a>,
    path: String,
    around: Option<Rc<Enclosing<'a>>>,
}

impl<'a> SourceRow<'a> {
    /// A row of which nothing else is known.
    pub(super) fn alone(raw: RawValue<'a>) -> SourceRow<'a> {
        SourceRow { value: raw.into(), around: None, path: String::new(), file: Arc::from("") }
    }

    /// The value at `path`; none if it is missing or null.
    pub(super) fn find(&self, path: &Path) -> Option<SourceValue<'a>> {
        match path.root {
            Root::File => Some(SourceValue::string(stem(&self.file))),
            Root::Row(0) => within(&self.value, &path.steps),
            Root::Row(ups) => {
                let around = self.around(ups)?;
                within(&around.value, &path.steps)
            }
        }
    }

    /// The place of the object at `path`, if the path is one of the objects around the row.
    pub(super) fn place_around(&self, path: &Path) -> Option<&str> {
        match path.root {
            Root::Row(ups) if ups > 0 && path.steps.is_empty() => self.around(ups).map(|around| around.path.as_str()),
            _ => None,
        }
    }

    /// The fields of the objects around it, from the inside.
    pub(super) fn fields_around(&self) -> impl Iterator<Item = &Fields<'a>> {
        let around = std::iter::successors(self.around.as_deref(), |around| around.around.as_deref());
        around.filter_map(|around| around.value.fields.as_ref())
    }

    fn around(&self, ups: usize) -> Option<&Enclosing<'a>> {
        let mut around = self.around.as_deref()?;
        for _ in 1..ups {
            around = around.around.as_deref()?;
        }
        Some(around)
    }
}

/// The value at the end of `steps`.
fn within<'a>(value: &Parsed<'a>, steps: &[PathStep]) -> Option<SourceValue<'a>> {
    match (steps, &value.fields) {
        // Half of the paths of spans lead into one list, and those of many logs into one object.
        (
            [PathStep::Key(list), PathStep::Lookup { field, value: wanted }, PathStep::Key(key), rest @ ..],
            Some(fields),
        ) if fields.get(list)?.get().starts_with('[') => {
            let objects = value.objects(list)?;
            let found =
                objects.iter().find(|object| object.text(field).is_some_and(|found| found == wanted.as_str()))?;
            follow(found.get(key)?, rest)
        }
        ([PathStep::Key(outer), PathStep::Key(key), rest @ ..], Some(fields))
            if fields.get(outer)?.get().starts_with('{') =>
        {
            follow(value.objects(outer)?.first()?.get(key)?, rest)
        }
        ([PathStep::Key(key), rest @ ..], Some(fields)) => follow(fields.get(key)?, rest),
        _ => follow(value.raw(), steps),
    }
}

/// The rows of `document`, in the file called `file`, by several lists of paths, in their order in the document; each with the
/// numbers of the lists that lead to it. An empty list leads to the items of an array, or to the document itself. A row that
/// only lists with results lead to comes after the rows inside it: a result is read after its call.
pub(super) fn rows_of<'a>(
    document: &Parsed<'a>,
    lists: &[Vec<Path>],
    has_only_results: impl Fn(usize) -> bool,
    file: &Arc<str>,
) -> Vec<(SourceRow<'a>, Vec<usize>)> {
    // A line of a log, mostly: an object that is the only row.
    if let ([list], Some(_)) = (lists, &document.fields)
        && list.is_empty()
    {
        let (path, file) = (String::new(), Arc::clone(file));
        return vec![(SourceRow { value: document.clone(), around: None, path, file }, vec![0])];
    }
    let mut found: Vec<(SourceRow<'a>, usize)> = Vec::new();
    for (number, list) in lists.iter().enumerate() {
        let mut rows = Vec::new();
        let mut enter = |steps: &[PathStep]| {
            Spread { value: document.clone(), path: "", around: None, file }.rows(steps, &mut rows);
        };
        match list.as_slice() {
            [] => enter(&[]),
            paths => paths.iter().for_each(|path| enter(&path.steps)),
        }
        found.extend(rows.into_iter().map(|row| (row, number)));
    }
    if lists.len() > 1 || lists.iter().any(|list| list.len() > 1) {
        found.sort_by_key(|(row, _)| row.value.text.as_ptr().addr());
    }
    let mut rows: Vec<(SourceRow<'a>, Vec<usize>)> = Vec::with_capacity(found.len());
    for (row, number) in found {
        match rows.last_mut().filter(|(last, _)| std::ptr::eq(last.value.text, row.value.text)) {
            Some((_, numbers)) if numbers.contains(&number) => {}
            Some((_, numbers)) => numbers.push(number),
            None => rows.push((row, vec![number])),
        }
    }
    if (0..lists.len()).any(&has_only_results) {
        rows.sort_by_key(|(row, numbers)| {
            let start = row.value.text.as_ptr().addr();
            let is_result = numbers.iter().all(|number| has_only_results(*number));
            if is_result { start + row.value.text.len() } else { start }
        });
    }
    rows
}

/// The most objects around a row in lists that lie in one another.
const MAX_NESTED: usize = 64;

/// A value on the way to rows.
#[derive(Clone)]
struct Spread<'a, 'p> {
    value: Parsed<'a>,
    path: &'p str,
    around: Option<Rc<Enclosing<'a>>>,
    file: &'p Arc<str>,
}

impl<'a> Spread<'a, '_> {
    fn rows(self, steps: &[PathStep], found: &mut Vec<SourceRow<'a>>) {
        let Some((step, rest)) = steps.split_first() else {
            match self.value.items() {
                Some(items) => self.items(items, |item| found.push(item.row())),
                None => found.push(self.row()),
            }
            return;
        };
        match step {
            PathStep::Each => match self.value.items() {
                Some(items) => self.items(items, |item| item.rows(rest, found)),
                // A document that is an object is one row: it may be a line of many.
                None if self.path.is_empty() => {}
                None => self.values(|value| value.rows(rest, found)),
            },
            PathStep::Key(key) => {
                let Some(raw) = self.value.fields.as_ref().and_then(|fields| fields.get(key)) else { return };
                let path = joined(self.path, step);
                let (around, file) = (Some(Rc::new(self.enclosing())), self.file);
                let inner = Spread { value: raw.into(), path: &path, around, file };
                match rest.split_first() {
                    Some((PathStep::EachNested, rest)) => inner.nested(rest, steps, found),
                    _ => inner.rows(rest, found),
                }
            }
            _ => {
                let Some(raw) = step.of(self.value.raw()) else { return };
                let path = joined(self.path, step);
                Spread { value: raw.into(), path: &path, around: self.around, file: self.file }.rows(rest, found);
            }
        }
    }

    /// The rows at `rest` in every item, and those at `again` in it: the lists of the same name.
    fn nested(&self, rest: &[PathStep], again: &[PathStep], found: &mut Vec<SourceRow<'a>>) {
        let around = std::iter::successors(self.around.as_deref(), |around| around.around.as_deref());
        let is_deep = around.count() > MAX_NESTED;
        self.items(self.value.items().unwrap_or_default(), |item| {
            if is_deep {
                item.rows(rest, found);
            } else {
                item.clone().rows(rest, found);
                item.rows(again, found);
            }
        });
    }

    fn items(&self, items: Vec<RawValue<'a>>, mut each: impl FnMut(Spread<'a, '_>)) {
        for (n, raw) in items.into_iter().enumerate() {
            let path = joined(self.path, &PathStep::Index(n));
            each(Spread { value: raw.into(), path: &path, around: self.around.clone(), file: self.file });
        }
    }

    /// Enters each value of an object.
    fn values(&self, mut each: impl FnMut(Spread<'a, '_>)) {
        let around = Rc::new(self.enclosing());
        for (name, raw) in self.value.fields.iter().flat_map(Fields::iter) {
            let path = joined(self.path, &PathStep::Key(name.to_owned()));
            each(Spread { value: raw.into(), path: &path, around: Some(Rc::clone(&around)), file: self.file });
        }
    }

    fn enclosing(&self) -> Enclosing<'a> {
        Enclosing { value: self.value.clone(), path: self.path.to_owned(), around: self.around.clone() }
    }

    fn row(self) -> SourceRow<'a> {
        let (path, file) = (self.path.to_owned(), Arc::clone(self.file));
        SourceRow { value: self.value, around: self.around, path, file }
    }
}

/// The name of a file without folders and endings.
pub(crate) fn stem(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.trim_start_matches('.').split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn parsed(text: &str) -> Parsed<'_> {
        json::parse(text).expect("valid").into()
    }

    fn paths(texts: &[&str]) -> Vec<Path> {
        texts.iter().map(|text| Path::parse(text).expect("a path")).collect()
    }

    #[test]
    fn each_row_has_its_place_and_knows_what_is_around_it() {
        let document = parsed(r#"{"s":"S","a":[{"b":[1,{"c":5}],"id":"i"},{},{"b":[3]}]}"#);
        let rows = rows_of(&document, &[paths(&["a[*].b[*]"])], |_| false, &"dir/log.jsonl.gz".into());
        let brief: Vec<_> = rows.iter().map(|(row, _)| (row.path.as_str(), row.value.text)).collect();
        assert_eq!(brief, [("a[0].b[0]", "1"), ("a[0].b[1]", "{\"c\":5}"), ("a[2].b[0]", "3")]);
        let find = |n: usize, path: &str| {
            let path = Path::parse(path).expect("a path");
            rows[n].0.find(&path).map(|found| found.raw().get().to_owned())
        };
        assert_eq!(find(1, "^.id").as_deref(), Some("\"i\""));
        assert_eq!(find(1, "^^.s").as_deref(), Some("\"S\""));
        assert_eq!((find(1, "^^^.s"), find(2, "^.id")), (None, None));
        assert_eq!(find(0, "$file").as_deref(), Some("\"log\""));
        assert_eq!(rows[1].0.place_around(&Path::parse("^").expect("a path")), Some("a[0]"));
        assert_eq!(rows[1].0.place_around(&Path::parse("^^").expect("a path")), Some(""));
        assert_eq!(rows[1].0.place_around(&Path::parse("^.id").expect("a path")), None);
    }

    #[test]
    fn lists_in_lists_of_the_same_name_are_entered_up_to_a_depth() {
        let document = parsed(r#"{"c":[{"n":1,"c":[{"n":2,"c":[]},{"n":3}]},{"n":4,"c":7}]}"#);
        let rows = rows_of(&document, &[paths(&["c[**]"])], |_| false, &"".into());
        let places: Vec<_> = rows.iter().map(|(row, _)| row.path.as_str()).collect();
        assert_eq!(places, ["c[0]", "c[0].c[0]", "c[0].c[1]", "c[1]"]);
        let up = rows[2].0.find(&Path::parse("^.n").expect("a path")).map(|found| found.raw().get().to_owned());
        assert_eq!(up.as_deref(), Some("1"));
        let deep = format!("{}{}", "{\"c\":[".repeat(100_000), "]}".repeat(100_000));
        let rows = rows_of(&parsed(&deep), &[paths(&["c[**]"])], |_| false, &"".into());
        assert_eq!(rows.len(), MAX_NESTED + 1);
    }

    #[test]
    fn rows_of_several_paths_come_in_the_order_of_the_document() {
        let document = parsed(r#"{"m":[{"r":1,"t":[{"x":1},{"x":2}]},{"r":2}]}"#);
        let rows = rows_of(&document, &[paths(&["m[*]"]), paths(&["m[*].t[*]", "m[0].t"])], |_| false, &"".into());
        let brief: Vec<_> = rows.iter().map(|(row, lists)| (row.path.as_str(), lists.as_slice())).collect();
        assert_eq!(brief, [("m[0]", &[0][..]), ("m[0].t[0]", &[1]), ("m[0].t[1]", &[1]), ("m[1]", &[0])]);
    }

    #[test]
    fn a_row_of_a_result_comes_after_the_calls_inside_it() {
        let document = parsed(r#"[{"out":1,"x":{"calls":[{"n":1},{"n":2}]}},{"out":2,"x":{"calls":[]}}]"#);
        let lists = [paths(&["[*].x.calls[*]"]), paths(&["[*]"])];
        let places = |has_only_results: fn(usize) -> bool| {
            let rows = rows_of(&document, &lists, has_only_results, &"".into());
            rows.into_iter().map(|(row, _)| row.path).collect::<Vec<_>>()
        };
        assert_eq!(places(|list| list == 1), ["[0].x.calls[0]", "[0].x.calls[1]", "[0]", "[1]"]);
        assert_eq!(places(|_| false), ["[0]", "[0].x.calls[0]", "[0].x.calls[1]", "[1]"], "a row may be a call too");
    }

    #[test]
    fn a_star_enters_the_values_of_an_object_which_lies_around_them() {
        let document = parsed(r#"{"id":"i","log":{"step_0":[{"c":1}],"step.1":[{"c":2},3]}}"#);
        let rows = rows_of(&document, &[paths(&["log[*][*]"])], |_| false, &"".into());
        let places: Vec<_> = rows.iter().map(|(row, _)| row.path.as_str()).collect();
        assert_eq!(places, ["log.step_0[0]", "log.[\"step.1\"][0]", "log.[\"step.1\"][1]"]);
        let up = rows[0].0.find(&Path::parse("^^.id").expect("a path")).map(|found| found.raw().get().to_owned());
        assert_eq!(up.as_deref(), Some("\"i\""));
        assert!(rows_of(&document, &[paths(&["[*][*]"])], |_| false, &"".into()).is_empty(), "a document is no list");
    }
}
