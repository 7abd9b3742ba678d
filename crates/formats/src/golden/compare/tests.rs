//! A test of each class, and that no milder class hides a worse one.

use super::{Comparison, DivergencePlace, compare};
use crate::diagnostic::Source;
use crate::golden::parse_body;
use playproof_engine::event::Class;

/// A write that times out once, is suppressed and escalates.
const STOPPED: &str = "\
refund: { outcome: escalated, queue: ambiguous, effect: unknown, attempts: 1, verdicts: [slow], last_error: timeout }
ledger:
  pay/ik: applied x1
findings: []
events:
- { +0:    refund, attempt_started: 1 }
- { +5000: refund, attempt_finished: 1, status: timeout, from: scripted }
- { +0:    refund, failure_classified: slow, rule: timeout }
- { +0:    refund, retry_suppressed: may_have_acted }
- { +0:    refund, escalated: ambiguous }
- { +0:    refund, outcome: escalated }
";

/// A read that times out once and then works.
const RETRIED: &str = "\
look: { outcome: succeeded_after_compensation, effect: not_applied, attempts: 2, verdicts: [slow], last_error: timeout }
ledger: {}
findings: []
events:
- { +0:    look, attempt_started: 1 }
- { +5000: look, attempt_finished: 1, status: timeout, from: scripted }
- { +0:    look, failure_classified: slow, rule: timeout }
- { +0:    look, retry_scheduled: 2, delay_ms: 200 }
- { +200:  look, attempt_started: 2 }
- { +40:   look, attempt_finished: 2, status: ok, from: scripted }
- { +0:    look, outcome: succeeded_after_compensation }
";

/// Compares a golden with itself after `edits`: pairs of a text and its replacement.
fn changed(golden: &str, edits: &[(&str, &str)]) -> Comparison {
    let mut text = golden.to_owned();
    for (old, new) in edits {
        assert!(text.contains(old), "`{old}` is not in the golden");
        text = text.replacen(old, new, 1);
    }
    let body = |text: &str| parse_body(Source::whole("golden", text)).unwrap_or_else(|report| panic!("{report}"));
    compare(&body(golden), &body(&text))
}

fn shown(comparison: &Comparison) -> Vec<String> {
    let side = |side: &Option<String>| side.clone().unwrap_or_else(|| "-".into());
    let line = |d: &super::Divergence| format!("{}: {}: {} | {}", d.class, d.field, side(&d.expected), side(&d.actual));
    comparison.divergences.iter().map(line).collect()
}

/// Edits that send the call of `STOPPED` again before it escalates.
const SENT_ON: [(&str, &str); 2] = [
    ("attempts: 1, verdicts: [slow]", "attempts: 2, verdicts: [slow, slow]"),
    (
        "- { +0:    refund, retry_suppressed",
        "- { +0: refund, retry_scheduled: 2, delay_ms: 200 }\n- { +200: refund, attempt_started: 2 }\n\
         - { +5000: refund, attempt_finished: 2, status: timeout, from: scripted }\n\
         - { +0: refund, failure_classified: slow, rule: timeout }\n- { +0:    refund, retry_suppressed",
    ),
];

#[test]
fn equal_text_and_different_layout_are_no_divergence() {
    assert_eq!(changed(STOPPED, &[]).worst(), None);
    let layout = [("+5000: refund", "+5000:    'refund'"), ("findings: []", "findings:  [ ]  # none")];
    assert_eq!(changed(STOPPED, &layout).divergences, []);
}

#[test]
fn a_different_claim_changes_the_effect() {
    let found = changed(STOPPED, &[("effect: unknown", "effect: applied")]);
    assert_eq!(shown(&found), ["effect changed: effect: unknown | applied"]);
}

#[test]
fn a_different_ledger_changes_the_effect() {
    let found = changed(STOPPED, &[("applied x1", "applied x3")]);
    assert_eq!(shown(&found), ["effect changed: ledger: applied x1 | applied x3"]);
    assert_eq!(found.headline(), "effect changed: 1 effect becomes 3");
    let gone = changed(STOPPED, &[("ledger:\n  pay/ik: applied x1", "ledger: {}")]);
    assert_eq!(shown(&gone), ["effect changed: ledger: applied x1 | -"]);
}

#[test]
fn an_added_removed_or_recounted_finding_changes_the_effect() {
    let with = "findings:\n- { duplicate_effect: refund, by: playbook, count: 2 }";
    let more = changed(STOPPED, &[("findings: []", with)]);
    assert_eq!(shown(&more), ["effect changed: duplicate_effect: - | by: playbook, count: 2"]);
    let golden = STOPPED.replace("findings: []", with);
    assert_eq!(changed(&golden, &[(with, "findings: []")]).worst(), Some(Class::EffectChanged));
    assert_eq!(changed(&golden, &[("count: 2", "count: 3")]).worst(), Some(Class::EffectChanged));
}

