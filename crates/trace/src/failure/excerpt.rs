//! The part of a text that is examined: its beginning, its end, and how long a message is. Knows no words.

/// Characters of a text that are examined.
pub(super) const EXAMINED: usize = 600;

/// The beginning of `text`, at most `bytes` long.
pub(super) fn cut(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}

/// The end of a text: at most so many bytes.
pub(super) fn end_of(text: &str, bytes: usize) -> &str {
    let mut start = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..).unwrap_or(text)
}
