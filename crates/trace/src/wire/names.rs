//! The names of a line's fields and of an error's, and which field is which, told from the first bytes of a name.
//! Knows no meanings.

use crate::wire::fields::{Known, SPELT};

/// The JSON Schema of one line of a trace, for editors.
pub const SCHEMA: &str = include_str!("../../../../schemas/trace.json");

pub(super) const AT_MS: usize = 0;
pub(super) const STARTED: usize = 1;
pub(super) const ATTEMPT: usize = 2;
pub(super) const TIMEOUT: usize = 3;
/// The fields above hold numbers.
pub(super) const NUMBERS: usize = 4;
/// The next fields say one of [`WORDS`] each.
pub(super) const WORDY: usize = 4;
pub(super) const TYPE: usize = 4;
pub(super) const STATUS: usize = 5;
pub(super) const ANSWERS: usize = 6;
pub(super) const STATUS_FROM: usize = 7;
pub(super) const RUN: usize = 8;
pub(super) const ID: usize = 9;
pub(super) const TOOL: usize = 10;
pub(super) const AT: usize = 11;
pub(super) const ARGS: usize = 12;
pub(super) const KEY: usize = 13;
pub(super) const EVIDENCE: usize = 14;
pub(super) const TOKEN: usize = 15;
pub(super) const ERROR: usize = 16;
/// Where an import found what the line says; for people.
pub(super) const SOURCE: usize = 17;
/// Tells the foreign row that a line was made of from others.
pub(super) const ROW: usize = 18;
pub(super) const LINE_FIELDS: usize = 19;

pub(super) const NAMES: [&str; LINE_FIELDS] = [
    "at_ms",
    "started_ms",
    "attempt",
    "timeout_ms",
    "type",
    "status",
    "answers",
    "status_from",
    "run_id",
    "call_id",
    "tool",
    "at",
    "args",
    "idempotency_key",
    "evidence_refs",
    "reversal_token",
    "error",
    "source",
    "row",
];

/// What each wordy field may say, as it is written.
pub(super) const WORDS: [&[&str]; 4] = [
    &["\"tool_call\"", "\"tool_result\"", "\"run_end\""],
    &["\"ok\"", "\"error\""],
    &["\"attempt\"", "\"refresh\"", "\"reversal\""],
    &["\"text\""],
];

/// The fields of a line.
pub(super) enum LineFields {}

impl Known for LineFields {
    const HASHED: usize = ARGS;

    fn find(name: &[u8]) -> Option<usize> {
        NAMES.iter().position(|known| known.as_bytes() == name)
    }

    #[inline(always)]
    fn spelt(bytes: &[u8; SPELT]) -> Option<(usize, usize)> {
        const SEVEN: u64 = u64::MAX >> 8;
        const TYPE_: u64 = first_eight(b"\"type\":\0");
        const TOOL_: u64 = first_eight(b"\"tool\":\0");
        const ARGS_: u64 = first_eight(b"\"args\":\0");
        const AT_MS_: u64 = first_eight(b"\"at_ms\":");
        const ERROR_: u64 = first_eight(b"\"error\":");
        const RUN_: u64 = first_eight(b"\"run_id\"");
        const STATUS_: u64 = first_eight(b"\"status\"");
        const SOURCE_: u64 = first_eight(b"\"source\"");
        const STATUS_FROM_: u64 = first_eight(b"\"status_");
        const ID_: u64 = first_eight(b"\"call_id");
        const ATTEMPT_: u64 = first_eight(b"\"attempt");
        const STARTED_: u64 = first_eight(b"\"started");
        const KEY_: u64 = first_eight(b"\"idempot");
        const EVIDENCE_: u64 = first_eight(b"\"evidenc");
        const TOKEN_: u64 = first_eight(b"\"reversa");
        let (first, rest) = bytes.split_first_chunk::<8>()?;
        let first = u64::from_le_bytes(*first);
        match first {
            AT_MS_ => Some((AT_MS, 8)),
            ERROR_ => Some((ERROR, 8)),
            RUN_ => behind(rest, b":", RUN),
            STATUS_ => behind(rest, b":", STATUS),
            SOURCE_ => behind(rest, b":", SOURCE),
            STATUS_FROM_ => behind(rest, b"from\":", STATUS_FROM),
            ID_ => behind(rest, b"\":", ID),
            ATTEMPT_ => behind(rest, b"\":", ATTEMPT),
            STARTED_ => behind(rest, b"_ms\":", STARTED),
            KEY_ => behind(rest, b"ency_key\":", KEY),
            EVIDENCE_ => behind(rest, b"e_refs\":", EVIDENCE),
            TOKEN_ => behind(rest, b"l_token\":", TOKEN),
            _ => match first & SEVEN {
                TYPE_ => Some((TYPE, 7)),
                TOOL_ => Some((TOOL, 7)),
                ARGS_ => Some((ARGS, 7)),
                _ => None,
            },
        }
    }
}

/// The field `number`, and the length of its name, if `tail` follows the first eight bytes.
#[inline(always)]
fn behind<const N: usize>(rest: &[u8], tail: &[u8; N], number: usize) -> Option<(usize, usize)> {
    (rest.first_chunk() == Some(tail)).then_some((number, 8 + N))
}

/// The first eight bytes of a quoted name as one number, to be compared at once.
const fn first_eight(text: &[u8; 8]) -> u64 {
    u64::from_le_bytes(*text)
}

pub(super) const ERROR_FIELDS: usize = 5;
pub(super) const ERROR_NAMES: [&str; ERROR_FIELDS] = ["kind", "message", "status", "code", "retry_after_ms"];

/// The fields of an error object.
pub(super) enum ErrorFields {}

impl Known for ErrorFields {
    const HASHED: usize = usize::MAX;

    fn find(name: &[u8]) -> Option<usize> {
        ERROR_NAMES.iter().position(|known| known.as_bytes() == name)
    }

    #[inline]
    fn spelt(bytes: &[u8; SPELT]) -> Option<(usize, usize)> {
        let is = |number, literal: &[u8]| bytes.starts_with(literal).then_some((number, literal.len()));
        is(0, b"\"kind\":").or_else(|| is(1, b"\"message\":")).or_else(|| is(2, b"\"status\":"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_schema_has_every_field_that_the_reader_knows_and_no_other() {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        let lists: [(&str, &[&str]); 2] = [("", &NAMES), ("/$defs/error", &ERROR_NAMES)];
        for (at, known) in lists {
            let fields = schema.pointer(at).unwrap()["properties"].as_object().unwrap();
            let mut known = known.to_vec();
            known.sort_unstable();
            assert_eq!(fields.keys().collect::<Vec<_>>(), known, "{at}");
        }
    }

    #[test]
    fn the_schema_has_every_word_that_the_reader_knows() {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        let words = |field: usize| WORDS[field - WORDY].iter().map(|word| word.trim_matches('"')).collect::<Vec<_>>();
        assert_eq!(schema["properties"]["type"]["anyOf"][0]["enum"], json!(words(TYPE)));
        let answer = &schema["$defs"]["answer"]["properties"];
        for (name, field) in [("status", STATUS), ("answers", ANSWERS)] {
            let known: Vec<Option<&str>> = words(field).into_iter().map(Some).chain([None]).collect();
            assert_eq!(answer[name]["enum"], json!(known), "{name}");
        }
    }
}
