//! Fields beside an error that show that a part of the work was done. The refusal is then not of the whole call.

use super::body::is_empty;
use crate::json;
use crate::raw_value::RawValue;

/// Names of fields with the number or the list of the things that were done.
const DONE: [&str; 14] = [
    "completed",
    "created",
    "deleted",
    "imported",
    "inserted",
    "processed",
    "removed",
    "saved",
    "sent",
    "succeeded",
    "success_count",
    "successful",
    "updated",
    "uploaded",
];

/// Whether a body that reports a failure tells of a part that was done, or holds a thing with an id.
pub(super) fn tell_of_a_part(body: &str) -> bool {
    let fields = json::parse(body.trim()).ok().and_then(json::object);
    fields.is_some_and(|fields| {
        fields.iter().filter(|(_, value)| !is_empty(*value)).any(|(name, value)| {
            let has_id = || json::object(value).is_some_and(|thing| thing.get("id").is_some_and(|id| !is_empty(id)));
            DONE.contains(&name)
                || !["error", "meta", "metadata", "request"].contains(&name) && has_id()
                || name == "items" && json::array(value).is_some_and(|items| items.into_iter().any(is_done))
        })
    })
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
            r#"{"errors":true,"items":[{"index":{"status":400,"error":{}}},{"index":{"_id":"1","status":201}}]}"#,
        ] {
            assert!(tell_of_a_part(body), "{body}");
        }
        for body in [r#"{"error":"forbidden","processed":0}"#, r#"{"error":{"id":"e1"}}"#, "forbidden", "[1]"] {
            assert!(!tell_of_a_part(body), "{body}");
        }
    }
}
