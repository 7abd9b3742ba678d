//! One question for all importers: did this result fail? Combines the source's own flag, the structured body and the text,
//! in this order.

use std::sync::LazyLock;

use super::clause::{self, TOOL_REFUSED};
use super::details::{Details, Found};
use super::patterns::{self, LazyPattern};
use super::program_error::{PROGRAM_ERROR, is_program_error};
use super::raised::{self, TOOL_RAISED, is_raised};
use super::tool_name::{has_word, is_writer, runs_programs};
use super::{
    agents, already, body, claims, deeds, excerpt, exit, kinds, message, parts, retry_after, sentence, text_kinds,
    undone,
};
use crate::headers;
use crate::raw_value::RawValue;
use playproof_engine::event::{Headers, KindFrom, StatusFrom as Evidence};

/// The longest message that is kept, in bytes.
const MAX_MESSAGE: usize = 4_000;

/// What a source tells of one result.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ToolResult<'a> {
    /// The source's own flag: whether it failed. None if the source has no flag, or one that only says that a result was
    /// stored.
    pub(crate) flag: Option<bool>,
    /// The flag denies a failure, and words do not count against it.
    pub(crate) denies_words: bool,
    /// The HTTP status that the source names.
    pub(crate) status: Option<u16>,
    /// The error code or the exception type that the source names.
    pub(crate) code: Option<&'a str>,
    /// The error kind that the source names. A kind that the vocabulary lacks stays as written.
    pub(crate) kind: Option<&'a str>,
    /// The error message that the source names, beside the body.
    pub(crate) message: Option<&'a str>,
    /// The answer: a text, or JSON.
    pub(crate) body: Option<&'a str>,
    /// The tool's name.
    pub(crate) tool: Option<&'a str>,
    /// `Retry-After` as a header has it: seconds, or an HTTP date.
    pub(crate) retry_after: Option<&'a str>,
    /// The headers of the answer.
    pub(crate) headers: Option<RawValue<'a>>,
    /// When the answer came, in microseconds since 1970: a wait until a date needs it.
    pub(crate) at: Option<u64>,
}

/// Whether a result failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Assessment {
    Ok,
    Failed(Failure),
    /// Its text suggests a failure and does not prove one.
    Suspected(Failure),
}

/// A failure, with the facts of its innermost error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) evidence: Evidence,
    pub(crate) kind: String,
    /// None: nothing names the kind, which is then `tool_error`.
    pub(crate) kind_from: Option<KindFrom>,
    pub(crate) message: String,
    pub(crate) status: Option<u16>,
    pub(crate) code: Option<String>,
    pub(crate) retry_after_ms: Option<u64>,
    /// It says until when to wait: how long that is depends on the time of the answer.
    is_until: bool,
    /// Whether the agent was told that it may make the call again, if a mapping says where that stands.
    pub(crate) retriable: Option<bool>,
    pub(crate) headers: Headers,
}

impl Failure {
    /// Forgets a code that only says who told of a failure without a kind: it has one now.
    pub(crate) fn forget_teller(&mut self) {
        self.code.take_if(|code| {
            self.kind != kinds::TOOL_ERROR && [PROGRAM_ERROR, TOOL_RAISED, TOOL_REFUSED].contains(&code.as_str())
        });
    }
}

impl Assessment {
    /// What tells whether the result failed; for a success of a source without a flag, its text.
    pub(crate) fn evidence(&self, flagged: bool) -> Evidence {
        match self {
            Assessment::Failed(failure) | Assessment::Suspected(failure) => failure.evidence,
            Assessment::Ok if flagged => Evidence::Flag,
            Assessment::Ok => Evidence::Text,
        }
    }

    /// Whether the same answer at another time is assessed alike.
    pub(super) fn is_timeless(&self) -> bool {
        match self {
            Assessment::Failed(failure) | Assessment::Suspected(failure) => !failure.is_until,
            Assessment::Ok => true,
        }
    }
}

