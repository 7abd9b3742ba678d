//! The documents at the beginning of a file that may be cut anywhere. Completes the last document, so that it can be read.

use serde_json::value::RawValue;

/// The most documents that are looked at.
const DOCUMENTS: usize = 200;

/// The beginning with its last document completed.
pub(super) fn completed(start: &[u8]) -> String {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let text = match std::str::from_utf8(start) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(start.get(..error.valid_up_to()).unwrap_or_default()).unwrap_or_default(),
    };
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let mut end = 0;
    for document in stream.by_ref() {
        if document.is_err() {
            break;
        }
        end = stream_end(&document, text, end);
    }
    let (whole, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    format!("{whole}{}", closed(rest))
}

/// The end of a document in the text.
fn stream_end(document: &Result<&RawValue, serde_json::Error>, text: &str, before: usize) -> usize {
    let Ok(raw) = document else { return before };
    raw.get().as_ptr().addr().saturating_sub(text.as_ptr().addr()) + raw.get().len()
}

/// The documents of a completed beginning.
pub(super) fn documents(text: &str) -> Vec<&RawValue> {
    let stream = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
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
    fn what_is_no_json_gives_no_documents() {
        for text in ["", "x", "}", "{]", "\u{feff}", "STDIN: {\"a\":1}"] {
            assert!(documents(&completed(text.as_bytes())).is_empty(), "{text}");
        }
    }
}
