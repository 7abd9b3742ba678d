//! The part of a text that is examined: its beginning, its end, and how long a message is. Knows no words.

/// Characters of a text that are examined.
pub(super) const EXAMINED: usize = 600;

/// The beginning of `text`, at most `bytes` long.
pub(super) fn cut(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}

/// The end of a text: at most so many bytes.
pub(super) fn end_of(text: &str, bytes: usize) -> &str {
    text.get(text.ceil_char_boundary(text.len().saturating_sub(bytes))..).unwrap_or(text)
}
