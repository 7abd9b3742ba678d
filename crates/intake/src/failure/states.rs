//! The state that an object names (`status`, `payment_status`) and that says that the call failed, or that its work is not done
//! yet. Records have states too: the name of the tool decides.

use std::sync::LazyLock;

use super::deeds::{names_deed_of, shares_stem};
use super::details::{Details, Found};
use super::field_names::{REASONS, is_beside, is_id};
use super::nothing::is_empty;
use super::patterns::{self, LazyPattern};
use super::table::Says;
use super::tool_name::{acts, asks, has_word, is_reader, is_writer, words};
use super::word_list::WordList;
use crate::json::{self, Fields};
use crate::raw_value::RawValue;
use playproof_engine::event::StatusFrom as Evidence;

/// Words of tools that report on other things, also on their failures.
static REPORTS: WordList = WordList::of("audit check health history report stats status test tests");

/// States of what failed.
static FAILED: WordList = WordList::of("error failure failed fail timeout timed_out denied refused rejected declined");

/// A failure that the state in an object says.
pub(super) fn by_state(fields: &Fields<'_>, others: usize, has_message: bool, tool: Option<&str>) -> Option<Found> {
    const ENDS: [&str; 5] = ["_denied", "_failed", "_forbidden", "_not_found", "_rejected"];
    let whole = |sure| Some(Found::of_body(sure, Details::of_object(fields)));
    let Some(state) = fields.text("status").or_else(|| fields.text("outcome")) else { return by_own(fields, tool) };
    let state = state.to_ascii_lowercase();
    // What says why something failed is no field of a record.
    let reasons = fields.iter().filter(|(name, value)| name.starts_with("failure_") && !is_empty(*value)).count();
    let (others, has_message) = (others.saturating_sub(reasons), has_message || reasons > 0);
    let ids = fields.iter().filter(|(name, value)| is_id(name) && !is_empty(*value)).count();
    let says_so = |said: &str| ["not found", "no ", "does not exist"].iter().any(|words| said.contains(words));
    let is_said =
        || REASONS.words().any(|name| fields.text(name).is_some_and(|said| says_so(&said.to_ascii_lowercase())));
    if state == "not_found" && ids > 0 && others == ids && is_said() {
        return whole(true); // what has this id
    }
    if others == 0 && has_message && ENDS.iter().any(|end| state.ends_with(end)) {
        // Any other state may be that of the record that was asked for.
        return whole(state.ends_with("_not_found"));
    }
    // Beside other fields, it may be the status of a record. What was asked for and has an id is one.
    let has_id = || fields.iter().any(|(name, value)| is_id(name) && !is_empty(value));
    let is_record = || state != "error" && tool.is_some_and(|tool| asks(tool) && !is_writer(tool)) && has_id();
    // A tool that sets states repeats the one that it has set.
    let is_set = || {
        state != "error"
            && !has_message
            && tool.is_some_and(|tool| has_word(tool, const { &WordList::of("mark set update") }))
    };
    // A tool that asks may have fetched a record, of which a message and other fields tell.
    let may_be_fetched =
        tool.is_some_and(asks) && has_message && others > 0 && (state != "error" || !is_of_call(fields));
    // The first field is about the call.
    let is_first = || fields.iter().next().is_some_and(|(name, _)| name == "status") && has_message && state == "error";
    let has_failed =
        FAILED.has(&state) && (others <= 2 || is_first() && !may_be_fetched) && !is_record() && !(is_set() && has_id());
    has_failed.then(|| whole(!may_be_fetched && (has_message || others == 0 || state == "error")))?
}

