//! The bodies by which the interfaces of vendors report errors, without a field of the usual names: a reason phrase of HTTP, a
//! code as the id or the type, names such as `errortext`, an error inside the only field.

use std::sync::LazyLock;

use super::details::Details;
use super::field_names::{is_beside, is_of_error};
use super::kinds::{self, plain};
use super::nothing::{is_empty, says_no_error};
use super::patterns::{self, LazyPattern};
use super::tool_name::{has_word, is_writer};
use super::word_list::WordList;
use crate::json::{self, Fields};
use crate::raw_value::RawValue;

/// Fields that may be beside an error, other than those that are beside any error.
static BESIDE: WordList = WordList::of("action data expected explanation fields field input received");

/// Names of fields that hold nothing but errors, in small letters without marks.
static ERRORS: WordList =
    WordList::of("errmsg errorarray errorclass errorlist errormsg errortext faultcode faultstring validationerrors");

/// The error of an object that is nothing but the report of one.
pub(super) fn inspect(fields: &Fields<'_>, tool: Option<&str>) -> Option<Details> {
    let special = || {
        of_change(fields)
            .or_else(|| of_bulk(fields))
            .or_else(|| of_fields(fields, tool))
            .or_else(|| of_operation_outcome(fields, tool))
            .or_else(|| of_problem(fields))
    };
    of_plain(fields).or_else(special).or_else(|| {
        let mut present = fields.iter().filter(|(_, value)| !is_empty(*value));
        let (_, only) = present.next().filter(|_| present.next().is_none())?;
        let inner = json::object(only)?;
        let has_status = has_failing_code(&inner) && has_message(&inner) && inner.iter().all(is_small);
        of_errors(&inner).or_else(|| of_fields(&inner, tool)).or_else(|| has_status.then(|| Details::of_object(&inner)))
    })
}

fn of_plain(fields: &Fields<'_>) -> Option<Details> {
    let text = |name: &str| fields.get(name).and_then(json::string);
    let is_phrase = |name: &&str| text(name).is_some_and(|text| kinds::is_reason_phrase(&text));
    let is_code = |name: &&str| text(name).is_some_and(|code| is_code(&code));
    let is_report = fields.iter().all(is_small);
    let says = || {
        ["message", "status"].iter().any(is_phrase)
            || is_phrase(&"title") && ["status", "detail", "instance"].iter().any(|name| fields.get(name).is_some())
            || ["code", "id", "reason", "type"].iter().any(is_code) && has_message(fields)
    };
    let is_only_failure = || {
        let mut present = fields.iter().filter(|(_, value)| !is_empty(*value));
        let is_failure = |(name, raw): (&str, RawValue<'_>)| {
            (name.ends_with("_failure") || name.ends_with("_error")) && raw.get().starts_with(['"', '{'])
        };
        present.next().is_some_and(is_failure) && present.next().is_none()
    };
    (is_report && says() || is_only_failure()).then(|| Details::of_object(fields)).or_else(|| of_errors(fields))
}

/// The first issue of an `OperationOutcome` of FHIR, if it is an error.
fn of_operation_outcome(fields: &Fields<'_>, tool: Option<&str>) -> Option<Details> {
    let is_asked_for = tool.is_some_and(|tool| has_word(tool, const { &WordList::of("outcome validate") }));
    let is_outcome = fields.text("resourceType").as_deref() == Some("OperationOutcome") && !is_asked_for;
    let issues = fields.get("issue").filter(|_| is_outcome)?;
    let first = json::object(*json::array(issues)?.first()?)?;
    let is_error = ["error", "fatal"].iter().any(|severity| first.text("severity").as_deref() == Some(severity));
    is_error.then(|| {
        let mut details = Details::of_object(&first);
        let said = first.text("diagnostics").filter(|_| details.message.is_empty());
        details.message = said.map_or(details.message, |said| said.into_owned());
        details
    })
}

/// A problem in words beside no result: `{"result":null,"problem":"the mailbox is moved"}`.
fn of_problem(fields: &Fields<'_>) -> Option<Details> {
    let said =
        fields.get("problem").filter(|said| said.get().starts_with('"') && !is_empty(*said) && !says_no_error(*said));
    let is_away = |name: &str| ["data", "output", "response", "result"].contains(&name);
    let is_alone = fields.iter().all(|(name, value)| name == "problem" || is_empty(value));
    let has_no_result = fields.iter().any(|(name, _)| is_away(name));
    said.filter(|_| is_alone && has_no_result).map(|_| Details::of_object(fields))
}

