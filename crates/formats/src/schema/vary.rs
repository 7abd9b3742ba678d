//! The small changes of a checked tree: a key or item less, two neighbours swapped, a number one off, another word, another
//! kind, a flag turned, one item more; a default that is not written changes in the same ways. The schema knows what else a
//! value can be. A changed tree may still be refused by what reads it: then it is no change.

use super::at::At;
use super::compile::Schema;
use super::part::{Part, Type};
use crate::yaml::{MapEntry, Node, NodeKind, Scalar, range};
use playproof_engine::decimal;

/// One small change.
#[derive(Clone, Debug)]
pub struct Change {
    /// The way from the root to what changes: keys, the names of items, the numbers of single values in lists.
    pub names: Vec<String>,
    /// What becomes of it.
    pub what: What,
    edits: Vec<(Vec<Step>, Edit)>,
}

/// What becomes of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// It is gone.
    Dropped,
    /// It comes after the next item, which has this name.
    Behind(String),
    /// It becomes this, and was that.
    Becomes(String, Option<String>),
    /// It has its last item once more.
    Longer,
    /// It has one more item.
    With(String),
}

#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Item(usize),
}

#[derive(Clone, Debug)]
enum Edit {
    Remove,
    /// With the item behind it.
    Swap,
    Put(Node),
    /// One more item.
    Append(Node),
}

impl Change {
    /// One that writes words at ways of keys.
    pub fn writing(names: &[&str], word: &str, all: &[(&[&str], &str)]) -> Change {
        let keys = |way: &[&str]| way.iter().map(|key| Step::Key((*key).to_owned())).collect();
        Change {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            what: What::Becomes(word.to_owned(), None),
            edits: all.iter().map(|(way, word)| (keys(way), Edit::Put(scalar(word, Scalar::Text)))).collect(),
        }
    }

    /// The changed tree.
    pub fn apply(&self, tree: &Node) -> Node {
        let mut changed = tree.clone();
        self.edits.iter().for_each(|(path, change)| edit(&mut changed, path, change));
        changed
    }
}

fn edit(node: &mut Node, path: &[Step], change: &Edit) {
    match (path.split_first(), change) {
        (None, Edit::Put(new)) => *node = new.clone(),
        (None, Edit::Append(new)) => {
            if let NodeKind::List(items) = &mut node.kind {
                items.push(new.clone());
            }
        }
        (None, Edit::Remove | Edit::Swap) => {}
        (Some((Step::Item(at), rest)), _) => {
            let NodeKind::List(items) = &mut node.kind else { return };
            match (rest, change) {
                ([], Edit::Remove) => drop(items.remove(*at)),
                ([], Edit::Swap) => items.swap(*at, *at + 1),
                _ => items.iter_mut().skip(*at).take(1).for_each(|item| edit(item, rest, change)),
            }
        }
        (Some((Step::Key(key), rest)), _) => {
            let NodeKind::Map(entries) = &mut node.kind else { return };
            if let ([], Edit::Remove) = (rest, change) {
                return entries.retain(|entry| *entry.key != **key);
            }
            if !entries.iter().any(|entry| *entry.key == **key) {
                entries.push(entry(key, map([])));
            }
            let found = entries.iter_mut().find(|entry| *entry.key == **key);
            found.into_iter().for_each(|entry| edit(&mut entry.value, rest, change));
        }
    }
}

/// Every small change of a tree, in the order of the file.
pub fn changes(root: At<'_>) -> Vec<Change> {
    let mut walk = Walk { root, path: Vec::new(), names: Vec::new(), found: Vec::new() };
    walk.value(root, false);
    walk.found
}

struct Walk<'a> {
    root: At<'a>,
    path: Vec<Step>,
    names: Vec<String>,
    found: Vec<Change>,
}

impl<'a> Walk<'a> {
    fn add(&mut self, what: What, edit: Edit) {
        let edits = vec![(self.path.clone(), edit)];
        self.found.push(Change { names: self.names.clone(), what, edits });
    }

    /// One of a key of the map at which the walk is, which edits other keys, too.
    fn add_of(&mut self, key: &str, what: What, edits: impl IntoIterator<Item = (String, Edit)>) {
        let way = |key: String| self.path.iter().cloned().chain([Step::Key(key)]).collect();
        let edits = edits.into_iter().map(|(key, edit)| (way(key), edit)).collect();
        let names = self.names.iter().cloned().chain([key.to_owned()]).collect();
        self.found.push(Change { names, what, edits });
    }

