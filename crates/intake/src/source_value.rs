//! A JSON value that was found in a source. Knows no format.

use std::borrow::Cow;

use crate::json;
use crate::raw_value::RawValue;

/// A value that was found in a source: a part of its text, or a text of its own.
#[derive(Clone, Debug)]
pub(crate) struct SourceValue<'a>(Cow<'a, str>);

impl<'a> SourceValue<'a> {
    /// The string with this content.
    pub(crate) fn string(content: &str) -> SourceValue<'a> {
        SourceValue(Cow::Owned(serde_json::Value::from(content).to_string()))
    }

    /// The same value, which no longer needs the text that it was found in.
    pub(crate) fn into_owned(self) -> SourceValue<'static> {
        SourceValue(Cow::Owned(self.0.into_owned()))
    }

    /// As written.
    #[inline]
    pub(crate) fn raw(&self) -> RawValue<'_> {
        RawValue::of_checked(&self.0)
    }

    /// The text of its JSON.
    pub(crate) fn text(self) -> Cow<'a, str> {
        self.0
    }

    /// The text that `read` makes of it.
    #[inline]
    pub(crate) fn read(self, read: impl for<'r> Fn(RawValue<'r>) -> Cow<'r, str>) -> Cow<'a, str> {
        match self.0 {
            Cow::Borrowed(text) => read(RawValue::of_checked(text)),
            Cow::Owned(text) => Cow::Owned(read(RawValue::of_checked(&text)).into_owned()),
        }
    }

    /// The content of a string, or a number or boolean as written.
    #[inline]
    pub(crate) fn scalar(self) -> Option<Cow<'a, str>> {
        match self.0 {
            Cow::Borrowed(text) => json::scalar(RawValue::of_checked(text)),
            Cow::Owned(text) => json::scalar(RawValue::of_checked(&text)).map(|scalar| Cow::Owned(scalar.into_owned())),
        }
    }
}

impl<'a> From<RawValue<'a>> for SourceValue<'a> {
    #[inline]
    fn from(raw: RawValue<'a>) -> SourceValue<'a> {
        SourceValue(Cow::Borrowed(raw.get()))
    }
}
