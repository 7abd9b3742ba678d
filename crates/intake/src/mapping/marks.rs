//! By which rows a format is recognised. Reads no files.

use std::sync::Arc;

use crate::raw_value::RawValue;

use super::condition::{ResultParts, any};
use super::model::Mapping;
use super::row::rows_of;

impl Mapping {
    /// Whether a text can hold rows of this format: it has the names that one of its marks needs.
    pub(crate) fn may_recognise(&self, text: &str) -> bool {
        let has = |name: &str| memchr::memmem::find(text.as_bytes(), name.as_bytes()).is_some();
        self.detect.iter().any(|mark| mark.needed_names().all(has))
    }

    /// Whether `document` has a row of this format.
    pub(crate) fn recognises(&self, document: RawValue<'_>) -> bool {
        let rows = rows_of(&document.into(), &self.records, |_| false, &Arc::from(""));
        rows.iter().any(|(row, _)| any(&self.detect, row, &ResultParts::default()))
    }
}