#[test]
fn a_call_that_is_sent_where_the_golden_suppresses_weakens_the_guard() {
    let found = changed(STOPPED, &SENT_ON);
    assert_eq!(found.worst(), Some(Class::GuardWeakened));
    assert_eq!(
        shown(&found)[0],
        "guard weakened: retry_suppressed: retry_suppressed: may_have_acted | attempt_started: 2"
    );
}

#[test]
fn an_escalation_that_becomes_an_attempt_weakens_the_guard() {
    let golden = STOPPED.replace("- { +0:    refund, retry_suppressed: may_have_acted }\n", "");
    let sent = SENT_ON[1].1.replace("retry_suppressed", "escalated");
    let found = changed(&golden, &[SENT_ON[0], ("- { +0:    refund, escalated", &sent)]);
    assert_eq!(found.worst(), Some(Class::GuardWeakened));
}

#[test]
fn a_refused_reversal_that_is_redeemed_weakens_the_guard() {
    let golden = STOPPED.replace("retry_suppressed: may_have_acted", "reversal_refused: no_token");
    let found = changed(&golden, &[("reversal_refused: no_token", "reversal_redeemed: lost, from: scripted")]);
    assert_eq!(found.worst(), Some(Class::GuardWeakened));
    assert_eq!(
        shown(&found)[0],
        "guard weakened: reversal_refused: reversal_refused: no_token | reversal_redeemed: lost, from: scripted"
    );
}

#[test]
fn a_reversal_counts_as_sent_even_if_the_upstream_refuses_it() {
    let golden = |why: &str| STOPPED.replace("retry_suppressed: may_have_acted", &format!("reversal_refused: {why}"));
    let becomes = |from: &str, to: &str| {
        let (from, to) = (format!("reversal_refused: {from}"), format!("reversal_refused: {to}"));
        changed(&golden(from.strip_prefix("reversal_refused: ").unwrap()), &[(&from, &to)])
    };
    for sent in ["upstream_refused", "no_answer", "upstream_failed"] {
        assert!(becomes("no_token", sent).has(Class::GuardWeakened), "{sent}");
        assert!(!becomes(sent, "token_redeemed").has(Class::GuardWeakened), "{sent}");
    }
    let taken = [("reversal_refused: upstream_refused", "reversal_redeemed: lost, from: scripted")];
    assert!(!changed(&golden("upstream_refused"), &taken).has(Class::GuardWeakened));
}

#[test]
fn an_agent_that_is_told_to_try_again_where_the_golden_forbids_it_is_a_weakened_guard() {
    let told = |retriable: bool| format!("last_error: timeout, told: network_error, retriable: {retriable} }}");
    let golden = |retriable| STOPPED.replacen("last_error: timeout }", &told(retriable), 1);
    let weaker = changed(&golden(false), &[("retriable: false", "retriable: true")]);
    assert_eq!(shown(&weaker), ["guard weakened: retriable: false | true"]);
    let stronger = changed(&golden(true), &[("retriable: true", "retriable: false")]);
    assert_eq!(shown(&stronger), ["outcome changed: retriable: true | false"]);
    let other = changed(&golden(false), &[("told: network_error", "told: external_api_error")]);
    assert_eq!(shown(&other), ["outcome changed: told: network_error | external_api_error"]);
    let new = changed(STOPPED, &[("last_error: timeout }", &told(true))]);
    assert_eq!(shown(&new), ["outcome changed: told: - | network_error", "outcome changed: retriable: - | true"]);
}

#[test]
fn only_a_withheld_action_that_is_offered_now_is_a_weakened_guard() {
    let golden = STOPPED.replacen("last_error: timeout }", "last_error: timeout, next: [cancel], withheld: [pay] }", 1);
    let offered = changed(&golden, &[("next: [cancel], withheld: [pay]", "next: [pay, cancel]")]);
    assert!(shown(&offered).contains(&"guard weakened: withheld: pay | -".to_owned()), "{:?}", shown(&offered));
    let gone = changed(&golden, &[("next: [cancel], withheld: [pay]", "next: [cancel]")]);
    assert_eq!(shown(&gone), ["outcome changed: withheld: pay | -"]);
}

