//! One question for all importers: did this result fail? Combines the source's own flag, the structured body and the text,
//! in this order.

use super::body;
use super::details::{Details, Found};
use super::excerpt;
use super::exit;
use super::kinds;
use super::message::{error_of_traceback, is_of_traceback};
use super::parts;
use super::proof::is_of_call;
use super::retry_after;
use super::table::{Says, WordTable};
use super::tool_name::{ToolClass, asks, hands_on, removes};
use super::words::{Named, Teller, named};
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
    /// The user's own rows of failure words.
    pub(crate) words: Option<&'a WordTable>,
    /// `Retry-After` as a header has it: seconds, or an HTTP date.
    pub(crate) retry_after: Option<&'a str>,
    /// The headers of the answer.
    pub(crate) headers: Option<RawValue<'a>>,
    /// When the answer came, in microseconds since 1970: a wait until a date needs it.
    pub(crate) at: Option<u64>,
}

impl<'a> ToolResult<'a> {
    fn teller(&self) -> Teller<'a> {
        Teller { tool: self.tool, words: self.words }
    }
}

/// Whether a result failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Assessment {
    Ok,
    Failed(Failure),
    /// Its text suggests a failure and does not prove one.
    Suspected(Failure),
    /// The work is not done yet, or the result is lost.
    Unfinished(Failure),
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
    /// The code is that of a row of words, which says who told of a failure without a kind.
    is_code_of_words: bool,
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
        self.code.take_if(|_| self.is_code_of_words && self.kind != kinds::TOOL_ERROR);
    }
}

impl Assessment {
    /// What tells whether the result failed; for a success of a source without a flag, its text.
    pub(crate) fn evidence(&self, flagged: bool) -> Evidence {
        match self.failure() {
            Some(failure) => failure.evidence,
            None if flagged => Evidence::Flag,
            None => Evidence::Text,
        }
    }

    /// Whether nobody waited longer.
    pub(crate) fn is_timeout(&self) -> bool {
        self.failure().is_some_and(|failure| failure.kind == kinds::TIMEOUT)
    }

    /// The facts of what is no success.
    pub(crate) const fn failure(&self) -> Option<&Failure> {
        match self {
            Assessment::Failed(failure) | Assessment::Suspected(failure) | Assessment::Unfinished(failure) => {
                Some(failure)
            }
            Assessment::Ok => None,
        }
    }

    /// Whether the same answer at another time is assessed alike.
    pub(super) fn is_timeless(&self) -> bool {
        self.failure().is_none_or(|failure| !failure.is_until)
    }
}

/// Whether a result failed. Total, and linear in the size of the result.
pub(crate) fn assess(result: &ToolResult<'_>) -> Assessment {
    let by = result.teller();
    let by_code = result.status.is_some_and(|status| status >= 400)
        || result.code.is_some_and(|code| kinds::of_name(code).is_some())
        || (result.flag.is_none() && result.kind.is_some_and(|kind| kinds::of_name(kind).is_some()));
    let flagged = match result.flag {
        Some(true) => Some(Evidence::Flag),
        _ if by_code => Some(Evidence::Code),
        _ => None,
    };
    let found = result.body.and_then(|body| body::inspect(body, by));
    if let Some(evidence) = flagged {
        return Assessment::Failed(failure(evidence, found, result));
    }
    let stated = result.message.and_then(|message| body::inspect(message, by));
    // A flag that denies a failure is stronger than a suspicion, and than words that a tool hands on. Many servers send it with
    // each answer, so other words that prove a failure outweigh it, and so does what is not done yet.
    let is_handed_on = |said: &str| by.is(hands_on) && !exit::says_nonzero(said, result.tool);
    let heard = |found: &Found| {
        let is_sure = found.says == Says::Failed && !is_handed_on(&found.details.message);
        result.flag.is_none()
            || found.evidence == Evidence::Body
            || !result.denies_words && (is_sure || found.says == Says::Unfinished)
    };
    match found.filter(heard).or(stated.filter(heard)) {
        None => Assessment::Ok,
        Some(found) => {
            let says = found.says;
            let failure = failure(found.evidence, Some(found), result);
            match says {
                Says::Failed => Assessment::Failed(failure),
                Says::Suspected => Assessment::Suspected(failure),
                Says::Unfinished => Assessment::Unfinished(failure),
            }
        }
    }
}

/// The facts of a result that failed, whatever it looks like.
pub(crate) fn failure_of(result: &ToolResult<'_>) -> Failure {
    failure(Evidence::Flag, result.body.and_then(|body| body::inspect(body, result.teller())), result)
}

/// What is known of the error: by the body, and by the message that the source names beside it.
fn details_of(found: Option<Found>, result: &ToolResult<'_>) -> Details {
    let by = result.teller();
    let said = |text: &str| body::inspect(text, by).map_or_else(|| body::content(text), |found| found.details);
    let message = result.message.filter(|message| !message.trim().is_empty());
    let of_body = found.map(|found| found.details);
    let mut details = match (message.map(said), of_body) {
        (Some(own), Some(of_body)) => own.or(of_body),
        (Some(own), None) => own,
        (None, Some(of_body)) => of_body,
        (None, None) => result.body.map(body::content).unwrap_or_default(),
    };
    if let Some(error) = error_of_traceback(&details.message) {
        details.message = error.to_owned();
    }
    details.wait = result.retry_after.and_then(|wait| retry_after::of_header(wait, None)).or(details.wait);
    details
}

