//! Values in a body that say nothing, and words that say that there is no error.

use crate::json;
use crate::raw_value::RawValue;

/// Whether a value says nothing: `null`, `false`, zero, or an empty text, list or object.
pub(super) fn is_empty(raw: RawValue<'_>) -> bool {
    let text = raw.get();
    matches!(text, "null" | "false" | "0" | "\"\"" | "\"null\"" | "\"None\"" | "\"none\"")
        || (text.starts_with(['{', '[']) && text.get(1..).is_some_and(|rest| rest.trim_start().len() == 1))
}

/// Whether the words of an error say that there is none.
pub(super) fn says_no_error(raw: RawValue<'_>) -> bool {
    let words = json::string(raw).map(|text| text.trim().trim_end_matches('.').to_ascii_lowercase());
    words.is_some_and(|words| words == "no error" || words == "no errors")
}

/// Whether the error that a source gives beside a result is none.
pub(crate) fn names_no_error(raw: RawValue<'_>) -> bool {
    let is_blank = json::string(raw).is_some_and(|text| text.trim().is_empty() || text.eq_ignore_ascii_case("ok"));
    is_empty(raw) || says_no_error(raw) || is_blank
}
