//! Proposals on small playbooks: what is edited, what stays as it is, what is refused and where.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use playproof_analysis::check::CaseId;
use playproof_analysis::mining::{MinedPart as Mining, Miner};
use playproof_analysis::proposal::*;
use playproof_analysis::replay::{Inputs, ReplayOptions, TraceInput, replay};
use playproof_engine::call::RecordedCall;
use playproof_engine::event::EffectClaim;
use playproof_engine::fixture::Fixture;
use playproof_engine::playbook::Tools;
use playproof_engine::sim::Plan;
use playproof_formats::diagnostic::{Report, Source};
use playproof_formats::golden::{Class, Lock, changes};
use playproof_formats::history::{History, HistoryEntry, Record, RecordKind};
use playproof_formats::playbook::{Loaded, fingerprint, rows};
use playproof_formats::{fixture, history, playbook};
use playproof_trace::assemble::{AssembleOptions, Assembler};
use playproof_trace::digest::read_piece;
use playproof_trace::pieces::Chunks;
use playproof_trace::redact::RedactionRules;

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

#[test]
fn what_a_verdict_tells_is_changed_or_added_behind_its_other_parts() {
    let told = "  - change_verdict: slow\n    tell: { class: network_error }\n";
    let added = applied(PLAYBOOK, told).unwrap();
    let then = "        backoff_ms: [200]\n";
    assert_eq!(added, PLAYBOOK.replacen(then, &format!("{then}    tell: {{ class: network_error }}\n"), 1));
    let other = "  - change_verdict: slow\n    tell: { class: external_api_error }\n    effect: not_applied\n";
    let changed = applied(&added, other).unwrap();
    let expected =
        added.replace("network_error", "external_api_error").replacen("effect: unknown", "effect: not_applied", 1);
    assert_eq!(changed, expected);
    let long =
        "  - change_verdict: slow\n    tell:\n      class: network_error\n      details: { a: b }\n    means: Late.\n";
    let text = applied(PLAYBOOK, long).unwrap();
    let block = format!("{then}    tell:\n      class: network_error\n      details: {{ a: b }}\n");
    assert_eq!(text, PLAYBOOK.replacen(then, &block, 1).replace("No answer in time.", "Late."));
    let people = "then: { escalate_to_human: { queue: people } }";
    let late = format!("  late: {{ means: m, effect: unknown, {people} }}\n");
    let brackets = PLAYBOOK.replacen("  unclassified:", &format!("{late}\n  unclassified:"), 1);
    let in_brackets = applied(&brackets, "  - change_verdict: late\n    tell: { class: network_error }\n").unwrap();
    let told = late.replace(" }\n", ", tell: { class: network_error } }\n");
    assert_eq!(in_brackets, brackets.replace(&late, &told));
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
    assert_eq!(said, "proposals/x/proposal.yaml:5:16: the playbook already has a queue `people`");
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
            .contains("p:3:7: this is not a fingerprint")
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
        queues: Vec::new(),
        change: VerdictChange::Added {
            means: Some("It said: \"no\".".into()),
            effect: EffectClaim::NotApplied,
            then: "{ escalate_to_human: { queue: people } }".into(),
        },
        rule: Some(ProposedRule { name: "said-no".into(), when: "{ message: { contains: no } }".into(), before: None }),
        expect: vec![(CaseId { playbook: "ours".into(), fixture: "not-this".into() }, Class::EffectChanged)],
    };
    let proposal = parse(Source::whole("p", proposal_text(&draft))).unwrap_or_else(|report| panic!("{report}"));
    let named: Vec<_> = proposal.expect.iter().map(|expected| (&*expected.id.text, expected.class)).collect();
    assert_eq!(named, [("ours/not-this", Class::EffectChanged)]);
    let applied = apply(&source(PLAYBOOK), &proposal).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(applied.rows.iter().map(|row| &*row.name).collect::<Vec<_>>(), ["rule said-no", "verdict said_no"]);
}

fn loaded(text: &str) -> Loaded {
    playbook::parse(source(text)).unwrap_or_else(|report| panic!("{report}"))
}

