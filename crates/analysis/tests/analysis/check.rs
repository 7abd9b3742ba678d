//! Checks on a fixture and playbooks of a few lines.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use playproof_analysis::check::{
    Case, CaseId, CaseResult, CheckReport, CheckStatus, GoldenState, cause, check_one, map, row_changes, row_places,
};
use playproof_engine::fixture::Fixture;
use playproof_engine::playbook::{Playbook, Tools};
use playproof_engine::sim::{Plan, Simulator};
use playproof_formats::diagnostic::Source;
use playproof_formats::fixture;
use playproof_formats::golden::{Class, GoldenFile, Lock};
use playproof_formats::playbook;
use playproof_formats::playbook::rows;

const PLAYBOOK: &str = "\
format: playbook/1
name: small
verdicts:
  slow: { means: No answer came., effect: unknown, then: { retry_with_backoff: { backoff_ms: [200] } } }
classify:
  - { rule: timeout, when: { kind: timeout }, verdict: slow }
otherwise: unclassified
default_queue: people
queues: [people]
tools:
  pay: { access: write, timeout_ms: 5000 }
limits: { max_attempts: 3 }
";

const FIXTURE: &str = "\
format: fixture/1
title: A payment without a key times out after it landed
playbooks: [small]
calls:
  pay: { tool: pay, args: { amount: 5 } }
upstream:
  pay:
    - { timeout: {}, applied: true }
    - { timeout: {}, applied: true }
expect:
  small: { pay: { outcome: escalated }, effects: 1 }
";

/// Lets every retry pass.
const UNGUARDED: (&str, &str) = ("limits:", "study: { why: to see what happens, retry_guard: off }\nlimits:");

fn playbook(edits: &[(&str, &str)]) -> Playbook {
    let text = edits.iter().fold(PLAYBOOK.to_owned(), |text, (old, new)| text.replacen(old, new, 1));
    playbook::parse(Source::whole("small.yaml", text)).unwrap_or_else(|report| panic!("{report}")).playbook
}

fn fixture() -> Fixture {
    fixture::parse(Source::whole("pay.yaml", FIXTURE)).unwrap_or_else(|report| panic!("{report}"))
}

fn check(edits: &[(&str, &str)], golden: Option<&str>) -> CaseResult {
    let (fixture, plan) = (fixture(), Plan::new(playbook(edits), &Tools::default()));
    let id = CaseId { playbook: "small".into(), fixture: "pay".into() };
    let golden = golden.map(|text| Ok(Source::whole("goldens/small/pay.snap", text)));
    check_one(&mut Simulator::new(), &Case { id, fixture: &fixture, plan: &plan, golden })
}

fn golden() -> String {
    GoldenFile::new("pay", "small", &check(&[], None).body.render()).render()
}

fn verdict(result: CaseResult) -> CheckStatus {
    CheckReport { results: vec![result], ..CheckReport::default() }.verdict()
}

#[test]
fn a_run_that_is_as_accepted_passes() {
    let result = check(&[], Some(&golden()));
    assert!(result.passes(), "{result:?}");
    assert_eq!(verdict(result), CheckStatus::Clean);
}

#[test]
fn a_fixture_without_a_golden_does_not_pass() {
    let result = check(&[], None);
    assert!(matches!(result.golden, GoldenState::Missing));
    assert_eq!(verdict(result), CheckStatus::Differs);
}

#[test]
fn a_golden_that_cannot_be_read_is_not_a_divergence() {
    for broken in ["", "---\nno header", "---\ninfo: {}\n---\npay: nothing\n", "<<<<<<< a\n=======\n>>>>>>> b\n"] {
        let result = check(&[], Some(broken));
        assert!(matches!(result.golden, GoldenState::Unreadable(_)), "{broken}");
        assert_eq!(verdict(result), CheckStatus::Unusable);
    }
}

#[test]
fn a_guard_that_is_gone_is_a_weakened_guard_and_contradicts_the_fixture() {
    let result = check(&[UNGUARDED], Some(&golden()));
    let comparison = result.comparison().unwrap();
    assert!(comparison.has(Class::GuardWeakened), "{:?}", comparison.divergences);
    assert_eq!(comparison.headline(), "guard weakened: 1 effect becomes 2");
    let said: Vec<String> = result.contradictions.iter().map(ToString::to_string).collect();
    assert_eq!(said, ["pay.outcome: expected escalated, got exhausted", "effects: expected 1, got 2"]);
    assert_eq!(CheckReport { results: vec![result], ..CheckReport::default() }.counts().contradicting, 1);
}

