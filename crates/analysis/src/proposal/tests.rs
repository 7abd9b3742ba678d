//! Proposals on small playbooks: what is edited, what stays as it is, what is refused and where.

use std::sync::Arc;

use super::*;
use crate::check::Id;
use playproof_engine::event::EffectClaim;
use playproof_formats::diagnostic::{Report, Source};
use playproof_formats::golden::Class;

const PLAYBOOK: &str = "\
# ours
format: playbook/1
name: ours
verdicts:
  slow:   # a comment
    means: No answer in time.
    effect: unknown
    # why so
    then:
      retry_with_backoff:
        backoff_ms: [200]

  unclassified:
    means: Nobody knows.
    effect: unknown
    then: { escalate_to_human: { queue: people } }
classify:
  - { rule: timeout, when: { kind: timeout }, verdict: slow }
  - { rule: late, when: { kind: late }, verdict: slow }

  # A gateway's word.
  - rule: gateway
    when:
      status: 504
    verdict: slow
otherwise: unclassified
default_queue: people
queues: [people]
limits: { max_attempts: 4 }   # four
";

const BASE: &str = "0000000000000000000000000000000000000000000000000000000000000000";

fn proposal(operations: &str) -> Proposal {
    let text = format!("format: proposal/1\nplaybook: ours\nbase: '{BASE}'\noperations:\n{operations}");
    parse(Source::whole("proposals/x/proposal.yaml", text)).unwrap_or_else(|report| panic!("{report}"))
}

fn source(text: &str) -> Arc<Source> {
    Source::whole("playbooks/ours.yaml", text)
}

fn applied(text: &str, operations: &str) -> Result<String, Report> {
    apply(&source(text), &proposal(operations)).map(|applied| applied.loaded.places.source.text.clone())
}

/// The lines of the result that are new, and those that are gone.
fn changed(text: &str, operations: &str) -> (Vec<String>, Vec<String>) {
    let result = applied(text, operations).unwrap_or_else(|report| panic!("{report}"));
    let lines = |text: &str| text.split_inclusive('\n').map(str::to_owned).collect::<Vec<_>>();
    let (old, new) = (lines(text), lines(&result));
    let mut rest = new.clone();
    let mut gone = Vec::new();
    for line in &old {
        match rest.iter().position(|one| one == line) {
            Some(at) => drop(rest.remove(at)),
            None => gone.push(line.clone()),
        }
    }
    (rest, gone)
}

const ADD: &str = "  - add_verdict:
      said_no:
        means: The tool said no.
        effect: not_applied
        # a word
        then: { deprecate_tool_call: { reason: said no } }
    comment: Never sent again.
  - add_rule:
      rule: said-no
      when: { message: { contains: 'not found' } }
      verdict: said_no
";

#[test]
fn a_verdict_goes_before_unclassified_and_a_rule_to_the_end_and_no_other_byte_changes() {
    let (new, gone) = changed(PLAYBOOK, ADD);
    assert_eq!(gone, [""; 0]);
    assert_eq!(
        new.concat(),
        "  # Never sent again.\n  said_no:\n    means: The tool said no.\n    effect: not_applied\n    # a word\n    \
         then: { deprecate_tool_call: { reason: said no } }\n\n  - rule: said-no\n    when: { message: { contains: \
         'not found' } }\n    verdict: said_no\n"
    );
    let result = applied(PLAYBOOK, ADD).unwrap();
    assert!(result.contains("said no } }\n\n  unclassified:"), "{result}");
    assert!(result.contains("    verdict: slow\n  - rule: said-no\n"), "{result}");
}

