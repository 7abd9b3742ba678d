//! The documents at the beginning of a file that may be cut anywhere. Completes the last document, so that it can be read.

use crate::raw_value::RawValue;

/// The most documents that are looked at.
const DOCUMENTS: usize = 200;

/// The most broken lines that are passed over.
const BROKEN_LINES: usize = 20;

/// The beginning with its last document completed, without broken lines between documents.
pub(super) fn completed(start: &[u8]) -> String {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let text = match std::str::from_utf8(start) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(start.get(..error.valid_up_to()).unwrap_or_default()).unwrap_or_default(),
    };
    let (whole, mut rest) = split(text);
    let mut all = whole.to_owned();
    for _ in 0..BROKEN_LINES {
        let Some(after) = after_broken_line(rest) else { break };
        let (whole, next) = split(after);
        all.push('\n');
        all.push_str(whole);
        rest = next;
    }
    all + &closed(rest)
}

/// The whole documents that a text begins with, and the rest.
fn split(text: &str) -> (&str, &str) {
    let mut end = 0;
    for document in serde_json::Deserializer::from_str(text).into_iter::<RawValue<'_>>() {
        if document.is_err() {
            break;
        }
        end = stream_end(&document, text, end);
    }
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// The text behind a broken line, if the next line is a document.
fn after_broken_line(text: &str) -> Option<&str> {
    let (_, after) = text.trim_start().split_once('\n')?;
    let next = after.trim_start().split('\n').next()?;
    let is_document = next.starts_with(['{', '[']) && serde_json::from_str::<RawValue<'_>>(next).is_ok();
    is_document.then_some(after)
}

/// The end of a document in the text.
fn stream_end(document: &Result<RawValue<'_>, serde_json::Error>, text: &str, before: usize) -> usize {
    let Ok(raw) = document else { return before };
    raw.get().as_ptr().addr().saturating_sub(text.as_ptr().addr()) + raw.get().len()
}

/// The documents of a completed beginning.
pub(super) fn documents(text: &str) -> Vec<RawValue<'_>> {
    let stream = serde_json::Deserializer::from_str(text).into_iter::<RawValue<'_>>();
    stream.map_while(Result::ok).take(DOCUMENTS).collect()
}

/// A document that is cut, up to its last complete value, with its brackets closed; empty if it is no such document.
fn closed(cut: &str) -> String {
    let mut open: Vec<char> = Vec::new();
    let mut complete: Option<(usize, Vec<char>)> = None;
    let (mut quoted, mut escaped, mut is_name) = (false, false, false);
    for (at, c) in cut.char_indices() {
        if quoted {
            quoted = escaped || c != '"';
            escaped = !escaped && c == '\\';
            if !quoted && !is_name {
                complete = Some((at + 1, open.clone()));
            }
            continue;
        }
        match c {
            '"' => {
                quoted = true;
                let before = cut.get(..at).unwrap_or_default().trim_end();
                is_name = open.last() == Some(&'}') && before.ends_with(['{', ',']);
            }
            '{' | '[' => {
                open.push(if c == '{' { '}' } else { ']' });
                complete = Some((at + 1, open.clone()));
            }
            '}' | ']' => {
                if open.pop() != Some(c) {
                    return String::new();
                }
                complete = Some((at + 1, open.clone()));
            }
            ',' => complete = Some((at, open.clone())),
            _ => {}
        }
    }
    let Some((end, open)) = complete else { return String::new() };
    let close: String = open.iter().rev().collect();
    format!("{}{close}", cut.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cut_at_any_byte_becomes_documents() {
        let text = "{\"a\": [1, {\"b\\\"\": \"é,]\", \"c\": null}], \"d\": {}}\n[true, \"x\"]\n";
        for end in 0..=text.len() {
            let completed = completed(&text.as_bytes()[..end]);
            let stream = serde_json::Deserializer::from_str(&completed).into_iter::<serde_json::Value>();
            for document in stream {
                assert!(document.is_ok(), "{end}: {completed}");
            }
        }
        let cut = &text.as_bytes()[..text.find(", \"c\"").unwrap_or_default()];
        assert_eq!(completed(cut), "{\"a\": [1, {\"b\\\"\": \"é,]\"}]}");
    }

    #[test]
    fn a_broken_line_between_documents_is_passed_over() {
        let log = b"{\"a\": tr\n{\"b\":1}\n{\"c\n{\"d\":[1]}\n{\"e\":[1";
        assert_eq!(completed(log), "\n{\"b\":1}\n{\"d\":[1]}\n{\"e\":[]}");
        assert_eq!(completed(b"{\"a\":\n {\"b\": [\n {}, x"), "{\"a\":\n {\"b\": [\n {}]}}");
    }

    #[test]
    fn what_is_no_json_gives_no_documents() {
        for text in ["", "x", "}", "{]", "\u{feff}", "STDIN: {\"a\":1}"] {
            assert!(documents(&completed(text.as_bytes())).is_empty(), "{text}");
        }
    }
}
