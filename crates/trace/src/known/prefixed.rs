//! JSON-RPC messages behind a prefix, as programs log their standard streams: `STDIN: {...}`, a time, or `[server] {...}`.
//! Blanks the prefixes, so that every place stays the same. Knows no other format.

use crate::pieces::BYTE_ORDER_MARK_BYTES;

/// The longest prefix, in bytes.
const LONGEST: usize = 200;
/// What every message has.
const MARK: &[u8] = b"\"jsonrpc\"";

/// A log with its messages alone.
pub(super) struct Messages {
    /// As many bytes as the log: what is no message is blank.
    pub(super) bytes: Vec<u8>,
    /// The lines without a message that are not blank: how many, and the first.
    pub(super) others: u64,
    pub(super) first_other: usize,
}

/// The messages of a log in which a message has a prefix; none if none has.
pub(super) fn messages(log: &[u8]) -> Option<Messages> {
    let log = log.strip_prefix(BYTE_ORDER_MARK_BYTES).unwrap_or(log);
    memchr::memmem::find(log, MARK)?;
    let mut found = Messages { bytes: Vec::with_capacity(log.len()), others: 0, first_other: 0 };
    let mut has_prefix = false;
    for (n, line) in log.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let start = message_start(line);
        has_prefix |= start.is_some_and(|start| !line.get(..start).unwrap_or_default().trim_ascii().is_empty());
        if start.is_none() && !line.trim_ascii().is_empty() {
            found.others += 1;
            found.first_other = if found.others == 1 { n + 1 } else { found.first_other };
        }
        let (blank, message) = line.split_at(start.unwrap_or(line.len()));
        found.bytes.extend(blank.iter().map(|byte| if *byte == b'\n' { b'\n' } else { b' ' }));
        found.bytes.extend_from_slice(message);
    }
    has_prefix.then_some(found)
}

/// Where the message of a line begins.
fn message_start(line: &[u8]) -> Option<usize> {
    let start = line.iter().take(LONGEST).position(|byte| matches!(byte, b'{' | b'"'))?;
    line.get(start).filter(|byte| **byte == b'{')?; // behind a quote, it is a part of a document
    memchr::memmem::find(line.get(start..)?, MARK).map(|_| start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_stay_and_they_keep_their_places() {
        let log =
            "started: {port: 1}\nSTDIN: {\"jsonrpc\":\"2.0\",\"id\":1}\n\n[é] {\"id\":1,\"jsonrpc\":\"2.0\"}\nbye";
        let found = messages(log.as_bytes()).expect("messages");
        assert_eq!((found.others, found.first_other, found.bytes.len()), (2, 1, log.len()));
        let text = String::from_utf8(found.bytes).expect("text");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "       {\"jsonrpc\":\"2.0\",\"id\":1}");
        assert_eq!(
            (lines[0].trim(), lines[2], lines[3].trim(), lines[4]),
            ("", "", "{\"id\":1,\"jsonrpc\":\"2.0\"}", "   ")
        );
    }

    #[test]
    fn a_log_without_a_prefix_is_none() {
        for log in [
            "",
            "{\"jsonrpc\":\"2.0\"}\n",
            "  {\"jsonrpc\":\"2.0\"}\n",
            "STDIN: {\"a\":1}\n",
            "{\n\"m\": {\"jsonrpc\":\"2.0\"}}",
            "\"jsonrpc\"\n",
        ] {
            assert!(messages(log.as_bytes()).is_none(), "{log}");
        }
    }
}
