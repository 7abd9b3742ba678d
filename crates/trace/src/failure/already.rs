//! Refusals such as `already paid`: they prove nothing, because an earlier attempt whose answer was lost has them as its
//! consequence. A sentence that says only this is a conflict.

use std::sync::LazyLock;

use super::patterns::{self, LazyPattern};
use super::prose;
use super::sentence::CHANGES;
use super::tool_name::{acts, asks, gives_text, has_word, is_command_line, is_writer, looks};

/// Bytes of a message that are examined.
const EXAMINED: usize = 240;
/// The longest sentence, in bytes.
const LONGEST: usize = 120;

/// States that no call asks for: an earlier attempt has not brought them about.
const REFUSED: [&str; 18] = [
    "archived",
    "banned",
    "blocked",
    "deactivated",
    "denied",
    "disabled",
    "ended",
    "exceeded",
    "expired",
    "failed",
    "locked",
    "passed",
    "reached",
    "refused",
    "rejected",
    "revoked",
    "suspended",
    "unused",
];
/// States that end otherwise than in -ed.
const STATES: [&str; 17] = [
    "built", "done", "exist", "existing", "exists", "frozen", "gone", "made", "paid", "run", "sent", "set", "sold",
    "taken", "there", "used", "written",
];

fn is_state(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    (word.len() > 4 && word.ends_with("ed") || STATES.contains(&&*word)) && !REFUSED.contains(&&*word)
}

/// Whether a refusal says that the work of the call is already done.
pub(super) fn says_done(message: &str) -> bool {
    static ALREADY: LazyPattern =
        LazyLock::new(|| patterns::one(r"(?i)\b(you have )?already (?:been |an? |in )?([a-z]+)\b( your| the limit)?"));
    let Some(already) = ALREADY.as_ref() else { return false };
    let message = super::excerpt::cut(message, EXAMINED);
    already.captures_iter(message).any(|found| found.get(3).is_none() && is_state(&found[2]))
}

/// Whether a text is nothing but a sentence that what a tool changes is already so: `Pull request already merged`. Of a tool
/// that makes sure of something, it is an answer.
pub(super) fn says(text: &str, tool: Option<&str>) -> bool {
    static SENTENCE: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?i)^(?:(?:the|this|that|your) )?(?-i:[A-Za-z#])(?:[^\s,;:]*[^\s,;:.!?])?(?: [^\s,;:]*[^\s,;:.!?]){0,3} already (?:been )?([a-z]+)(?: (?:as|at|by|for|from|in|on|to|under|with) [^\n,;:]{1,60})?[.!]?$",
        )
    });
    const SURE: [&str; 20] = [
        "connect", "enable", "ensure", "init", "install", "join", "memory", "message", "note", "or", "post",
        "reminder", "restore", "resume", "setup", "start", "sync", "todo", "tweet", "upsert",
    ];
    const DENIES: [&str; 6] = [" not ", "n't ", " no ", " if ", " when ", " for you "];
    let text = text.trim();
    let Some(tool) = tool.filter(|_| text.len() <= LONGEST && text.contains("already ")) else { return false };
    let does_change = || {
        is_writer(tool) || acts(tool) || has_word(tool, &CHANGES) && !asks(tool) && !looks(tool) && !gives_text(tool)
    };
    let changes = || !has_word(tool, &SURE) && !is_command_line(tool) && does_change();
    let Some(sentence) = SENTENCE.as_ref().filter(|_| !prose::is_title(text)) else { return false };
    let is_so = |found: regex::Captures<'_>| found.get(1).is_some_and(|state| is_state(state.as_str()));
    sentence.captures(text).is_some_and(is_so) && !DENIES.iter().any(|word| text.contains(word)) && changes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_that_what_a_tool_changes_is_already_so_is_a_conflict() {
        for (tool, text) in [
            ("merge_branch", "Branch already merged"),
            ("issue_refund", "Refund already issued for invoice 12."),
            ("confirm_order", "order already confirmed"),
            ("redeem_voucher", "This voucher already redeemed on 3 May"),
        ] {
            assert!(says(text, Some(tool)) && says_done(text), "{tool}: {text}");
            assert!(!says(text, Some("get_order")) && !says(text, Some("bash")) && !says(text, None), "{text}");
        }
        for (tool, text) in [
            ("upsert_row", "Row already stored"),
            ("install_package", "Package already installed"),
            ("pay_order", "Order already includes a gift"),
            ("add_rows", "3 rows already added"),
            ("add_rows", "Rows added, two already stored"),
            ("send_mail", "Mail not sent if already queued"),
            ("pay_order", "Offer already expired"),
            ("create_event", "Event created. Bo already invited."),
            ("book_table", "Your table is already reserved for you under code 7"),
        ] {
            assert!(!says(text, Some(tool)), "{tool}: {text}");
        }
    }

    #[test]
    fn a_refusal_that_says_already_is_told_from_one_that_tells_of_a_limit() {
        for text in [
            "403: Branch already merged",
            "400: mail already registered",
            "Invalid transition: gate already closed",
            "invalid or already used link",
            "422 name already exists on this board",
        ] {
            assert!(says_done(text), "{text}");
        }
        for text in [
            "Token already expired",
            "You have already used your 3 free calls",
            "Account already suspended",
            "No gate is closed",
            "The value must be one that is already",
        ] {
            assert!(!says_done(text), "{text}");
        }
    }
}
