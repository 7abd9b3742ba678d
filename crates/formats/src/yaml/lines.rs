//! Lines and indentation of a YAML text, by byte offsets, for edits that keep all other text. Knows no format.

use std::ops::Range;

use super::node::{MapEntry, Node, NodeKind};

/// The start of the line of byte `at`.
pub fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1)
}

/// The end of the line of byte `at`, its line break included.
pub fn line_end(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |newline| at + newline + 1)
}

/// The number of blanks at the start of the line of byte `at`.
pub fn indentation(text: &str, at: usize) -> usize {
    let line = text.get(line_start(text, at)..).unwrap_or("");
    line.len() - line.trim_start_matches(' ').len()
}

/// The line break of the file.
pub fn line_break(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// The text with `new` in a place.
pub fn replaced(text: &str, place: Range<usize>, new: &str) -> String {
    let mut text = text.to_owned();
    text.replace_range(place, new);
    text
}

/// The text with lines inserted at `at`, the start of a line or the end of the text.
pub fn inserted(text: &str, at: usize, lines: &[String]) -> String {
    let broken = line_break(text);
    let ends_open = at == text.len() && !text.is_empty() && !text.ends_with('\n');
    let block = lines.join(broken);
    replaced(text, at..at, &if ends_open { format!("{broken}{block}") } else { format!("{block}{broken}") })
}

fn line(text: &str, start: usize) -> &str {
    text.get(start..line_end(text, start)).unwrap_or("").trim()
}

/// The end of the block with the value `node`, whose first line has `indent` blanks: after its last line with content.
/// Blank lines and comments after it belong to the next block.
pub fn block_end(text: &str, node: &Node, indent: usize) -> usize {
    let start = if is_flow(text, node) { node.span.end.saturating_sub(1) } else { node.span.start };
    let mut end = line_end(text, start);
    let mut next = end;
    while next < text.len() {
        let said = line(text, next);
        if !said.is_empty() && !said.starts_with('#') {
            if indentation(text, next) <= indent {
                break;
            }
            end = line_end(text, next);
        }
        next = line_end(text, next);
    }
    end
}

/// The end of the text before `end`, without trailing blanks.
pub fn trimmed(text: &str, end: usize) -> usize {
    text.get(..end).map_or(end, |text| text.trim_end().len())
}

/// The start of the comment lines directly above the line of byte `at`, or of that line.
pub fn with_comments(text: &str, at: usize) -> usize {
    let mut start = line_start(text, at);
    let indent = indentation(text, start);
    while start > 0 {
        let above = line_start(text, start - 1);
        if !line(text, above).starts_with('#') || indentation(text, above) != indent {
            break;
        }
        start = above;
    }
    start
}

/// Whether the line before the one that starts at byte `at` is blank or missing.
pub fn is_blank_before(text: &str, at: usize) -> bool {
    at == 0 || line(text, line_start(text, at - 1)).is_empty()
}

/// Whether the line that starts at byte `at` is blank or missing.
pub fn is_blank_at(text: &str, at: usize) -> bool {
    at >= text.len() || line(text, at).is_empty()
}

/// Whether a list or map is written in flow style, between brackets.
pub fn is_flow(text: &str, node: &Node) -> bool {
    matches!(node.kind, NodeKind::List(_) | NodeKind::Map(_))
        && text.get(node.span.start..).is_some_and(|rest| rest.starts_with(['{', '[']))
}

/// Whether a value is a block text below its key, after `|` or `>`; its place begins after those.
pub fn is_block_text(text: &str, entry: &MapEntry) -> bool {
    let between = text.get(entry.key_span.end..entry.value.span.start).unwrap_or("");
    matches!(entry.value.kind, NodeKind::Scalar { .. })
        && between.trim_start_matches([':', ' ']).starts_with(['|', '>'])
}

/// The place after the colon of a key.
pub fn after_colon(text: &str, entry: &MapEntry) -> usize {
    let from = entry.key_span.end;
    text.get(from..).and_then(|rest| rest.find(':')).map_or(from, |colon| from + colon + 1)
}