#[test]
fn line_ends_of_windows_and_a_missing_last_newline_stay() {
    let windows = PLAYBOOK.replace('\n', "\r\n");
    let result = applied(&windows, ADD).unwrap();
    assert_eq!(result.replace("\r\n", "\n"), applied(PLAYBOOK, ADD).unwrap());
    assert_eq!(result.matches('\n').count(), result.matches("\r\n").count());
    let rules_last = PLAYBOOK.replace("classify:", "classify_here:");
    let (head, rules) = rules_last.split_once("classify_here:").unwrap();
    let (rules, tail) = rules.split_once("otherwise:").unwrap();
    let open = format!("{head}otherwise:{tail}classify:{}", rules.trim_end());
    let result = applied(&open, ADD).unwrap();
    assert!(result.ends_with("    verdict: slow\n  - rule: said-no\n    when: { message: { contains: 'not found' } }\n    verdict: said_no"), "{result}");
}

#[test]
fn a_rule_goes_before_or_after_another_with_its_comment() {
    let rule = "  - add_rule: { rule: new, when: { kind: new }, verdict: slow }\n";
    let result = applied(PLAYBOOK, &format!("{rule}    before: gateway\n")).unwrap();
    assert!(
        result.contains("  - { rule: new, when: { kind: new }, verdict: slow }\n  # A gateway's word.\n"),
        "{result}"
    );
    let result = applied(PLAYBOOK, &format!("{rule}    after: timeout\n    comment: mine\n")).unwrap();
    assert!(result.contains("verdict: slow }\n\n  # mine\n  - { rule: new,"), "{result}");
    assert!(result.contains("kind: new }, verdict: slow }\n\n  - { rule: late"), "{result}");
}

#[test]
fn a_rule_that_moves_takes_its_comment_along() {
    let result = applied(PLAYBOOK, "  - move_rule: gateway\n    before: timeout\n").unwrap();
    let moved = "classify:\n  # A gateway's word.\n  - rule: gateway\n    when:\n      status: 504\n    verdict: slow\n  - { rule: timeout";
    assert!(result.contains(moved), "{result}");
    let overlapping = PLAYBOOK.replace("status: 504", "kind: [timeout, x]");
    let changes = apply(&source(&overlapping), &proposal("  - move_rule: gateway\n    before: timeout\n")).unwrap();
    assert!(changes.rows.iter().all(is_order_alone) && !changes.rows.is_empty());
}

#[test]
fn a_row_that_goes_takes_its_comment_and_its_blank_line_along() {
    let rule = |name: &str| applied(PLAYBOOK, &format!("  - remove_rule: {name}\n")).unwrap();
    let gateway = "\n  # A gateway's word.\n  - rule: gateway\n    when:\n      status: 504\n    verdict: slow\n";
    assert_eq!(rule("gateway"), PLAYBOOK.replace(gateway, ""));
    assert_eq!(rule("late"), PLAYBOOK.replace("  - { rule: late, when: { kind: late }, verdict: slow }\n", ""));
    let all = "  - remove_rule: gateway\n  - remove_rule: timeout\n  - remove_rule: late\n  - remove_verdict: slow\n";
    let result = apply(&source(PLAYBOOK), &proposal(all)).unwrap_or_else(|report| panic!("{report}"));
    let text = &result.loaded.places.source.text;
    assert!(text.contains("verdicts:\n  unclassified:\n") && text.contains("classify: []\notherwise"), "{text}");
    let gone: Vec<_> = result.rows.iter().map(|row| (&*row.name, row.after.is_none())).collect();
    assert_eq!(gone, [("rule gateway", true), ("rule late", true), ("rule timeout", true), ("verdict slow", true)]);
    let windows = applied(&PLAYBOOK.replace('\n', "\r\n"), all).unwrap();
    assert_eq!(windows, text.replace('\n', "\r\n"));
}

#[test]
fn a_row_that_is_not_there_or_still_asked_for_does_not_go() {
    let said = refused(PLAYBOOK, "  - remove_rule: timeot\n");
    assert_eq!(said, "proposals/x/proposal.yaml:5:18: the playbook has no rule `timeot`");
    let said = refused(PLAYBOOK, "  - remove_verdict: slow\n");
    assert!(said.contains("(as proposed)") && said.contains("no verdict is called `slow`"), "{said}");
    let lent = PLAYBOOK
        .replace("when: { kind: timeout }", "when: &asked { kind: timeout }")
        .replace("when: { kind: late }", "when: *asked");
    let said = refused(&lent, "  - remove_rule: timeout\n");
    assert!(said.contains("anchor"), "{said}");
}

