//! A JSON value that was found in a source. Knows no format.

use std::borrow::Cow;

use crate::json;
use crate::raw_value::RawValue;

/// A value that was found in a source: a part of it, or a text of its own.
#[derive(Clone, Debug)]
pub(crate) enum SourceValue<'a> {
    Part(RawValue<'a>),
    Own(String),
}

impl<'a> SourceValue<'a> {
    /// The string with this content.
    pub(crate) fn string(content: &str) -> SourceValue<'a> {
        SourceValue::Own(serde_json::Value::from(content).to_string())
    }

    /// The same value, which no longer needs the text that it was found in.
    pub(crate) fn into_owned(self) -> SourceValue<'static> {
        SourceValue::Own(self.text().into_owned())
    }

    /// As written.
    #[inline]
    pub(crate) fn raw(&self) -> RawValue<'_> {
        match self {
            SourceValue::Part(raw) => *raw,
            SourceValue::Own(text) => RawValue::of_checked(text),
        }
    }

    /// The text of its JSON.
    pub(crate) fn text(self) -> Cow<'a, str> {
        match self {
            SourceValue::Part(raw) => Cow::Borrowed(raw.get()),
            SourceValue::Own(text) => Cow::Owned(text),
        }
    }

    /// The text that `read` makes of it.
    #[inline]
    pub(crate) fn read(self, read: impl for<'r> Fn(RawValue<'r>) -> Cow<'r, str>) -> Cow<'a, str> {
        match self {
            SourceValue::Part(raw) => read(raw),
            SourceValue::Own(text) => Cow::Owned(read(RawValue::of_checked(&text)).into_owned()),
        }
    }

    /// The content of a string, or a number or boolean as written.
    #[inline]
    pub(crate) fn scalar(self) -> Option<Cow<'a, str>> {
        match self {
            SourceValue::Part(raw) => json::scalar(raw),
            SourceValue::Own(text) => {
                json::scalar(RawValue::of_checked(&text)).map(|found| Cow::Owned(found.into_owned()))
            }
        }
    }
}

impl<'a> From<RawValue<'a>> for SourceValue<'a> {
    #[inline]
    fn from(raw: RawValue<'a>) -> SourceValue<'a> {
        SourceValue::Part(raw)
    }
}
