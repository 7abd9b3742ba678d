//! Reads one block of a case's policy: each key is taken, and a key that nothing takes has no counterpart in a playbook.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::amount::Amount;
use super::unmet::Unmet;

/// The keys of a block that were not taken yet.
pub(super) struct Block<'a> {
    name: String,
    left: BTreeMap<&'a str, &'a Value>,
}

impl<'a> Block<'a> {
    pub fn new(name: impl Into<String>, map: &'a Map<String, Value>) -> Block<'a> {
        Block { name: name.into(), left: map.iter().map(|(key, value)| (key.as_str(), value)).collect() }
    }

    /// Takes a key.
    pub fn take(&mut self, key: &str) -> Option<&'a Value> {
        self.left.remove(key).filter(|value| !value.is_null())
    }

    /// Takes a number.
    pub fn amount(&mut self, key: &str) -> Result<Option<Amount>, Unmet> {
        let read = |value: &Value| Amount::of(value).ok_or_else(|| self.odd(key, value));
        self.left.get(key).filter(|value| !value.is_null()).map(|value| read(value)).transpose().inspect(|_| {
            self.left.remove(key);
        })
    }

    /// Takes a text.
    pub fn text(&mut self, key: &str) -> Result<Option<&'a str>, Unmet> {
        let Some(value) = self.take(key) else { return Ok(None) };
        value.as_str().map(Some).ok_or_else(|| self.odd(key, value))
    }

    /// Takes `true` or `false`.
    pub fn is(&mut self, key: &str) -> Result<Option<bool>, Unmet> {
        let Some(value) = self.take(key) else { return Ok(None) };
        value.as_bool().map(Some).ok_or_else(|| self.odd(key, value))
    }

    /// Takes a block.
    pub fn block(&mut self, key: &str) -> Result<Option<Block<'a>>, Unmet> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let map = value.as_object().ok_or_else(|| self.odd(key, value))?;
        Ok(Some(Block::new(format!("{}.{key}", self.name), map)))
    }

    /// Takes a list; empty without the key.
    pub fn list(&mut self, key: &str) -> Result<&'a [Value], Unmet> {
        let Some(value) = self.take(key) else { return Ok(&[]) };
        value.as_array().map(Vec::as_slice).ok_or_else(|| self.odd(key, value))
    }

    /// Takes a word, and gives the playbook's own word for it.
    pub fn word(&mut self, key: &str, words: &[(&str, &'static str)]) -> Result<Option<&'static str>, Unmet> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        let known = words.iter().find(|(word, _)| *word == text).map(|(_, own)| *own);
        known.map(Some).ok_or_else(|| Unmet::unsupported(format!("`{}.{key}: {text}` has no counterpart", self.name)))
    }

    /// The keys with numbers that are left, which are taken.
    pub fn amounts(&mut self) -> Result<Vec<(&'a str, Amount)>, Unmet> {
        let all = std::mem::take(&mut self.left);
        all.into_iter().map(|(key, value)| Ok((key, Amount::of(value).ok_or_else(|| self.odd(key, value))?))).collect()
    }

    /// Checks that every key was taken.
    pub fn finish(self) -> Result<(), Unmet> {
        match self.left.iter().find(|(_, value)| !value.is_null()) {
            Some((key, _)) => {
                Err(Unmet::unsupported(format!("`{}.{key}` has no counterpart in a playbook", self.name)))
            }
            None => Ok(()),
        }
    }

    pub fn odd(&self, key: &str, value: &Value) -> Unmet {
        Unmet::unsupported(format!("`{}.{key}: {value}` has no counterpart in a playbook", self.name))
    }
}