#[test]
fn values_are_replaced_where_they_stand_in_either_style() {
    let change = |parts: &str| changed(PLAYBOOK, &format!("  - change_verdict: slow\n{parts}"));
    assert_eq!(
        change("    effect: not_applied\n    means: 'Late: too late.'\n"),
        (
            vec!["    means: 'Late: too late.'\n".to_owned(), "    effect: not_applied\n".to_owned()],
            vec!["    means: No answer in time.\n".to_owned(), "    effect: unknown\n".to_owned()]
        )
    );
    let (new, gone) = change("    then: { escalate_to_human: { queue: people } }\n");
    assert_eq!(new, ["    then: { escalate_to_human: { queue: people } }\n"]);
    assert_eq!(gone.concat(), "    then:\n      retry_with_backoff:\n        backoff_ms: [200]\n");
    let (new, _) = change("    then:\n      retry_with_backoff:\n        backoff_ms: [200, 300]\n");
    assert_eq!(new.concat(), "        backoff_ms: [200, 300]\n");
    let (new, gone) = changed(PLAYBOOK, "  - change_limit: max_attempts\n    to: 5\n  - add_queue: more\n");
    assert_eq!(new.concat(), "queues: [people, more]\nlimits: { max_attempts: 5 }   # four\n");
    assert_eq!(gone.len(), 2);
}

#[test]
fn a_text_that_stands_below_its_key_is_replaced_and_the_next_key_stays_in_its_line() {
    let folded = PLAYBOOK.replace("means: No answer in time.", "means: >\n      No answer\n      in time.");
    let result = applied(&folded, "  - change_verdict: slow\n    means: Too late.\n").unwrap();
    assert_eq!(result, PLAYBOOK.replace("No answer in time.", "Too late."));
    for (value, means) in [
        ("|\n      Late: # too\n      late.", "\"Late: # too\\nlate.\""),
        (">\n      Late: too late.", "'Late: too late.'"),
    ] {
        let result = applied(&folded, &format!("  - change_verdict: slow\n    means: {value}\n")).unwrap();
        assert_eq!(result, PLAYBOOK.replace("No answer in time.", means));
    }
}

fn refused(text: &str, operations: &str) -> String {
    let report = applied(text, operations).unwrap_err();
    report.to_string()
}

#[test]
fn what_is_not_there_or_there_already_is_refused_at_its_place_in_the_proposal() {
    let said = refused(PLAYBOOK, "  - move_rule: timeot\n    after: gateway\n");
    assert_eq!(said, "proposals/x/proposal.yaml:5:16: the playbook has no rule `timeot`");
    let said = refused(PLAYBOOK, "  - add_queue: people\n");
    assert_eq!(said, "proposals/x/proposal.yaml:5:16: the playbook has a queue `people` already");
    let said = refused(PLAYBOOK, "  - change_verdict: none\n    effect: applied\n");
    assert_eq!(said, "proposals/x/proposal.yaml:5:21: the playbook has no verdict `none`");
}

#[test]
fn a_rule_for_a_verdict_that_is_missing_is_refused_in_the_playbook_as_proposed() {
    let said = refused(PLAYBOOK, "  - add_rule: { rule: new, when: { kind: new }, verdict: slwo }\n");
    assert_eq!(said, "playbooks/ours.yaml (as proposed):26:48: no verdict is called `slwo`");
}

