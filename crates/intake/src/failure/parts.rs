//! Fields beside an error that show that a part of the work was done. The refusal is then not of the whole call.

use super::deeds::{is_known_deed, is_of_a_deed};
use super::nothing::is_empty;
use super::tool_name::words;
use super::word_list::WordList;
use crate::json;
use crate::raw_value::RawValue;

/// Names of fields that tell of something done by any value: a flag, a text or a list, too. Others may hold a date or a word
/// that denies it: `changed: 2026-01-01`, `paid: "no"`.
static DONE_BY_ANY_VALUE: WordList = WordList::of(
    "completed created deleted imported inserted processed removed saved sent succeeded success_count successful \
    updated uploaded",
);

/// The states of a thing that was done or is being done, beside those of deeds.
static STATES: WordList = WordList::of("accepted active confirmed done");

/// The states of what is over and done.
static OVER: WordList = WordList::of("captured completed confirmed done paid succeeded");

/// Levels of errors and bodies that are read.
const DEPTH: usize = 3;

/// Whether a body that reports a failure tells of a part that was done, or holds a thing with an id or with the state of one
/// that was done.
pub(super) fn tell_of_a_part(body: &str) -> bool {
    json::parse(body.trim()).is_ok_and(|body| object_tells(body, DEPTH))
}

/// Whether an object tells of a part, or the error or the body inside it does.
fn object_tells(raw: RawValue<'_>, depth: usize) -> bool {
    let fields = json::object(raw).filter(|_| depth > 0);
    fields.is_some_and(|fields| {
        let mut present = fields.iter().filter(|(_, value)| !is_empty(*value));
        present.any(|(name, value)| {
            let has_id = || json::object(value).is_some_and(|thing| thing.get("id").is_some_and(|id| !is_empty(id)));
            let is_about_error = ["error", "meta", "metadata", "request"].contains(&name);
            let may_list_errors = is_about_error || ["errors", "details"].contains(&name);
            let is_done_flag = value.get() == "true" && is_of_a_deed(name);
            let is_done_state = || json::string(value).is_some_and(|state| OVER.has(&state));
            let inner = || match name {
                "error" | "details" | "context" => object_tells(value, depth - 1),
                "body" => json::string(value)
                    .is_some_and(|body| json::parse(&body).is_ok_and(|body| object_tells(body, depth - 1))),
                _ => false,
            };
            DONE_BY_ANY_VALUE.has(name)
                || is_done_flag
                || is_done_state()
                || is_of_what_was_made(name)
                || ["phase", "stage", "step"].contains(&name) && is_later_step(value)
                || inner()
                || !is_about_error && has_id()
                || !may_list_errors && (is_of_a_deed(name) && is_amount(value) || holds_a_thing(value))
                || name == "items" && json::array(value).is_some_and(|items| items.into_iter().any(is_done))
        })
    })
}

/// Whether a field has the id of a thing that is there only after the call: `chargeId`, `payment_id`.
fn is_of_what_was_made(name: &str) -> bool {
    static MADE: WordList = WordList::of("booking charge confirmation payment receipt refund transaction");
    let thing = name.strip_suffix("_id").or_else(|| name.strip_suffix("Id"));
    thing.is_some_and(|thing| MADE.has(thing))
}

/// Whether a step, by its name, comes after the deed: `post_capture_hook`.
fn is_later_step(value: RawValue<'_>) -> bool {
    static LATER: WordList =
        WordList::of("after callback cleanup confirm confirmation finalize notify notification post receipt webhook");
    json::string(value).is_some_and(|step| {
        let words = words(&step);
        words.len() > 1 && words.iter().any(|word| LATER.has(word)) // alone it may be the tool's own
    })
}

/// Whether a value is a count above 0 or a list: a flag or a text tells of no amount.
fn is_amount(value: RawValue<'_>) -> bool {
    // `2 of 3`, `2/3`
    let counts = |text: &str| {
        let (part, whole) = text.split_once(" of ").or_else(|| text.split_once('/'))?;
        whole.trim().parse::<u64>().ok().and_then(|_| part.trim().parse::<u64>().ok())
    };
    let is_counted = || json::string(value).is_some_and(|text| counts(&text).is_some_and(|part| part > 0));
    is_counted() || value.get().starts_with(['[', '{']) || value.get().parse::<f64>().is_ok_and(|number| number > 0.0)
}

