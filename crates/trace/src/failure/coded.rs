//! The error code that a text begins with: `rate_limit_exceeded`, `INVALID_ARGUMENT: x`, `[NOT_FOUND] x`, `[Errno 2] x`.

use std::sync::LazyLock;

use super::kinds;
use super::patterns::{self, LazyPattern};
use super::tool_name::{asks, has_word, looks, runs_programs};

/// Single words that are codes in brackets. Others are levels of a log, marks and states.
const WORDS: [&str; 3] = ["FORBIDDEN", "UNAUTHENTICATED", "UNAUTHORIZED"];
/// Beginnings and ends of codes that name no kind.
const BEGINNINGS: [&str; 6] = ["CANNOT_", "FAILED_", "INVALID_", "MISSING_", "NO_SUCH_", "UNSUPPORTED_"];
const ENDS: [&str; 10] = [
    "_CONFLICT",
    "_EXPIRED",
    "_FAILED",
    "_FORBIDDEN",
    "_INVALID",
    "_NOT_FOUND",
    "_REFUSED",
    "_REJECTED",
    "_TIMEOUT",
    "_UNAVAILABLE",
];

/// The error code that is the whole text, or that words follow.
pub(super) fn leading_code(text: &str) -> Option<&str> {
    if let Some((code, words)) = bracketed(text) {
        return Some(code).filter(|_| !words.is_empty());
    }
    let (code, words) = text.split_once(':').map_or((text, None), |(code, words)| (code, Some(words.trim_start())));
    let is_followed =
        |words: &str| !code.contains(|c: char| c.is_ascii_lowercase()) && words.starts_with(char::is_alphabetic);
    let code = code.trim_end_matches(['.', '!']);
    (words.is_none_or(is_followed) && kinds::is_code(code)).then_some(code)
}

/// Whether the whole text of a tool that neither asks nor runs programs is a code that refuses: `not_in_channel`,
/// `ACCOUNT_READ_ONLY`.
pub(super) fn is_bare_refusal(text: &str, tool: Option<&str>) -> bool {
    static REFUSAL: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?i)^(not_(in|allowed|authed|permitted|supported)(_[a-z]+)*|(cannot|cant|invalid|missing|no_permission|no_such|unknown)_[a-z_]+|[a-z]+(_[a-z]+)*_(denied|failed|forbidden|not_found|not_allowed|read_only|required|too_large|too_long))$",
        )
    });
    /// Words of tools that answer in labels and states.
    const LABELS: [&str; 14] = [
        "categorize",
        "classify",
        "decide",
        "detect",
        "gate",
        "generate",
        "label",
        "next",
        "poll",
        "set",
        "state",
        "tag",
        "update",
        "wait",
    ];
    let may_tell_states = |tool: &str| asks(tool) || looks(tool) || runs_programs(tool) || has_word(tool, &LABELS);
    patterns::matches(&REFUSAL, text) && tool.is_some_and(|tool| !may_tell_states(tool))
}

/// Whether a text begins with an error code in brackets, or with the number that a system gives its errors; and no list of
/// such lines.
pub(super) fn is_coded(text: &str) -> bool {
    static NUMBER: LazyPattern = LazyLock::new(|| patterns::one(r"^\[(Errno|WinError) -?\d{1,6}\] [^\s]"));
    let is_numbered = patterns::matches(&NUMBER, text);
    let is_coded = is_numbered || bracketed(text).is_some_and(|(_, words)| !words.is_empty());
    is_coded && !text.lines().skip(1).any(|line| line.starts_with('['))
}

/// A failure's code in brackets, and the words behind it.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let (code, rest) = text.strip_prefix('[')?.split_once(']')?;
    let is_upper = code.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    let is_part = |parts: &[&str], is: fn(&str, &str) -> bool| parts.iter().any(|part| is(code, part));
    let fails = || {
        kinds::is_code(code)
            || WORDS.contains(&code)
            || is_part(&BEGINNINGS, |code, part| code.starts_with(part))
            || is_part(&ENDS, |code, part| code.ends_with(part))
    };
    // A link has its address right behind the bracket.
    let words = rest.strip_prefix(':').unwrap_or(rest).strip_prefix(' ')?.trim();
    ((3..=60).contains(&code.len()) && is_upper && fails()).then_some((code, words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_in_brackets_tells_a_failure_and_a_level_a_link_and_a_list_do_not() {
        for text in [
            "[NOT_FOUND] nope - no such path",
            "[ENOENT] no such file",
            "[INVALID_RANGE]: from is behind to",
            "[EDIT_FAILED] nothing was changed",
            "[FORBIDDEN] ask an owner",
            "[Errno 2] No such file or directory: 'a'",
            "[WinError 5] Access is denied",
        ] {
            assert!(is_coded(text), "{text}");
        }
        for text in [
            "[INFO] connection refused",
            "[ERROR_HANDLING](guide.md)",
            "[NOT_FOUND](https://a.b/c)",
            "[NOT_FOUND] no such thing\n[CONFLICT] two of a thing",
            "[NOT_FOUND]",
            "[SUMMER_SALE] 10% off",
            "[TODO] call them",
            "[DECLINED] Lunch with Bo",
            "[1] Errors of the past",
            "[x] Not found",
        ] {
            assert!(!is_coded(text), "{text}");
        }
        assert_eq!(leading_code("[NOT_FOUND] nope"), Some("NOT_FOUND"));
    }
    #[test]
    fn a_bare_code_refuses_unless_it_may_be_a_state() {
        for text in ["not_in_channel", "CONNECTION_READ_ONLY", "invalid_channel", "upload_failed", "no_such_row"] {
            assert!(is_bare_refusal(text, Some("post_note")), "{text}");
            assert!(!is_bare_refusal(text, Some("get_state")) && !is_bare_refusal(text, Some("bash")), "{text}");
            assert!(!is_bare_refusal(text, Some("classify_note")), "{text}");
        }
        for text in ["not_started", "not_changed", "read_only", "note_17", "no_change", "deploy_failed_jobs", "failed"]
        {
            assert!(!is_bare_refusal(text, Some("post_note")), "{text}");
        }
    }
}
