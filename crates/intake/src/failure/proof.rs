//! What proves that nothing was done: whether an error says no more than that a request was refused, and whether a refusal is
//! of the call itself. Whatever is not known may tell of something done.

use std::sync::LazyLock;

use super::alternatives::Alternatives;
use super::deeds::{mentions_a_deed, tells_of_something_done};
use super::excerpt::{EXAMINED, cut};
use super::kinds;
use super::message::unframed;
use super::tool_name::has_word;
use super::word_list::WordList;
use super::words::{Teller, named};
use playproof_engine::event::ErrorFacts;

/// The longest refusal, in bytes.
const LONGEST: usize = 400;

/// Whether an error says no more than that the request was refused: its message, its status and its code do, and the
/// upstream does not say that the call should not be sent again.
pub fn is_plain_refusal(error: &ErrorFacts) -> bool {
    error.message.as_deref().is_none_or(is_plain_message)
        && error.status.is_none_or(refuses)
        && error.code.as_deref().is_none_or(is_plain_code)
        && error.says_to_retry() != Some(false)
}

/// Whether an upstream that answers with this status has refused the request. Some say with 503 that too many came.
const fn refuses(status: u16) -> bool {
    matches!(status, 400..=407 | 410..=498 | 503)
}

/// Whether a code is a known one of a refusal, or a number of the upstream's own.
fn is_plain_code(code: &str) -> bool {
    let code = code.trim();
    match code.trim_start_matches('-').parse::<u32>() {
        Ok(100..=599) => code.parse().is_ok_and(refuses),
        Ok(_) => true,
        Err(_) => kinds::says_nothing(code) || kinds::names_refusal(code),
    }
}

/// Whether a message is a refusal: a row of failure words says that it proves that nothing was done, or it is nothing but the
/// status of one.
fn is_plain_message(message: &str) -> bool {
    const STATES: [&str; 6] = ["401", "403", "404", "429", "not found", "service unavailable"];
    let message = message.trim();
    let (rest, _) = unframed(message);
    let is_alone =
        || STATES.iter().any(|state| message.eq_ignore_ascii_case(state) || rest.eq_ignore_ascii_case(state));
    let phrase = || kinds::status_of_phrase(rest).is_some_and(|status| refuses(status) && status != 402);
    let denies = ["not retry", "n't retry", "no need to retry", "retries", "attempt"];
    let takes_back = |lower: String| denies.iter().any(|words| lower.contains(words));
    message.is_empty()
        || message.len() <= LONGEST
            && !tells_of_something_done(message)
            && !takes_back(cut(message, LONGEST).to_lowercase())
            && (named(message, Teller::default()).proves || is_alone() || phrase())
}

/// Whether words that refuse are of the call itself: no deed is mentioned beside them, and no other tool.
pub(super) fn is_of_call(message: &str, tool: Option<&str>) -> bool {
    !mentions_a_deed(message) && !names_another(message, tool)
}

/// The names of functions, models and tools in a message.
pub(super) static NAMED: LazyLock<Alternatives> = LazyLock::new(|| {
    let all = [
        (r"\b([\w.]+)\(\) (?:got|missing|takes)\b", "() "),
        (r"\bvalidation errors? for (\w+)\b", "VALIDATION ERROR"),
        (
            r"^(?:unknown|unrecognized|unsupported|invalid|no such) (?:tool|function)(?: name)?(?: requested| called| available)?\s*[:'\x22`]?\s*['\x22`]?([\w.:/-]+)",
            "TOOL|FUNCTION",
        ),
        (
            r"^(?:tool|function) ['\x22`]?([\w.:/-]+?)['\x22`]? (?:was |is |does |could )?(?:not|unknown|disabled)\b",
            "TOOL |FUNCTION ",
        ),
        (r"^['\x22`]?([\w.:/-]+?)['\x22`]? is not a valid tool", "IS NOT A VALID TOOL"),
        (r"^no tool (?:named|called|with name) ['\x22`]?([\w.:/-]+)", "NO TOOL "),
        (r"\b(?:for|of|to) (?:the )?(?:tool|function):? ['\x22`]?([\w.:/-]+)", "TOOL|FUNCTION"),
    ];
    Alternatives::between("(?i)", &all, "")
});

/// Whether a message speaks of another function, model or tool than that of the call, which may have acted before it called
/// that one. A tool that calls tools names those.
fn names_another(message: &str, tool: Option<&str>) -> bool {
    let (inner, _) = unframed(cut(message, EXAMINED));
    let line = inner.lines().next().unwrap_or_default();
    let name = NAMED.find(line).and_then(|named| named.group());
    let tool = tool.filter(|tool| !has_word(tool, const { &WordList::of("tool") }));
    name.zip(tool).is_some_and(|(name, tool)| !is_named_after(name.trim_end_matches(['.', ':']), tool))
}

/// Whether a function, a model or a tool is that of the call, as far as its name tells: `pay.refund`, `refundArguments`.
fn is_named_after(name: &str, tool: &str) -> bool {
    const ENDS: [&str; 8] = ["arguments", "args", "input", "params", "schema", "action", "request", "tool"];
    const OWN: [&str; 8] = ["", "tool", "function", "call", "input", "run", "_run", "arun"];
    let last = name.rsplit('.').next().unwrap_or(name);
    let (whole, called) = (kinds::plain(name), kinds::plain(tool));
    let stem = ENDS.iter().find_map(|end| whole.strip_suffix(end)).unwrap_or(&whole);
    let is_part = |part: &str| part.len() > 2 && (called.contains(part) || part.ends_with(&*called));
    OWN.contains(&stem) || OWN.contains(&last) || is_part(stem) || is_part(&kinds::plain(last))
}