#[test]
fn results_are_worst_first_and_counted_by_their_worst_class() {
    let queue = [("queues: [people]", "queues: [others]"), ("default_queue: people", "default_queue: others")];
    let words = [("rule: timeout", "rule: no-answer")];
    let results = vec![check(&[], None), check(&words, Some(&golden())), check(&queue, Some(&golden()))];
    let report = CheckReport { results, ..CheckReport::default() };
    let order: Vec<Option<Class>> = report.failing().iter().map(|result| result.worst()).collect();
    assert_eq!(order, [Some(Class::OutcomeChanged), Some(Class::Cosmetic), None]);
    let counts = report.counts();
    assert_eq!((counts.missing, counts.diverged), (1, [0, 0, 1, 0, 0, 1]));
}

#[test]
fn rows_that_nobody_approved_are_named() {
    let (old, new) = (playbook(&[]), playbook(&[("[200]", "[300]")]));
    let mut lock = Lock::default();
    let approved = rows(&old);
    lock.approve("small", approved.iter().map(|row| (&*row.name, &*row.text)), "first");
    let playbooks = |playbook| BTreeMap::from([("small".to_owned(), playbook)]);
    assert_eq!(row_changes(Some(&lock), &playbooks(&old), true), []);
    let found = row_changes(Some(&lock), &playbooks(&new), true);
    assert_eq!(found[0].changes[0].name, "verdict slow");
    assert_eq!(found[0].changes.len(), 1);
    let unlocked = row_changes(None, &playbooks(&old), true);
    assert!(!unlocked[0].is_locked && unlocked[0].changes.len() == approved.len());
}

#[test]
fn a_section_that_nobody_uses_is_left_over_only_where_all_fixtures_are_looked_at() {
    let mut lock = Lock::default();
    lock.approve("gone", [("limit max_attempts", "3")], "first");
    assert!(!row_changes(Some(&lock), &BTreeMap::new(), true)[0].is_used);
    assert_eq!(row_changes(Some(&lock), &BTreeMap::new(), false), []);
}

#[test]
fn the_same_results_come_from_one_thread_and_from_several() {
    let (fixture, plan) = (fixture(), Plan::new(playbook(&[]), &Tools::default()));
    let golden = Some(Ok(Source::whole("g", golden())));
    let case = |n: usize| Case {
        id: CaseId { playbook: "small".into(), fixture: format!("pay-{n}") },
        fixture: &fixture,
        plan: &plan,
        golden: golden.as_ref().filter(|_| !n.is_multiple_of(3)).cloned(),
    };
    let cases: Vec<Case<'_>> = (0..50).map(case).collect();
    let run = |jobs: usize| {
        let jobs = NonZeroUsize::new(jobs).unwrap();
        format!("{:?}", map(&cases, jobs, Simulator::new, check_one, |_| false))
    };
    assert_eq!(run(1), run(5));
}

fn loaded(edits: &[(&str, &str)]) -> playbook::Loaded {
    let text = edits.iter().fold(PLAYBOOK.to_owned(), |text, (old, new)| text.replacen(old, new, 1));
    playbook::parse(Source::whole("small.yaml", text)).unwrap_or_else(|report| panic!("{report}"))
}

/// What is underlined, and what is said of it, where `edits` change the approved playbook.
fn underlined(edits: &[(&str, &str)], approved: bool) -> Vec<(String, String)> {
    let mut lock = Lock::default();
    let locked = rows(&playbook(if approved { edits } else { &[] }));
    lock.approve("small", locked.iter().map(|row| (&*row.name, &*row.text)), "first");
    let (now, result) = (loaded(edits), check(edits, Some(&golden())));
    let changes = row_changes(Some(&lock), &BTreeMap::from([("small".to_owned(), &now.playbook)]), true);
    let found = cause(&now, changes.first(), result.comparison().unwrap()).unwrap();
    let text = &found.report.source.text;
    let labels = found.report.diagnostics[0].labels.iter();
    labels.map(|label| (text[label.span.clone()].to_owned(), label.text.clone())).collect()
}

