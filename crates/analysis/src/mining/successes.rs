//! The texts of successful results, by tool: a rule for the failures of a tool must not match them. Of too many texts of
//! a tool, those with the least hashes are kept, and of too many tools, the first by name, in whatever order they come. Nothing
//! shows them.

use std::collections::BTreeMap;

use playproof_intake::hash;
use playproof_intake::redact::RedactionRules;

/// The most different texts of a tool.
const TEXTS_MAX: usize = 64;

/// The most tools.
const TOOLS_MAX: usize = 256;

/// Different texts of successful results, by tool and hash.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Successes(BTreeMap<String, BTreeMap<u64, Box<str>>>);

impl Successes {
    /// Adds the text of a result of `tool`.
    pub fn add(&mut self, tool: &str, text: &str) {
        if !self.0.contains_key(tool) {
            self.0.insert(tool.to_owned(), BTreeMap::new());
            keep_least(&mut self.0, TOOLS_MAX);
        }
        let Some(texts) = self.0.get_mut(tool) else { return };
        texts.entry(hash::seed(text.as_bytes())).or_insert_with(|| text.into());
        keep_least(texts, TEXTS_MAX);
    }

    /// Adds those of other results.
    pub fn merge(&mut self, other: Successes) {
        for (tool, texts) in other.0 {
            texts.values().for_each(|text| self.add(&tool, text));
        }
    }

    /// The same, with redacted texts.
    #[must_use]
    pub fn redacted(&self, rules: &RedactionRules) -> Successes {
        let mut redacted = Successes::default();
        for (tool, texts) in &self.0 {
            texts.values().for_each(|text| redacted.add(tool, &rules.text(text)));
        }
        redacted
    }

    /// The texts of results of `tool`, by their hashes.
    pub fn texts(&self, tool: &str) -> impl Iterator<Item = &str> {
        self.0.get(tool).into_iter().flat_map(BTreeMap::values).map(|text| &**text)
    }
}

fn keep_least<K: Ord, V>(map: &mut BTreeMap<K, V>, most: usize) {
    while map.len() > most {
        map.pop_last();
    }
}
