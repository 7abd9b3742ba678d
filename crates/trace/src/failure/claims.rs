//! What takes back the proof that a call did nothing: words of a refusal beside words of a part that was done or of a later
//! step, and a thing that is not there because the call, or an earlier one, took it away. Decides no failures.

use std::sync::LazyLock;

use super::excerpt::cut;
use super::kinds::{self, FORBIDDEN, NOT_FOUND, QUOTA, RATE, REJECTED, SCHEMA, UNAUTHORIZED};
use super::patterns::{self, LazyPattern};
use super::tool_name::{asks, has_word, is_writer, words};
use playproof_engine::playbook::clause;

/// Bytes of a message that are examined.
const EXAMINED: usize = 960;

/// Participles of what tools do.
const DEEDS: &str = "added|applied|assigned|booked|captured|charged|committed|completed|copied|created|debited|delivered|deployed|emailed|enqueued|executed|filed|imported|inserted|mailed|merged|migrated|opened|ordered|paid|placed|posted|processed|published|pushed|queued|recorded|refunded|registered|saved|scheduled|sent|shipped|started|stored|submitted|synced|transferred|updated|uploaded|written";

/// What comes before or after a deed, as a noun.
const ACTS: &str = "booking|capture|capturing|charge|charging|checkout|commit|committing|copying|creating|creation|debit|debiting|deleting|deletion|deploy|deploying|deployment|execution|import|insert|inserting|issuing|merge|merging|moving|ordering|paying|payment|payout|placing|posting|publishing|refund|refunding|release|rollout|saving|sending|submission|submitting|transfer|transferring|updating|upload|uploading|write|writing";

/// Things of which a deed is told.
const THINGS: &str = "account|booking|branch|build|change|channel|charge|comment|commit|data|deployment|draft|e-?mail|event|file|invoice|issue|item|job|mail|message|note|object|order|page|payment|post|pr|pull request|record|refund|release|repo|repository|reservation|row|target|task|ticket|transaction|transfer|upload|user";

/// Steps that come after a deed; each counts only of a tool whose name lacks it.
const STEPS: &str = "audit|bcc|callbacks?|cc|chmod|chown|clean-?up|confirmation (?:e-?mail|mail|message)|follow-?ups?|health[ -]?checks?|notif(?:y|ying|ications?)|read-?back|receipts?|watchers?|webhooks?";

/// Whether a message of a tool that may change something tells, beside its refusal, of a part that was done or of a later step.
pub(super) fn tells_more(message: &str, tool: Option<&str>) -> bool {
    let message = cut(message, EXAMINED).to_lowercase();
    !tool.is_some_and(asks)
        && (tells_a_part(&message)
            || counts_what_was_done(&message)
            || follows_a_deed(&message)
            || names_a_step(&message, tool)
            || reads_back(&message, tool))
}

/// Whether words in small letters tell of a thing that was made, or of a part that went well.
fn tells_a_part(message: &str) -> bool {
    static DONE: LazyPattern = LazyLock::new(|| {
        let thing = format!(
            r"(?:(?:the |your |an? )?(?:main )?(?:{THINGS})s?(?: [\w/.#-]*[\d/]\S*)?|(?:the )?[\w/.#-]*\d\S*) (?:is |was |were |already |has been |have been )?"
        );
        patterns::one(&format!(
            r"\b(?:was|were|just) (?:{DEEDS})\b|(?:\(|\n|[;,.!] |[—–] | - )(?:but )?{thing}(?:{DEEDS})\b|\((?:{DEEDS})(?:\)| (?:as|at|in|to)\b)|(?:[;.!] |[—–] | - )(?:but )?(?:{DEEDS})(?: (?:as|at|for|in|to|with|without)\b| [\d$€]|[.;!]|$)|\b(?:is|are) (?:now )?(?:live|running)\b|\b[1-9]\d* (?:{THINGS})s? (?:{DEEDS})\b|\breturned 2\d\d\b|\b(?:second|third|last|final) (?:call|request|step|write)\b|\bthe (?:newly )?(?:created|inserted|posted|saved|submitted|uploaded) [a-z]|\bto (?:fetch|read|retrieve|see|view) it\b|\b(?:charge|order|payment|refund|save|transfer|upload|write) (?:is |was )?(?:complete|done|fine|ok|successful)\b|\bgot (?:it|the (?:mail|message|money|order|payment))\b|[(,;.] ?(?:the )?(?:{THINGS}) \S*\d\S* (?:exists|is there)\b"
        ))
    });
    static DENIED: LazyPattern =
        LazyLock::new(|| patterns::one(r"\b(?:nothing|none|nobody|no [\w-]+|not|never) (?:was|were|just)\b"));
    let said = DENIED.as_ref().map_or(message.into(), |denied| denied.replace_all(message, ""));
    patterns::matches(&DONE, &said)
}