/// Whether a result failed. Total, and linear in the size of the result.
pub(crate) fn assess(result: &ToolResult<'_>) -> Assessment {
    let by_code = result.status.is_some_and(|status| status >= 400)
        || result.code.is_some_and(|code| kinds::of_name(code).is_some())
        || (result.flag.is_none() && result.kind.is_some_and(|kind| kinds::of_name(kind).is_some()));
    let flagged = match result.flag {
        Some(true) => Some(Evidence::Flag),
        _ if by_code => Some(Evidence::Code),
        _ => None,
    };
    let found = result.body.and_then(|body| body::inspect(body, result.tool));
    if let Some(evidence) = flagged {
        return Assessment::Failed(failure(evidence, found, result));
    }
    let stated = result.message.and_then(|message| body::inspect(message, result.tool));
    // A flag that denies a failure is stronger than a suspicion, and than words that a tool hands on. Many servers send it with
    // each answer, so other words that prove a failure outweigh it.
    let is_handed_on = |said: &str| {
        result.tool.is_some_and(hands_on) && !says_an_end(said, result.tool) && !is_of_reader(said, result.tool)
    };
    let heard = |found: &Found| {
        result.flag.is_none()
            || found.evidence == Evidence::Body
            || found.sure && !result.denies_words && !is_handed_on(&found.details.message)
    };
    match found.filter(heard).or(stated.filter(heard)) {
        None => Assessment::Ok,
        Some(found) => {
            let sure = found.sure;
            let failure = failure(found.evidence, Some(found), result);
            if sure { Assessment::Failed(failure) } else { Assessment::Suspected(failure) }
        }
    }
}

/// Whether a tool hands on what programs, documents or others say.
fn hands_on(tool: &str) -> bool {
    const WORDS: [&str; 16] = [
        "agent", "ask", "cat", "docker", "fetch", "git", "make", "node", "npm", "page", "read", "ssh", "task", "test",
        "tests", "view",
    ];
    runs_programs(tool) || has_word(tool, &WORDS) && !is_writer(tool)
}

/// Whether the words are those of a tool that reads files, of the file that it could not read: one line, which no file is.
fn is_of_reader(said: &str, tool: Option<&str>) -> bool {
    static UNREAD: LazyPattern = LazyLock::new(|| {
        patterns::one(r"(?i)\A(file not found: \S[^\n]{0,200}|error reading file: [^\n]{1,200}|ENOENT: [^\n]{1,200})\z")
    });
    tool.is_some_and(|tool| has_word(tool, &["file", "files", "read"])) && patterns::matches(&UNREAD, said.trim())
}

/// Whether the program that ran a command says how it ended, in its frame around the output too, or who ended it.
fn says_an_end(output: &str, tool: Option<&str>) -> bool {
    static EXITED: LazyPattern = LazyLock::new(|| {
        patterns::one(r"^exited [1-9]\d* in [\d.]+ ?m?s:|^The command failed with exit code: -?[1-9]")
    });
    let output = output.trim();
    let has_frame = || exit::framed(output).is_some_and(|code| code != 0);
    patterns::matches(&EXITED, output) || agents::says(output, tool) || agents::ends(output, tool) || has_frame()
}

/// The facts of a result that failed, whatever it looks like.
pub(crate) fn failure_of(result: &ToolResult<'_>) -> Failure {
    failure(Evidence::Flag, result.body.and_then(|body| body::inspect(body, result.tool)), result)
}

