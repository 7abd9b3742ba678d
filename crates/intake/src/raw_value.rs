//! A JSON value as written. Knows no format.

use serde::de::{Deserialize, Deserializer};

/// The text of one JSON value. That of `serde_json` is checked whenever it is made; this one may be part of a text that was
/// checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawValue<'a>(&'a str);

impl<'a> RawValue<'a> {
    /// The value whose text is `text`, which was checked.
    #[inline]
    pub(crate) const fn of_checked(text: &'a str) -> RawValue<'a> {
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
