//! Finds a failure in a body: unwraps envelopes until none is left (JSON in text, printed Python values, MCP results), and
//! knows the structures that say that a call failed.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::command_end::{command_end, exit_code};
use super::details::{Details, Found};
use super::field_names::{ENVELOPES, REASONS, is_beside, is_beside_words, is_data, is_id};
use super::nothing::{is_empty, says_no_error};
use super::patterns::{self, LazyPattern};
use super::printed::{printed_message, printed_result};
use super::states::{by_counts, by_deed, by_state, unfinished};
use super::table::Says;
use super::tool_name::{asks, is_writer};
use super::validation_report::validation_report;
use super::words::{Teller, hear, named};
use super::{exit, kinds, markup, message, vendor_body};
use crate::json;
use crate::json::Fields;
use crate::python;
use crate::raw_value::RawValue;
use playproof_engine::event::StatusFrom as Evidence;

/// Envelopes that are unwrapped.
const DEPTH: usize = 10;
/// The longest printed Python value that is read, in bytes.
const MAX_PRINTED: usize = 1_000_000;

/// The failure in a body, if there is one.
pub(super) fn inspect(body: &str, by: Teller<'_>) -> Option<Found> {
    inspect_text(body, by, DEPTH)
}

/// The error in a text that is itself an envelope with a failure; none for plain words.
pub(super) fn inner_error(text: &str) -> Option<Details> {
    let is_envelope =
        text.trim_start().starts_with('<') || json_of(text).is_some() || printed_result(text.trim()).is_some();
    is_envelope.then(|| inspect(text, Teller::default())).flatten().map(|found| found.details)
}

/// Details whose message is itself an envelope with a failure, with what that one says.
fn opened(mut details: Details) -> Details {
    match inner_error(&details.message) {
        Some(inner) => {
            details.message.clear();
            inner.or(details)
        }
        None => details,
    }
}

/// What a flagged failure's body says: its innermost text.
pub(super) fn content(body: &str) -> Details {
    let mut texts = Vec::new();
    innermost(body, DEPTH, &mut texts);
    Details::of_text(&texts.join("\n"))
}

fn innermost(body: &str, depth: usize, texts: &mut Vec<String>) {
    match json_of(body).as_ref().and_then(raw_of) {
        Some(raw) if depth > 0 => match raw.get().as_bytes().first() {
            Some(b'{') => {
                let details = json::object(raw).map(|fields| opened(Details::of_object(&fields))).unwrap_or_default();
                texts.push(if details.message.is_empty() { body.to_owned() } else { details.message });
            }
            _ => match parts(raw) {
                Some(parts) => parts.iter().for_each(|part| innermost(part, depth - 1, texts)),
                None => texts.push(body.to_owned()),
            },
        },
        _ => texts.push(body.to_owned()),
    }
}

/// The JSON that a text holds: as such, or as a printed Python value.
fn json_of(text: &str) -> Option<Cow<'_, str>> {
    let text = text.trim();
    if !text.starts_with(['{', '[', '"']) {
        return None;
    }
    if json::parse(text).is_ok() {
        return Some(Cow::Borrowed(text));
    }
    let printed = text.starts_with("{'") || text.starts_with("[{'") || text.starts_with("{\"");
    (printed && text.len() <= MAX_PRINTED).then(|| python::to_json(text)).flatten().map(Cow::Owned)
}

/// The value that [`json_of`] found. It has checked JSON that it borrows from a text, and not JSON that it wrote.
#[expect(clippy::ptr_arg, reason = "whether it is a part of a text counts")]
fn raw_of<'j>(json: &'j Cow<'_, str>) -> Option<RawValue<'j>> {
    match json {
        Cow::Borrowed(text) => Some(RawValue::of_checked(text)),
        Cow::Owned(text) => json::parse(text).ok(),
    }
}

/// The texts of content parts (`[{"type":"text","text":"..."}]`), or of a list with one text.
fn parts(raw: RawValue<'_>) -> Option<Vec<String>> {
    let items = json::array(raw)?;
    let part = |raw: RawValue<'_>| {
        let fields = json::object(raw)?;
        let kind = fields.text("type");
        let is_part = kind.is_none_or(|kind| matches!(&*kind, "text" | "output_text" | "tool_result" | "input_text"));
        is_part.then(|| fields.get("text").or_else(|| fields.get("json")))?.map(own_text)
    };
    if let [one] = *items.as_slice() {
        return Some(vec![json::string(one).map(Cow::into_owned).or_else(|| part(one))?]);
    }
    let texts: Vec<String> = items.iter().copied().filter_map(part).collect();
    (!texts.is_empty() && texts.len() + 2 > items.len()).then_some(texts)
}