#[test]
fn a_guard_that_stops_more_is_not_weaker() {
    let text = SENT_ON.iter().fold(STOPPED.to_owned(), |text, (old, new)| text.replacen(old, new, 1));
    let undo = SENT_ON.map(|(old, new)| (new, old));
    let found = changed(&text, &undo);
    assert!(!found.has(Class::GuardWeakened), "{:?}", shown(&found));
    assert_eq!(found.worst(), Some(Class::OutcomeChanged));
}

#[test]
fn a_different_queue_verdict_or_end_changes_the_outcome() {
    let queue = changed(STOPPED, &[("queue: ambiguous", "queue: other"), ("escalated: ambiguous", "escalated: other")]);
    assert_eq!(
        shown(&queue),
        ["outcome changed: queue: ambiguous | other", "outcome changed: escalated: ambiguous | other"]
    );
    let verdict = changed(STOPPED, &[("[slow]", "[lost]"), ("classified: slow", "classified: lost")]);
    assert_eq!(verdict.worst(), Some(Class::OutcomeChanged));
    let end = changed(RETRIED, &[("outcome: succeeded_after_compensation }\n", "outcome: deprecated }\n")]);
    assert_eq!(end.worst(), Some(Class::OutcomeChanged));
    let gone = changed(RETRIED, &[("look: { outcome", "other: { outcome")]);
    assert_eq!(gone.worst(), Some(Class::OutcomeChanged));
}

#[test]
fn one_more_attempt_changes_the_attempts_and_no_later_event() {
    let more = "- { +0: look, retry_scheduled: 3, delay_ms: 600 }\n- { +600: look, attempt_started: 3 }\n\
                - { +40: look, attempt_finished: 3, status: ok, from: scripted }\n";
    let last = "- { +0:    look, outcome: succeeded_after_compensation }";
    let found = changed(RETRIED, &[("attempts: 2", "attempts: 3"), (last, &format!("{more}{last}"))]);
    assert_eq!(
        shown(&found),
        [
            "attempts changed: attempts: 2 | 3",
            "attempts changed: event: - | retry_scheduled: 3, delay_ms: 600",
            "attempts changed: event: - | attempt_started: 3",
            "attempts changed: event: - | attempt_finished: 3, status: ok, from: scripted",
        ]
    );
}

#[test]
fn a_different_delay_is_timing_only_and_shifts_no_later_event() {
    let found = changed(RETRIED, &[("delay_ms: 200", "delay_ms: 300"), ("+200:", "+300:")]);
    assert_eq!(
        shown(&found),
        ["timing only: retry_scheduled.delay_ms: 200 | 300", "timing only: attempt_started.after_ms: +200 | +300",]
    );
}

#[test]
fn different_words_for_the_same_decisions_are_cosmetic() {
    assert_eq!(changed(RETRIED, &[("rule: timeout", "rule: no-answer")]).worst(), Some(Class::Cosmetic));
    assert_eq!(changed(RETRIED, &[("ok, from: scripted", "ok, from: modelled")]).worst(), Some(Class::Cosmetic));
    let two = "a: { outcome: succeeded, effect: applied, attempts: 1, verdicts: [] }\n\
               b: { outcome: succeeded, effect: applied, attempts: 1, verdicts: [] }\nledger: {}\nfindings: []\n\
               events:\n- { +0: a, attempt_started: 1 }\n- { +0: b, attempt_started: 1 }\n";
    let swapped = changed(two, &[("+0: a", "+0: c"), ("+0: b", "+0: a"), ("+0: c", "+0: b")]);
    assert_eq!(shown(&swapped), ["cosmetic: order: the same lines | in another order"]);
}

#[test]
fn no_milder_class_hides_a_worse_one() {
    let milder = [("+5000:", "+5100:"), ("rule: timeout", "rule: no-answer"), ("queue: ambiguous", "queue: other")];
    let all = |worse: &[(&'static str, &'static str)]| {
        let edits: Vec<_> = milder.iter().chain(worse).copied().collect();
        changed(STOPPED, &edits)
    };
    let outcome = all(&[]);
    assert_eq!(outcome.classes(), [Class::OutcomeChanged, Class::TimingOnly, Class::Cosmetic]);
    let mut sent_on = SENT_ON.to_vec();
    let guard = all(&sent_on);
    assert_eq!(guard.worst(), Some(Class::GuardWeakened));
    sent_on.push(("applied x1", "applied x2"));
    let effect = all(&sent_on);
    assert_eq!(
        effect.classes(),
        [
            Class::EffectChanged,
            Class::GuardWeakened,
            Class::OutcomeChanged,
            Class::AttemptsChanged,
            Class::TimingOnly,
            Class::Cosmetic
        ]
    );
    assert_eq!(effect.headline(), "guard weakened: 1 effect becomes 2");
}

