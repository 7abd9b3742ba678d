//! Names that a playbook declares once and refers to by id: verdicts, rules, queues, reasons.

use std::cell::RefCell;
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
    names: Vec<Arc<str>>,
    places: Vec<Range<usize>>,
}

impl Declared {
    /// No names yet.
    pub fn new(what: &'static str) -> Declared {
        Declared { what, names: Vec::new(), places: Vec::new() }
    }

    /// Declares `key`; reports errors through `at`.
    pub fn declare(&mut self, key: &Key<'_>, at: At<'_>) {
        if let Some(first) = self.names.iter().position(|name| **name == *key.text) {
            let message = format!("the {} `{}` is declared twice", self.what, key.text);
            return at.report(
                Diagnostic::error("duplicate_name", message)
                    .at(key.span.clone(), "again here")
                    .at(self.places[first].clone(), "first here"), // names and places grow together
            );
        }
        self.names.push(key.text.into());
        self.places.push(key.span.clone());
    }

    /// Declares `name` without a place, if it is not declared yet. It gets the last id.
    pub fn reserve(&mut self, name: &str) {
        if self.number(name).is_none() {
            self.names.push(name.into());
            self.places.push(0..0);
        }
    }

    /// The id of the name at `at`; an undeclared one is reported.
    pub fn find(&self, at: At<'_>) -> Option<u16> {
        let name = at.text()?;
        let found = self.number(name);
        if found.is_none() {
            at.dangling(&Key { text: name, span: at.span() }, self.what, self.names());
        }
        found
    }

    /// The number of `name`.
    pub fn number(&self, name: &str) -> Option<u16> {
        // The schema bounds how many are declared.
        u16::try_from(self.names.iter().position(|known| **known == *name)?).ok()
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