fn plan_of(text: &str) -> Plan {
    Plan::new(loaded(text).playbook, &Tools::default())
}

/// What was mined of `trace` under the playbook, the cluster of this number.
fn evidence_of(trace: &str, number: usize) -> Result<DraftEvidence, NoCluster> {
    let plans = [plan_of(PLAYBOOK)];
    let input = TraceInput::own("t.jsonl", trace.as_bytes());
    let inputs: Inputs<'_> = Box::new(std::iter::once(input));
    let mut all = Mining::default();
    let replayed = replay(&plans, inputs, &ReplayOptions::default(), &Miner::default(), |part| {
        all.merge(part);
        Ok(())
    });
    let mined = all.finish(&plans[0], &replayed.expect("a trace that can be read"), 10);
    DraftEvidence::of_cluster(&mined, number, &["t.jsonl".to_owned()], &plans[0].playbook)
}

fn failure(tool: &str, error: &str) -> String {
    format!("{{\"run_id\":\"r\",\"tool\":\"{tool}\",\"status\":\"error\",\"error\":{error}}}\n")
}

fn said(message: &str) -> String {
    failure("pay", &format!(r#"{{"kind":"tool_error","message":"{message}"}}"#))
}

const FROZEN: [&str; 2] = ["order a1 is frozen", "order b22 is frozen"];

fn frozen() -> String {
    FROZEN.map(said).concat()
}

fn request(verdict: &str) -> DraftRequest {
    DraftRequest { verdict: verdict.to_owned(), ..DraftRequest::default() }
}

fn typed(yaml: &str) -> Option<Arc<Source>> {
    Some(Source::whole("typed", yaml))
}

fn asked(request: &DraftRequest, evidence: Option<&DraftEvidence>) -> Result<(Draft, Vec<Note>), NoDraft> {
    draft(request, ("ours", &loaded(PLAYBOOK)), evidence)
}

#[test]
fn a_new_verdict_escalates_unless_somebody_says_what_follows() {
    let (draft, notes) = asked(&request("gone"), None).unwrap();
    let then = "{ escalate_to_human: { queue: people } }".to_owned();
    assert_eq!(draft.change, VerdictChange::Added { means: None, effect: EffectClaim::Unknown, then });
    assert_eq!((draft.rule, notes), (None, vec![Note::EscalatesTo("people".into())]));
    let like = DraftRequest { like: Some("slow".into()), ..request("gone") };
    let (draft, notes) = asked(&like, None).unwrap();
    let then = "{ retry_with_backoff: { backoff_ms: [200] } }".to_owned();
    assert_eq!(draft.change, VerdictChange::Added { means: None, effect: EffectClaim::Unknown, then });
    assert_eq!(notes, []);
}

#[test]
fn a_verdict_that_is_there_changes_in_what_is_asked_for_and_differs() {
    let same = DraftRequest {
        effect: Some(EffectClaim::Unknown),
        means: Some("No answer in time.".into()),
        ..request("slow")
    };
    assert_eq!(asked(&same, None), Err(NoDraft::NothingChanges));
    let other = DraftRequest { effect: Some(EffectClaim::Applied), when: typed("{ status: 599 }"), ..request("slow") };
    let (draft, notes) = asked(&other, None).unwrap();
    assert_eq!(draft.change, VerdictChange::Changed(vec![("effect", "applied".into())]));
    let rule = ProposedRule { name: "slow".into(), when: "{ status: 599 }".into(), before: None };
    assert_eq!(draft.rule, Some(rule));
    let (playbook, verdict) = ("ours".to_owned(), "slow".to_owned());
    assert_eq!(notes, [Note::VerdictThere { playbook, verdict, rule: Some("slow".into()), keys: vec!["effect"] }]);
}

#[test]
fn a_draft_that_cannot_be_used_says_why() {
    let like = DraftRequest { like: Some("slw".into()), ..request("gone") };
    assert_eq!(asked(&like, None), Err(NoDraft::UnknownVerdict("slw".into())));
    let open = DraftRequest { when: typed("{ kind: "), ..request("gone") };
    assert!(matches!(asked(&open, None), Err(NoDraft::Yaml(report)) if report.source.name == "typed"));
    let evidence = evidence_of(&frozen(), 1).unwrap();
    assert_eq!(asked(&request("unclassified"), Some(&evidence)), Err(NoDraft::GivenAlready));
    let nothing = [failure("pay", "{}"), failure("look", r#"{"kind":"x","message":"y"}"#)].concat();
    let silent = (1..=2).find_map(|n| evidence_of(&nothing, n).ok().filter(|evidence| evidence.cluster.rule.is_err()));
    let silent = silent.expect("a failure that says nothing");
    assert!(matches!(asked(&request("gone"), Some(&silent)), Err(NoDraft::NoRule(_))));
}

#[test]
fn a_cluster_that_is_not_there_is_told_by_what_there_is() {
    let no_cluster = |trace: &str, number| evidence_of(trace, number).map(|_| ()).unwrap_err();
    assert_eq!(no_cluster(&frozen(), 2), NoCluster::Only(1));
    assert_eq!(no_cluster(&frozen(), 0), NoCluster::Only(1));
    assert_eq!(no_cluster(&failure("pay", r#"{"kind":"late"}"#), 1), NoCluster::AllHandled("ours".into()));
    assert_eq!(no_cluster("{\"run_id\":\"r\",\"tool\":\"pay\",\"status\":\"ok\"}\n", 1), NoCluster::NothingFailed);
}

#[test]
fn a_rule_that_earlier_rules_leave_nothing_to_is_moved_as_late_as_it_can_speak() {
    let place = |when: &str| {
        let (mut draft, _) = asked(&DraftRequest { when: typed(when), ..request("gone") }, None).unwrap();
        let (_, note) = place_rule(&mut draft, "p", &loaded(PLAYBOOK)).unwrap_or_else(|report| panic!("{report}"));
        (draft.rule.and_then(|rule| rule.before), note)
    };
    assert_eq!(place("{ kind: other }"), (None, None));
    let before = |rule: &str| (Some(rule.to_owned()), Some(Note::RuleBefore(rule.to_owned())));
    assert_eq!(place("{ kind: late, tool: pay }"), before("late"));
    assert_eq!(place("{ kind: timeout, tool: pay }"), before("timeout"));
}

/// The fixtures of a draft for the failures in `trace`, and its notes.
fn drafted(request: &DraftRequest, trace: &str, taken: &[&str]) -> (Vec<DraftFixture>, Vec<Note>) {
    let evidence = evidence_of(trace, 1).unwrap();
    let (mut draft, _) = asked(request, Some(&evidence)).unwrap();
    let (applied, _) = place_rule(&mut draft, "p", &loaded(PLAYBOOK)).unwrap_or_else(|report| panic!("{report}"));
    let (before, after) = (plan_of(PLAYBOOK), Plan::new(applied.loaded.playbook, &Tools::default()));
    let plans = TrialPlans { draft: &draft, before: &before, after: &after };
    let wanted = evidence.wanted(true);
    let calls: RecordedCalls = closed(trace)
        .into_iter()
        .map(|call| ((0, call.reference()), call))
        .filter(|((_, reference), _)| wanted.iter().any(|example| example.reference == *reference))
        .collect();
    let taken: Vec<String> = taken.iter().map(|name| (*name).to_owned()).collect();
    fixtures(&plans, "gone", Some((&evidence, &calls)), &taken)
}

fn closed(trace: &str) -> Vec<RecordedCall> {
    let mut assembler = Assembler::new(0, "t", AssembleOptions::default(), &|_| true);
    let (mut closed, mut chunks) = (Vec::new(), Chunks::new(trace.as_bytes()));
    while let Some(piece) = chunks.next(Vec::new()).unwrap() {
        assembler.take(read_piece(&piece, &RedactionRules::default()), &mut closed).unwrap();
    }
    assembler.finish(&mut closed);
    closed.iter().map(|closed| closed.shown().clone()).collect()
}

#[test]
fn the_fixtures_are_a_failure_that_is_caught_and_the_nearest_that_is_not() {
    let (fixtures, notes) = drafted(&request("gone"), &(frozen() + &said("page 3 was lost")), &["gone"]);
    let [caught, spared] = fixtures.as_slice() else { panic!("{fixtures:?}") };
    assert_eq!((&*caught.name, &*spared.name), ("gone-2", "not-gone"));
    let says = |message: &str| Title::Says { tool: "pay".into(), message: Some(message.into()) };
    assert_eq!((&caught.title, &spared.title), (&says(FROZEN[0]), &says("page 3 was lost")));
    let verdicts = |one: &DraftFixture| {
        let call = one.fixture.expect["ours"].calls.values().next().cloned().unwrap_or_default();
        (call.verdicts, call.not_verdicts)
    };
    assert_eq!(verdicts(caught), (Some(vec!["gone".into()]), None));
    assert_eq!(verdicts(spared), (None, Some(vec!["gone".into()])));
    assert_eq!(notes, []);
}

#[test]
fn a_look_alike_that_was_not_recorded_is_made_up_and_waits_for_words() {
    let (fixtures, notes) = drafted(&request("gone"), &frozen(), &[]);
    let why = Some(WhySynthetic::NoOther);
    assert_eq!(fixtures.last().map(|one| &one.title), Some(&Title::MadeUp { verdict: "gone".into(), why }));
    assert_eq!(notes, [Note::LookAlikeMadeUp(WhySynthetic::NoOther)]);
}

#[test]
fn a_recorded_failure_that_gets_the_verdict_too_is_no_look_alike() {
    let wide = DraftRequest { when: typed("{ kind: tool_error }"), ..request("gone") };
    let (fixtures, notes) = drafted(&wide, &(frozen() + &said("page 3 was lost")), &[]);
    let why = WhySynthetic::AllCaught("gone".into());
    let title = Title::MadeUp { verdict: "gone".into(), why: Some(why.clone()) };
    assert_eq!(fixtures.last().map(|one| &one.title), Some(&title));
    assert_eq!(notes, [Note::LookAlikeMadeUp(why)]);
}

const LOOK_ALIKE: &str = "\
format: fixture/1
title: looks like it
playbooks: [ours]
calls:
  a: { tool: pay }
upstream:
  a: [{ error: { kind: other } }]
expect:
  ours:
    a: { not_verdicts: [slow] }
";

fn fixture_of(text: &str) -> Fixture {
    fixture::parse(Source::whole("f.yaml", text)).unwrap_or_else(|report| panic!("{report}"))
}

fn context(fixtures: Vec<(String, Fixture)>) -> ProposalContext {
    let (usual, fixtures_folder) = ("ours".to_owned(), "fixtures".to_owned());
    ProposalContext { fixtures, fixtures_folder, usual, lock: None, touched: BTreeMap::new() }
}

/// A proposal tried on the project's fixtures.
fn tried(context: &ProposalContext, operations: &str, own: &[(String, Fixture)]) -> (ProposalReport, Applied) {
    let (proposal, before) = (proposal(operations), loaded(PLAYBOOK));
    let applied = apply(&source(PLAYBOOK), &proposal).unwrap_or_else(|report| panic!("{report}"));
    let plans = [plan_of(PLAYBOOK), Plan::new(applied.loaded.playbook.clone(), &Tools::default())];
    let goldens = context.runs(&context.fixtures, "ours").map(|(id, _)| (id, None)).collect();
    let candidate = TrialInput {
        id: "x",
        folder: "proposals/x",
        proposal: &proposal,
        fixtures: own,
        adr: None,
        playbook: "ours",
        before: &before,
        applied: &applied,
        plans: [&plans[0], &plans[1]],
        goldens: &goldens,
    };
    (context.try_out(&candidate, NonZeroUsize::MIN), applied)
}

const RULE: &str = "  - add_rule: { rule: other, when: { kind: other }, verdict: slow }\n";

#[test]
fn a_proposal_is_tried_on_the_fixtures_that_run_under_its_playbook() {
    let elsewhere = fixture_of(&LOOK_ALIKE.replace("ours", "theirs"));
    let usual = fixture_of(&LOOK_ALIKE.replace("playbooks: [ours]\n", ""));
    let mut context = context(vec![("a".into(), elsewhere), ("b".into(), usual.clone())]);
    let touched = ("ours".to_owned(), vec!["rule other".to_owned()]);
    context.touched = BTreeMap::from([("x".into(), touched.clone()), ("y".into(), touched)]);
    let (judged, _) = tried(&context, RULE, &[("b".into(), usual)]);
    let runs: Vec<_> = judged.diffs.iter().map(|diff| (diff.id.fixture.as_str(), diff.is_new)).collect();
    assert_eq!(runs, [("b", true), ("b", false)]);
    let kinds: Vec<GateKind> = judged.gates.iter().map(|gate| gate.kind).collect();
    for kind in [GateKind::SameRow, GateKind::FixtureTaken, GateKind::Contradiction, GateKind::RowsNotApproved] {
        assert!(kinds.contains(&kind), "{kind:?} is not in {kinds:?}");
    }
}

#[test]
fn an_earlier_look_alike_that_gets_the_verdict_is_named_and_no_other() {
    let (mut draft, _) = asked(&DraftRequest { when: typed("{ kind: other }"), ..request("gone") }, None).unwrap();
    let (applied, _) = place_rule(&mut draft, "p", &loaded(PLAYBOOK)).unwrap_or_else(|report| panic!("{report}"));
    let (before, after) = (plan_of(PLAYBOOK), Plan::new(applied.loaded.playbook, &Tools::default()));
    let plans = TrialPlans { draft: &draft, before: &before, after: &after };
    let says_more = LOOK_ALIKE.replace("not_verdicts: [slow]", "not_verdicts: [slow], attempts: 1");
    let known = LOOK_ALIKE.replace("kind: other", "kind: strange");
    let all = [("a", LOOK_ALIKE), ("b", &*says_more), ("c", &*known)];
    let all: Vec<_> = all.iter().map(|(name, text)| ((*name).to_owned(), fixture_of(text))).collect();
    let changed: Vec<String> = changed_look_alikes(&plans, &all).iter().map(|(id, _)| id.to_string()).collect();
    assert_eq!(changed, ["ours/a"]);
}

#[test]
fn accepting_writes_the_goldens_that_are_new_or_change() {
    let context = context(vec![("a".into(), fixture_of(LOOK_ALIKE)), {
        ("b".into(), fixture_of(&LOOK_ALIKE.replace("kind: other", "kind: strange")))
    }]);
    let own = [("c".to_owned(), fixture_of(LOOK_ALIKE))];
    let (judged, _) = tried(&context, RULE, &own);
    let goldens = accepted_goldens(&judged, &BTreeMap::new(), "why").unwrap();
    assert_eq!(goldens.iter().map(|(id, _)| &*id.fixture).collect::<Vec<_>>(), ["c", "a"]);
}

#[test]
fn new_fixtures_are_held_under_the_other_playbooks_that_they_name() {
    let fixture = fixture_of(&LOOK_ALIKE.replace("[ours]", "[ours, theirs]").replace("  ours:\n", "  theirs:\n"));
    let fixtures = [("a".to_owned(), fixture)];
    let id = CaseId { playbook: "theirs".into(), fixture: "a".into() };
    let theirs = plan_of(PLAYBOOK);
    let plans = BTreeMap::from([("theirs", &theirs)]);
    let mut context = context(Vec::new());
    let refused = |context: &ProposalContext, plans| goldens_elsewhere(context, &fixtures, plans).unwrap_err();
    assert_eq!(refused(&context, &plans), NotAccepted::PlaybookNotApproved(id.clone()));
    let mut lock = Lock::default();
    lock.approve("theirs", [("rule x", "{}")], "why");
    context.lock = Some(lock);
    let goldens = goldens_elsewhere(&context, &fixtures, &plans).unwrap();
    assert_eq!(goldens.iter().map(|(id, _)| id).collect::<Vec<_>>(), [&id]);
    let slow = plan_of(&PLAYBOOK.replace("{ kind: late }", "{ kind: other }"));
    let plans = BTreeMap::from([("theirs", &slow)]);
    assert!(matches!(refused(&context, &plans), NotAccepted::Contradicted(of, _) if of == id));
}

/// A history in which the rows of the playbook are accepted as they are in `text`.
fn history(text: &str) -> History {
    let rows = rows(&loaded(text).playbook);
    let rows = changes(None, rows.iter().map(|row| (&*row.name, &*row.text)));
    let record = Record { kind: RecordKind::Approval, playbook: "ours".into(), reason: "begin".into(), rows };
    let source = Source::whole("0001.yaml", record.render());
    let (record, places) = history::parse(Arc::clone(&source)).unwrap_or_else(|report| panic!("{report}"));
    History::new(vec![HistoryEntry { number: 1, name: source.name.clone(), record, places, source }])
}

#[test]
fn a_record_has_the_rows_of_the_proposal_alone() {
    let context = context(vec![("a".into(), fixture_of(LOOK_ALIKE))]);
    let (judged, applied) = tried(&context, RULE, &[]);
    let before = loaded(PLAYBOOK);
    let record_of = |history: &History| record(history, &judged, (&before, &applied), &[], "docs\\adr\\1.md", "why");
    let record = record_of(&history(PLAYBOOK)).unwrap();
    assert_eq!(record.rows.iter().map(|row| &*row.name).collect::<Vec<_>>(), ["rule other"]);
    let RecordKind::Proposal(taken) = &record.kind else { panic!("{record:?}") };
    assert_eq!((&*taken.adr, taken.goldens.as_slice()), ("docs/adr/1.md", ["ours/a".to_owned()].as_slice()));
    let edited = history(&PLAYBOOK.replace("max_attempts: 4", "max_attempts: 5"));
    assert_eq!(record_of(&edited), Err(NotAccepted::NotRecorded(1, "limit max_attempts".into())));
    let all = history(&applied.loaded.places.source.text);
    assert!(matches!(record_of(&all), Err(NotAccepted::NotRecorded(..))));
}

#[test]
fn what_changed_since_a_proposal_was_made_is_what_it_changes_too() {
    let change = "  - change_verdict: slow\n    effect: applied\n";
    let then = PLAYBOOK.replace("No answer in time.", "None came.").replace("max_attempts: 4", "max_attempts: 5");
    let base = fingerprint(&loaded(&then).playbook).to_string();
    let (_, applied) = tried(&context(Vec::new()), change, &[]);
    let since = |base: &str| changed_since(&history(&then), base, "ours", &applied);
    let ChangedSince::Changed(rows) = since(&base) else { panic!("{:?}", since(&base)) };
    assert_eq!(rows.iter().map(|row| &*row.name).collect::<Vec<_>>(), ["verdict slow"]);
    assert_eq!(since(BASE), ChangedSince::Unknown(vec!["verdict slow".into()]));
}

#[test]
fn rows_of_actions_and_graph_are_edited_by_hand_and_each_is_named() {
    let refused = |operations: &str| {
        let text = format!("format: proposal/1\nplaybook: ours\nbase: '{BASE}'\noperations:\n{operations}");
        let report = parse(Source::whole("proposals/x/proposal.yaml", text.clone())).expect_err("not by proposal");
        let said = report.diagnostics.iter();
        said.map(|said| format!("{}: {}", said.id, &text[said.labels[0].span.clone()])).collect::<Vec<_>>()
    };
    let both = "  - add_action: { pay: { tool: charge } }\n  - change_graph: { next: { pay: [] } }\n";
    assert_eq!(refused(both), ["edited_by_hand: add_action", "edited_by_hand: change_graph"]);
    for key in ["actions", "graph", "add_edge", "change_next", "remove_step", "change_others"] {
        assert_eq!(refused(&format!("  - {key}: a\n")), [format!("edited_by_hand: {key}")]);
    }
    assert_eq!(refused("  - add_rules: a\n")[0], "unknown_key: add_rules", "a misspelt key is only that");
}