/// Whether an object in a failed state is of the call, and not of a record that a tool that asks has fetched: it names the type
/// of an error, or its message says what could not be asked; and nothing marks a record.
fn is_of_call(fields: &Fields<'_>) -> bool {
    static UNASKED: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?i)^(error|failed|unable|could not|couldn't|cannot|can't) (to )?(access|fetch|find|get|list|load|look|open|parse|quer|read|retriev|search)",
        )
    });
    static MARKS: WordList = WordList::of("attempt branch commit duration id name service version");
    let is_mark = |name: &str| {
        MARKS.has(name) || is_id(name) || ["_at", "At", "_time", "Time"].iter().any(|end| name.ends_with(end))
    };
    let message = || REASONS.words().find_map(|name| fields.text(name));
    let names_type =
        || ["error_type", "errorType"].iter().any(|name| fields.get(name).is_some_and(|value| !is_empty(value)));
    !fields.iter().any(|(name, value)| is_mark(name) && !is_empty(value))
        && (names_type() || message().is_some_and(|message| patterns::matches(&UNASKED, &message)))
}

/// A failed state in a field that names what it is of, of a tool that does something: the only one of the object, or of what
/// the name of the tool says that it does, such as `payment_status` of `pay`. Not of a tool that sets states, and not the
/// state that it was called for.
fn by_own(fields: &Fields<'_>, tool: Option<&str>) -> Option<Found> {
    let tool = tool.filter(|tool| is_writer(tool) || acts(tool) || !asks(tool) && !is_reader(tool))?;
    let says_ok = ["success", "ok"].iter().any(|name| fields.text(name).is_some_and(|flag| flag == "true"));
    let others = || fields.iter().filter(|(name, value)| !is_empty(*value) && !is_beside(name)).count();
    let has_reason = REASONS.words().any(|name| fields.get(name).is_some());
    let is_alone = |subject: &str| (is_writer(tool) || acts(tool)) && (!subject.is_empty() || has_reason);
    let is_wanted = |state: &str| {
        let is_of_states = |word: &str| ["set", "mark", "update", "status", "state"].contains(&word);
        words(tool).iter().any(|word| is_of_states(word) || shares_stem(word, &state.to_ascii_lowercase()))
    };
    let has_failed = |(name, value)| {
        let is_unwanted = |state: &str| is_failed(state) && !is_wanted(state.trim());
        let subject = subject(name).filter(|_| json::string(value).is_some_and(|state| is_unwanted(&state)))?;
        let is_of_tool = subject.len() > 2
            && words(tool).iter().any(|word| {
                let is_login = subject == "auth" && word == "login";
                word.len() > 2 && (is_login || subject.starts_with(&**word) || word.starts_with(subject))
            });
        (others() == 1 && is_alone(subject) || is_of_tool && others() <= 4)
            .then(|| Found::of_body(true, Details::of_object(fields)))
    };
    fields.iter().filter(|_| !says_ok).find_map(has_failed)
}