fn own_text(raw: RawValue<'_>) -> String {
    json::string(raw).map_or_else(|| raw.get().to_owned(), Cow::into_owned)
}

fn inspect_text(body: &str, by: Teller<'_>, depth: usize) -> Option<Found> {
    let trimmed = body.trim();
    let depth = depth.checked_sub(1)?;
    if let Some(plain) = without_colours(trimmed) {
        return inspect_text(&plain, by, depth);
    }
    if let Some(json) = json_of(trimmed) {
        return inspect_json(raw_of(&json)?, by, depth);
    }
    if let Some(printed) = printed_result(trimmed).or_else(|| printed_message(trimmed)) {
        let whole = printed.texts.join("\n");
        return mcp_result(printed.is_error, &[whole], by, depth);
    }
    if markup::error_page(trimmed).is_some() && !markup::is_served(by.tool) {
        return None;
    }
    let sign = hear(trimmed, by)?;
    let mut details = markup::error_report(sign.message).unwrap_or_else(|| Details::of_text(sign.message));
    // An error text often ends with the upstream's error object.
    let at = sign.message.find(['{', '[']).filter(|at| *at > 0);
    let tail = at.and_then(|at| sign.message.get(at..));
    if let Some(inner) = tail.filter(|tail| tail.len() <= MAX_PRINTED).and_then(inner_error) {
        details.names.extend(inner.names);
        details.status = inner.status.or_else(|| message::facts(sign.message).status);
        details.wait = inner.wait;
        if message::is_only_a_frame(sign.message) && !inner.message.is_empty() {
            details.message = inner.message;
        }
    }
    if exit::says_nonzero(trimmed, by.tool) {
        details = details.named(exit::NONZERO_EXIT);
    }
    Some(Found { evidence: Evidence::Text, says: sign.says, details })
}

/// A text without the colours of a terminal; none: it has none.
fn without_colours(text: &str) -> Option<String> {
    static COLOUR: LazyPattern = LazyLock::new(|| patterns::one(r"\x1b\[[0-9;]*m"));
    let has_colour = text.contains("\u{1b}[");
    let plain = has_colour.then(|| COLOUR.without(text))?;
    (plain.len() < text.len()).then_some(plain)
}

fn inspect_json(raw: RawValue<'_>, by: Teller<'_>, depth: usize) -> Option<Found> {
    let depth = depth.checked_sub(1)?;
    match raw.get().as_bytes().first()? {
        b'"' => inspect_text(&json::string(raw)?, by, depth),
        b'[' => match json::array(raw)?.as_slice() {
            [one] if json::object(*one).is_some_and(|fields| is_report(&fields)) => inspect_json(*one, by, depth),
            items => {
                validation_report(items).or_else(|| parts(raw)?.iter().find_map(|part| inspect_text(part, by, depth)))
            }
        },
        b'{' => {
            let found = inspect_object(&json::object(raw)?, by, depth)?;
            Some(Found { details: opened(found.details), ..found })
        }
        _ => None,
    }
}

/// An MCP result: its flag, or a failure in its texts.
fn mcp_result(is_error: Option<bool>, texts: &[String], by: Teller<'_>, depth: usize) -> Option<Found> {
    let inner = texts.iter().find_map(|text| inspect_text(text, by, depth));
    if is_error != Some(true) {
        return inner;
    }
    let details = inner.map_or_else(|| Details::of_text(&texts.join("\n")), |inner| inner.details);
    Some(Found { evidence: Evidence::Body, says: Says::Failed, details })
}

fn inspect_object(fields: &Fields<'_>, by: Teller<'_>, depth: usize) -> Option<Found> {
    let is_true = |flag: &str| flag.eq_ignore_ascii_case("true") || flag == "1";
    let flag = |names: &[&str]| names.iter().find_map(|name| fields.text(name)).map(|flag| is_true(&flag));
    if let Some(is_error) = flag(&["isError", "is_error"]) {
        let content = || fields.get("content").filter(|raw| !(is_error && is_empty(*raw)));
        let structured = || ["structuredContent", "structured_content"].iter().find_map(|name| fields.get(name));
        let texts = content()
            .or_else(|| structured().filter(|raw| is_error && !is_empty(*raw)))
            .map(|raw| parts(raw).unwrap_or_else(|| vec![own_text(raw)]));
        if let Some(texts) = texts {
            return mcp_result(Some(is_error), &texts, by, depth).or_else(|| structure(fields, by));
        }
        if is_error {
            return Some(Found::of_body(true, Details::of_object(fields)));
        }
    }
    structure(fields, by)
        .or_else(|| inside(fields, by, depth))
        .or_else(|| all_parts(fields).or_else(|| all_items(fields, by)))
        .or_else(|| vendor_body::inspect(fields, by.tool).map(|details| Found::of_body(true, details)))
}

