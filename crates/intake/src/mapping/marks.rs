//! By which rows a format is recognised. Reads no files.

use std::sync::Arc;

use crate::raw_value::RawValue;

use super::condition::{ResultParts, RowCondition, any};
use super::model::Mapping;
use super::row::rows_of;

/// Whether a text has a mark: a word, or as `NAME=VALUE` a name with a value, as JSON or Python write it, also inside a string.
pub(crate) fn has_mark(text: &str, mark: &str) -> bool {
    let bytes = text.as_bytes();
    let (name, value) = mark.split_once('=').unwrap_or((mark, ""));
    let between = |rest: &[u8]| {
        let mut escaped = false;
        let mut is_between = |byte: &u8| {
            let is_break = std::mem::replace(&mut escaped, *byte == b'\\') && b"nrt".contains(byte);
            is_break || byte.is_ascii_whitespace() || b"\\\"':".contains(byte)
        };
        rest.iter().take_while(|byte| is_between(byte)).count()
    };
    memchr::memmem::find_iter(bytes, name).any(|at| {
        let rest = bytes.get(at + name.len()..).unwrap_or_default();
        value.is_empty() || rest.get(between(rest)..).is_some_and(|rest| rest.starts_with(value.as_bytes()))
    })
}

impl Mapping {
    /// Whether a text can hold rows of this format: it has the names and values that one of its marks needs.
    pub(crate) fn may_recognise(&self, text: &str) -> bool {
        let has_one = |marks: Vec<String>| marks.iter().any(|mark| has_mark(text, mark));
        let may_fit = |mark: &RowCondition| {
            mark.needed_names().all(|name| has_mark(text, name)) && mark.needed_values().all(has_one)
        };
        self.detect.iter().any(may_fit)
    }

    /// Whether `document` has a row of this format.
    pub(crate) fn recognises(&self, document: RawValue<'_>) -> bool {
        if !self.may_recognise(document.get()) {
            return false;
        }
        let rows = rows_of(&document.into(), &self.records, |_| false, &Arc::from(""));
        rows.iter().any(|(row, _)| any(&self.detect, row, &ResultParts::default()))
    }
}
