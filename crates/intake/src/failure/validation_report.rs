//! The report of a validation as a list, as Pydantic and FastAPI give it.

use super::details::{Details, Found};
use super::nothing::is_empty;
use crate::json;
use crate::raw_value::RawValue;

/// The report of a validation, as Pydantic and FastAPI give it: each item has a place, a message and a type. Only places in a
/// request say that the arguments were refused; others may be in what the tool got after it acted.
pub(super) fn validation_report(items: &[RawValue<'_>]) -> Option<Found> {
    const REQUEST: [&str; 5] = ["body", "query", "path", "header", "cookie"];
    let first = items.first()?;
    let of_item = |item: &RawValue<'_>| {
        let fields = json::object(*item)?;
        let has = |name: &str| fields.get(name).is_some_and(|value| !is_empty(value));
        let place = fields.get("loc").and_then(json::array)?;
        let place = place.first().and_then(|place| json::string(*place));
        let is_of_request = place.is_some_and(|place| REQUEST.contains(&&*place));
        (has("msg") && has("type")).then_some(is_of_request)
    };
    let is_of_request = items.iter().map(of_item).collect::<Option<Vec<bool>>>()?.into_iter().all(|is| is);
    let mut details = json::object(*first).map(|fields| Details::of_object(&fields)).unwrap_or_default();
    let name = if is_of_request { "request_validation" } else { "response_validation" };
    details.names.insert(0, name.to_owned());
    Some(Found::of_body(true, details))
}
