//! What an error says under any playbook, so that findings do not depend on the playbook's own rules: the upstream
//! denied the call, had processed its key already, refused its key as that of another request, or refused the request
//! without acting on it.

use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};

use crate::event::ErrorFacts;
use crate::playbook::clause;
use crate::playbook::pattern::Pattern;

/// Kinds that adapters give to a denial, by a policy or by a person.
const DENIALS: [&str; 6] =
    ["403_forbidden", "forbidden", "policy_denied", "permission_denied", "access_denied", "user_rejected"];

/// The whole message of a conflict that proves that the request with the key of the call was done: one plain sentence. Any
/// further word may take it back, or be about another key, tool or object. The rule `key-already-processed` of the standard
/// playbook has the same pattern.
pub const PROCESSED: &str = r#"^\s*((http|error|status|code|409|conflict|note)[\s:,-]+)*((the|this|that|your|an?)\s+)?(request\s+with\s+((the|this|that|your|an?)\s+)?)?idempotency[\s_-]?key(|\s+(['"`][^'"`\s]+['"`]|\S*\d\S*))(\s+(has|was|is))?\s+already(\s+been)?\s+(processed|completed|executed)(\s+successfully)?[.!\s]*$"#;

/// The same without the words for an idempotency key: enough for a finding about a call with a key, not for a claim.
const PROCESSED_BRIEFLY: &str = r"^\s*((http|error|status|code|409|conflict|note)[\s:,-]+)*(((the|this|that|your)\s+)?(request|key)\s+)?((has|was|is)\s+)?already(\s+been)?\s+(processed|completed|executed)(\s+successfully)?[.!\s]*$";

/// The key that a message names: a word in quotes, or one with a digit.
const NAMED_KEY: &str = r#"idempotency[\s_-]?key[\s:=]+(?:['"`]([^'"`\s]+)['"`]|(\S*\d\S*))"#;

/// Whether the error is a denial: status 403, or the kind of a denial.
pub fn reads_as_denial(error: &ErrorFacts) -> bool {
    error.status == Some(403) || error.kind.as_deref().is_some_and(|kind| DENIALS.contains(&kind))
}

/// Whether the error says that a precondition of the request does not hold, such as its evidence (412, by status or by
/// kind): it is refused as long as it is the same.
pub fn reads_as_stale(error: &ErrorFacts) -> bool {
    error.status == Some(412) || error.kind.as_deref().is_some_and(|kind| kind.starts_with("412"))
}

/// Whether the error says that the upstream has processed the idempotency key of the call: a conflict (by status 409 or
/// by its kind) whose whole message says so. Without a key it says nothing of this call.
pub fn reads_as_processed(error: &ErrorFacts, keyed: bool) -> bool {
    static SENTENCES: LazyLock<[Pattern; 2]> =
        LazyLock::new(|| [PROCESSED, PROCESSED_BRIEFLY].map(|text| Pattern::new(text, false)));
    let says = |said: &str| SENTENCES.iter().any(|sentence| sentence.is_match(said));
    knows_key(error, keyed) && error.message.as_deref().is_some_and(says)
}

/// Whether a call with this idempotency key, or without one, counts as one with a key for what rules and findings make of
/// its failure. None: a conflict names another key, and is about a request with that one.
pub fn keyed_for(error: Option<&ErrorFacts>, key: Option<&str>) -> Option<bool> {
    static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(NAMED_KEY));
    let Some(key) = key else { return Some(false) };
    let Some(message) = error.filter(|error| knows_key(error, true)).and_then(|error| error.message.as_deref()) else {
        return Some(true);
    };
    let named = NAMED.as_ref().filter(|_| may_name_key(message)).and_then(|named| named.captures(message));
    let named = named.as_ref().and_then(|named| named.get(1).or_else(|| named.get(2)));
    let is_own = |named: &str| [named, named.trim_end_matches(['.', ',', ';', ':', '!'])].contains(&key);
    named.is_none_or(|named| is_own(named.as_str())).then_some(true)
}

