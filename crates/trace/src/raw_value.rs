//! A JSON value as written. Knows no format.

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer};

/// The text of one JSON value. That of `serde_json` is checked whenever it is made; this one may be part of a text that was
/// checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawValue<'a>(&'a str);

impl<'a> RawValue<'a> {
    /// The value whose text is `text`, which was checked.
    #[inline]
    pub(crate) const fn checked(text: &'a str) -> RawValue<'a> {
        RawValue(text)
    }

    /// As written.
    #[inline]
    pub(crate) const fn get(self) -> &'a str {
        self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RawValue<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RawValue<'a>, D::Error> {
        let raw: &serde_json::value::RawValue = Deserialize::deserialize(deserializer)?;
        Ok(RawValue(raw.get()))
    }
}

/// A value that was found in a source: a part of its text, or a text of its own.
#[derive(Clone, Debug)]
pub(crate) struct FoundValue<'a>(Cow<'a, str>);

impl<'a> FoundValue<'a> {
    /// The string with this content.
    pub(crate) fn string(content: &str) -> FoundValue<'a> {
        FoundValue(Cow::Owned(serde_json::Value::from(content).to_string()))
    }

    /// The same value, which no longer needs the text that it was found in.
    pub(crate) fn into_owned(self) -> FoundValue<'static> {
        FoundValue(Cow::Owned(self.0.into_owned()))
    }

    /// As written.
    #[inline]
    pub(crate) fn raw(&self) -> RawValue<'_> {
        RawValue(&self.0)
    }

    /// What `read` makes of it.
    #[inline]
    pub(crate) fn read<R>(self, read: R) -> Option<Cow<'a, str>>
    where
        R: for<'r> Fn(RawValue<'r>) -> Option<Cow<'r, str>>,
    {
        match self.0 {
            Cow::Borrowed(text) => read(RawValue(text)),
            Cow::Owned(text) => Some(Cow::Owned(read(RawValue(&text))?.into_owned())),
        }
    }
}

impl<'a> From<RawValue<'a>> for FoundValue<'a> {
    #[inline]
    fn from(raw: RawValue<'a>) -> FoundValue<'a> {
        FoundValue(Cow::Borrowed(raw.0))
    }
}
