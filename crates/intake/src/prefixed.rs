//! JSON objects behind a prefix, as programs log their standard streams and loggers their rows: `STDIN: {...}`, a time,
//! `[server] {...}`, `[time] [LEVEL] {...}`, also with a trailer, or over several lines. Blanks what is around them, so that
//! every place stays the same. Knows no format.

use std::borrow::Cow;

use memchr::memmem;

use crate::pieces::BYTE_ORDER_MARK_BYTES;
use crate::scan::MAX_DEPTH;
use playproof_formats::steps;

/// The longest prefix, in bytes.
const LONGEST: usize = 200;
/// The longest object, in bytes.
const MOST: usize = 16 << 20;
/// The lines, from the first, of which one has an object behind a prefix.
const FIRST_LINES: usize = 50;
/// What each message of JSON-RPC has: behind any prefix, it is one.
const MARK: &[u8] = b"\"jsonrpc\"";

/// A log with its objects alone.
pub(crate) struct Unwrapped {
    /// As many bytes as the log: what is no object is blank.
    pub(crate) bytes: Vec<u8>,
    /// The lines without an object that are not blank: how many, and the first.
    pub(crate) others: u64,
    pub(crate) first_other: usize,
}

/// The objects of a log in which one has a prefix; none if none has.
pub(crate) fn unwrapped(log: &[u8]) -> Option<Unwrapped> {
    let log = log.strip_prefix(BYTE_ORDER_MARK_BYTES).unwrap_or(log);
    let first = log.trim_ascii_start();
    let is_json = first.starts_with(b"{") || first.starts_with(b"[") && starts_a_list(first);
    let mut lines = log.split_inclusive(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let is_logged = !is_json && lines.by_ref().take(FIRST_LINES).any(|line| object_start(line, false).is_some());
    let has_messages = memmem::find(log, MARK).is_some();
    if !is_logged && !has_messages {
        return None;
    }
    let mut found = Unwrapped { bytes: Vec::with_capacity(log.len()), others: 0, first_other: 0 };
    let (mut at, mut line_number, mut has_prefix) = (0, 0, false);
    while let Some(rest) = log.get(at..).filter(|rest| !rest.is_empty()) {
        line_number += 1;
        let line = rest.split_inclusive(|byte| *byte == b'\n').next().unwrap_or(rest);
        let Some(start) = object_start(line, !is_logged) else {
            if !line.trim_ascii().is_empty() {
                found.others += 1;
                found.first_other = if found.others == 1 { line_number } else { found.first_other };
            }
            found.blank(line);
            at += line.len();
            continue;
        };
        let (prefix, object) = rest.split_at(start);
        has_prefix |= !prefix.trim_ascii().is_empty();
        found.blank(prefix);
        let end = object_end(object, !is_logged).unwrap_or(line.len() - start);
        let object = object.get(..end).unwrap_or(object);
        found.bytes.extend_from_slice(object);
        line_number += memchr::memchr_iter(b'\n', object.trim_ascii_end()).count();
        let behind = rest.get(start + end..).unwrap_or_default();
        let trailer = behind.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
        let trailer = if object.ends_with(b"\n") { &[][..] } else { trailer };
        found.blank(trailer);
        at += start + end + trailer.len();
    }
    has_prefix.then_some(found)
}

/// The objects of a log, if one has a prefix, else the log; and the lines that hold none.
pub(crate) fn objects(log: &[u8]) -> (Cow<'_, [u8]>, u64, usize) {
    match unwrapped(log) {
        Some(found) => (Cow::Owned(found.bytes), found.others, found.first_other),
        None => (Cow::Borrowed(log), 0, 0),
    }
}

impl Unwrapped {
    fn blank(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes.iter().map(|byte| if *byte == b'\n' { b'\n' } else { b' ' }));
    }
}

/// Whether a text that begins with a bracket is a list, not a mark of a logger.
fn starts_a_list(text: &[u8]) -> bool {
    let inside = text.get(1..).unwrap_or_default().trim_ascii_start();
    matches!(inside.first(), Some(b'{' | b'[' | b'"' | b']') | None)
}

/// Where the object of a line begins; `marked` says that it must be a message of JSON-RPC.
fn object_start(line: &[u8], marked: bool) -> Option<usize> {
    let start = line.iter().take(LONGEST).position(|byte| matches!(byte, b'{' | b'"'))?;
    line.get(start).filter(|byte| **byte == b'{')?; // behind a quote, it is a part of a document
    if marked {
        return memmem::find(line.get(start..)?, MARK).map(|_| start);
    }
    let first = line.get(start + 1..)?.trim_ascii_start().first();
    let prefix = line.get(..start)?.trim_ascii();
    let is_logger =
        prefix.first().is_none_or(|byte| *byte == b'[' || byte.is_ascii_digit() || byte.is_ascii_uppercase());
    (is_logger && matches!(first, None | Some(b'"'))).then_some(start)
}