/// Whether a field is of an error, by its name.
fn is_error((name, raw): (&str, RawValue<'_>)) -> bool {
    let names = ["error", "errorCode", "error_code", "errorMessage", "error_message", "error_type", "errors"];
    names.contains(&name) && !is_empty(raw)
}

/// Whether the only item of a list is the report of an error, and no record.
fn is_report(fields: &Fields<'_>) -> bool {
    let is_of_call = |name: &str| is_beside(name) || ["query", "result"].contains(&name);
    let is_record = ["id", "name"].iter().any(|name| fields.get(name).is_some());
    fields.iter().any(is_error) && fields.iter().all(|(name, _)| is_of_call(name)) && !is_record
}

/// The failure of the first item, where an answer has nothing but a list of items, and each of them failed.
fn all_items(fields: &Fields<'_>, by: Teller<'_>) -> Option<Found> {
    // Who asks gets the failures of others.
    if by.is(asks) {
        return None;
    }
    // Counts say nothing else.
    let is_count =
        |name: &str, value: RawValue<'_>| name == "summary" || value.get().bytes().all(|byte| byte.is_ascii_digit());
    let mut present = fields.iter().filter(|(name, value)| !is_empty(*value) && !is_count(name, *value));
    let is_list = |name: &str| ["results", "responses"].contains(&name);
    let (_, items) = present.next().filter(|(name, _)| is_list(name))?;
    let failed = |item: RawValue<'_>| {
        let fields = json::object(item)?;
        let is_failed = fields.text("success").is_some_and(|flag| flag == "false") && fields.iter().any(is_error);
        is_failed.then(|| Found::of_body(true, Details::of_object(&fields)))
    };
    let failed: Option<Vec<Found>> = json::array(items)?.into_iter().map(failed).collect();
    failed?.into_iter().next().filter(|_| present.next().is_none())
}

/// The failure of the first part, where an answer has nothing but parts, by their paths, and all of them failed.
fn all_parts(fields: &Fields<'_>) -> Option<Found> {
    let part = |(name, value): (&str, RawValue<'_>)| {
        let part = name.contains(['/', '.', '\\']).then(|| json::object(value))??;
        let is_error = part.text("result").is_some_and(|result| result == "error");
        structure(&part, Teller::default())
            .filter(|found| found.says == Says::Failed)
            .or_else(|| is_error.then(|| Found::of_body(true, Details::of_object(&part))))
    };
    let parts: Option<Vec<Found>> = fields.iter().map(part).collect();
    parts?.into_iter().next()
}

/// A failure inside the only answer of an envelope.
fn inside(fields: &Fields<'_>, by: Teller<'_>, depth: usize) -> Option<Found> {
    let present = || fields.iter().filter(|(_, value)| !is_empty(*value));
    if let Some(printed) = fields.get("stderr").filter(|_| present().count() == 1 && fields.get("stdout").is_some()) {
        return inspect_json(printed, by, depth);
    }
    let mut answers = present().filter(|(name, _)| ENVELOPES.has(name));
    let inner = answers.next();
    let (name, raw) = inner.filter(|_| answers.next().is_none() && present().count() <= 8)?;
    // GraphQL names the change inside `data`.
    let changes = by.is(is_writer) && name == "data";
    let change = json::object(raw).filter(|_| changes).and_then(|data| only_object(&data));
    if let Some(failed) = change.and_then(|change| inspect_object(&change, by, depth.checked_sub(1)?))
        && failed.evidence == Evidence::Body
    {
        return Some(failed);
    }
    // Beside a flag of success or several other fields, words are an answer.
    let says_ok = ["success", "ok"].iter().any(|name| fields.text(name).is_some_and(|flag| flag == "true"));
    let words_count = present().count() <= 2 && !says_ok && exit_code(fields) != Some(0);
    inspect_json(raw, by, depth).filter(|inner| inner.evidence == Evidence::Body || words_count)
}

/// The object in the only field of an object.
fn only_object<'a>(fields: &Fields<'a>) -> Option<Fields<'a>> {
    let mut all = fields.iter();
    let (_, only) = all.next().filter(|_| all.next().is_none())?;
    json::object(only)
}