/// Whether a value is a thing with an id, or with the state of one that was done, or a list of such things.
fn holds_a_thing(value: RawValue<'_>) -> bool {
    let is_thing = |value| {
        json::object(value).is_some_and(|thing| {
            let has_id = thing.iter().any(|(name, id)| (name == "id" || name.ends_with("_id")) && !is_empty(id));
            let state = thing.text("status").or_else(|| thing.text("state"));
            let is_done = |state: &str| STATES.has(state) || is_known_deed(state);
            let failed = thing.iter().any(|(name, error)| name == "error" && !is_empty(error));
            !failed && (has_id || state.is_some_and(|state| is_done(&state.to_ascii_lowercase())))
        })
    };
    is_thing(value) || json::array(value).is_some_and(|things| things.into_iter().any(is_thing))
}

/// Whether an item of an answer to many writes is that of a write that was done: `{"index":{"_id":"1","status":201}}`.
fn is_done(item: RawValue<'_>) -> bool {
    let Some(fields) = json::object(item) else { return false };
    let only = fields.iter().next().and_then(|(_, only)| json::object(only));
    only.is_some_and(|only| only.text("status").is_some_and(|status| status.starts_with('2')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_lists_and_things_tell_of_a_part() {
        for body in [
            r#"{"success":false,"processed":3,"error":"forbidden"}"#,
            r#"{"error":{"code":403},"completed":["a"]}"#,
            r#"{"error":"unauthorized","charge":{"id":"ch_1"}}"#,
            r#"{"error":"rate_limited","accepted":7,"rejected":3}"#,
            r#"{"error":"Too Many Requests","jobs":[{"id":1,"state":"queued"}]}"#,
            r#"{"error":"invalid_request","message":"row 3: invalid value","rowsAffected":2}"#,
            r#"{"error":"quota_exceeded","delivered":350}"#,
            r#"{"success":false,"code":403,"error":"Forbidden","steps_completed":["pay"]}"#,
            r#"{"error":{"code":401,"message":"Unauthorized"},"progress":0.6}"#,
            r#"{"error":"Unauthorized","result":{"order_id":"o_1"}}"#,
            r#"{"error":{"code":400},"flight":{"status":"confirmed","pnr":"A1"}}"#,
            r#"{"success":false,"error":"x","steps":[{"name":"pay","status":"done"},{"name":"ship","status":"failed"}]}"#,
            r#"{"error":{"status":429},"deletedCount":12}"#,
            r#"{"error":"forbidden","success_count":3}"#,
            r#"{"error":"forbidden","created":true}"#,
            r#"{"error":"forbidden","details":{"id":"d1"}}"#,
            r#"{"error":"rate_limited","charged":true}"#,
            r#"{"error":{"status":403,"completed_steps":["debit"]}}"#,
            r#"{"error":{"code":403,"data":{"charge":"ch_1","status":"succeeded"}}}"#,
            r#"{"statusCode":403,"body":"{\"charged\":true}"}"#,
            r#"{"error":"bad_request","charge":"succeeded"}"#,
            r#"{"error":{"code":403,"details":{"payment_id":"p1","captured":true}}}"#,
            r#"{"statusCode":403,"message":"Forbidden","chargeId":"c1"}"#,
            r#"{"error":"403 Forbidden","stage":"post_capture_hook"}"#,
            r#"{"error":"forbidden","deployed":"2 of 3"}"#,
            r#"{"errors":true,"items":[{"index":{"status":400,"error":{}}},{"index":{"_id":"1","status":201}}]}"#,
        ] {
            assert!(tell_of_a_part(body), "{body}");
        }
        for body in [
            r#"{"error":"forbidden","rejected":3,"failed":1,"attempted":2,"created_at":"2026-01-01"}"#,
            r#"{"error":"quota_exceeded","used":100,"limit":100,"allowed":["a"],"supported":["b"]}"#,
            r#"{"error":"invalid","required":["amount"],"results":[{"id":"a","error":"bad"}]}"#,
            r#"{"error":"rate_limited","limited":true,"retry_after":3}"#,
            r#"{"error":"forbidden","processed":0}"#,
            r#"{"error":{"code":403,"retryable":true,"message":"no"},"charged":false}"#,
            r#"{"error":{"id":"e1"}}"#,
            r#"{"error":"forbidden","changed":"2026-01-01","paid":"no","made":"Ford"}"#,
            r#"{"error":"forbidden","data_set":3,"set":3}"#,
            r#"{"statusCode":403,"message":"Forbidden","requestId":"r1","accountId":"a1"}"#,
            r#"{"error":{"code":403,"details":{"reason":"no scope","charged":false}}}"#,
            r#"{"error":"forbidden","stage":"pre_check"}"#,
            r#"{"error":"forbidden","deployed":"0/3"}"#,
            "forbidden",
            "[1]",
        ] {
            assert!(!tell_of_a_part(body), "{body}");
        }
    }
}
