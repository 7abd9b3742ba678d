//! Shipped playbooks, each with one mistake: verify names the property that it breaks, with the fewest departures; and with
//! one harmless edit, nothing.

use playproof_engine::event::FindingId;
use playproof_formats::playbook;

use crate::tests::{ALL, plan, violated};
use crate::verify::{Question, verify};

/// A playbook, what is replaced, by what, and the properties that this breaks with their departures.
type Edit<'a> = (&'a str, &'a str, &'a str, &'a [(FindingId, u32)]);

/// Holds each edit to what it breaks. A violation shows in the first states.
fn each_breaks(edits: &[Edit<'_>]) {
    for (name, from, to, expected) in edits {
        let text = playbook::embedded(name).unwrap();
        assert_eq!(text.matches(from).count(), 1, "{name}: {from}");
        let found = verify(&plan(&text.replace(from, to)), &Question { states: 500, ..ALL });
        assert_eq!(violated(&found), *expected, "{name}: {to}");
    }
}

#[test]
fn each_mistake_breaks_its_property_with_the_fewest_departures() {
    use FindingId::{
        DenialNotEscalated, DuplicateEffect, RefusalUnseen, RetriedAfterConflict, RetriedAfterDenial,
        StaleEvidenceResent, UnboundedWait, UntruthfulOutcome,
    };
    let retry = "then: { retry_with_backoff: { backoff_ms: [100] } }";
    let denied = "then: { escalate_to_human: { queue: policy_review } }\n    tell: { class: external_api_error }";
    let done =
        "then: { deprecate_tool_call: { reason: upstream already processed this idempotency_key, replan: true } }";
    let in_flight = "    verdict: idempotency_in_flight\n  - rule: key-in-flight-status";
    let reversal = "issue_reversal: { reason: the answer cannot be read";
    let bound = "on_unsafe: { escalate_to_human: { queue: ambiguous_effects } }\n\n  idempotency_conflict";
    each_breaks(&[
        // A write that was not answered is said to have done nothing.
        (
            "standard",
            "nobody can ask for it again.\n    effect: unknown",
            "nobody can ask for it again.\n    effect: not_applied",
            &[(UntruthfulOutcome, 1)],
        ),
        // So is one that the upstream failed at.
        (
            "standard",
            "it may have acted before it failed.\n    effect: unknown",
            "it may have acted before it failed.\n    effect: not_applied",
            &[(DuplicateEffect, 1), (UntruthfulOutcome, 1)],
        ),
        // A conflict is sent again, though its state says that it is done.
        ("standard", done, retry, &[(RetriedAfterConflict, 1)]),
        // What is at work is taken for done.
        (
            "standard",
            in_flight,
            "    verdict: idempotency_conflict\n  - rule: key-in-flight-status",
            &[(UntruthfulOutcome, 1)],
        ),
        // The rule of the conflict no longer asks for the key of the call.
        (
            "standard",
            "message: { matches: *sentence }, keyed: true }",
            "message: { matches: *sentence } }",
            &[(UntruthfulOutcome, 1)],
        ),
        // Nobody hears of a denial; or it is sent again.
        ("standard", denied, "then: { deprecate_tool_call: { reason: no } }", &[(DenialNotEscalated, 1)]),
        ("standard", denied, retry, &[(RetriedAfterDenial, 1), (DenialNotEscalated, 1)]),
        // Evidence that was refused goes out again as it is.
        ("standard", "then: { refresh_evidence: { then: retry } }", retry, &[(StaleEvidenceResent, 1)]),
        // A refusal is said to have acted.
        (
            "standard",
            "expired, and nothing happened.\n    effect: not_applied",
            "expired, and nothing happened.\n    effect: applied",
            &[(UntruthfulOutcome, 1)],
        ),
        // An answer that cannot be read is taken for a refusal; or for a success.
        (
            "standard",
            "does not have the declared shape; the upstream may have acted.\n    effect: unknown",
            "does not have the declared shape; the upstream may have acted.\n    effect: not_applied",
            &[(UntruthfulOutcome, 1)],
        ),
        (
            "reversing",
            "whether the call acted cannot be read.\n    effect: unknown",
            "whether the call acted cannot be read.\n    effect: applied",
            &[(UntruthfulOutcome, 1)],
        ),
        // Nobody sees that a reversal was refused.
        (
            "reversing",
            reversal,
            &format!("{reversal}, on_refused: {{ deprecate_tool_call: {{ reason: no }} }}"),
            &[(RefusalUnseen, 1)],
        ),
        // A kind that proves nothing is taken for a refusal, and sent again.
        (
            "dispatcher",
            "do it now; it may have acted.\n    effect: unknown",
            "do it now; it may have acted.\n    effect: not_applied",
            &[(DuplicateEffect, 1), (UntruthfulOutcome, 2)],
        ),
        // A wish to wait is heeded, and nothing bounds it: the deadline would, and is gone with the wait's own.
        ("standard", &format!("        max_wait_ms: 30000\n        {bound}"), &format!("        {bound}"), &[]),
        ("standard", "limits: { max_attempts: 6, deadline_ms: 60000 }", "limits: { max_attempts: 6 }", &[]),
    ]);
    let text = playbook::embedded("standard").unwrap().replace(", deadline_ms: 60000", "");
    let unbounded = text.replace(", after: retry_after, max_wait_ms: 30000", ", after: retry_after");
    let found = verify(&plan(&unbounded), &Question { states: 500, ..ALL });
    assert_eq!(violated(&found), [(UnboundedWait, 1)]);
}

#[test]
fn a_write_during_which_the_program_crashed_and_that_is_said_to_have_done_nothing_acts_twice() {
    let interrupted = "how far it came is unknown.
    effect: unknown
    # Not sent again, not even with a key: somebody may have stopped it on purpose, or it may still be at work.
    then: { escalate_to_human: { queue: ambiguous_effects } }";
    let nothing = "nothing.\n    effect: not_applied\n    then: { retry_with_backoff: { backoff_ms: [100] } }";
    let broken = [(FindingId::DuplicateEffect, 1), (FindingId::UntruthfulOutcome, 2)];
    each_breaks(&[("standard", interrupted, nothing, &broken)]);
}

#[test]
fn harmless_edits_break_nothing() {
    each_breaks(&[
        ("standard", "backoff_ms: [200, 600, 1800]", "backoff_ms: [300, 900]", &[]),
        ("standard", "max_attempts: 6", "max_attempts: 3", &[]),
        ("standard", "then: { refresh_evidence: { then: retry } }", "then: { refresh_evidence: { then: abort } }", &[]),
        (
            "standard",
            "expired, and nothing happened.\n    effect: not_applied",
            "expired, and nothing happened.\n    effect: unknown",
            &[],
        ),
        ("reversing", "stale-evidence, when", "another-name, when", &[]),
        ("dispatcher", "failure_count: 5", "failure_count: 2", &[]),
        (
            "reversing",
            "  - { rule: denied, when: { kind: 403_forbidden }, verdict: policy_denied }\n",
            "  - { rule: denied, when: { kind: 403_forbidden }, verdict: policy_denied }\n  - { rule: other, when: { status: 403 }, verdict: policy_denied }\n",
            &[],
        ),
    ]);
}