/// Whether a message has a quote or a digit, as [`NAMED_KEY`] needs; digits may be beyond ASCII. Each conflict of a trace is asked, and few
/// name a key.
fn may_name_key(message: &str) -> bool {
    message.bytes().any(|byte| byte.is_ascii_digit() || matches!(byte, b'\'' | b'"' | b'`') || !byte.is_ascii())
}

/// The patterns are constants; a test compiles them.
fn pattern(text: &str) -> Option<Regex> {
    RegexBuilder::new(text).case_insensitive(true).build().ok()
}

/// Whether the error is a conflict with another request under the key: the upstream knows the key, whatever became of it.
pub fn knows_key(error: &ErrorFacts, keyed: bool) -> bool {
    let kind = error.kind.as_deref().unwrap_or("");
    keyed && (error.status == Some(409) || has(kind, b"409") || has(kind, b"conflict"))
}

/// Whether a short text contains a word. `str::contains` is slow for short texts, and each failure of a trace is asked.
fn has<const N: usize>(text: &str, word: &[u8; N]) -> bool {
    text.as_bytes().windows(N).any(|part| part == word)
}

/// Whether a failure shows that the server does not work: not if it answered with a refusal, a conflict or a limit of rate.
pub fn reads_as_outage(error: Option<&ErrorFacts>) -> bool {
    let Some(error) = error else { return true };
    let kind = error.kind.as_deref().unwrap_or("");
    match error.status {
        Some(status) => !(400..500).contains(&status) || [408, 499].contains(&status),
        None => !kind.starts_with('4') && !kind.contains("rate_limit") && !reads_as_denial(error),
    }
}

/// Whether the error says that the upstream did not act on the request: a denial, or a client error by its status.
/// Not 408 and 499 (the connection ended, and the request may have arrived), and not 409 (an earlier request may have
/// acted).
pub fn reads_as_refusal(error: &ErrorFacts) -> bool {
    let client_error =
        error.status.is_some_and(|status| (400..500).contains(&status) && ![408, 409, 499].contains(&status));
    client_error || reads_as_denial(error)
}

/// Kinds that adapters give to an attempt from which nothing came back.
const AT_WORK: [&str; 6] =
    ["timeout", "timed_out", "action_timeout", "gateway_timeout", "deadline_exceeded", "request_timeout"];

/// Whether the error says that nothing came back from the upstream: the attempt may still be at work.
pub fn reads_as_at_work(error: &ErrorFacts) -> bool {
    matches!(error.status, Some(408 | 504 | 524)) || error.kind.as_deref().is_some_and(|kind| AT_WORK.contains(&kind))
}

/// Kinds that adapters give to a key that was used with other arguments.
const REUSED: [&str; 2] = ["422_key_reused", "idempotency_mismatch"];

/// Words for a key that was used with other arguments.
const OTHER_REQUEST: [&str; 4] = ["other arguments", "different", "same parameters", "mismatch"];

/// Whether the error says that the idempotency key belongs to a request with other arguments: by its kind, or a status
/// 400, 409 or 422 whose message says so.
pub fn reads_as_reused_key(error: &ErrorFacts) -> bool {
    if error.kind.as_deref().is_some_and(|kind| REUSED.contains(&kind)) {
        return true;
    }
    let message = error.message.as_deref().unwrap_or("").to_lowercase();
    matches!(error.status, Some(400 | 409 | 422))
        && message.contains("idempoten")
        && OTHER_REQUEST.iter().any(|words| message.contains(words))
}

/// Kinds that adapters give to a request that got no answer.
const UNANSWERED: [&str; 9] = [
    "timeout",
    "network_error",
    "not_sent",
    "network",
    "connection_error",
    "connection_refused",
    "connection_reset",
    "dns_error",
    "tls_error",
];

