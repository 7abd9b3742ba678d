//! The texts of successful results, by tool: a rule for the failures of a tool must not match them. Only the first texts
//! of each tool are kept, and nothing shows them.

use std::collections::{BTreeMap, BTreeSet};

/// The most different texts of a tool.
const TEXTS_MAX: usize = 64;

/// The most tools.
const TOOLS_MAX: usize = 256;

/// The first different texts of successful results, by tool.
#[derive(Clone, Debug, Default)]
pub(super) struct Successes(BTreeMap<String, BTreeSet<Box<str>>>);

impl Successes {
    /// Adds the text of a result of `tool`.
    pub fn add(&mut self, tool: &str, text: &str) {
        if !self.0.contains_key(tool) && self.0.len() < TOOLS_MAX {
            self.0.insert(tool.to_owned(), BTreeSet::new());
        }
        if let Some(texts) = self.0.get_mut(tool).filter(|texts| texts.len() < TEXTS_MAX) {
            texts.insert(text.into());
        }
    }

    /// Adds those of later results.
    pub fn merge(&mut self, later: Successes) {
        for (tool, texts) in later.0 {
            texts.iter().for_each(|text| self.add(&tool, text));
        }
    }

    /// The texts of results of `tool`.
    pub fn texts(&self, tool: &str) -> impl Iterator<Item = &str> {
        self.0.get(tool).into_iter().flatten().map(|text| &**text)
    }
}
