//! Classification, rule by rule.

use std::sync::Arc;

use super::{Classifier, FailedAttempt, Memo, Signal, keyed_for};
use crate::event::{EffectClaim, ErrorFacts};
use crate::ids::{AttemptNo, QueueId, ReasonId, VerdictId};
use crate::playbook::{
    BreakerMark, Compensation, ConditionKind, ConditionTest, Limits, MessageOp, MessageTest, NumberRange, Playbook,
    Rule, Sharing, ToolFacts, Tools, Verdict, When,
};

fn playbook(whens: Vec<When>) -> Playbook {
    let verdict = |name: &str| Verdict {
        name: name.into(),
        means: "".into(),
        effect: EffectClaim::Unknown,
        breaker: BreakerMark::Ignored,
        then: Compensation::DeprecateToolCall(ReasonId(0)),
        tell: None,
    };
    let rules = whens.into_iter().enumerate();
    Playbook {
        name: "test".into(),
        verdicts: vec![verdict("known"), verdict("unclassified")],
        rules: rules.map(|(n, when)| Rule { name: format!("rule-{n}").into(), when, verdict: VerdictId(0) }).collect(),
        otherwise: VerdictId(1),
        default_queue: Some(QueueId(0)),
        queues: vec!["q".into()],
        reasons: vec!["r".into()],
        tools: Tools::default(),
        refuses_unknown_tools: false,
        actions: Vec::new(),
        graph: None,
        sharing: Sharing::NONE,
        breakers: Vec::new(),
        retry_budgets: Vec::new(),
        server_delay_sources: Vec::new(),
        extends: None,
        limits: Limits { max_attempts: 6, ..Limits::NONE },
        study: None,
    }
}

fn asking(ask: ConditionKind, test: ConditionTest) -> When {
    When::default().with(ask, test)
}

fn contains(text: &str, case_sensitive: bool) -> When {
    let test = MessageTest { op: MessageOp::Contains, any_of: vec![text.into()], case_sensitive };
    asking(ConditionKind::Message, ConditionTest::Messages(vec![test]))
}

fn rule_for(playbook: &Playbook, error: Option<&ErrorFacts>, tool: &str) -> Option<u16> {
    let signal = Signal::new(error, tool, ToolFacts::ASSUMED, false, AttemptNo::FIRST);
    Classifier::new(playbook).classify(&signal).rule.map(|rule| rule.0)
}

fn error(kind: &str, message: &str, status: u16) -> ErrorFacts {
    let (kind, message) = (Some(kind.into()), Some(message.into()));
    ErrorFacts { kind, message, status: Some(status), ..ErrorFacts::default() }
}

#[test]
fn the_first_rule_that_matches_decides() {
    let any = When::default();
    let kind = asking(ConditionKind::Kind, ConditionTest::AnyOf(vec!["timeout".into()]));
    let book = playbook(vec![kind, any]);
    assert_eq!(rule_for(&book, Some(&error("timeout", "", 0)), "t"), Some(0));
    assert_eq!(rule_for(&book, Some(&error("5xx", "", 0)), "t"), Some(1));
}

#[test]
fn a_failure_that_no_rule_matches_is_unclassified() {
    let book = playbook(vec![asking(ConditionKind::Kind, ConditionTest::AnyOf(vec!["timeout".into()]))]);
    assert_eq!(rule_for(&book, Some(&error("5xx", "", 0)), "t"), None);
    assert_eq!(rule_for(&book, None, "t"), None);
}

#[test]
fn messages_ignore_case_unless_the_rule_is_case_sensitive() {
    let message = error("x", "IDEMPOTENCY Key", 0);
    assert_eq!(rule_for(&playbook(vec![contains("idempotency", false)]), Some(&message), "t"), Some(0));
    assert_eq!(rule_for(&playbook(vec![contains("idempotency", true)]), Some(&message), "t"), None);
}

#[test]
fn a_clause_is_a_whole_message_that_begins_or_ends_with_the_words() {
    let asked = |case_sensitive| {
        let test = MessageTest { op: MessageOp::Clause, any_of: vec!["Not found".into()], case_sensitive };
        playbook(vec![asking(ConditionKind::Message, ConditionTest::Messages(vec![test]))])
    };
    let matches = |case_sensitive, message| rule_for(&asked(case_sensitive), Some(&error("x", message, 0)), "t");
    assert_eq!(matches(false, " Order o_1 NOT FOUND. "), Some(0));
    assert_eq!(matches(true, "Not found in stock"), Some(0));
    assert_eq!(matches(true, "Order o_1 not found"), None);
    assert_eq!(matches(false, "refund created, but the mail was not found"), None);
    let failure = error("x", "order not found", 0);
    let signal = Signal::new(Some(&failure), "t", ToolFacts::ASSUMED, false, AttemptNo::FIRST);
    let trials = Classifier::new(&asked(false)).explain(&signal, &signal);
    assert_eq!(trials[0].conditions[0].asked, "message is one clause that begins or ends with `Not found`");
}

#[test]
fn status_ranges_are_inclusive_and_a_missing_error_has_its_own_rule() {
    let ranges = asking(ConditionKind::Status, ConditionTest::Ranges(vec![NumberRange { first: 500, last: 599 }]));
    let absent = asking(ConditionKind::Error, ConditionTest::Absent);
    let book = playbook(vec![ranges, absent]);
    assert_eq!(rule_for(&book, Some(&error("x", "", 599)), "t"), Some(0));
    assert_eq!(rule_for(&book, Some(&error("x", "", 600)), "t"), None);
    assert_eq!(rule_for(&book, None, "t"), Some(1));
}