#[test]
fn the_first_change_is_the_earliest_and_has_the_verdict_before_it() {
    let found = changed(STOPPED, &SENT_ON);
    let first = found.first.as_ref().unwrap();
    assert_eq!((&*first.call, first.at.as_micros()), ("refund", 5_000_000));
    assert_eq!(first.golden.as_deref(), Some("retry_suppressed: may_have_acted"));
    assert_eq!(first.run.as_deref(), Some("retry_scheduled: 2, delay_ms: 200"));
    let because = first.actual.as_ref().unwrap();
    assert_eq!((&*because.verdict, &*because.rule), ("slow", "timeout"));
}

#[test]
fn the_same_event_at_another_time_is_shown_with_both_times() {
    let found = changed(RETRIED, &[("+40:   look", "+45:   look")]);
    let first = found.first.as_ref().unwrap();
    assert_eq!(first.golden.as_deref(), Some("attempt_finished: 2, status: ok, from: scripted, at 5240 ms"));
    assert_eq!(first.run.as_deref(), Some("attempt_finished: 2, status: ok, from: scripted, at 5245 ms"));
}

#[test]
fn the_first_diverging_events_of_both_sides_are_paired() {
    let sent = "retry_scheduled: 2, delay_ms: 200 }\n- { +200: refund, attempt_started: 2";
    let edits = [("retry_suppressed: may_have_acted", sent), ("- { +0:    refund, escalated: ambiguous }\n", "")];
    let found = changed(STOPPED, &edits);
    let first = found.first.as_ref().unwrap();
    assert_eq!(first.golden.as_deref(), Some("retry_suppressed: may_have_acted"));
    assert_eq!(first.run.as_deref(), Some("retry_scheduled: 2, delay_ms: 200"));
}

#[test]
fn if_all_decisions_are_the_same_the_outcome_that_differs_is_the_first_change() {
    let found = changed(STOPPED, &[("effect: unknown", "effect: applied")]);
    let first = found.first.as_ref().unwrap();
    assert_eq!((first.golden.as_deref(), first.run.as_deref()), (Some("effect: unknown"), Some("effect: applied")));
    assert_eq!(first.actual.as_ref().unwrap().verdict, "slow");
}

#[test]
fn a_divergence_points_at_its_line_of_the_golden() {
    let found = changed(RETRIED, &[("delay_ms: 200", "delay_ms: 300")]);
    let span = found.divergences[0].span.clone().unwrap();
    assert!(RETRIED[span].contains("retry_scheduled: 2, delay_ms: 200"));
    assert_eq!(found.divergences[0].place, DivergencePlace::Event("look".into(), 3));
}

#[test]
fn long_lists_are_compared_within_a_bound() {
    let mut golden = RETRIED.replace("+40:", "+41:");
    for n in 0..5_000 {
        golden += &format!("- {{ +0: look, escalated: q{n} }}\n");
    }
    let other = golden.replace("+41:", "+40:").replace(": q", ": r");
    let body = |text: &str| parse_body(Source::whole("golden", text)).unwrap();
    assert_eq!(compare(&body(&golden), &body(&other)).worst(), Some(Class::OutcomeChanged));
}

#[test]
fn the_end_of_an_action_is_because_of_the_last_verdict_of_its_steps() {
    let golden = "\
ship: { outcome: escalated, queue: q, effect: unknown, attempts: 1, verdicts: [], last_error: timeout, step: post, told: network_error, retriable: false }
ship/post: { outcome: escalated, queue: q, effect: unknown, attempts: 1, verdicts: [slow], last_error: timeout, told: network_error, retriable: false }
ledger: {}
findings: []
events:
- { +0:    ship/post, attempt_started: 1 }
- { +5000: ship/post, attempt_finished: 1, status: timeout, from: scripted }
- { +0:    ship/post, failure_classified: slow, rule: timeout }
- { +0:    ship/post, escalated: q }
- { +0:    ship/post, outcome: escalated }
- { +0:    ship, outcome: escalated }
";
    let found = changed(golden, &[("told: network_error", "told: connector_runtime_error")]);
    let first = found.first.unwrap();
    assert_eq!((&*first.call, first.run.as_deref()), ("ship", Some("told: connector_runtime_error")));
    for because in [first.expected, first.actual] {
        let because = because.unwrap();
        assert_eq!((&*because.verdict, &*because.rule), ("slow", "timeout"));
    }
}