#[test]
fn the_row_that_changed_is_underlined_with_what_was_there() {
    let effect = underlined(&[("effect: unknown", "effect: not_applied")], false);
    assert_eq!(effect, [("not_applied".to_owned(), "`effect` was unknown".to_owned())]);
    let study = underlined(&[UNGUARDED], false);
    assert!(study[0].1.ends_with("is new"), "{study:?}");
}

#[test]
fn other_words_for_a_verdict_explain_no_divergence() {
    let found = underlined(
        &[("access: write,", "access: write, idempotent: true,"), ("means: No answer came.", "means: Other words.")],
        false,
    );
    assert_eq!(found, [("true".to_owned(), "`idempotent` was false".to_owned())]);
}

#[test]
fn another_wait_explains_no_retry_that_another_row_lets_pass() {
    let idempotent = ("access: write,", "access: write, idempotent: true,");
    let found = underlined(&[idempotent, ("[200]", "[300]")], false);
    assert_eq!(found, [("true".to_owned(), "`idempotent` was false".to_owned())]);
    // By itself it is the only row that changed.
    let retries = underlined(&[UNGUARDED, ("[200]", "[300]")], true);
    assert_eq!(retries[0].0, "retry_with_backoff", "{retries:?}");
}

#[test]
fn another_wait_explains_a_retry_that_was_always_let_pass() {
    let idempotent = ("access: write,", "access: write, idempotent: true,");
    let later = [idempotent, ("[200]", "[300]")];
    let mut lock = Lock::default();
    let locked = rows(&playbook(&[]));
    lock.approve("small", locked.iter().map(|row| (&*row.name, &*row.text)), "first");
    let golden = GoldenFile::new("pay", "small", &check(&[idempotent], None).body.render()).render();
    let (now, result) = (loaded(&later), check(&later, Some(&golden)));
    let changes = row_changes(Some(&lock), &BTreeMap::from([("small".to_owned(), &now.playbook)]), true);
    let found = cause(&now, changes.first(), result.comparison().unwrap()).unwrap();
    assert_eq!(found.row, "verdict slow");
    assert_eq!(found.report.diagnostics[0].labels[0].text, "`backoff_ms` was [200]");
}

#[test]
fn once_the_row_is_approved_the_compensation_and_the_rule_in_force_are_underlined() {
    let found = underlined(&[("effect: unknown", "effect: not_applied")], true);
    let texts: Vec<&str> = found.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(texts, ["retry_with_backoff", "timeout"]);
    assert_eq!(found[1].1, "gave `slow`");
}

#[test]
fn a_rule_that_changed_places_says_what_it_now_comes_after() {
    let (first, second) = (
        "  - { rule: timeout, when: { kind: timeout }, verdict: slow }\n",
        "  - { rule: early, when: { tool: pay }, verdict: slow }\n",
    );
    let (both, swapped) = (first.to_owned() + second, second.to_owned() + first);
    let mut lock = Lock::default();
    let approved = rows(&playbook(&[(first, both.as_str())]));
    lock.approve("small", approved.iter().map(|row| (&*row.name, &*row.text)), "first");
    let now = loaded(&[(first, swapped.as_str())]);
    let found = row_changes(Some(&lock), &BTreeMap::from([("small".to_owned(), &now.playbook)]), true);
    let said: Vec<String> =
        found[0].changes.iter().flat_map(|row| row_places(&now, row)).map(|(_, said)| said).collect();
    assert_eq!(said, ["no longer comes after `timeout`", "now comes after `early`"]);
}

#[test]
fn the_fact_of_a_tool_that_changed_is_underlined() {
    let now = loaded(&[("access: write,", "access: write, idempotent: true,")]);
    let mut lock = Lock::default();
    let approved = rows(&playbook(&[]));
    lock.approve("small", approved.iter().map(|row| (&*row.name, &*row.text)), "first");
    let found = row_changes(Some(&lock), &BTreeMap::from([("small".to_owned(), &now.playbook)]), true);
    let (span, said) = row_places(&now, &found[0].changes[0]).remove(0);
    assert_eq!((&now.places.source.text[span], said.as_str()), ("true", "`idempotent` was false"));
}
