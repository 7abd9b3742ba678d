//! The field names of a line and of an error object, and how the first bytes of a name select its field. Knows no meanings.

use crate::wire::fields::{KnownFields, START};
use playproof_engine::call::KEY_ARGUMENTS;

/// The JSON Schema of one line of a trace, for editors.
pub const SCHEMA: &str = include_str!("../../../../schemas/trace.json");

// Fields 0 to 3 are the number fields: `fields::NUMBER_FIELDS`.
pub(super) const AT_MS: usize = 0;
pub(super) const STARTED: usize = 1;
pub(super) const ATTEMPT: usize = 2;
pub(super) const TIMEOUT: usize = 3;
/// From here on, each field has the values that [`ENUM_VALUES`] lists, in the same order.
pub(super) const ENUM_FIELDS: usize = 4;
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
/// Where an import found the content of the line; for people.
pub(super) const SOURCE: usize = 17;
/// Distinguishes the foreign row of a line from other rows.
pub(super) const ROW: usize = 18;
pub(super) const DRAW: usize = 19;
pub(super) const DISPATCHER: usize = 20;
/// Of a step of an action: the id of the action's call, and the name of the step.
pub(super) const PARENT: usize = 21;
pub(super) const STEP: usize = 22;
/// How long the caller of a call waits.
pub(super) const ANSWER_WITHIN: usize = 23;
/// Of a call: the label of its transaction.
pub(super) const TRANSACTION: usize = 24;
pub(super) const LINE_FIELDS: usize = 25;

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
    "draw",
    "dispatcher_id",
    "parent",
    "step",
    "answer_within_ms",
    "transaction",
];

/// The values of each enum field, as written.
pub(super) const ENUM_VALUES: [&[&str]; 4] = [
    &[
        "\"tool_call\"",
        "\"tool_result\"",
        "\"run_end\"",
        "\"cancel\"",
        "\"decision\"",
        "\"recording\"",
        "\"crash\"",
        "\"begin\"",
        "\"state\"",
        "\"commit\"",
        "\"rollback\"",
    ],
    &["\"ok\"", "\"error\"", "\"suspected\"", "\"unfinished\""],
    &["\"attempt\"", "\"refresh\"", "\"reversal\"", "\"late\""],
    &["\"text\"", "\"body\"", "\"code\""],
];

/// The fields of a line.
pub(super) enum LineFields {}

impl KnownFields for LineFields {
    const HASHED: usize = ARGS;

    fn is_noted(name: &[u8]) -> bool {
        KEY_ARGUMENTS.iter().any(|key| key.as_bytes() == name)
    }

    /// The place of a line in a chain of lines.
    fn is_passed_over(name: &[u8]) -> bool {
        [&b"prev"[..], b"hash"].contains(&name)
    }

    fn find(name: &[u8]) -> Option<usize> {
        NAMES.iter().position(|known| known.as_bytes() == name)
    }

    #[inline(always)]
    fn match_start(bytes: &[u8; START]) -> Option<(usize, usize)> {
        const SEVEN: u64 = u64::MAX >> 8;
        const TYPE_: u64 = first_eight(b"\"type\":\0");
        const TOOL_: u64 = first_eight(b"\"tool\":\0");
        const ARGS_: u64 = first_eight(b"\"args\":\0");
        const DRAW_: u64 = first_eight(b"\"draw\":\0");
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
        const DISPATCHER_: u64 = first_eight(b"\"dispatc");
        let (first, rest) = bytes.split_first_chunk::<8>()?;
        let first = u64::from_le_bytes(*first);
        match first {
            AT_MS_ => Some((AT_MS, 8)),
            ERROR_ => Some((ERROR, 8)),
            RUN_ => match_tail(rest, b":", RUN),
            STATUS_ => match_tail(rest, b":", STATUS),
            SOURCE_ => match_tail(rest, b":", SOURCE),
            STATUS_FROM_ => match_tail(rest, b"from\":", STATUS_FROM),
            ID_ => match_tail(rest, b"\":", ID),
            ATTEMPT_ => match_tail(rest, b"\":", ATTEMPT),
            STARTED_ => match_tail(rest, b"_ms\":", STARTED),
            KEY_ => match_tail(rest, b"ency_key\":", KEY),
            EVIDENCE_ => match_tail(rest, b"e_refs\":", EVIDENCE),
            TOKEN_ => match_tail(rest, b"l_token\":", TOKEN),
            DISPATCHER_ => match_tail(rest, b"her_id\":", DISPATCHER),
            _ => match first & SEVEN {
                TYPE_ => Some((TYPE, 7)),
                TOOL_ => Some((TOOL, 7)),
                ARGS_ => Some((ARGS, 7)),
                DRAW_ => Some((DRAW, 7)),
                _ => None,
            },
        }
    }
}

/// The field `number` and the length of its quoted name and colon, if `tail` follows the first eight bytes.
#[inline(always)]
fn match_tail<const N: usize>(rest: &[u8], tail: &[u8; N], number: usize) -> Option<(usize, usize)> {
    (rest.first_chunk() == Some(tail)).then_some((number, 8 + N))
}

/// The first eight bytes of a quoted name as one number, for one comparison.
const fn first_eight(text: &[u8; 8]) -> u64 {
    u64::from_le_bytes(*text)
}

pub(super) const ERROR_FIELDS: usize = 9;
pub(super) const ERROR_NAMES: [&str; ERROR_FIELDS] =
    ["kind", "message", "status", "code", "retry_after_ms", "kind_from", "should_retry", "headers", "retriable"];

/// The fields of an error object.
pub(super) enum ErrorFields {}

impl KnownFields for ErrorFields {
    const HASHED: usize = usize::MAX;

    fn find(name: &[u8]) -> Option<usize> {
        ERROR_NAMES.iter().position(|known| known.as_bytes() == name)
    }

    #[inline]
    fn match_start(bytes: &[u8; START]) -> Option<(usize, usize)> {
        let is = |number, literal: &[u8]| bytes.starts_with(literal).then_some((number, literal.len()));
        is(0, b"\"kind\":").or_else(|| is(1, b"\"message\":")).or_else(|| is(2, b"\"status\":"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_schema_has_exactly_the_fields_that_the_reader_knows() {
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
    fn the_schema_has_every_enum_value_that_the_reader_knows() {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        let words = |field: usize| {
            ENUM_VALUES[field - ENUM_FIELDS].iter().map(|word| word.trim_matches('"')).collect::<Vec<_>>()
        };
        assert_eq!(schema["properties"]["type"]["anyOf"][0]["enum"], json!(words(TYPE)));
        let answer = &schema["$defs"]["answer"]["properties"];
        for (name, field) in [("status", STATUS), ("answers", ANSWERS)] {
            let known: Vec<Option<&str>> = words(field).into_iter().map(Some).chain([None]).collect();
            assert_eq!(answer[name]["enum"], json!(known), "{name}");
        }
    }
}