#[test]
fn a_tool_is_matched_by_name_or_glob() {
    let book = playbook(vec![asking(ConditionKind::Tool, ConditionTest::Globs(vec!["search.*".into(), "pay".into()]))]);
    let failure = error("x", "", 0);
    assert_eq!(rule_for(&book, Some(&failure), "search.web"), Some(0));
    assert_eq!(rule_for(&book, Some(&failure), "pay"), Some(0));
    assert_eq!(rule_for(&book, Some(&failure), "payments"), None);
}

#[test]
fn a_failure_about_another_key_matches_no_rule_that_asks_for_a_key_or_for_none() {
    let whens = [true, false].map(|is| asking(ConditionKind::Keyed, ConditionTest::Is(is)));
    let classifier = Classifier::new(&playbook(whens.into()));
    let failure = error("409_conflict", "idempotency key k9 was already processed", 409);
    let rules = ["k9", "k1"].map(|key| {
        let keyed = keyed_for(Some(&failure), Some(key));
        let signal = Signal::new(Some(&failure), "t", ToolFacts::ASSUMED, keyed, AttemptNo::FIRST);
        let explained = classifier.explain(&signal, &signal);
        (explained.iter().filter(|rule| rule.matched).count(), explained[0].conditions[0].found.clone())
    });
    assert_eq!(rules, [(1, "call is keyed".to_owned()), (0, "error names another key".to_owned())]);
}

#[test]
fn an_explanation_shows_what_each_condition_required_and_found() {
    let book = playbook(vec![
        contains("evidence", false),
        asking(ConditionKind::Kind, ConditionTest::AnyOf(vec!["5xx".into()])),
    ]);
    let failure = error("5xx", "boom", 500);
    let signal = Signal::new(Some(&failure), "t", ToolFacts::ASSUMED, false, AttemptNo::FIRST);
    let trials = Classifier::new(&book).explain(&signal, &signal);
    assert_eq!(trials.iter().map(|trial| trial.matched).collect::<Vec<_>>(), [false, true]);
    assert_eq!(trials[0].conditions[0].asked, "message contains `evidence`");
    assert_eq!(trials[0].conditions[0].found, "message is `boom`");
}

#[test]
fn a_cached_classification_equals_a_new_one_whatever_was_asked_before() {
    let later = contains("busy", false)
        .with(ConditionKind::Attempt, ConditionTest::Ranges(vec![NumberRange { first: 2, last: 9 }]));
    let of_tool = contains("busy", false).with(ConditionKind::Tool, ConditionTest::Globs(vec!["pay.*".into()]));
    let keyed = contains("gone", true).with(ConditionKind::Keyed, ConditionTest::Is(true));
    let status = asking(ConditionKind::Status, ConditionTest::Ranges(vec![NumberRange { first: 500, last: 599 }]));
    let playbooks = [vec![later, of_tool, keyed], vec![status.clone(), contains("gone", false)], vec![status]];
    let classifiers = playbooks.map(|whens| Arc::new(Classifier::new(&playbook(whens))));
    let errors: Vec<Arc<ErrorFacts>> =
        [("5xx", "busy", 500), ("5xx", "busy", 404), ("5xx", "Gone", 410), ("x", "gone", 410)]
            .map(|(kind, message, status)| Arc::new(error(kind, message, status)))
            .into();
    let (mut memo, mut rules) = (Memo::default(), std::collections::BTreeSet::new());
    for classifier in classifiers.iter().cycle().take(6) {
        for error in errors.iter().map(Some).chain([None]) {
            for (tool, keyed, attempt) in
                [("pay.out", false, 1), ("pay.out", true, 1), ("read", false, 2), ("read", true, 1)]
            {
                let (facts, attempt) = (ToolFacts::ASSUMED, AttemptNo::new(attempt));
                let said =
                    memo.classify(classifier, &FailedAttempt { error, tool, facts, keyed: Some(keyed), attempt });
                let signal = Signal::new(error.map(|error| &**error), tool, facts, keyed, attempt);
                assert_eq!(said, classifier.classify(&signal));
                rules.insert(said.rule);
            }
        }
    }
    assert_eq!(rules.len(), 4, "every rule matched once, and once none did");
}

#[test]
fn a_rule_that_names_kinds_is_a_candidate_for_these_alone() {
    let kinds = |kinds: &[&str]| ConditionTest::AnyOf(kinds.iter().map(|kind| (*kind).to_owned()).collect());
    let playbook = playbook(vec![
        contains("now", false).with(ConditionKind::Kind, kinds(&["a", "b"])),
        contains("soon", false),
        asking(ConditionKind::Kind, kinds(&["b", "c"])),
    ]);
    let classifier = Classifier::new(&playbook);
    let mut rules = Vec::new();
    for (kind, message) in
        [("a", "now"), ("b", "soon"), ("b", ""), ("c", "now"), ("a", ""), ("d", "soon"), ("d", "now")]
    {
        let error = ErrorFacts { kind: Some(kind.into()), message: Some(message.into()), ..ErrorFacts::default() };
        for error in [Some(&error), None] {
            let signal = Signal::new(error, "pay", ToolFacts::ASSUMED, false, AttemptNo::FIRST);
            let explained = classifier.explain(&signal, &signal);
            let matched = explained.iter().find(|rule| rule.matched).map(|rule| rule.rule.index());
            assert_eq!(classifier.classify(&signal).rule.map(|rule| rule.index()), matched);
            rules.push(matched);
        }
    }
    let of_errors: Vec<Option<usize>> = rules.into_iter().step_by(2).collect();
    assert_eq!(of_errors, [Some(0), Some(1), Some(2), Some(2), None, Some(1), None]);
}
