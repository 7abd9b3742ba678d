//! Results that tell of what a tool was to bring about in words that others use for a failure: `Cancelled.` of `cancel_order`,
//! `Marked as rejected`, `Server is not running` of `stop_server`.

use std::sync::LazyLock;

use super::deeds::{does, is_ending, is_known_deed};
use super::patterns::{self, LazyPattern};
use super::tool_name::{acts, has_word, is_writer, words};

/// The longest result of this kind, in bytes.
const LONGEST: usize = 120;

/// States that tools bring about whose names say them otherwise: the words of the tools, and the states.
const STATES: [(&[&str], &[&str]); 3] = [
    (
        &["end", "halt", "kill", "shutdown", "stop", "terminate"],
        &["down", "inactive", "not running", "offline", "stopped", "terminated"],
    ),
    (&["expire", "invalidate", "revoke"], &["expired", "inactive", "invalid", "not valid", "revoked"]),
    (&["deactivate", "disable", "suspend"], &["disabled", "inactive", "off", "suspended"]),
];

/// States that a tool that sets states repeats.
const SET: [&str; 10] =
    ["away", "blocked", "busy", "cancelled", "closed", "declined", "disabled", "inactive", "offline", "unavailable"];

/// Whether a result is nothing but what the tool was to bring about.
pub(super) fn is_all(text: &str, tool: Option<&str>) -> bool {
    let text = text.trim();
    let bare = text.trim_end_matches(['.', '!']);
    let Some(tool) = tool.filter(|_| text.len() <= LONGEST && !text.contains('\n')) else { return false };
    is_one_word(bare, tool) || is_set(bare, tool) || is_state(bare, tool) || is_made(bare)
}

/// `Cancelled` of `cancel_order`, `unavailable` of `set_status`.
fn is_one_word(text: &str, tool: &str) -> bool {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return false;
    }
    let word = text.to_ascii_lowercase();
    let sets_states =
        || has_word(tool, &["change", "set", "update"]) && has_word(tool, &["presence", "state", "status"]);
    is_ending(&word) && does(Some(tool), &word) || SET.contains(&&*word) && sets_states()
}

/// `Status of OPS-1 set to failed`, `Marked as rejected`.
fn is_set(text: &str, tool: &str) -> bool {
    static SETS: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?i)^((?:[^\s:;,]+ ){0,8}?)(?:(?:changed|moved|set|switched|transitioned|updated) to|marked as) ['\x22`]?[\w-]+(?: [\w-]+)?['\x22`]?$",
        )
    });
    static DENIES: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?i)^[45]\d\d\b|\b(aborted|be|blocked|cannot|conflict|could|declined|denied|E[A-Z]{4,}|error|failed|forbidden|insufficient|invalid|must|never|no|not|only|refused|rejected|required|should|too|unable|unauthori[sz]ed|was)\b|n't\b",
        )
    });
    if !text.contains(" to ") && !text.contains("arked as ") {
        return false;
    }
    let before = SETS.as_ref().and_then(|sets| sets.captures(text)?.get(1)).map(|before| before.as_str());
    before.is_some_and(|before| !patterns::matches(&DENIES, before))
        && (is_writer(tool) || acts(tool) || has_word(tool, &["change", "reject", "switch", "transition"]))
}

/// `Server is not running` of `stop_server`.
fn is_state(text: &str, tool: &str) -> bool {
    static IS: LazyPattern = LazyLock::new(|| {
        patterns::one(r"^(?i:the |this |your )?[\w'#-]+(?: [\w./'#-]+)? is (?:now )?([a-z]+(?: [a-z]+)?)$")
    });
    let text = [" now", " any more", " anymore"].iter().find_map(|end| text.strip_suffix(end)).unwrap_or(text);
    let state = IS.as_ref().and_then(|is| is.captures(text)?.get(1)).map(|state| state.as_str());
    // What else is down or invalid was needed for the call.
    let is_own = |subject: &str| {
        let mut said = subject.split(' ').map(|word| word.to_ascii_lowercase());
        let is_of_caller = subject.starts_with("Your ") || subject.starts_with("your ");
        !is_of_caller && said.any(|word| word.len() > 2 && words(tool).contains(&word))
    };
    let subject = text.split(" is ").next().unwrap_or_default();
    state.is_some_and(|state| STATES.iter().any(|(tools, states)| states.contains(&state) && has_word(tool, tools)))
        && is_own(subject)
}

/// `Failed-payment reminder sent`, `⚠️ Posted with warnings`.
fn is_made(text: &str) -> bool {
    static COMPOUND: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?i)^(?:cancelled|declined|denied|error|failed|rejected|timeout)-[a-z]+ (?:[\w#-]+ ){1,5}?([a-z]+)$",
        )
    });
    static WARNED: LazyPattern =
        LazyLock::new(|| patterns::one(r"^[⚠\x{fe0f} ]+([A-Za-z]+) with (?:an? |\d+ )?warnings?$"));
    [&COMPOUND, &WARNED].iter().any(|form| {
        let deed = form.as_ref().and_then(|form| form.captures(text)?.get(1)).map(|deed| deed.as_str().to_lowercase());
        deed.is_some_and(|deed| is_known_deed(&deed)) && !text.contains(" not ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_tool_was_to_bring_about_is_no_failure() {
        for (tool, text) in [
            ("cancel_trip", "Cancelled."),
            ("revoke_pass", "revoked"),
            ("set_status", "Unavailable"),
            ("update_case", "State of C-1 set to failed"),
            ("reject_bid", "Marked as rejected"),
            ("update_case", "Case C-1 moved to 'on hold'"),
            ("stop_engine", "Engine is not running"),
            ("revoke_pass", "The pass is invalid now"),
            ("disable_lamp", "Lamp 7 is now off"),
            ("send_reminder", "Failed-payment reminder sent"),
            ("post_note", "⚠️ Posted with warnings"),
        ] {
            assert!(is_all(text, Some(tool)), "{tool}: {text}");
        }
        for (tool, text) in [
            ("book_trip", "Cancelled."),
            ("set_status", "failed"),
            ("update_case", "State could not be set to failed"),
            ("update_case", "Error: state set to failed"),
            ("update_case", "C-1 was not moved to done"),
            ("get_case", "Marked as rejected"),
            ("start_engine", "Engine is not running"),
            ("stop_engine", "Engine is not running, so it cannot be stopped"),
            ("stop_engine", "Engine was not found"),
            ("use_pass", "The pass is invalid now"),
            ("send_reminder", "Failed-payment reminder refused"),
            ("post_note", "⚠️ Refused with warnings"),
            ("post_note", "⚠️ Could not post"),
        ] {
            assert!(!is_all(text, Some(tool)), "{tool}: {text}");
        }
    }
}
