//! The documents at the beginning of a file that may be cut anywhere. Completes the last document, so that it can be read.

use crate::raw_value::RawValue;
use crate::scan::MAX_DEPTH;
use playproof_formats::steps;

/// The most documents that are looked at.
const DOCUMENTS: usize = 200;

/// The most broken lines that are passed over.
const BROKEN_LINES: usize = 20;

/// The beginning of a file, as text of whole documents.
pub(crate) struct Completed {
    pub(crate) text: String,
    /// The first document goes on behind what is seen of it.
    pub(crate) is_cut: bool,
}

/// The beginning with its last document completed, without broken lines between documents.
pub(crate) fn completed(start: &[u8]) -> Completed {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let text = match std::str::from_utf8(start) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(start.get(..error.valid_up_to()).unwrap_or_default()).unwrap_or_default(),
    };
    let (whole, mut rest) = split(text);
    let (mut all, is_cut) = (whole.to_owned(), whole.trim().is_empty());
    for _ in 0..BROKEN_LINES {
        let Some(after) = after_broken_line(rest) else { break };
        let (whole, next) = split(after);
        all.push('\n');
        all.push_str(whole);
        rest = next;
    }
    Completed { text: all + &closed(rest), is_cut }
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
pub(crate) fn documents(text: &str) -> Vec<RawValue<'_>> {
    let stream = serde_json::Deserializer::from_str(text).into_iter::<RawValue<'_>>();
    stream.map_while(Result::ok).take(DOCUMENTS).collect()
}

/// A document that is cut, up to its last complete value, with its brackets closed; empty if it is no such document. What
/// nests deeper than a line of a trace may is not looked at.
fn closed(cut: &str) -> String {
    let mut open: Vec<char> = Vec::new();
    let mut complete = None; // the brackets that are open there are those that are open at the end
    let (mut quoted, mut escaped, mut is_name, mut begins) = (false, false, false, false);
    for (at, c) in cut.char_indices() {
        steps::count(1);
        if quoted {
            quoted = escaped || c != '"';
            escaped = !escaped && c == '\\';
            if !quoted && !is_name {
                complete = Some(at + 1);
            }
            continue;
        }
        match c {
            '"' => {
                quoted = true;
                is_name = begins && open.last() == Some(&'}');
            }
            '{' | '[' if open.len() >= MAX_DEPTH as usize => break,
            '{' | '[' => {
                open.push(if c == '{' { '}' } else { ']' });
                complete = Some(at + 1);
            }
            '}' | ']' if open.last() == Some(&c) => {
                open.pop();
                complete = Some(at + 1);
            }
            '}' | ']' => break, // it is broken there, and what stands before it is read
            ',' => complete = Some(at),
            _ => {}
        }
        begins = matches!(c, '{' | ',') || begins && c.is_whitespace();
    }
    let Some(end) = complete else { return String::new() };
    cut.get(..end).unwrap_or_default().chars().chain(open.into_iter().rev()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cut_at_any_byte_becomes_documents() {
        let text = "{\"a\": [1, {\"b\\\"\": \"é,]\", \"c\": null}], \"d\": {}}\n[true, \"x\"]\n";
        for end in 0..=text.len() {
            let completed = completed(&text.as_bytes()[..end]).text;
            let stream = serde_json::Deserializer::from_str(&completed).into_iter::<serde_json::Value>();
            for document in stream {
                assert!(document.is_ok(), "{end}: {completed}");
            }
        }
        let cut = &text.as_bytes()[..text.find(", \"c\"").unwrap_or_default()];
        assert_eq!(completed(cut).text, "{\"a\": [1, {\"b\\\"\": \"é,]\"}]}");
    }

    #[test]
    fn a_broken_line_between_documents_is_passed_over() {
        let log = b"{\"a\": tr\n{\"b\":1}\n{\"c\n{\"d\":[1]}\n{\"e\":[1";
        assert_eq!(completed(log).text, "\n{\"b\":1}\n{\"d\":[1]}\n{\"e\":[]}");
        assert_eq!(completed(b"{\"a\":\n {\"b\": [\n {}, x").text, "{\"a\":\n {\"b\": [\n {}]}}");
    }

    #[test]
    fn what_stands_before_a_wrong_bracket_is_read() {
        assert_eq!(completed(b"[{\"a\":1},{\"b\":]},{}]").text, "[{\"a\":1},{}]");
    }

    #[test]
    fn what_is_no_json_gives_no_documents() {
        for text in ["", "x", "}", "\u{feff}", "STDIN: {\"a\":1}"] {
            assert!(documents(&completed(text.as_bytes()).text).is_empty(), "{text}");
        }
    }

    #[test]
    fn what_nests_too_deep_is_completed_up_to_the_limit() {
        let deep = format!("{{\"a\":{}", "[".repeat(1_000));
        let most = MAX_DEPTH as usize - 1;
        assert_eq!(completed(deep.as_bytes()).text, format!("{{\"a\":{}{}}}", "[".repeat(most), "]".repeat(most)));
    }

    #[cfg(debug_assertions)]
    #[test]
    fn the_steps_grow_with_the_length() {
        type Form = fn(usize) -> String;
        let forms: [(&str, Form); 5] = [
            ("unclosed", |n| "[".repeat(n)),
            ("unclosed objects", |n| "{\"a\":".repeat(n)),
            ("closed", |n| format!("[{}", "[],".repeat(n))),
            ("blank", |n| format!("{{{}\"a", " ".repeat(n))),
            ("broken lines", |n| "{\"a\": tr\n{\"b\":[\n".repeat(n)),
        ];
        for (form, text) in forms {
            // An unclosed form ends at the limit of depth, so that longer ones cost no more.
            let costs = |n| steps::of(|| drop(completed(text(n).as_bytes())));
            assert!(costs(1_000) > 0 && costs(4_000) <= costs(1_000) * 5, "{form}");
        }
    }
}