/// The structures that say that a call failed.
fn structure(fields: &Fields<'_>, by: Teller<'_>) -> Option<Found> {
    let get = |name: &str| fields.get(name).filter(|value| !is_empty(*value));
    let text = |name: &str| fields.text(name).map(|text| text.to_ascii_lowercase());
    let others = fields.iter().filter(|(name, value)| !is_empty(*value) && !is_beside(name)).count();
    let is_first = |name: &str| fields.iter().next().is_some_and(|(first, _)| first == name);
    let has_message =
        REASONS.words().chain(["errorMessage", "title", "decline_reason"]).any(|name| get(name).is_some());
    // A count is no flag, unless nothing else is counted.
    let is_zero = |flag: &str| flag == "0" && (others == 0 || has_message && others == 1);
    let flag = |name: &str| text(name).and_then(|flag| if is_zero(&flag) { Some(false) } else { flag.parse().ok() });
    const SUCCESS: [&str; 6] = ["success", "ok", "Success", "isSuccess", "is_success", "IsSuccess"];
    let success = SUCCESS.iter().find_map(|name| flag(name));
    let succeeded = success == Some(true);
    let whole = || Details::of_object(fields);
    if let Some((name, error)) = error_of(fields, others, has_message) {
        if succeeded || (others > 4 && !is_first(name) && !has_message) {
            return None;
        }
        let says_so = success == Some(false) || text("status").is_some_and(|status| status == "error");
        let sure = says_so || !is_beside_something(error, fields, is_first(name));
        return Some(Found::of_body(sure, Details::of_error(error, Some(fields))));
    }
    if let Some(errors) =
        get("errors").or_else(|| get("errorMessages")).filter(|errors| errors.get().starts_with(['[', '{']))
    {
        let checks = fields.iter().any(|(name, _)| matches!(name, "valid" | "is_valid" | "isValid"));
        if succeeded || others > 2 || checks {
            return None;
        }
        let part = get("data").is_some();
        return Some(Found::of_body(!part, Details::of_error(errors, Some(fields))));
    }
    // `status: false` may be that of a record, unless the answer is nothing but that and a message.
    let has_failed = flag("status") == Some(false) && others == 0 && has_message;
    if has_failed || success == Some(false) || flag("failed") == Some(true) {
        // A run has a name or an id of its own, unless it was asked for.
        let is_named = || fields.iter().any(|(name, value)| (name == "name" || is_id(name)) && !is_empty(value));
        let record =
            others > 4 && !SUCCESS.iter().any(|name| is_first(name)) && (by.tool.is_none_or(asks) || is_named());
        return (!record).then(|| Found::of_body(true, whole()));
    }
    let is_error_type = text("type").is_some_and(|kind| kind == "error" || kind.ends_with("_error"));
    // A title beside an id is that of a record.
    let is_record = get("id").is_some() && get("title").is_some() && REASONS.words().all(|name| get(name).is_none());
    if is_error_type && !is_record && (has_message || get("error_code").is_some()) {
        return Some(Found::of_body(true, whole()));
    }
    if let Some(ended) = command_end(fields) {
        return Some(ended);
    }
    let by_names = by_state(fields, others, has_message, by.tool)
        .or_else(|| by_counts(fields, by.tool))
        .or_else(|| by_deed(fields, by.tool))
        .or_else(|| unfinished(fields, by.tool));
    if by_names.is_some() {
        return by_names;
    }
    if is_coded(fields, others, has_message) {
        return Some(Found::of_body(true, whole()));
    }
    sole_words(fields, by)
}

/// The error of an object, with the name of its field.
fn error_of<'a>(fields: &Fields<'a>, others: usize, has_message: bool) -> Option<(&'static str, RawValue<'a>)> {
    const ERRORS: [&str; 8] =
        ["error", "Error", "err", "exception", "fault", "errorMessage", "ErrorMessage", "error_message"];
    // `{"error": true}` beside a message; numbers are counts.
    let is_count = |error: RawValue<'_>| {
        let is_status = || error.get().parse::<u16>().is_ok_and(|status| (400..=599).contains(&status)) && others == 0;
        error.get().starts_with(|c: char| c.is_ascii_digit() || c == '-') && !has_message && !is_status()
    };
    let error =
        |name| fields.get(name).filter(|error| !is_empty(*error) && !says_no_error(*error) && !is_count(*error));
    ERRORS.into_iter().find_map(|name| Some((name, error(name)?)))
}