/// Whether a tool that changes something was refused a request that only reads. The words are in small letters.
fn reads_back(message: &str, tool: Option<&str>) -> bool {
    static GET: LazyPattern = LazyLock::new(|| patterns::one(r"\bget (?:https?://|/)\S"));
    tool.is_some_and(is_writer) && patterns::matches(&GET, message)
}

/// Whether words in small letters count what was done: `quota exceeded after 3 recipients`.
fn counts_what_was_done(message: &str) -> bool {
    static COUNT: LazyPattern = LazyLock::new(|| patterns::one(r"\bafter [1-9]\d* (?:of \d+ )?([a-z]+)"));
    const OTHERS: [&str; 20] = [
        "attempt", "attempts", "bad", "calls", "d", "days", "failed", "failures", "h", "hours", "invalid", "m", "min",
        "minutes", "ms", "requests", "retries", "s", "times", "tries",
    ];
    let is_of_things = |word: &str| !OTHERS.contains(&word) && !word.starts_with("sec") && !word.starts_with("milli");
    let found = COUNT.as_ref().and_then(|count| count.captures(message)?.get(1));
    found.is_some_and(|word| is_of_things(word.as_str()))
}

/// Whether words in small letters tell of what came after a deed, and are no rule of when something may be done.
fn follows_a_deed(message: &str) -> bool {
    static AFTER: LazyPattern = LazyLock::new(|| {
        patterns::one(&format!(
            r"(?P<before>[^.;\n]*)\bafter (?:the )?(?:\w+ )?(?:{ACTS})\b|\b(?:during|when|while) (?:(?:fetch|generat|gett|poll|read|send|writ)ing )?(?:for )?(?:an? |the )?(?:confirm\w*|finali[sz]\w+|notif\w+|receipt|response|verif\w+)\b"
        ))
    });
    static RULE: LazyPattern = LazyLock::new(|| {
        patterns::one(r"\b(again|allowed|can|cannot|may|must|not|only|permitted|possible|retry|until|within)\b|n't\b")
    });
    let found = AFTER.as_ref().and_then(|after| after.captures(message));
    found.is_some_and(|found| {
        found.name("before").is_none_or(|before| {
            let words = before.as_str().replace("could not", "").replace("operation not permitted", "");
            !patterns::matches(&RULE, &words)
        })
    })
}

/// Whether words in small letters name a step that comes after the deed of a tool, and that the tool is not for. What is wrong
/// with a value may be that of a later step too.
fn names_a_step(message: &str, tool: Option<&str>) -> bool {
    static STEP: LazyPattern = LazyLock::new(|| {
        patterns::one(&format!(
            r"\b(?P<where>after|at|during|for|in|of|on|to|while)(?: add| fetch(?:ing)?| post(?:ing)?| read(?:ing)?| send(?:ing)?| writ(?:e|ing))?(?: the| an?| its| your)? (?:[a-z]+ )?(?P<step>{STEPS})\b|\b(?:on|during) (?:the )?(?P<file>attachments?)\b|\b(?:rejected|declined|denied|refused) the (?P<asked>receipt|notification)\b|(?:^|: |, |; )(?P<call>l?chmod|f?chown|f?utimes?|fsync)\b|\b(?P<temporary>unlink) ['\x22]?/tmp/|https?://(?P<host>hooks?)\.|https?://\S+/(?P<hook>hooks?|webhooks?|callbacks?)/"
        ))
    });
    let is_of_values = ["argument", "field", "invalid", "missing", "must", "parameter", "validation"]
        .iter()
        .any(|word| message.contains(word));
    let is_other = |step: &str| {
        let stem = step.get(..step.len().min(5)).unwrap_or(step);
        let has_stem = |word: &String| word.starts_with(stem) || word.len() > 3 && stem.starts_with(&**word);
        let removes = |tool| stem == "unlin" && has_word(tool, &["delete", "remove", "rm"]);
        tool.is_none_or(|tool| !removes(tool) && !words(tool).iter().any(has_stem))
    };
    let names = |found: regex::Captures<'_>| {
        let may_be_a_value =
            || found.name("where").is_some_and(|word| ["for", "in", "of", "to"].contains(&word.as_str()));
        let mut steps =
            found.iter().skip(1).flatten().filter(|step| Some(step.start()) != found.name("where").map(|w| w.start()));
        steps.any(|step| is_other(step.as_str())) && !(is_of_values && may_be_a_value())
    };
    STEP.as_ref().is_some_and(|step| step.captures_iter(message).any(names))
}