#[test]
fn merge_conflicts_brackets_and_aliases_are_refused_at_their_place_in_the_playbook() {
    let conflict = PLAYBOOK.replace("queues:", "<<<<<<< HEAD\nqueues:");
    assert_eq!(refused(&conflict, ADD), "playbooks/ours.yaml:28:1: git could not merge this file");
    let flow = "format: playbook/1\nname: ours\nverdicts: { a: { means: A., effect: unknown, then: { escalate_to_human: { queue: q } } } }\nclassify: []\notherwise: a\ndefault_queue: q\nqueues: [q]\n";
    assert_eq!(refused(flow, ADD), "playbooks/ours.yaml:3:1: `verdicts` cannot be edited by a program");
    let into_empty = applied(flow, "  - add_rule: { rule: new, when: { kind: new }, verdict: a }\n").unwrap();
    assert!(
        into_empty.contains("classify:\n  - { rule: new, when: { kind: new }, verdict: a }\notherwise"),
        "{into_empty}"
    );
    let alias = PLAYBOOK
        .replace("    then:\n      retry", "    then: &wait\n      retry")
        .replace("  unclassified:\n", "  late: { means: L., effect: unknown, then: *wait }\n\n  unclassified:\n");
    for verdict in ["slow", "late"] {
        let change = format!("  - change_verdict: {verdict}\n    then: {{ escalate_to_human: {{ queue: people }} }}\n");
        assert!(refused(&alias, &change).contains("`then` cannot be edited by a program"), "{verdict}");
    }
}

#[test]
fn a_proposal_is_read_strictly_with_places() {
    let said = |text: &str| parse(Source::whole("p", text)).unwrap_err().to_string();
    let head = format!("format: proposal/1\nplaybook: ours\nbase: '{BASE}'\n");
    assert!(said(&format!("{head}operations: []\n")).contains("p:4:13: a proposal changes something"));
    assert!(
        said(&format!("{head}operations: [{{ add_queue: a, add_rule: {{}} }}]\n"))
            .contains("exactly one of these, not 2")
    );
    assert!(said(&format!("{head}operations: [{{ add_queue: a, to: 3 }}]\n")).contains("`add_queue` has no key `to`"));
    assert!(said(&format!("{head}operations: [{{ move_rule: a }}]\n")).contains("says where the rule goes"));
    assert!(said(&format!("{head}operations: [{{ add_queue: a }}]\nexpect: {{ a/b: worse }}\n")).contains("expected"));
    assert!(
        said("format: proposal/1\nplaybook: ours\nbase: abc\noperations: [{ add_queue: a }]\n")
            .contains("p:3:7: this is no fingerprint")
    );
    assert!(said("<<<<<<< HEAD\n").contains("git could not merge"));
}

#[test]
fn a_rebase_changes_the_fingerprint_and_nothing_else() {
    let proposal = proposal("  - add_queue: more # here\n");
    let new = "1".repeat(64);
    assert_eq!(rebased(&proposal, &new), proposal.source.text.replace(BASE, &new));
}

#[test]
fn a_draft_is_a_proposal_that_can_be_read_and_applied() {
    let draft = Draft {
        playbook: "ours".into(),
        base: BASE.into(),
        verdict: "said_no".into(),
        change: VerdictChange::Added {
            means: Some("It said: \"no\".".into()),
            effect: EffectClaim::NotApplied,
            then: "{ escalate_to_human: { queue: people } }".into(),
        },
        rule: Some(DraftRule { name: "said-no".into(), when: "{ message: { contains: no } }".into(), before: None }),
        expect: vec![(Id { playbook: "ours".into(), fixture: "not-this".into() }, Class::EffectChanged)],
    };
    let proposal = parse(Source::whole("p", proposal_text(&draft))).unwrap_or_else(|report| panic!("{report}"));
    let named: Vec<_> = proposal.expect.iter().map(|expected| (&*expected.id.text, expected.class)).collect();
    assert_eq!(named, [("ours/not-this", Class::EffectChanged)]);
    let applied = apply(&source(PLAYBOOK), &proposal).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(applied.rows.iter().map(|row| &*row.name).collect::<Vec<_>>(), ["rule said-no", "verdict said_no"]);
}