fn failure(evidence: Evidence, found: Option<Found>, result: &ToolResult<'_>) -> Failure {
    let said = |text: &str| body::inspect(text, result.tool).map_or_else(|| body::content(text), |found| found.details);
    let message = result.message.filter(|message| !message.trim().is_empty());
    let of_body = found.map(|found| found.details);
    let mut details = match (message.map(said), of_body) {
        (Some(own), Some(of_body)) => own.or(of_body),
        (Some(own), None) => own,
        (None, Some(of_body)) => of_body,
        (None, None) => result.body.map(body::content).unwrap_or_default(),
    };
    details.wait = result.retry_after.and_then(|wait| retry_after::of_header(wait, None)).or(details.wait);
    let mut stated = result.code.into_iter().chain(details.names.iter().map(String::as_str));
    let is_coded = stated.any(|name| !kinds::says_nothing(name));
    details.learn_from_message();
    let proof = Proof::of(&details, result);
    let status = result.status.or(details.status.filter(|_| proof.is_whole()));
    let own = result.kind.map(str::trim).filter(|kind| !kind.is_empty() && !kinds::says_nothing(kind));
    let named = own.map(|kind| (kinds::of_name(kind).unwrap_or(kind), KindFrom::Flag));
    let codes = || result.code.into_iter().chain(details.names.iter().filter(|_| proof.counts).map(String::as_str));
    let coded = || {
        let all = codes().filter_map(kinds::of_name).chain(status.and_then(kinds::of_status));
        all.reduce(|kind, other| if kinds::is_more_specific(other, kind) { other } else { kind })
    };
    let counts = |kind: &&str| !proof.tells_more || !kinds::proves_nothing_happened(kind);
    let text = text_kinds::of_message(&details.message, result.tool).filter(counts);
    let (kind, kind_from) = match named.or_else(|| coded().map(|kind| (kind, KindFrom::Code))) {
        Some((kind, from)) => match text.filter(|text| kinds::is_more_specific(text, kind)) {
            Some(text) => (text, Some(KindFrom::Text)),
            None => (kind, Some(from)),
        },
        None => text.map_or((kinds::TOOL_ERROR, None), |kind| (kind, Some(KindFrom::Text))),
    };
    // `already paid` may be the work of an earlier attempt: it proves no refusal.
    let is_done_before = own.is_none() && claims::may_be_done_before(kind) && already::says_done(&details.message);
    let kind = if is_done_before { kinds::CONFLICT } else { kind };
    let is_traced = claims::is_of_a_traceback(kind, result.body, result.tool);
    let (kind, kind_from) = match (proof.is_half_way(kind) || is_traced) && own.is_none() {
        true => (kinds::TOOL_ERROR, None),
        false => (kind, kind_from),
    };
    let status = status.filter(|_| !is_done_before && !is_traced);
    let gone = || claims::of_what_is_gone(&details.message, result.tool).map(|kind| (kind, Some(KindFrom::Text)));
    let (kind, kind_from) =
        if kind == kinds::TOOL_ERROR { gone().unwrap_or((kind, kind_from)) } else { (kind, kind_from) };
    let is_coded = is_coded && !is_traced;
    let teller = if is_coded || kind != kinds::TOOL_ERROR { None } else { teller(&details.message, result.tool) };
    let code = teller.or_else(|| codes().next()).map(str::to_owned);
    let retry_after_ms = details.retry_after(result.at);
    // A quota that comes back within the hour is a limit of rate.
    let kind = match retry_after_ms {
        Some(0..3_600_000) if kind == kinds::QUOTA => kinds::RATE,
        _ => kind,
    };
    let bare = raised::message_before_traceback(&details.message).filter(|_| kind != kinds::TOOL_ERROR);
    let message = excerpt::cut(bare.unwrap_or(&details.message), MAX_MESSAGE).to_owned();
    let headers = result.headers.map(headers::foreign).unwrap_or(details.headers);
    Failure {
        evidence,
        kind: kind.to_owned(),
        kind_from,
        message,
        status,
        code,
        retry_after_ms,
        is_until: matches!(details.wait, Some(retry_after::Wait::Until { .. })),
        retriable: None,
        headers,
    }
}

/// What a refusal in the words of a failure proves.
struct Proof {
    /// The names of errors in the message are about the call.
    counts: bool,
    /// Beside the refusal, the message tells of a part that was done or of a later step.
    tells_more: bool,
    /// A program that is refused something may have done its first part.
    is_of_program: bool,
    /// Fields beside the error tell of a part that was done.
    is_of_part: bool,
}

impl Proof {
    fn of(details: &Details, result: &ToolResult<'_>) -> Proof {
        let message = &details.message;
        let tells_more = deeds::tells_of_something_done(message) || claims::tells_more(message, result.tool);
        let is_of_program = result.status.is_none()
            && result.code.is_none()
            && result.tool.is_some_and(runs_programs)
            && !text_kinds::is_of_caller(message);
        Proof {
            counts: !tells_more && !text_kinds::is_about_another(message, result.tool),
            tells_more,
            is_of_program,
            is_of_part: result.body.is_some_and(parts::tell_of_a_part),
        }
    }