/// A flag that denies what the name of the tool says that it does, with the reason in words: `{"shared":false,"note":"no such
/// guest"}` of `share`. Not of a tool that asks, that sets a state or may leave things as they are, and not beside another
/// state, a time or a thing.
pub(super) fn by_deed(fields: &Fields<'_>, tool: Option<&str>) -> Option<Found> {
    static STATES: WordList = WordList::of("and detect find mark match or set toggle update upsert");
    let is_doing = |tool: &&str| is_writer(tool) || acts(tool) || !asks(tool) && !is_reader(tool);
    let tool = tool.filter(is_doing).filter(|tool| !has_word(tool, &STATES))?;
    let is_undone = |(name, value): (&str, RawValue<'_>)| value.get() == "false" && names_deed_of(name, tool);
    let is_reason = |name: &str| fields.get(name).is_some_and(|value| value.get().starts_with('"') && !is_empty(value));
    let is_other = |(name, value): (&str, RawValue<'_>)| {
        let is_time = ["_at", "At", "_on", "until"].iter().any(|end| name.ends_with(end));
        let is_state = ["status", "state", "decision"].contains(&name);
        value.get() == "true" || (is_time || is_state || is_id(name)) && !is_empty(value)
    };
    let is_report = fields.iter().count() <= 6 && !fields.iter().any(is_other);
    (is_report && REASONS.words().chain(["error", "note"]).any(is_reason) && fields.iter().any(is_undone))
        .then(|| Found::of_body(true, Details::of_object(fields)))
}

/// A failure that counts tell: something failed, nothing succeeded, and nothing is under way. What a tool that asks counts is
/// not about the call.
pub(super) fn by_counts(fields: &Fields<'_>, tool: Option<&str>) -> Option<Found> {
    const UNDER_WAY: [&str; 8] =
        ["active", "in_progress", "pending", "processing", "queued", "running", "scheduled", "sent"];
    if tool.is_some_and(|tool| asks(tool) || has_word(tool, &REPORTS)) {
        return None;
    }
    let is_under_way = |name: &&str| fields.text(name).is_some_and(|count| count.parse::<u64>() != Ok(0));
    if UNDER_WAY.iter().any(is_under_way) {
        return None;
    }
    const DONE: [&str; 6] = ["processed", "succeeded", "success_count", "successes", "successful", "successful_count"];
    const UNDONE: [&str; 6] = ["error_count", "errors", "failed", "failed_count", "failures", "unsuccessful"];
    let count = |names: &[&str]| names.iter().find_map(|name| fields.text(name)?.parse::<u64>().ok());
    let none_succeeded = count(&DONE) == Some(0);
    (none_succeeded && count(&UNDONE).is_some_and(|count| count > 0))
        .then(|| Found::of_body(true, Details::of_object(fields)))
}

/// A state that says that the work of the call goes on, or waits for somebody: of a job, a task or a run, and of an answer that
/// names no thing. A thing that was made has a state of its own; a tool that asks for a state has its answer.
pub(super) fn unfinished(fields: &Fields<'_>, tool: Option<&str>) -> Option<Found> {
    static STATES: WordList = WordList::of(
        "accepted awaiting_approval in_progress in-progress needs_approval pending pending_approval processing \
        queued requires_action requires_approval running started waiting",
    );
    static WORK: WordList = WordList::of("approval execution job operation process request run task workflow");
    let is_of_work = |name: &str| words(name).iter().any(|word| WORK.has(word));
    let is_thing = |(name, value): (&str, RawValue<'_>)| {
        (is_id(name) || name.ends_with("_reference")) && !is_empty(value) && !is_of_work(name)
            || value.get().starts_with(['{', '[']) && !is_empty(value) && !is_beside(name)
    };
    let names_work =
        ["object", "type", "kind"].iter().any(|name| fields.text(name).is_some_and(|kind| is_of_work(&kind)));
    let is_work =
        names_work || tool.is_some_and(|tool| has_word(tool, const { &WordList::of("agent job run task workflow") }));
    let is_task = fields.text("resultType").is_some_and(|kind| kind == "task");
    let state = ["status", "state"].iter().find_map(|name| fields.get(name).and_then(json::string));
    let is_open = state.as_ref().is_some_and(|state| STATES.has(&state.to_ascii_lowercase()));
    let says_ok = ["success", "ok"].iter().any(|name| fields.text(name).is_some_and(|flag| flag == "true"));
    let asks = tool.is_some_and(asks);
    let is_open_work = is_open && !says_ok && !asks && (is_work || !fields.iter().any(is_thing));
    (is_task && !asks || is_open_work).then(|| {
        let mut details = Details::of_object(fields);
        if details.message.trim().is_empty() {
            details.message = state.map_or_else(|| "a task".to_owned(), std::borrow::Cow::into_owned);
        }
        Found { evidence: Evidence::Body, says: Says::Unfinished, details }
    })
}

fn is_failed(state: &str) -> bool {
    FAILED.has_in_any_case(state.trim())
}

/// What the state in a field is of: nothing for `state` and `result`. None: the field holds no state.
fn subject(name: &str) -> Option<&str> {
    let ends = ["_status", "Status", "_state", "State", "_result", "Result", "_outcome", "Outcome"];
    let is_bare = ["state", "result", "outcome"].contains(&name);
    ends.iter().find_map(|end| name.strip_suffix(end)).or(is_bare.then_some(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails(tool: &str, body: &str) -> bool {
        let fields = json::object(json::parse(body).unwrap()).unwrap();
        let others = fields.iter().filter(|(name, value)| !is_empty(*value) && !is_beside(name)).count();
        by_state(&fields, others, fields.get("reason").is_some(), Some(tool))
            .is_some_and(|found| found.says == Says::Failed)
    }

    #[test]
    fn a_flag_that_denies_the_deed_of_the_tool_is_a_failure() {
        let by = |tool, body| by_deed(&json::object(json::parse(body).unwrap()).unwrap(), Some(tool)).is_some();
        for (tool, body) in [
            ("notes.share", r#"{"shared":false,"message":"no such guest"}"#),
            ("arm_alarm", r#"{"armed":false,"reason":"a window is open"}"#),
            ("order.cancel", r#"{"cancelled":false,"stage":"packed","detail":"too late"}"#),
        ] {
            assert!(by(tool, body), "{tool}: {body}");
        }
        for (tool, body) in [
            ("delete_file", r#"{"deleted":false,"dry_run":true}"#),
            ("send_mail", r#"{"delivered":false,"status":"queued"}"#),
            ("publish_post", r#"{"published":false,"id":"p1"}"#),
            ("create_note", r#"{"pinned":false,"title":"a"}"#),
            ("get_share", r#"{"shared":false}"#),
            ("revoke_key", r#"{"revoked":false}"#),
            ("toggle_mute", r#"{"muted":false,"note":"as wanted"}"#),
            ("send_activation_link", r#"{"activated":false,"message":"sent to Ann"}"#),
            ("create_subscription", r#"{"subscribed":false,"message":"Confirm by mail"}"#),
            ("create_or_update_user", r#"{"created":false,"note":"it was there"}"#),
            ("process_refund", r#"{"processed":false,"status":"processing","message":"wait"}"#),
            ("cancel_plan", r#"{"cancelled":false,"cancel_at":"June","note":"runs on"}"#),
            ("create_folder", r#"{"created":false,"exists":true,"path":"a"}"#),
            ("unshare_note", r#"{"success":true,"shared":false}"#),
        ] {
            assert!(!by(tool, body), "{tool}: {body}");
        }
    }

    #[test]
    fn what_was_asked_for_by_its_id_is_not_there() {
        assert!(fails(
            "track_ride",
            r#"{"ride_id":"r1","status":"not_found","eta":null,"reason":"No ride with ID r1"}"#
        ));
        assert!(!fails("track_ride", r#"{"ride_id":"r1","status":"not_found","driver":"Ann","reason":"no signal"}"#));
    }

    #[test]
    fn a_state_says_why_something_failed_and_may_stand_alone() {
        let reasons = r#"{"id":"ch_1","status":"failed","failure_code":"no_funds","failure_message":"declined"}"#;
        assert!(fails("create_charge", reasons) && !fails("get_charge", reasons));
        assert!(!fails("get_charge", r#"{"result":"FAIL"}"#) && !fails("update_charge", r#"{"result":"FAIL"}"#));
    }

    #[test]
    fn counts_of_nothing_done_and_something_failed_are_a_failure() {
        let of = |tool, body| by_counts(&json::object(json::parse(body).unwrap()).unwrap(), tool).is_some();
        let by = |body| of(None, body);
        assert!(by(r#"{"message":"read","total":1,"successful":0,"errors":1}"#));
        assert!(of(Some("send_campaign"), r#"{"sent":0,"successful":0,"errors":1}"#));
        for (tool, body) in [
            ("get_k8s_job", r#"{"name":"j","active":1,"succeeded":0,"failed":2}"#),
            ("get_payment_stats", r#"{"total":3,"succeeded":0,"failed":3}"#),
            ("run_tests", r#"{"total":3,"succeeded":0,"failed":3}"#),
            ("send_campaign", r#"{"sent":10,"successful":0,"errors":1,"queued":9}"#),
        ] {
            assert!(!of(Some(tool), body), "{tool}: {body}");
        }
        for body in [
            r#"{"total":2,"successful":1,"errors":1}"#,
            r#"{"total":0,"successful":0,"errors":0}"#,
            r#"{"total":1,"errors":1}"#,
        ] {
            assert!(!by(body), "{body}");
        }
    }

    #[test]
    fn a_failed_state_is_a_failure_of_a_tool_that_does_something() {
        for (tool, body) in [
            ("login", r#"{"auth_status":"failed"}"#),
            ("authenticate", r#"{"auth_status":"failed","attempts":2}"#),
            ("login", r#"{"auth_status":"failed","attempts":2}"#),
            ("pay_bill", r#"{"payment_status":"declined","bill":"b1"}"#),
            ("close_gate", r#"{"result":"failure","reason":"stuck"}"#),
            ("pay", r#"{"status":"declined","reason":"no_funds"}"#),
            ("get_note", r#"{"status":"error","note_id":"n1"}"#),
            ("get_prices", r#"{"status":"error","reason":"Failed to list prices","area":"a","from":1,"to":2}"#),
            ("get_prices", r#"{"status":"error","error_type":"upstream","reason":"gone","area":"a","from":1,"to":2}"#),
            ("load_prices", r#"{"status":"error","reason":"no key","area":"a","from":1,"to":2,"unit":"b"}"#),
        ] {
            assert!(fails(tool, body), "{tool}: {body}");
        }
        for (tool, body) in [
            ("get_payment", r#"{"id":"p1","status":"declined","amount":5,"reason":"no_funds"}"#),
            ("get_payment_status", r#"{"payment_status":"failed"}"#),
            ("check_job", r#"{"job_state":"failed"}"#),
            ("get_job", r#"{"name":"j","status":"error","reason":"no key","area":"a","from":1,"to":2}"#),
            ("create_order", r#"{"order":"o1","payment_status":"failed"}"#),
            ("get_incident", r#"{"status":"error","reason":"disk full on db1","host":"h"}"#),
            ("get_job", r#"{"status":"error","reason":"Failed to open a port","job_id":"j","from":1,"to":2}"#),
            ("get_build", r#"{"status":"error","reason":"Failed to fetch dependency a","commit":"b"}"#),
            ("get_job", r#"{"status":"error","error_type":"E1","reason":"gone","started_at":"noon","to":2}"#),
            ("get_build", r#"{"status":"error","reason":"lint failed","branch":"b"}"#),
            ("get_prices", r#"{"status":"error","reason":"no key","area":"a","from":1,"to":2,"unit":"b"}"#),
            ("reject_leave", r#"{"leave_status":"rejected","leave":"l1"}"#),
            ("deny_request", r#"{"request_status":"denied","by":"ada"}"#),
            ("mark_payment_failed", r#"{"payment_status":"failed"}"#),
            ("set_job_state", r#"{"job_state":"failed","job":"j1"}"#),
            ("update_job", r#"{"job_status":"failed","updated":true}"#),
            ("login", r#"{"auth_status":"ok"}"#),
            ("hgetall", r#"{"state":"error"}"#),
            ("close_gate", r#"{"state":"error"}"#),
            ("login", r#"{"success":true,"auth_status":"failed"}"#),
            ("pay", r#"{"status":"ok","payment_status":"failed"}"#),
            ("add_job", r#"{"last_result":"failed","name":"n","turns":3,"at":"noon"}"#),
        ] {
            assert!(!fails(tool, body), "{tool}: {body}");
        }
    }
}