/// Codes of a connection that failed, as operating systems and their libraries write them.
const NO_CONNECTION: [&str; 10] = [
    "ECONNREFUSED",
    "ECONNRESET",
    "ECONNABORTED",
    "ENOTFOUND",
    "EAI_AGAIN",
    "ENETUNREACH",
    "EHOSTUNREACH",
    "ETIMEDOUT",
    "ESOCKETTIMEDOUT",
    "EPIPE",
];

/// What clients say of these in words.
const NO_CONNECTION_WORDS: [&str; 13] = [
    "connection refused",
    "connection reset",
    "connection aborted",
    "connection closed",
    "connection timed out",
    "software caused connection abort",
    "name or service not known",
    "temporary failure in name resolution",
    "network is unreachable",
    "no route to host",
    "broken pipe",
    "socket hang up",
    "server disconnected",
];

/// Whether the error says that no answer of the upstream came: by its kind or its code, or, as trouble of a server, in its
/// last clause (`dial tcp: connect: connection refused`); and without a status, which only an answer has.
pub fn reads_as_unanswered(error: &ErrorFacts) -> bool {
    let kind = error.kind.as_deref().unwrap_or_default();
    let is_code = || error.code.as_deref().is_some_and(|code| NO_CONNECTION.contains(&code));
    let in_words = || {
        let message = error.message.as_deref().filter(|_| kind == "5xx").unwrap_or_default();
        let last = message.rsplit(": ").next().unwrap_or_default().to_lowercase();
        NO_CONNECTION_WORDS.iter().any(|words| clause::is_framed(&last, words))
    };
    error.status.is_none() && (UNANSWERED.contains(&kind) || NO_CONNECTION.contains(&kind) || is_code() || in_words())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(kind: &str, message: &str, status: Option<u16>) -> ErrorFacts {
        ErrorFacts { kind: Some(kind.into()), message: Some(message.into()), status, ..ErrorFacts::default() }
    }

    #[test]
    fn a_conflict_in_flight_does_not_read_as_processed() {
        assert!(reads_as_processed(&error("409_conflict", "Idempotency_key ALREADY processed", None), true));
        assert!(!reads_as_processed(&error("409_conflict", "order already processed", Some(409)), false), "no key");
        assert!(!reads_as_processed(&error("409_conflict", "a request is outstanding for this key", Some(409)), true));
        for words in ["in flight", "in-flight", "in progress", "outstanding", "pending", "being processed"] {
            let message = format!("already processed; {words}");
            assert!(!reads_as_processed(&error("409_conflict", &message, Some(409)), true), "{message}");
        }
        for message in [
            "the idempotency key was not already processed",
            "this idempotency key wasn't already processed",
            "no request with this idempotency key was already processed",
            "already processed by another idempotency key",
            "already processed under a different idempotency key",
            "idempotency key already processed: the original request failed",
            "idempotency key already processed, and the payment was reversed",
            "idempotency key already processed: insufficient funds",
            "idempotency key already processed with error",
            "idempotency key already processed: 500 Internal Server Error",
            "idempotency key already processed, payment voided",
            "idempotency key already processed (status: timed_out)",
            "idempotency key already processed?",
            "idempotency key already processed; its receipt is not found",
            "idempotency key already processed for order o_2",
            "idempotency key already processed by pay.charge",
            "the idempotency key of order 7 was already processed",
            "idempotency key not already processed",
            "idempotency key may be already processed",
            "check whether the idempotency key was already processed",
            "order already processed",
        ] {
            assert!(!reads_as_processed(&error("409_conflict", message, Some(409)), true), "{message}");
        }
        for message in [
            "this idempotency key was already processed",
            "Note: idempotency key already processed",
            "409 Conflict: idempotency key ik_91 was already processed",
            "Idempotency-Key 'k' has ALREADY BEEN PROCESSED.",
            "request with this idempotency key already completed",
            "this idempotency key has already executed",
            "already processed",
            "Your request was already processed.",
        ] {
            assert!(reads_as_processed(&error("409_conflict", message, Some(409)), true), "{message}");
        }
        assert!(!reads_as_processed(&error("5xx", "already processed", Some(500)), true));
    }

    #[test]
    fn a_conflict_that_names_another_key_is_not_about_the_call() {
        let conflict = |message: &str| error("409_conflict", message, Some(409));
        let keyed = |message: &str, key| keyed_for(Some(&conflict(message)), key);
        for message in ["idempotency key k9 was already processed", "Idempotency-Key: \"other\" already completed"] {
            assert_eq!((keyed(message, Some("k1")), keyed(message, None)), (None, Some(false)), "{message}");
        }
        for message in ["idempotency key k1 was already processed", "idempotency_key 'k1' is in flight", "k1", ""] {
            assert_eq!((keyed(message, Some("k1")), keyed(message, None)), (Some(true), Some(false)), "{message}");
        }
        let outage = error("5xx", "idempotency key k9: 500", Some(500));
        assert_eq!(keyed_for(Some(&outage), Some("k1")), Some(true), "no conflict");
        assert_eq!((keyed_for(None, Some("k1")), keyed_for(None, None)), (Some(true), Some(false)));
        assert!([PROCESSED, PROCESSED_BRIEFLY, NAMED_KEY].map(pattern).iter().all(Option::is_some));
    }

    #[test]
    fn only_a_client_error_that_cannot_hide_an_effect_reads_as_a_refusal() {
        assert!(reads_as_refusal(&error("token_expired", "", Some(410))));
        assert!(reads_as_refusal(&error("403_forbidden", "", None)));
        for status in [None, Some(200), Some(408), Some(409), Some(499), Some(500), Some(504)] {
            assert!(!reads_as_refusal(&error("token_expired", "", status)), "{status:?}");
        }
    }

    #[test]
    fn a_reused_key_is_read_from_its_kind_or_from_a_status_with_words() {
        assert!(reads_as_reused_key(&error("422_key_reused", "", None)));
        assert!(reads_as_reused_key(&error("x", "This Idempotency-Key was used with other arguments", Some(422))));
        assert!(!reads_as_reused_key(&error("x", "different currency", Some(422))), "not about a key");
        assert!(!reads_as_reused_key(&error("x", "idempotency_key: a different shard failed", Some(500))));
    }

    #[test]
    fn only_an_error_without_a_status_reads_as_unanswered() {
        assert!(reads_as_unanswered(&error("timeout", "", None)));
        assert!(!reads_as_unanswered(&error("timeout", "", Some(504))), "a gateway answered");
        assert!(!reads_as_unanswered(&error("tool_error", "connection refused", None)), "words alone");
        let code = |code: &str| ErrorFacts { code: Some(code.into()), ..error("5xx", "", None) };
        assert!(reads_as_unanswered(&code("ECONNREFUSED")));
        assert!(!reads_as_unanswered(&code("EACCES")));
        assert!(reads_as_unanswered(&error("ECONNRESET", "", None)), "a code as the kind");
    }

    #[test]
    fn trouble_of_a_server_reads_as_unanswered_in_words_too() {
        for message in
            ["connection reset by peer", "Connection refused.", "dial tcp 10.0.0.1:80: connect: connection refused"]
        {
            assert!(reads_as_unanswered(&error("5xx", message, None)), "{message}");
            assert!(!reads_as_unanswered(&error("5xx", message, Some(502))), "{message}: a gateway answered");
            assert!(!reads_as_unanswered(&error("program_error", message, None)), "{message}: of a program");
        }
        for message in
            ["connection refused by the bank, payment declined", "internal server error", "connection refusedly"]
        {
            assert!(!reads_as_unanswered(&error("5xx", message, None)), "{message}");
        }
    }

    #[test]
    fn a_denial_is_read_from_status_or_kind() {
        assert!(reads_as_denial(&error("whatever", "", Some(403))));
        assert!(reads_as_denial(&error("403_forbidden", "", None)));
        assert!(reads_as_denial(&error("user_rejected", "", None)), "a person denied it");
        assert!(!reads_as_denial(&error("401_unauthorized", "", Some(401))));
    }
}