fn failure(evidence: Evidence, found: Option<Found>, result: &ToolResult<'_>) -> Failure {
    let mut details = details_of(found, result);
    let is_coded =
        result.code.into_iter().chain(details.names.iter().map(String::as_str)).any(|name| !kinds::says_nothing(name));
    let own_names = details.names.len();
    details.learn_from_message();
    let words = named(&details.message, result.teller());
    let is_whole = is_of_whole_call(&details, &words, result);
    let status = result.status.or(details.status.filter(|_| is_whole));
    let (kind, kind_from) = kind_of((&details, own_names), status, is_whole, words.kind, result);
    // `422: the name already exists` may be the answer to an earlier attempt: its status refuses nothing.
    let status = status.filter(|status| kind != kinds::CONFLICT || *status == 409);
    let stated = result.code.or_else(|| details.names.iter().map(String::as_str).find(|_| is_whole || is_coded));
    let of_words = words.code.filter(|_| kind == kinds::TOOL_ERROR && !is_coded);
    let code = of_words.or(stated).map(str::to_owned);
    let retry_after_ms = details.retry_after(result.at);
    // A quota that comes back within the hour is a limit of rate.
    let kind = match retry_after_ms {
        Some(0..3_600_000) if kind == kinds::QUOTA => kinds::RATE,
        _ => kind,
    };
    let message = excerpt::cut(&details.message, MAX_MESSAGE).to_owned();
    let headers = result.headers.map(headers::foreign).unwrap_or_default();
    Failure {
        evidence,
        kind: kind.to_owned(),
        kind_from,
        message,
        status,
        code,
        is_code_of_words: of_words.is_some(),
        retry_after_ms,
        is_until: matches!(details.wait, Some(retry_after::Wait::Until { .. })),
        retriable: None,
        headers: if headers.is_empty() { details.headers } else { headers },
    }
}

/// The kind of a failure, and what names it: the source, then codes and the status, then words. A refusal that is not of the
/// whole call names none.
fn kind_of<'a>(
    (details, own_names): (&'a Details, usize),
    status: Option<u16>,
    is_whole: bool,
    words: Option<&'a str>,
    result: &ToolResult<'a>,
) -> (&'a str, Option<KindFrom>) {
    let own = result.kind.map(str::trim).filter(|kind| !kind.is_empty() && !kinds::says_nothing(kind));
    if let Some(kind) = own {
        return (kinds::of_name(kind).unwrap_or(kind), Some(KindFrom::Flag));
    }
    let is_proved = |kind: &&str| is_whole || !kinds::proves_nothing_happened(kind);
    // Only the error's own code or type says that nothing was sent, and no name that its message mentions.
    let of_name = |(number, name): (usize, &String)| match kinds::of_name(name)? {
        kinds::NOT_SENT if number >= own_names || !is_whole => Some(kinds::SERVER),
        kind => Some(kind),
    };
    let named = details.names.iter().enumerate().filter_map(of_name).filter(is_proved);
    let stated = result.code.and_then(kinds::of_name).into_iter().chain(named);
    let phrase = kinds::status_of_phrase(&details.message).filter(|_| is_whole);
    let all = stated.chain(status.or(phrase).and_then(kinds::of_status));
    let coded = all.reduce(|kind, other| if kinds::is_more_specific(other, kind) { other } else { kind });
    let words = words.filter(is_proved).filter(|kind| coded.is_none_or(|coded| kinds::is_more_specific(kind, coded)));
    let is_gone = || details.message.to_ascii_lowercase().contains("not found") && result.tool.is_some_and(removes);
    match (words, coded) {
        (Some(kind), _) => (kind, Some(KindFrom::Text)),
        (None, Some(kind)) => (kind, Some(KindFrom::Code)),
        // Whether an earlier request has taken it away is open.
        (None, None) if is_gone() => (kinds::NOT_FOUND, Some(KindFrom::Text)),
        (None, None) => (kinds::TOOL_ERROR, None),
    }
}

/// Whether a refusal that the error itself tells is of the whole call: no part was done before it, and no other tool is meant.
/// A program that is refused something may have done its first part, unless words say that nothing was done.
fn is_of_whole_call(details: &Details, words: &Named<'_>, result: &ToolResult<'_>) -> bool {
    let runs = result.tool.is_some_and(|tool| ToolClass::of(tool) == ToolClass::Program);
    let is_of_program = || runs && result.status.is_none() && result.code.is_none() && !words.proves;
    let is_half_way = || is_of_traceback(result.body.unwrap_or_default()) && !result.tool.is_some_and(asks);
    !is_of_program()
        && !is_half_way()
        && is_of_call(&details.message, result.tool)
        && !result.body.is_some_and(parts::tell_of_a_part)
}