/// The length of the object that `text` begins with, on one line or several; none: it does not end before another one begins,
/// or nests deeper than any that is read. So a byte is looked at once for each bracket that is open, not for each line.
fn object_end(text: &[u8], marked: bool) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0_u32, false, false);
    for (at, byte) in text.iter().enumerate().take(MOST) {
        steps::count(1);
        match (in_string, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (true, b'"') => in_string = false,
            (true, b'\n') => return None,
            (true, _) => {}
            (false, b'"') => in_string = true,
            (false, b'{' | b'[') if depth == MAX_DEPTH => return None,
            (false, b'{' | b'[') => depth += 1,
            (false, b'}' | b']') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            (false, b'\n') => {
                let next = text.get(at + 1..)?.split(|byte| *byte == b'\n').next()?;
                let has_prefix = |start| next.get(..start).is_some_and(|prefix| !prefix.trim_ascii().is_empty());
                if object_start(next, marked).is_some_and(has_prefix) {
                    return None;
                }
            }
            (false, _) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(log: &str) -> Vec<String> {
        let found = unwrapped(log.as_bytes()).expect("objects");
        assert_eq!(found.bytes.len(), log.len());
        String::from_utf8(found.bytes).expect("text").lines().map(str::to_owned).collect()
    }

    #[test]
    fn only_messages_stay_and_they_keep_their_places() {
        let log =
            "started: {port: 1}\nSTDIN: {\"jsonrpc\":\"2.0\",\"id\":1}\n\n[é] {\"id\":1,\"jsonrpc\":\"2.0\"}\nbye";
        let found = unwrapped(log.as_bytes()).expect("messages");
        assert_eq!((found.others, found.first_other), (2, 1));
        let lines = lines(log);
        assert_eq!(lines[1], "       {\"jsonrpc\":\"2.0\",\"id\":1}");
        assert_eq!(
            (lines[0].trim(), lines[2].as_str(), lines[3].trim(), lines[4].as_str()),
            ("", "", "{\"id\":1,\"jsonrpc\":\"2.0\"}", "   ")
        );
    }

    #[test]
    fn an_object_behind_a_time_and_a_level_ends_before_its_trailer_on_one_line_or_several() {
        let log = "2026-01-01T00:00:00Z [a] [info] Starting { metadata: undefined }\n\
                   2026-01-01T00:00:00Z [a] [info] Said: {\"b\":\"}\"} { metadata: undefined }\n\
                   [12:00] [INFO] {\n  \"c\": [1,\n 2]\n} # x\nINFO {\"d\":1}\n[12:01] [INFO] {\"e\":\n[12:02] [INFO] {\"f\":2}";
        let lines = lines(log);
        let shown: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
        assert_eq!(shown, ["", r#"{"b":"}"}"#, "{", r#""c": [1,"#, "2]", "}", r#"{"d":1}"#, r#"{"e":"#, r#"{"f":2}"#]);
        assert_eq!(unwrapped(log.as_bytes()).map(|found| (found.others, found.first_other)), Some((1, 1)));
    }

    #[cfg(debug_assertions)]
    #[test]
    fn objects_that_nothing_closes_take_steps_in_proportion() {
        for line in ["{\n", "{\"a\":\n", "{\"a\":[\n", "{\"jsonrpc\":\n", "INFO {\"a\":\n", "{\"a\":{}\n"] {
            let log = |lines: usize| format!("INFO {{\"a\":1}}\n{}", line.repeat(lines));
            assert!(steps::are_linear(2_000, log, |log| drop(unwrapped(log.as_bytes()))), "{line}");
        }
    }

    #[test]
    fn a_log_without_a_prefix_is_none() {
        for log in [
            "",
            "{\"jsonrpc\":\"2.0\"}\n",
            "  {\"jsonrpc\":\"2.0\"}\n",
            "std_in: {\"a\":1}\n",
            "{\n\"m\": {\"jsonrpc\":\"2.0\"}}",
            "\"jsonrpc\"\n",
            "[\n{\"a\":1},\n{\"b\":{\"c\":1}}\n]",
            "[{\"a\":1}]\nINFO {\"b\":1}",
            "- {\"a\":1}\n",
        ] {
            assert!(unwrapped(log.as_bytes()).is_none(), "{log}");
        }
    }
}
