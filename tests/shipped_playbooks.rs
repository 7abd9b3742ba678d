//! What the shipped playbooks make of real error texts: a table of failures and the verdicts they get.

use playproof_engine::classify::{Classifier, PROCESSED, Signal, reads_as_processed};
use playproof_engine::event::ErrorFacts;
use playproof_engine::ids::AttemptNo;
use playproof_engine::playbook::{Playbook, ToolFacts};
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook::{embedded, parse};

fn load(name: &str) -> Playbook {
    let text = embedded(name).expect("an embedded playbook");
    parse(Source::whole(name, text)).unwrap_or_else(|report| panic!("{report}")).playbook
}

fn verdict(playbook: &Playbook, error: Option<&ErrorFacts>) -> String {
    let signal = Signal::new(error, "payments.issue_refund", ToolFacts::ASSUMED, true, AttemptNo::FIRST);
    playbook.verdict(Classifier::new(playbook).classify(&signal).verdict).name.to_string()
}

fn error(kind: &str, status: Option<u16>, message: &str) -> ErrorFacts {
    let kind = (!kind.is_empty()).then(|| kind.into());
    ErrorFacts { kind, message: Some(message.into()), status, ..ErrorFacts::default() }
}

#[test]
fn standard_names_each_failure_by_what_it_means() {
    let standard = load("standard");
    for (kind, status, message, expected) in [
        ("timeout", None, "no answer within 5000 ms", "transient_timeout"),
        ("", Some(408), "request timeout", "transient_timeout"),
        ("", Some(504), "upstream request timeout", "transient_timeout"),
        ("5xx", Some(504), "gateway timeout", "transient_timeout"),
        ("5xx", None, "internal error", "server_error_5xx"),
        ("5xx", Some(503), "try later", "server_error_5xx"),
        ("", Some(500), "internal error", "server_error_5xx"),
        ("", Some(599), "", "server_error_5xx"),
        ("403_forbidden", None, "refunds above 1000 need a human", "policy_denied"),
        ("", Some(403), "denied", "policy_denied"),
        ("412_precondition", None, "Evidence hash drifted", "evidence_stale"),
        ("", Some(412), "evidence is stale", "evidence_stale"),
        ("412_precondition", None, "etag mismatch", "unclassified"),
        ("schema_validation", None, "missing field `id`", "schema_mismatch"),
        ("401_unauthorized", Some(401), "token expired", "auth_rejected"),
        ("", Some(401), "who are you", "auth_rejected"),
        ("429_rate_limited", Some(429), "slow down", "rate_limited"),
        ("", Some(429), "too many requests", "rate_limited"),
        ("422_key_reused", Some(422), "refused", "idempotency_key_reused"),
        ("", Some(422), "idempotency_key was used with other arguments", "idempotency_key_reused"),
        ("", Some(422), "the amount is no number", "invalid_arguments"),
        ("not_sent", None, "connection refused", "not_sent"),
        ("tool_error", None, "Payment method card_7 not found", "request_rejected"),
        ("tool_error", None, "connection refused: host not found", "unclassified"),
        ("something_new", None, "", "unclassified"),
    ] {
        assert_eq!(verdict(&standard, Some(&error(kind, status, message))), expected, "{kind} {status:?} {message}");
    }
    assert_eq!(verdict(&standard, None), "unclassified");
}

#[test]
fn the_findings_and_the_rule_for_conflicts_know_the_same_sentence() {
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/playbooks/standard.yaml")).expect("the playbook");
    assert!(text.contains(&format!("matches: &sentence '{}'", PROCESSED.replace('\'', "''"))), "another pattern");
    let standard = load("standard");
    let conflict = |said: &str| error("409_conflict", Some(409), &format!("idempotency_key already processed{said}"));
    assert_eq!(verdict(&standard, Some(&conflict(""))), "idempotency_conflict");
    for words in ["in flight", "in-flight", "inflight", "in progress", "outstanding", "pending", "being processed"] {
        let both = conflict(&format!("; {words}"));
        assert_eq!(verdict(&standard, Some(&both)), "unclassified", "{words}");
        assert!(!reads_as_processed(&both, true), "{words}");
    }
}

#[test]
fn under_standard_a_conflict_is_over_only_if_it_says_so() {
    let standard = load("standard");
    for message in [
        "idempotency_key already processed",
        "Idempotency-Key ik_91 has ALREADY BEEN PROCESSED",
        "request with this idempotency key already completed",
    ] {
        assert_eq!(
            verdict(&standard, Some(&error("409_conflict", None, message))),
            "idempotency_conflict",
            "{message}"
        );
        assert_eq!(verdict(&standard, Some(&error("", Some(409), message))), "idempotency_conflict", "{message}");
    }
    for (message, expected) in [
        ("A request is outstanding for this Idempotency-Key", "idempotency_in_flight"),
        ("a request with this idempotency_key is in flight", "idempotency_in_flight"),
        ("idempotency key: another request is in-flight", "idempotency_in_flight"),
        ("a request with this idempotency key is already in progress", "idempotency_in_flight"),
        ("a request with this idempotency key is already being processed", "idempotency_in_flight"),
        ("idempotency_key already processed or still in progress", "unclassified"),
        ("idempotency key was already processed, or is being processed", "unclassified"),
        ("idempotency key conflict", "unclassified"),
        ("order already processed", "unclassified"),
        ("version conflict", "unclassified"),
        ("idempotency key already processed: insufficient funds", "unclassified"),
        ("idempotency key already processed; its receipt is not found", "unclassified"),
        ("check whether the idempotency key was already processed", "unclassified"),
    ] {
        assert_eq!(verdict(&standard, Some(&error("409_conflict", Some(409), message))), expected, "{message}");
    }
}

#[test]
fn the_literal_playbook_classifies_as_the_published_ifs_do() {
    let literal = load("study/typed-verdicts-literal");
    for (kind, message, expected) in [
        ("timeout", "", "transient_timeout"),
        ("5xx", "", "server_error_5xx"),
        ("409_conflict", "idempotency_key already processed", "idempotency_conflict"),
        ("409_conflict", "a request with this idempotency_key is in flight", "idempotency_conflict"),
        ("409_conflict", "A request is outstanding for this Idempotency-Key", "server_error_5xx"), // case counts
        ("412_precondition", "evidence hash drifted", "evidence_stale"),
        ("412_precondition", "Evidence hash drifted", "server_error_5xx"),
        ("403_forbidden", "", "policy_denied"),
        ("schema_validation", "", "schema_mismatch"),
        ("429_rate_limited", "", "server_error_5xx"),
        ("401_unauthorized", "", "server_error_5xx"),
    ] {
        assert_eq!(verdict(&literal, Some(&error(kind, None, message))), expected, "{kind} {message}");
    }
    assert_eq!(verdict(&literal, None), "server_error_5xx");
}

#[test]
fn the_first_generation_has_one_verdict_for_everything() {
    let first = load("study/retry-everything");
    for (kind, status) in [("timeout", None), ("409_conflict", Some(409)), ("403_forbidden", Some(403))] {
        assert_eq!(verdict(&first, Some(&error(kind, status, ""))), "failed");
    }
    assert_eq!(verdict(&first, None), "failed");
}