    /// Whether a status in the message is that of the whole call.
    fn is_whole(&self) -> bool {
        self.counts && !self.is_of_program && !self.is_of_part
    }

    /// Whether a part may have been done before a failure of this kind.
    fn is_half_way(&self, kind: &str) -> bool {
        let is_refusal = [kinds::ARGUMENTS, kinds::FORBIDDEN, kinds::UNAUTHORIZED].contains(&kind);
        self.is_of_program && is_refusal || self.is_of_part && kinds::proves_nothing_happened(kind)
    }
}

/// The code that says who tells of a failure without a kind: the name of an exception is in the message already.
fn teller(message: &str, tool: Option<&str>) -> Option<&'static str> {
    if is_program_error(message, tool) {
        return Some(PROGRAM_ERROR);
    }
    if is_raised(message) {
        return Some(TOOL_RAISED);
    }
    let says = |message| {
        sentence::says(message, tool)
            || clause::says(message, tool)
            || agents::says(message, tool)
            || undone::is_lookup(message, tool)
    };
    (says(message) || says(message::unframed(message).0)).then_some(TOOL_REFUSED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(tool: &str, body: &str) -> &'static str {
        match assess(&ToolResult { tool: Some(tool), body: Some(body), ..ToolResult::default() }) {
            Assessment::Ok => "ok",
            Assessment::Suspected(_) => "suspected",
            Assessment::Failed(failure) if failure.kind == kinds::REJECTED => "rejected",
            Assessment::Failed(_) => "failed",
        }
    }

    #[test]
    fn a_kind_that_claims_something_needs_a_proof() {
        let kind =
            |tool, body| match assess(&ToolResult { tool: Some(tool), body: Some(body), ..ToolResult::default() }) {
                Assessment::Ok => "ok".to_owned(),
                Assessment::Failed(failure) | Assessment::Suspected(failure) => {
                    assert!(
                        failure.kind == kinds::FORBIDDEN || failure.status != Some(403),
                        "{body}: its status claims it"
                    );
                    failure.kind
                }
            };
        for (tool, body, expected) in [
            ("pay", "status: FAILED\nreason: gateway timeout", kinds::TIMEOUT),
            ("pay", "status: error\ncode: 500\nmessage: Internal Server Error", kinds::SERVER),
            ("pay", "Status: failed", kinds::TOOL_ERROR),
            ("upload", "Status: error\nPermission denied writing /a", kinds::FORBIDDEN),
            ("pay", "403 Forbidden", kinds::FORBIDDEN),
            ("pay", "403 Forbidden (payment py_1 captured)", kinds::TOOL_ERROR),
            ("pay", r#"{"statusCode":403,"message":"Forbidden","chargeId":"c1"}"#, kinds::TOOL_ERROR),
            (
                "pay",
                "Traceback (most recent call last):\n  File \"a.py\", line 1\nPermissionError: no",
                kinds::TOOL_ERROR,
            ),
            ("merge_branch", "403: Branch already merged", kinds::CONFLICT),
            ("merge_branch", "Branch already merged", kinds::CONFLICT),
            ("cancel_order", "Order 12 not found", kinds::NOT_FOUND),
            ("update_order", "Order 12 not found", kinds::TOOL_ERROR),
            ("run_command", "Command was cancelled by user before it could complete.", kinds::INTERRUPTED),
            ("run_command", "Command was rejected by user", kinds::REJECTED),
            ("post_note", "No such tool available: post_note", kinds::UNKNOWN_TOOL),
            ("post_note", "550 5.1.1 The mail account is full", kinds::TOOL_ERROR),
            ("book_room", "Zeitüberschreitung bei der Anfrage", kinds::TIMEOUT),
            ("update_case", r#"{"id":"C-1","status":"failed"}"#, "ok"),
            ("open_case", r#"{"id":7,"type":"error","title":"x"}"#, "ok"),
            ("close_case", "Case C-1 closed. Note: error budget exhausted.", "ok"),
        ] {
            assert_eq!(kind(tool, body), expected, "{tool}: {body}");
        }
    }

    #[test]
    fn answers_that_look_like_failures_are_none() {
        let mut wrong = Vec::new();
        for (tool, body, expected) in [
            ("post_comment", r#"{"comment_id":"9","resolved":false,"detail":"Permission denied when I open x"}"#, "ok"),
            ("send_message", r#"{"message":"Cannot come today","read":false,"id":"m1"}"#, "ok"),
            ("create_note", r#"{"id":"n1","pinned":false,"message":"Error: printer is broken"}"#, "ok"),
            ("create_event", r#"{"all_day":false,"id":"e1","message":"Cannot attend before noon"}"#, "ok"),
            ("pay", r#"{"status":"declined","reason":"no_funds","user_id":"u1"}"#, "failed"),
            ("pay", r#"{"status":"declined","reason":"no_funds","confirmation_code":"x1"}"#, "failed"),
            ("pay", r#"{"status":"declined","reason":"no_funds","approval_code":"0"}"#, "failed"),
            ("pay", r#"{"status":"declined","decline_code":51}"#, "failed"),
            ("deploy_app", "deploy_app needs 3 minutes; started", "ok"),
            ("send_all", "send_all expects a delay of 3 minutes; queued", "ok"),
            ("open_account", "open_account requires approval: request 7 created", "ok"),
            ("start_export", "This tool only supports CSV; exported as CSV.", "ok"),
            ("deploy_app", "deploy_app only runs on weekdays. Scheduled for Monday.", "ok"),
            ("sync_all", "Synced 3 sources; two services of sync_all are offline", "ok"),
            ("get_user", "get_user does not return deleted users: Ada, Bob", "ok"),
            ("block_user", "block_user denied by policy: no, user blocked", "ok"),
            ("check_username", "Username ada99 not found", "suspected"),
            ("check_if_user_deleted", "User 42 not found", "suspected"),
            ("check_blacklist_user", "User 42 not found", "suspected"),
            ("check_process", "Process 123 not found", "suspected"),
            ("check_email_breach", "Email ada9@a.b not found", "suspected"),
            ("check_domain", "Domain a9.b not found", "suspected"),
            ("list_rules", r#"{"rules":["must be 18","cannot be late"]}"#, "ok"),
            ("get_faq", r#"{"answers":["You must bring an ID"]}"#, "ok"),
            ("extract_requirements", r#"{"requirements":["must be fast","should be cheap"]}"#, "ok"),
            ("save_requirements", r#"{"saved":["must be fast"]}"#, "ok"),
            ("add_tags", r#"{"skipped":["already exists"]}"#, "ok"),
            ("get_k8s_job", r#"{"name":"j","active":1,"succeeded":0,"failed":2}"#, "ok"),
            ("get_payment_stats", r#"{"total":3,"succeeded":0,"failed":3}"#, "ok"),
            ("run_tests", r#"{"total":3,"succeeded":0,"failed":3}"#, "ok"),
            ("send_campaign", r#"{"sent":10,"successful":0,"errors":1,"queued":9}"#, "ok"),
            ("reject_leave", r#"{"leave_status":"rejected","leave":"l1"}"#, "ok"),
            ("deny_request", r#"{"request_status":"denied","by":"ada"}"#, "ok"),
            ("mark_payment_failed", r#"{"payment_status":"failed"}"#, "ok"),
            ("set_job_state", r#"{"job_state":"failed","job":"j1"}"#, "ok"),
            ("update_job", r#"{"job_status":"failed","updated":true}"#, "ok"),
            ("get_incident", r#"{"status":"error","message":"disk full on db1","host":"h"}"#, "suspected"),
            ("get_build", r#"{"status":"error","message":"lint failed","branch":"b"}"#, "suspected"),
            ("get_test_results", r#"{"test_results":[{"success":false}]}"#, "ok"),
            ("get_test_results", r#"{"test_results":[{"success":false,"error":"odd"}]}"#, "ok"),
            ("list_runs", r#"{"past_responses":[{"success":false,"error":"odd"}]}"#, "ok"),
            (
                "get_last_deploy",
                r#"{"env":"prod","success":false,"commit":"a","by":"ada","at":"noon","log":"l"}"#,
                "ok",
            ),
            ("close_gate", "close_gate requires approval: the request was not sent", "failed"),
        ] {
            let is = named(tool, body);
            if is != expected {
                wrong.push(format!("{tool} {body}: {is}, not {expected}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