/// The errors of a change that came to nothing, as GraphQL interfaces of shops give them: `userErrors` beside no thing.
fn of_change(fields: &Fields<'_>) -> Option<Details> {
    let of = |fields: &Fields<'_>| {
        let is_errors = |name: &str| plain(name).ends_with("usererrors");
        let (_, errors) = fields.iter().find(|(name, value)| is_errors(name) && !is_empty(*value))?;
        let is_alone = fields.iter().all(|(name, value)| is_errors(name) || is_empty(value) || name == "__typename");
        (is_alone && errors.get().starts_with('[')).then(|| Details::of_error(errors, None))
    };
    let mut present = fields.iter().filter(|(name, value)| !is_empty(*value) && *name != "extensions");
    let mut only = || present.next().filter(|_| present.next().is_none()).and_then(|(_, value)| json::object(value));
    of(fields).or_else(|| of(&only()?))
}

/// What is wrong with the fields of a request to change something, by their names, as Rails and Django tell it:
/// `{"name":["can't be blank"]}`.
fn of_fields(fields: &Fields<'_>, tool: Option<&str>) -> Option<Details> {
    /// The most fields, and the longest sentence about one, in bytes.
    const MOST: usize = 20;
    const LONGEST: usize = 120;
    const WHOLE: [&str; 4] = ["base", "detail", "errors", "non_field_errors"];
    /// Fields of what was made, which may hold sentences about anything.
    const OTHERS: [&str; 7] = ["answers", "notes", "requirements", "rules", "saved", "skipped", "tips"];
    static WRONG: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?i)^(is (invalid|reserved|not (a|an|included|valid)|already taken|too (long|short|big|small|large))\b|(can't|cannot) be (blank|empty|null)\b|must be \w|has already been taken\b|this (field|list|value) (is|may|must|cannot|can not)\b|enter a valid\b|ensure this\b|not a valid\b|a valid [\w ]+ is required\b)",
        )
    });
    static WRONG_AS_A_WHOLE: LazyPattern =
        LazyLock::new(|| patterns::one(r"(?i)^(you (have reached|must|cannot)\b|there is already\b|invalid \w)"));
    let texts = |raw: RawValue<'_>| {
        let texts: Option<Vec<String>> =
            json::array(raw)?.into_iter().map(|item| Some(json::string(item)?.into_owned())).collect();
        texts.filter(|texts| !texts.is_empty())
    };
    let is_wrong = |(name, raw): (&str, RawValue<'_>)| {
        let says = |text: &String| {
            let is_whole = WHOLE.contains(&name) && patterns::matches(&WRONG_AS_A_WHOLE, text);
            text.len() <= LONGEST && (is_whole || patterns::matches(&WRONG, text))
        };
        let texts = texts(raw).filter(|_| !OTHERS.contains(&name))?;
        texts.iter().all(says).then(|| texts.into_iter().next())?
    };
    tool.filter(|tool| is_writer(tool))?;
    if fields.iter().count() > MOST {
        return None;
    }
    let texts: Option<Vec<String>> = fields.iter().map(is_wrong).collect();
    texts?.first().map(|text| Details::of_text(text))
}