    fn put(&mut self, at: At<'a>, new: &str, value: Scalar) {
        let old = at.node().text().map(str::to_owned);
        self.add(What::Becomes(new.to_owned(), old), Edit::Put(scalar(new, value)));
    }

    fn within(&mut self, step: Step, name: &str, visit: impl FnOnce(&mut Walk<'a>)) {
        self.path.push(step);
        self.names.push(name.to_owned());
        visit(self);
        self.path.pop();
        self.names.pop();
    }

    /// The declared names of a part of the file.
    fn names_of(&self, part: &str) -> Vec<String> {
        let Some(at) = self.root.get(part) else { return Vec::new() };
        match at.is_list() {
            true => at.items().filter_map(|item| item.text().map(str::to_owned)).collect(),
            false => at.entries().map(|(name, _)| name.text.to_owned()).collect(),
        }
    }

    fn value(&mut self, at: At<'a>, is_default: bool) {
        if at.part().is_inert || at.part().is_whole {
            return;
        }
        match &at.node().kind {
            NodeKind::Scalar { text, value } => {
                self.words(at);
                self.scalar(at, text, *value);
            }
            NodeKind::List(_) => {
                self.words(at);
                self.list(at);
            }
            NodeKind::Map(_) => self.map(at, is_default),
        }
    }

    /// The other words that may stand here.
    fn words(&mut self, at: At<'a>) {
        for word in at.all_alternatives().into_iter().filter_map(|one| one.part().words.as_ref()).flatten() {
            if at.node().text() != Some(word) {
                self.put(at, word, Scalar::Text);
            }
        }
    }

    fn scalar(&mut self, at: At<'a>, text: &str, value: Scalar) {
        let ranges =
            at.all_alternatives().into_iter().any(|one| one.part().pattern.is_some() && one.part().takes(Type::Text));
        match value {
            Scalar::Bool(flag) => self.put(at, if flag { "false" } else { "true" }, Scalar::Bool(!flag)),
            Scalar::Whole(number) if ranges => self.range(at, number, number),
            Scalar::Whole(number) if at.part().places.is_none() => {
                let least = at.part().bounds.0.as_ref().and_then(|least| least.parse().ok());
                let others = [Some(number - 1), Some(number + 1), least.filter(|least| *least < number - 1)];
                others.into_iter().flatten().for_each(|other| self.put(at, &other.to_string(), Scalar::Whole(other)));
            }
            Scalar::Whole(_) | Scalar::Float(_) => self.decimal(at, text),
            Scalar::Text => self.text(at, text, ranges),
            Scalar::Null | Scalar::Huge => {}
        }
    }

    /// A number with decimal places becomes a little more, or less where that is too much: a thousandth, or one where it has
    /// only thousandths.
    fn decimal(&mut self, at: At<'a>, text: &str) {
        let part = at.part();
        let Some((number, places)) = decimal::parse(text, 6).zip(part.places) else { return };
        let step = if places == 3 { 1_000_000 } else { 1_000 };
        for other in [Some(number + step), number.checked_sub(step)].into_iter().flatten() {
            let written = format!("{}.{:06}", other / 1_000_000, other % 1_000_000);
            let written = written.trim_end_matches('0').trim_end_matches('.');
            if part.fault(&scalar(written, Scalar::Float(0.0))).is_none() {
                return self.put(at, written, Scalar::Float(0.0));
            }
        }
    }

    fn text(&mut self, at: At<'a>, text: &str, ranges: bool) {
        if let Some(of) = &at.part().of {
            let names = self.names_of(of);
            let place = names.iter().position(|name| name == text).map_or(0, |place| place + 1);
            if let Some(next) = names.get(place % names.len().max(1)).filter(|next| *next != text) {
                self.put(at, next, Scalar::Text);
            }
        } else if let Some((first, last)) = range(text).filter(|_| ranges) {
            self.range(at, first.into(), last.into());
        }
    }

    /// The ranges that begin or end one number earlier or later.
    fn range(&mut self, at: At<'a>, first: i128, last: i128) {
        let others = [(first - 1, last), (first + 1, last), (first, last - 1), (first, last + 1)];
        for (first, last) in others.into_iter().filter(|(first, last)| first <= last) {
            self.put(at, &format!("{first}-{last}"), Scalar::Text);
        }
    }

    fn list(&mut self, at: At<'a>) {
        let (least, most) = at.part().size;
        let items: Vec<At<'a>> = at.items().collect();
        let names: Vec<String> = items.iter().map(|item| item_name(*item)).collect();
        for (n, (item, name)) in items.iter().zip(&names).enumerate() {
            if items.len() > least {
                self.within(Step::Item(n), name, |walk| walk.add(What::Dropped, Edit::Remove));
            }
            if let Some(next) = names.get(n + 1).filter(|_| item.is_map()) {
                self.within(Step::Item(n), name, |walk| walk.add(What::Behind(next.clone()), Edit::Swap));
            }
            let number = (n + 1).to_string();
            let name = if item.is_map() { name } else { &number };
            self.within(Step::Item(n), name, |walk| walk.value(*item, false));
        }
        let Some(item) = at.part().items.map(|item| at.schema().own(at.schema().resolved(item))) else { return };
        let is_full = most.is_some_and(|most| items.len() >= most);
        if let Some(last) = items.last().filter(|_| item.types.contains(&Type::Whole) && !is_full) {
            self.add(What::Longer, Edit::Append(last.node().clone()));
        }
        for name in item.of.as_ref().map(|of| self.names_of(of)).unwrap_or_default() {
            if !items.iter().any(|item| item.is_text(&name)) {
                let new = scalar(&name, Scalar::Text);
                self.add(What::With(name), Edit::Append(new));
            }
        }
    }

    fn map(&mut self, at: At<'a>, is_default: bool) {
        let part = at.part();
        if let Some((own, _)) = at.single().filter(|_| is_kinds(part)) {
            self.kinds(at, Some(own.text));
        }
        for (key, inner) in at.entries() {
            if inner.stated().is_inert || !self.decides(inner) {
                continue;
            }
            let is_required = part.required.iter().any(|required| required == key.text) || is_kinds(part);
            if !is_required && !is_default {
                self.without(at, key.text);
            }
            self.instead(at, key.text, inner);
            self.within(Step::Key(key.text.to_owned()), key.text, |walk| walk.value(inner, is_default));
            self.other_kind(at, key.text, inner);
            self.other_choice(at, key.text);
        }
        let missing = part.keys.keys().filter(|key| !is_kinds(part) && at.get(key).is_none());
        for key in missing {
            let step = Step::Key(key.clone());
            if let Some(default) = at.field(key).filter(|default| self.decides(*default)) {
                self.within(step, key, |walk| walk.value(default, true));
            } else if let Some(part) = part.keys.get(key)
                && is_kinds(at.schema().own(at.schema().resolved(*part)))
            {
                self.within(step, key, |walk| walk.kinds_of(at.schema(), *part, None));
            }
        }
    }

    /// Whether the file has what a value decides about.
    fn decides(&self, at: At<'a>) -> bool {
        at.stated().with.as_ref().is_none_or(|part| self.root.get(part).is_some())
    }

    /// A key less, with those that need it.
    fn without(&mut self, at: At<'a>, key: &str) {
        let needs =
            |(other, needed): (&String, &Vec<String>)| needed.iter().any(|needed| needed == key).then(|| other.clone());
        let gone = at.part().dependent.iter().filter_map(needs).chain([key.to_owned()]);
        self.add_of(key, What::Dropped, gone.map(|key| (key, Edit::Remove)));
    }

    /// The same value with the key that asks for something near.
    fn instead(&mut self, at: At<'a>, key: &str, inner: At<'a>) {
        let Some(other) = inner.stated().instead.as_ref().filter(|other| at.get(other).is_none()) else { return };
        let edits = [(key.to_owned(), Edit::Remove), (other.clone(), Edit::Put(inner.node().clone()))];
        self.add_of(key, What::Becomes(other.clone(), None), edits);
    }

    /// Another word of a key on which other keys depend, with the keys that its kind needs and without those of others.
    fn other_kind(&mut self, at: At<'a>, key: &str, own: At<'a>) {
        let (part, schema) = (at.part(), at.schema());
        let only = |other: &str| schema.own(*part.keys.get(other)?).only.as_ref();
        if !part.keys.keys().any(|other| only(other).is_some_and(|(decides, _)| decides == key)) {
            return;
        }
        for word in own.part().words.iter().flatten().filter(|word| own.node().text() != Some(word)) {
            let fits = |other: &str| only(other).is_none_or(|(_, words)| words.contains(word));
            let others = at.entries().map(|(other, _)| other.text).filter(|other| !fits(other));
            let mut edits: Vec<(String, Edit)> = others.map(|other| (other.to_owned(), Edit::Remove)).collect();
            let missing = part.keys.iter().filter(|(other, _)| fits(other) && at.get(other).is_none());
            let needed = missing.filter(|(_, part)| schema.own(**part).is_needed);
            edits.extend(needed.map(|(other, part)| (other.clone(), Edit::Put(self.least(schema, *part)))));
            if !edits.is_empty() {
                edits.push((key.to_owned(), Edit::Put(scalar(word, Scalar::Text))));
                self.add_of(key, What::Becomes(word.clone(), own.node().text().map(str::to_owned)), edits);
            }
        }
    }

    /// Another one of keys that exclude each other.
    fn other_choice(&mut self, at: At<'a>, key: &str) {
        let choices = at.part().choices.iter().filter(|choice| choice.is_exclusive && choice.is_needed);
        for choice in choices.filter(|choice| choice.keys.iter().any(|one| one == key)) {
            for other in choice.keys.iter().filter(|other| *other != key) {
                let Some(part) = at.part().keys.get(other) else { continue };
                let put = Edit::Put(self.least(at.schema(), *part));
                let edits = [(key.to_owned(), Edit::Remove), (other.clone(), put)];
                self.add_of(key, What::Becomes(other.clone(), None), edits);
            }
        }
    }

    /// The other keys of a map that has one of several, each with the least that it needs.
    fn kinds(&mut self, at: At<'a>, own: Option<&str>) {
        self.kinds_of(at.schema(), at.part_number(), own);
    }

    fn kinds_of(&mut self, schema: &'static Schema, part: usize, own: Option<&str>) {
        for (kind, inner) in schema.own(schema.resolved(part)).keys.iter().filter(|(kind, _)| own != Some(kind)) {
            let new = map([(kind.as_str(), self.least(schema, *inner))]);
            self.add(What::Becomes(kind.clone(), own.map(str::to_owned)), Edit::Put(new));
        }
    }

    /// The least value of a part: what an example says, else a name of this file, the first word, the least number, the keys
    /// that are needed.
    fn least(&self, schema: &'static Schema, number: usize) -> Node {
        let stated = schema.own(number);
        let part = schema.own(schema.resolved(number));
        if let Some(example) = stated.example.as_ref().or(part.example.as_ref()) {
            return example.clone();
        }
        if let Some(of) = stated.of.as_ref().or(part.of.as_ref()) {
            return scalar(&self.names_of(of).pop().unwrap_or_default(), Scalar::Text);
        }
        if let Some(word) = part.words.as_ref().and_then(|words| words.first()) {
            return scalar(word, if part.takes(Type::Bool) { Scalar::Bool(word == "true") } else { Scalar::Text });
        }
        if let Some(first) = part.any_of.first() {
            return self.least(schema, *first);
        }
        match part.types.first() {
            Some(Type::Map) => {
                let chosen =
                    part.choices.iter().filter(|choice| choice.is_needed).filter_map(|choice| choice.keys.first());
                let keys = part.required.iter().chain(chosen);
                map(keys.filter_map(|key| Some((key.as_str(), self.least(schema, *part.keys.get(key)?)))))
            }
            Some(Type::List) => {
                let items = part.items.map_or(Vec::new(), |item| vec![self.least(schema, item); part.size.0]);
                Node { span: 0..0, kind: NodeKind::List(items) }
            }
            Some(Type::Whole | Type::Number) => {
                let least = part.bounds.0.as_deref().and_then(|least| least.parse().ok()).unwrap_or(1);
                scalar(&least.to_string(), Scalar::Whole(least))
            }
            _ => scalar("a mutant", Scalar::Text),
        }
    }
}

/// Whether a map has one of several keys.
fn is_kinds(part: &Part) -> bool {
    part.size.1 == Some(1) && !part.keys.is_empty()
}

/// The name of an item of a list: its text, or those of the keys that it must have, up to the first that is no text.
fn item_name(item: At<'_>) -> String {
    let required = item.part().required.iter().map_while(|key| item.get(key)?.node().text());
    item.node().text().map_or_else(|| required.take(1).collect(), str::to_owned)
}

fn scalar(text: &str, value: Scalar) -> Node {
    Node { span: 0..0, kind: NodeKind::Scalar { text: text.into(), value } }
}

fn entry(key: &str, value: Node) -> MapEntry {
    MapEntry { key: key.into(), key_span: 0..0, value }
}

fn map<'k>(fields: impl IntoIterator<Item = (&'k str, Node)>) -> Node {
    let entries = fields.into_iter().map(|(key, value)| entry(key, value)).collect();
    Node { span: 0..0, kind: NodeKind::Map(entries) }
}
