//! Names that a playbook declares once and refers to by id: verdicts, rules, queues, reasons.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::schema::At;
use crate::yaml::Key;

/// The declared names of one kind, with their places.
#[derive(Debug)]
pub(super) struct Declared {
    /// The word for one in messages: `queue`.
    what: &'static str,
    /// Whether the names could be read; else none is said to be missing.
    is_read: bool,
    names: Vec<Arc<str>>,
    places: Vec<Range<usize>>,
    numbers: BTreeMap<Arc<str>, u16>,
}

impl Declared {
    /// No names yet of those that are written at a place, where one is.
    pub fn new(what: &'static str, at: Option<At<'_>>) -> Declared {
        let is_read = at.is_none_or(At::fits);
        Declared { what, is_read, names: Vec::new(), places: Vec::new(), numbers: BTreeMap::new() }
    }

    /// Declares `key`; reports errors through `at`.
    pub fn declare(&mut self, key: &Key<'_>, at: At<'_>) {
        if let Some(first) = self.number(key.text) {
            let message = format!("the {} `{}` is declared twice", self.what, key.text);
            return at.report(
                Diagnostic::error("duplicate_name", message)
                    .at(key.span.clone(), "again here")
                    .at(self.places[usize::from(first)].clone(), "first here"), // names and places grow together
            );
        }
        self.push(key.text, key.span.clone());
    }

    /// Declares `name` without a place, if it is not declared yet. It gets the last id.
    pub fn reserve(&mut self, name: &str) {
        if self.number(name).is_none() {
            self.push(name, 0..0);
        }
    }

    fn push(&mut self, name: &str, place: Range<usize>) {
        let name: Arc<str> = name.into();
        // The schema bounds how many are declared, and few are reserved.
        self.numbers.insert(Arc::clone(&name), u16::try_from(self.names.len()).unwrap_or(u16::MAX));
        self.names.push(name);
        self.places.push(place);
    }

    /// The id of the name at `at`; an undeclared one is reported.
    pub fn find(&self, at: At<'_>) -> Option<u16> {
        self.find_key(&at.key()?, at)
    }

    /// The id of `key`; an undeclared one is reported through `at`.
    pub fn find_key(&self, key: &Key<'_>, at: At<'_>) -> Option<u16> {
        let found = self.number(key.text);
        if found.is_none() && self.is_read {
            at.dangling(key, self.what, self.names());
        }
        found
    }

    /// The number of `name`.
    pub fn number(&self, name: &str) -> Option<u16> {
        self.numbers.get(name).copied()
    }

    /// How many are declared.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// The names, by id.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.names.iter().map(|name| &**name)
    }

    /// Their places, by id.
    pub fn places(&self) -> impl Iterator<Item = &Range<usize>> {
        self.places.iter()
    }

    /// The names and their places, by id.
    pub fn into_parts(self) -> (Vec<Arc<str>>, Vec<Range<usize>>) {
        (self.names, self.places)
    }
}

/// The texts of every `reason`, each once.
#[derive(Debug, Default)]
pub(super) struct Reasons(RefCell<Vec<Arc<str>>>);

impl Reasons {
    /// The number of `text`.
    pub fn number(&self, text: &str) -> u16 {
        let mut texts = self.0.borrow_mut();
        let place = texts.iter().position(|known| **known == *text).unwrap_or_else(|| {
            texts.push(text.into());
            texts.len() - 1
        });
        u16::try_from(place).unwrap_or(u16::MAX) // a verdict has at most two reasons
    }

    /// The texts by id.
    pub fn into_texts(self) -> Vec<Arc<str>> {
        self.0.into_inner()
    }
}