/// The first error of a list of which `errors` says that some parts failed, as Elasticsearch answers to many writes at once.
/// Without its code and its status, where another part was done.
fn of_bulk(fields: &Fields<'_>) -> Option<Details> {
    let items = fields.get("items").filter(|_| fields.text("errors").is_some_and(|flag| flag == "true"))?;
    fn error(item: RawValue<'_>) -> Option<RawValue<'_>> {
        let item = json::object(item)?;
        let (_, only) = item.iter().next()?;
        json::object(only)?.get("error").filter(|error| !is_empty(*error))
    }
    let items = json::array(items)?;
    let mut errors = items.iter().filter_map(|item| error(*item));
    let first = Details::of_error(errors.next()?, None);
    let failed = errors.count() + 1;
    let (all, done) = (items.len(), items.len().saturating_sub(failed));
    // An item without an error was done, which the message says in words that tell of something done.
    let count = format!("{failed} of {all} items failed, {done}/{all} done");
    Some(if done == 0 { first } else { Details::of_text(&format!("{count}: {}", first.message)) })
}

/// The errors in fields of their own, beside no data.
fn of_errors(fields: &Fields<'_>) -> Option<Details> {
    let says_ok = |raw: RawValue<'_>| {
        json::string(raw).is_some_and(|text| ["ok", "success"].contains(&text.trim().to_ascii_lowercase().as_str()))
    };
    let is_error = |(name, raw): &(&str, RawValue<'_>)| ERRORS.has_plain(name) && !is_empty(*raw);
    let (_, errors) = fields.iter().find(is_error).filter(|(_, raw)| !says_ok(*raw))?;
    let is_report =
        fields.iter().all(|(name, raw)| is_small((name, raw)) || is_of_error(name) || is_error(&(name, raw)));
    is_report.then(|| Details::of_error(errors, Some(fields)))
}

fn is_small((name, raw): (&str, RawValue<'_>)) -> bool {
    is_empty(raw) || is_beside(name) || BESIDE.has_plain(name) || is_id_of_report(name) || name.ends_with("_errors")
}

/// Whether a field may be the id of the report itself.
fn is_id_of_report(name: &str) -> bool {
    matches!(name, "id" | "uuidList")
}

fn has_message(fields: &Fields<'_>) -> bool {
    ["message", "full_message", "detail", "error_message"]
        .iter()
        .any(|name| fields.get(name).is_some_and(|raw| !is_empty(raw)))
}

/// Whether a code is a status of HTTP that tells a failure.
fn has_failing_code(fields: &Fields<'_>) -> bool {
    fields.text("code").and_then(|code| code.parse::<u16>().ok()).is_some_and(|code| (400..=599).contains(&code))
}

/// Whether a text is the code of an error: a reason phrase with underlines, or a code with a word for a failure.
fn is_code(text: &str) -> bool {
    const BEGINNINGS: [&str; 2] = ["invalid_", "unknown_resource"];
    let lower = text.to_ascii_lowercase();
    kinds::is_code(text)
        || lower.contains('_') && kinds::is_reason_phrase(&lower.replace('_', " "))
        || BEGINNINGS.iter().any(|beginning| lower.starts_with(beginning)) && !lower.contains(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(body: &str) -> Option<String> {
        let fields = json::object(json::parse(body).unwrap()).unwrap();
        inspect(&fields, Some("create_zone")).map(|details| details.message)
    }

    #[test]
    fn bodies_of_vendors_are_errors_by_their_phrases_codes_and_names() {
        for (body, said) in [
            (
                r#"{"reason":"TOO_LONG","message":"Bad Request","explanation":"at most 50","fields":["title"]}"#,
                "Bad Request",
            ),
            (r#"{"status":"Forbidden","request_id":"r1","message":"Zone is taken."}"#, "Zone is taken."),
            (r#"{"reason":"ODD","message":"Unsupported Media Type","special_errors":["a"]}"#, "Unsupported Media Type"),
            (r#"{"id":"unprocessable_entity","message":"No such image."}"#, "No such image."),
            (r#"{"type":"invalid_auth","message":"Who are you?"}"#, "Who are you?"),
            (r#"{"itemNotFound":{"message":"Gone for good.","code":404}}"#, "Gone for good."),
            (r#"{"startresponse":{"uuidList":[],"errorcode":431,"errortext":"Key is odd"}}"#, "Key is odd"),
            (r#"{"verified":false,"verification_failure":"Date is odd"}"#, ""),
            (r#"{"errcode":40013,"errmsg":"wrong appid"}"#, "wrong appid"),
            (r#"{"ERRORARRAY":[{"ERRORCODE":5,"ERRORMESSAGE":"Nothing there"}],"DATA":{},"ACTION":"list"}"#, ""),
        ] {
            assert!(message(body).is_some_and(|message| message.contains(said)), "{body}: {:?}", message(body));
        }
    }

    #[test]
    fn what_is_wrong_with_fields_is_told_by_their_names() {
        for body in [
            r#"{"name":["can't be blank"],"mail":["is invalid","is too short"]}"#,
            r#"{"zone":{"base":["You have reached the limit of zones."]}}"#,
            r#"{"mail":["Enter a valid email address."]}"#,
            r#"{"validationErrors":{"messages":["TTL is odd"]},"code":400}"#,
        ] {
            assert!(message(body).is_some(), "{body}");
        }
        for body in [r#"{"tags":["is nice","red"]}"#, r#"{"tags":[]}"#, r#"{"rules":["must be kind"],"page":1}"#, "{}"]
        {
            assert_eq!(message(body), None, "{body}");
        }
        let many: Vec<String> = (0..21).map(|n| format!("\"f{n}\":[\"is invalid\"]")).collect();
        assert_eq!(message(&format!("{{{}}}", many.join(","))), None);
        for (tool, body) in [
            ("list_rules", r#"{"rules":["must be 18","cannot be late"]}"#),
            ("get_faq", r#"{"answers":["You must bring an ID"]}"#),
            ("extract_requirements", r#"{"requirements":["must be fast","should be cheap"]}"#),
            ("save_requirements", r#"{"saved":["must be fast"]}"#),
            ("add_tags", r#"{"skipped":["already exists"]}"#),
            ("add_tags", r#"{"tags":["already exists"]}"#),
            ("list_zones", r#"{"name":["can't be blank"]}"#),
        ] {
            let fields = json::object(json::parse(body).unwrap()).unwrap();
            assert_eq!(inspect(&fields, Some(tool)), None, "{tool}: {body}");
        }
    }

    #[test]
    fn errors_of_a_change_and_of_many_writes_are_failures() {
        for (body, said) in [
            (
                r#"{"productCreate":{"product":null,"userErrors":[{"field":["title"],"message":"No title"}]}}"#,
                "No title",
            ),
            (r#"{"cart":null,"userErrors":[{"message":"No cart"}]}"#, "No cart"),
            (r#"{"shopCustomerUserErrors":[{"code":"TAKEN","message":"Taken"}],"customer":null}"#, "Taken"),
            (
                r#"{"took":3,"errors":true,"items":[{"index":{"_id":"1","error":{"type":"a","reason":"odd date"}}}]}"#,
                "odd date",
            ),
            (
                r#"{"errors":true,"items":[{"index":{"status":201}},{"index":{"error":{"type":"a","reason":"odd"}}}]}"#,
                "1 of 2 items failed, 1/2 done: odd",
            ),
            (
                r#"{"errors":true,"items":[{"create":{"_id":"2","result":"created"}},{"create":{"error":{"reason":"odd"}}}]}"#,
                "1 of 2 items failed, 1/2 done: odd",
            ),
        ] {
            assert_eq!(message(body).as_deref(), Some(said), "{body}");
        }
        let many = vec![r#"{"index":{"error":{"reason":"odd"}}}"#; 12_000].join(",");
        assert_eq!(message(&format!(r#"{{"errors":true,"items":[{many}]}}"#)).as_deref(), Some("odd"));
        for body in [
            r#"{"productCreate":{"product":{"id":"1"},"userErrors":[]}}"#,
            r#"{"productCreate":{"product":{"id":"1"},"userErrors":[{"message":"The image was too large"}]}}"#,
            r#"{"took":3,"errors":false,"items":[{"index":{"_id":"1"}}]}"#,
            r#"{"errors":true,"items":[{"index":{"_id":"1"}}]}"#,
            r#"{"items":[{"index":{"error":{"reason":"odd"}}}]}"#,
        ] {
            assert_eq!(message(body), None, "{body}");
        }
    }

    #[test]
    fn records_and_answers_that_share_their_words_are_none() {
        for body in [
            r#"{"errcode":0,"errmsg":"ok"}"#,
            r#"{"id":"unprocessable_entity","name":"A page"}"#,
            r#"{"type":"invalid_auth","message":"Who are you?","count":3}"#,
            r#"{"order":{"message":"Sent","code":200}}"#,
            r#"{"status":"Conflict","zone":"a"}"#,
            r#"{"order":{"message":"Thanks","code":404,"total":9}}"#,
            r#"{"message":"Good request"}"#,
        ] {
            assert_eq!(message(body), None, "{body}");
        }
    }
}