/// Whether the exception below a traceback is a refusal: any statement before it may have acted (ADR 0043).
pub(super) fn is_of_a_traceback(kind: &str, body: Option<&str>, tool: Option<&str>) -> bool {
    [FORBIDDEN, QUOTA, RATE, REJECTED, UNAUTHORIZED].contains(&kind)
        && !tool.is_some_and(asks)
        && body.is_some_and(|body| {
            cut(body.trim_start_matches(['"', ' ', '\n']), 40).starts_with("Traceback (most recent call last)")
        })
}

/// The kind of a sentence without one that says that something is not there, of which it is open whether the call or an earlier
/// one took it away, or whether it would be there only after the call.
pub(super) fn of_what_is_gone(message: &str, tool: Option<&str>) -> Option<&'static str> {
    static SUM: LazyPattern =
        LazyLock::new(|| patterns::one(r"(?i)^(the )?(\w+ )?(checksum|digest|hash|signature) does not add up[.!]?$"));
    let message = message.trim();
    if clause::of(message).is_none() || tool.is_some_and(asks) {
        return None;
    }
    if patterns::matches(&SUM, message) {
        return Some(SCHEMA);
    }
    let is_gone =
        message.to_ascii_lowercase().contains("not found") && (tool.is_some_and(removes) || is_late(message, tool));
    is_gone.then_some(NOT_FOUND)
}

/// Whether a tool takes away what it names: the second time, it is not there.
fn removes(tool: &str) -> bool {
    const WORDS: [&str; 46] = [
        "abort",
        "ack",
        "acknowledge",
        "archive",
        "cancel",
        "clear",
        "close",
        "consume",
        "deactivate",
        "delete",
        "dequeue",
        "deregister",
        "destroy",
        "detach",
        "discard",
        "dismiss",
        "drop",
        "end",
        "evict",
        "expire",
        "kick",
        "kill",
        "leave",
        "move",
        "pop",
        "purge",
        "release",
        "remove",
        "rename",
        "revoke",
        "rm",
        "stop",
        "terminate",
        "trash",
        "unassign",
        "unfollow",
        "uninstall",
        "unlink",
        "unpin",
        "unregister",
        "unshare",
        "unsubscribe",
        "untag",
        "void",
        "withdraw",
        "wipe",
    ];
    has_word(tool, &WORDS)
}

/// Whether what is not found is there only after the call: a receipt, an answer, what was made. A tool that is for it needs it.
fn is_late(message: &str, tool: Option<&str>) -> bool {
    static LATE: LazyPattern = LazyLock::new(|| {
        patterns::one(&format!(
            r"(?i)^(?:the |your )?(?:[\w-]+ ){{0,2}}(acknowledge?ment|answer|confirmation|receipt|reply|response|result)(?: for \S+(?: \S+)?)? (?:was |is |could )?not (?:be )?found\b|^(?:the )?(?:newly |just )?({DEEDS}) [\w-]+ (?:was |is |could )?not (?:be )?found\b"
        ))
    });
    let found = LATE.as_ref().and_then(|late| late.captures(message));
    found
        .and_then(|found| found.iter().skip(1).flatten().next().map(|thing| thing.as_str().to_ascii_lowercase()))
        .is_some_and(|thing| !tool.is_some_and(|tool| has_word(tool, &[&thing])))
}

