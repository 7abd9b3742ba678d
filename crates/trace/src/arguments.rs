//! Arguments of foreign calls: an object, or a text that holds one. Knows no format.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::json;

/// The arguments of a call.
#[derive(Debug)]
pub(crate) enum Arguments<'a> {
    /// JSON text.
    Json(Cow<'a, str>),
    /// Text that is no JSON, as a JSON string.
    Text(&'a str),
    /// An empty text.
    Empty,
}

impl<'a> Arguments<'a> {
    /// The arguments that `raw` is, or that its text holds.
    pub(crate) fn of(raw: &'a RawValue) -> Arguments<'a> {
        let Some(text) = json::string(raw) else {
            return Arguments::Json(Cow::Borrowed(raw.get()));
        };
        if text.trim().is_empty() {
            return Arguments::Empty;
        }
        match json::parse(&text).is_ok() {
            true => Arguments::Json(Cow::Owned(text.trim().to_owned())),
            false => Arguments::Text(raw.get()),
        }
    }

    /// As JSON text; none where nothing was given.
    pub(crate) fn as_json(&self) -> Option<&str> {
        match self {
            Arguments::Json(json) => Some(json),
            Arguments::Text(json) => Some(json),
            Arguments::Empty => None,
        }
    }
}