/// Whether an error stands beside something useful: a record, or a part that failed. What has an id may have been made; the id
/// of the request, or one that the error names, is none of something made.
fn is_beside_something(error: RawValue<'_>, fields: &Fields<'_>, is_first: bool) -> bool {
    let has = |is: &dyn Fn(&str, RawValue<'_>) -> bool| {
        fields.iter().any(|(name, value)| !is_empty(value) && is(name, value))
    };
    let is_record = fields.get("jsonrpc").is_none() && has(&|name, value| is_id(name) && !is_named_in(error, value));
    is_record || !is_first && has(&|name, _| is_data(name))
}

/// Whether a status of HTTP or the name of a code says that an object is an error.
fn is_coded(fields: &Fields<'_>, others: usize, has_message: bool) -> bool {
    let status = |names: &[&str]| {
        let status = names.iter().find_map(|name| fields.text(name)?.parse::<u16>().ok());
        status.is_some_and(|status| (400..=599).contains(&status))
    };
    let is_answer = || fields.iter().all(|(name, value)| is_empty(value) || is_beside(name) || ENVELOPES.has(name));
    let is_code = |name: &str| fields.text(name).is_some_and(|code| kinds::is_code(&code));
    let named = ["__type", "errorType", "error_type", "error_code", "errorCode", "exception_type"];
    let is_named = || named.iter().any(|name| fields.get(name).is_some_and(|value| !is_empty(value)));
    let is_alone = has_message || others == 0;
    // The number of an error of the interface, where there is no data.
    let number = ["code", "errcode", "errno", "ret"].iter().find_map(|name| fields.text(name)?.parse::<i64>().ok());
    let is_of_error = |number: i64| number < 0 || (40_000..60_000).contains(&number);
    let has_no_data = || fields.get("data").is_some_and(is_empty) || number.is_some_and(|number| number < 0);
    let says_ok = || {
        let said = REASONS.words().find_map(|name| fields.text(name)).unwrap_or_default().to_lowercase();
        ["ok", "success", "成功", "done", "completed"].iter().any(|word| said.contains(word))
    };
    let is_numbered = || others == 0 && has_message && number.is_some_and(is_of_error) && has_no_data() && !says_ok();
    is_numbered()
        || others <= 2 && is_alone && status(&["status", "statusCode", "status_code", "code", "cod"])
        || status(&["statusCode", "status_code", "http_status", "httpStatus"]) && is_answer()
        || others == 0 && (is_code("code") || is_code("name") && has_message)
        || others <= 1 && is_alone && is_named()
}

/// `{"detail": "Not found."}`, `{"message": "Forbidden"}`: an object with nothing but words that an upstream uses for errors.
fn sole_words(fields: &Fields<'_>, by: Teller<'_>) -> Option<Found> {
    let mut present = fields.iter().filter(|(_, value)| !is_empty(*value));
    let (name, raw) = present.find(|(name, _)| !is_beside_words(name))?;
    if present.any(|(name, _)| !is_beside_words(name)) {
        return None;
    }
    let whole = || Details::of_object(fields);
    if name == "detail" && raw.get().starts_with('[') {
        let validation = raw.get().contains("\"loc\"") && raw.get().contains("\"msg\"");
        let mut details = whole();
        details.names.insert(0, "request_validation".into());
        return validation.then(|| Found::of_body(true, details));
    }
    let words = json::string(raw).filter(|_| matches!(name, "detail" | "message" | "Message" | "msg"))?;
    if let Some(inner) = inner_error(&words) {
        return Some(Found::of_body(true, inner));
    }
    let said = hear(words.trim(), by).map(|heard| heard.says);
    let has_phrase = fields.text("status").is_some_and(|status| kinds::is_reason_phrase(&status));
    let is_of_upstream = named(&words, by).proves
        || fields.get("documentation_url").is_some()
        || has_phrase
        || kinds::is_reason_phrase(&words);
    let says = if is_of_upstream { Some(Says::Failed) } else { said };
    says.map(|says| Found { evidence: Evidence::Body, says, details: whole() })
}

/// Whether the words of an error name an id.
fn is_named_in(error: RawValue<'_>, id: RawValue<'_>) -> bool {
    let Some(error) = json::string(error) else { return false };
    let id = own_text(id);
    let is_apart = |text: Option<char>| !text.is_some_and(char::is_alphanumeric);
    error.match_indices(id.as_str()).any(|(at, found)| {
        let (before, after) = (error.get(..at).unwrap_or_default(), error.get(at + found.len()..).unwrap_or_default());
        is_apart(before.chars().next_back()) && is_apart(after.chars().next())
    })
}