/// Whether a refusal of this kind may be the answer to what was done before, by its words.
pub(super) fn may_be_done_before(kind: &str) -> bool {
    [kinds::ARGUMENTS, kinds::PRECONDITION, FORBIDDEN, UNAUTHORIZED].contains(&kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_beside_a_part_that_was_done_or_a_later_step_proves_nothing() {
        for (tool, text) in [
            ("pay_invoice", "403 Forbidden (payment py_1 captured)"),
            ("deploy_site", "403 on health check after rollout; v3 is live"),
            ("pay_invoice", "Permission denied: cannot read the state of payment py_1 just submitted"),
            ("open_ticket", "Permission denied for notifying watchers"),
            ("open_ticket", "You do not have permission to set the colour. Ticket T-1 was opened."),
            ("write_page", "EACCES: permission denied, unlink '/tmp/a' (page already written)"),
            ("write_page", "permission denied: chmod failed"),
            ("start_host", "Quota exceeded for disks; host h-4 is running."),
            ("sync_folder", "Permission denied: /srv/x. 41 files synced."),
            ("move_page", "EACCES: permission denied, unlink 'a.html' (copied to b.html)"),
            ("move_page", "Permission denied: 'a.html' (after copying to b.html)"),
            ("write_page", "EPERM: operation not permitted, utime '/srv/a.html'"),
            ("write_page", "Permission denied: '/var/log/a.log'\nPage /srv/a.html written"),
            ("pay_invoice", "403 Client Error: Forbidden for url: https://hooks.example.com/a"),
            ("pay_invoice", "401 Unauthorized (POST /payments returned 201)"),
            ("pay_invoice", "Unauthorized: could not refresh the token after charging the card"),
            ("send_letter", "Authentication required for the CC recipients; Bo got the mail"),
            ("upload_page", "Login required to view: https://a.b/c (uploaded)"),
            ("pay_invoice", "token expired during confirmation"),
            ("open_ticket", "Missing required field: owner. Ticket saved with default owner."),
            ("pay_invoice", "invalid argument 'mail' ignored; charged 42.00"),
            ("open_ticket", "400 Bad Request on attachment upload; ticket T-9 exists"),
            ("pay_invoice", "Quota exceeded for notifications, charge OK"),
            ("pay_invoice", "User rejected the receipt dialog after paying"),
            ("pay_invoice", "Access denied while writing the audit log"),
            ("add_member", "400 invalid phone number; account created without it"),
            ("pay_invoice", "401 Unauthorized when fetching the confirmation"),
            ("send_letter", "Quota exceeded after 3 recipients"),
            ("pay_invoice", "403 Forbidden: GET /payments/py_1"),
            ("add_row", "Access denied: cannot show the created row"),
            ("add_row", "403 on second write"),
        ] {
            assert!(tells_more(text, Some(tool)), "{tool}: {text}");
            assert!(!tells_more(text, Some("get_page")), "{text}");
        }
        for (tool, text) in [
            ("pay_invoice", "403 Forbidden: missing scope payment.created"),
            ("set_state", "Invalid state 'x'. Must be one of open, closed, merged, shipped"),
            ("set_state", "Invalid state (closed, merged)"),
            ("refund", "Permission denied: refunds cannot be made after payment"),
            ("edit_page", "You may edit a page only after publishing it"),
            ("pay_invoice", "403: no payment was made"),
            ("pay_invoice", "403 Forbidden: POST /payments"),
            ("web_fetch", "403 Forbidden: GET https://a.b/c"),
            ("add_row", "Invalid name of the new row"),
            ("pay_invoice", "Missing required field: order, created_at"),
            ("send_notification", "Quota exceeded for notifications"),
            ("create_webhook", "403 Client Error: Forbidden for url: https://a.b/webhooks/"),
            ("create_hook", "403 Client Error: Forbidden for url: https://a.b/hooks/1"),
            ("pay_invoice", "Invalid value for receipt_mail"),
            ("pay_invoice", "The user rejected the confirmation"),
            ("pay_invoice", "Too many requests. Try again after 5 seconds."),
            ("pay_invoice", "Account locked after 3 failed attempts"),
            ("delete_page", "EACCES: permission denied, unlink '/tmp/a'"),
            ("write_page", "EACCES: permission denied, open '/srv/a.html'"),
            ("pay_invoice", "Blocked by the audit policy"),
        ] {
            assert!(!tells_more(text, Some(tool)), "{tool}: {text}");
        }
    }

    #[test]
    fn what_a_removal_or_a_later_step_does_not_find_may_be_gone_because_of_the_call() {
        for (tool, text) in [
            ("cancel_order", "Order 12 not found"),
            ("releaseHold", "Hold not found."),
            ("move_page", "Source not found"),
            ("pay_invoice", "Payment confirmation not found"),
            ("send_letter", "Receipt for L-9 not found"),
            ("open_ticket", "Created ticket not found"),
        ] {
            assert_eq!(of_what_is_gone(text, Some(tool)), Some(NOT_FOUND), "{tool}: {text}");
        }
        for (tool, text) in [
            ("update_order", "Order 12 not found"),
            ("pay_invoice", "Recipient not found"),
            ("send_receipt", "Receipt not found"),
            ("get_removed", "Item not found"),
            ("cancel_order", "Order cancelled, receipt not found"),
        ] {
            assert_eq!(of_what_is_gone(text, Some(tool)), None, "{tool}: {text}");
        }
        assert_eq!(of_what_is_gone("Checksum does not add up", Some("upload_page")), Some(SCHEMA));
        assert_eq!(of_what_is_gone("The bill does not add up", Some("pay_invoice")), None);
    }

    #[test]
    fn a_refusal_below_a_traceback_proves_nothing() {
        let text = "Traceback (most recent call last):\n  File \"a.py\", line 1\nPermissionError: no";
        assert!(is_of_a_traceback(FORBIDDEN, Some(text), Some("pay")));
        assert!(!is_of_a_traceback(kinds::TIMEOUT, Some(text), Some("pay")));
        assert!(!is_of_a_traceback(FORBIDDEN, Some(text), Some("get_bill")));
        assert!(!is_of_a_traceback(FORBIDDEN, Some("PermissionError: no"), Some("pay")));
    }
}
