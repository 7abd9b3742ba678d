//! Proposals on small playbooks: what is edited, what stays as it is, what is refused and where.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use playproof_analysis::check::CaseId;
use playproof_analysis::mining::{MinedPart as Mining, Miner};
use playproof_analysis::proposal::*;
use playproof_analysis::replay::{Inputs, ReplayOptions, TraceInput, replay};
use playproof_engine::call::RecordedCall;
use playproof_engine::event::{EffectClaim, FindingId};
use playproof_engine::fixture::Fixture;
use playproof_engine::playbook::Tools;
use playproof_engine::sim::Plan;
use playproof_formats::diagnostic::{Report, Source};
use playproof_formats::golden::{Lock, RowChange, changes};
use playproof_formats::history::{History, HistoryEntry, Record, RecordKind};
use playproof_formats::playbook::{Loaded, rows};
use playproof_formats::{fixture, history, playbook};
use playproof_intake::assemble::{AssembleOptions, Assembler};
use playproof_intake::digest::read_piece;
use playproof_intake::pieces::Chunks;
use playproof_intake::redact::RedactionRules;

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

/// A draft of a verdict `said_no` with a rule.
fn said_no() -> Draft {
    Draft {
        playbook: "ours".into(),
        verdict: "said_no".into(),
        queues: Vec::new(),
        change: VerdictChange::Added {
            means: "It said: \"no\".".into(),
            effect: EffectClaim::NotApplied,
            then: "{ deprecate_tool_call: { reason: said no } }".into(),
        },
        rule: Some(ProposedRule { name: "said-no".into(), when: "{ message: { contains: no } }".into(), before: None }),
        expect: Vec::new(),
    }
}

/// The same for values of `slow`.
fn slower(parts: &[(&'static str, &str)]) -> Draft {
    let parts = parts.iter().map(|(key, value)| (*key, (*value).to_owned())).collect();
    Draft { verdict: "slow".into(), change: VerdictChange::Changed(parts), rule: None, ..said_no() }
}

fn source(text: &str) -> Arc<Source> {
    Source::whole("playbooks/ours.yaml", text)
}

fn edited(text: &str, draft: &Draft) -> Result<String, Report> {
    with_draft(&source(text), draft, "proposals/x/playbook.yaml").map(|source| source.text.clone())
}

/// The lines of the result that are new, and those that are gone.
fn differing(text: &str, draft: &Draft) -> (String, String) {
    let result = edited(text, draft).unwrap_or_else(|report| panic!("{report}"));
    let lines = |text: &str| text.split_inclusive('\n').map(str::to_owned).collect::<Vec<_>>();
    let (old, mut rest) = (lines(text), lines(&result));
    let mut gone = String::new();
    for line in &old {
        match rest.iter().position(|one| one == line) {
            Some(at) => drop(rest.remove(at)),
            None => gone.push_str(line),
        }
    }
    (rest.concat(), gone)
}

#[test]
fn a_verdict_goes_before_unclassified_and_a_rule_to_the_end_and_no_other_byte_changes() {
    let (new, gone) = differing(PLAYBOOK, &said_no());
    assert_eq!(gone, "");
    assert_eq!(
        new,
        "  said_no:\n    means: \"It said: \\\"no\\\".\"\n    effect: not_applied\n    then: { deprecate_tool_call: { \
         reason: said no } }\n\n  - rule: said-no\n    when: { message: { contains: no } }\n    verdict: said_no\n"
    );
    let result = edited(PLAYBOOK, &said_no()).unwrap();
    assert!(result.contains("said no } }\n\n  unclassified:"), "{result}");
    assert!(result.contains("    verdict: slow\n  - rule: said-no\n"), "{result}");
}

#[test]
fn line_ends_of_windows_and_a_missing_last_newline_stay() {
    let result = edited(&PLAYBOOK.replace('\n', "\r\n"), &said_no()).unwrap();
    assert_eq!(result.replace("\r\n", "\n"), edited(PLAYBOOK, &said_no()).unwrap());
    assert_eq!(result.matches('\n').count(), result.matches("\r\n").count());
    let (head, rules) = PLAYBOOK.split_once("classify:").unwrap();
    let (rules, tail) = rules.split_once("otherwise:").unwrap();
    let open = format!("{head}otherwise:{tail}classify:{}", rules.trim_end());
    let result = edited(&open, &said_no()).unwrap();
    assert!(
        result.ends_with(
            "    verdict: slow\n  - rule: said-no\n    when: { message: { contains: no } }\n    verdict: said_no"
        ),
        "{result}"
    );
}

#[test]
fn a_rule_goes_before_another_and_its_comment() {
    let rule = ProposedRule { name: "new".into(), when: "{ kind: new }".into(), before: Some("gateway".into()) };
    let result = edited(PLAYBOOK, &Draft { rule: Some(rule), ..slower(&[]) }).unwrap();
    assert!(
        result.contains("  - rule: new\n    when: { kind: new }\n    verdict: slow\n  # A gateway's word.\n"),
        "{result}"
    );
}

#[test]
fn values_are_replaced_where_they_stand_in_either_style() {
    assert_eq!(
        differing(PLAYBOOK, &slower(&[("effect", "not_applied"), ("means", "'Late: too late.'")])),
        (
            "    means: 'Late: too late.'\n    effect: not_applied\n".to_owned(),
            "    means: No answer in time.\n    effect: unknown\n".to_owned()
        )
    );
    let then = ("then", "{ escalate_to_human: { queue: people } }");
    let (new, gone) = differing(PLAYBOOK, &slower(&[then]));
    assert_eq!(new, "    then: { escalate_to_human: { queue: people } }\n");
    assert_eq!(gone, "    then:\n      retry_with_backoff:\n        backoff_ms: [200]\n");
    let folded = PLAYBOOK.replace("means: No answer in time.", "means: >\n      No answer\n      in time.");
    let result = edited(&folded, &slower(&[("means", "Too late.")])).unwrap();
    assert_eq!(result, PLAYBOOK.replace("No answer in time.", "Too late."));
}

#[test]
fn a_queue_is_added_in_either_style() {
    let queue = Draft { queues: vec!["more".into()], ..slower(&[]) };
    assert_eq!(differing(PLAYBOOK, &queue).0, "queues: [people, more]\n");
    let block = PLAYBOOK.replace("queues: [people]", "queues:\n  - people");
    assert_eq!(differing(&block, &queue), ("  - more\n".to_owned(), String::new()));
}

#[test]
fn brackets_and_aliases_are_refused_at_their_place() {
    let refused = |text: &str, draft: &Draft| edited(text, draft).unwrap_err().to_string();
    let flow = "format: playbook/1\nname: ours\nverdicts: { slow: { means: A., effect: unknown, then: { escalate_to_human: { queue: q } } } }\nclassify: []\notherwise: slow\ndefault_queue: q\nqueues: [q]\n";
    assert_eq!(refused(flow, &said_no()), "proposals/x/playbook.yaml:3:1: `verdicts` cannot be edited by a program");
    let alias = PLAYBOOK
        .replace("    then:\n      retry", "    then: &wait\n      retry")
        .replace("  unclassified:\n", "  late: { means: L., effect: unknown, then: *wait }\n\n  unclassified:\n");
    let then = ("then", "{ escalate_to_human: { queue: people } }");
    for verdict in ["slow", "late"] {
        let change = Draft { verdict: verdict.into(), ..slower(&[then]) };
        assert!(refused(&alias, &change).contains("`then` cannot be edited by a program"), "{verdict}");
    }
}

/// A proposal that copies `PLAYBOOK` and has `edited` in it.
fn proposal(edited: &str) -> Proposal {
    let copy = Source::whole("proposals/x/playbook.yaml", copy_of("playbooks/ours.yaml", PLAYBOOK, edited));
    parse(copy, Some(source(PLAYBOOK))).unwrap_or_else(|report| panic!("{report}"))
}

#[test]
fn a_copy_names_what_was_copied_in_its_first_line() {
    let read = proposal(PLAYBOOK);
    assert_eq!((&*read.playbook, read.base.len()), ("playbooks/ours.yaml", 64));
    let said =
        |text: &str, copied: Option<&str>| parse(Source::whole("p", text), copied.map(source)).unwrap_err().to_string();
    for odd in ["", PLAYBOOK, "# proposal for ours at sha256:abc\n", "# proposal for  at sha256:\n"] {
        assert_eq!(said(odd, None), "p:1:1: the first line does not say what this is a copy of");
    }
    let copy = &read.source.text;
    assert_eq!(said(copy, Some("other")), "p:1:1: the base beside this copy is not the text that was copied");
    assert!(said(&format!("{copy}<<<<<<< HEAD\n"), None).contains("git could not merge this file"));
    assert!(has_base(copy) && !has_base(PLAYBOOK));
}

#[test]
fn what_a_copy_changes_are_its_rows() {
    let applied = |text: &str| apply(&loaded(PLAYBOOK), &proposal(text)).unwrap_or_else(|report| panic!("{report}"));
    let rows = |text: &str| applied(text).rows.iter().map(|row| row.name.clone()).collect::<Vec<_>>();
    let draft = edited(PLAYBOOK, &said_no()).unwrap();
    assert_eq!(rows(&draft), ["rule said-no", "verdict said_no"]);
    assert_eq!(applied(&draft).text(), draft);
    assert_eq!(verdicts(&applied(&draft)), ["said_no"]);
    let gateway = "\n  # A gateway's word.\n  - rule: gateway\n    when:\n      status: 504\n    verdict: slow\n";
    assert_eq!(rows(&PLAYBOOK.replace(gateway, "")), ["rule gateway"]);
    let moved = PLAYBOOK.replace(gateway, "").replace("classify:\n", &format!("classify:{gateway}"));
    let moved = moved.replace("status: 504", "kind: [timeout, x]");
    assert!(applied(&moved).rows.iter().any(is_order_alone), "{:?}", rows(&moved));
    assert_eq!(verdicts(&applied(&PLAYBOOK.replace("status: 504", "status: 502"))), ["slow"]);
}

#[test]
fn a_copy_is_merged_with_what_others_have_changed_since() {
    let proposal = proposal(&edited(PLAYBOOK, &said_no()).unwrap());
    let current = PLAYBOOK.replace("max_attempts: 4 }   # four", "max_attempts: 5 }   # five");
    let applied = apply(&loaded(&current), &proposal).unwrap_or_else(|report| panic!("{report}"));
    let names = |rows: &[RowChange]| rows.iter().map(|row| row.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&applied.rows), ["rule said-no", "verdict said_no"]);
    assert_eq!(names(&applied.since), ["limit max_attempts"]);
    assert_eq!(applied.text(), edited(&current, &said_no()).unwrap());
    let rebased = rebased(&source(&current), &proposal).unwrap().expect("it has moved");
    assert_eq!(rebased, Rebased { text: copy_of("playbooks/ours.yaml", &current, applied.text()), conflicts: vec![] });
    let alone = Proposal { copied: None, ..proposal };
    let said = apply(&loaded(&current), &alone).unwrap_err().to_string();
    assert!(said.contains("the text that was copied is not kept"), "{said}");
    assert!(apply(&loaded(PLAYBOOK), &alone).is_ok(), "it is not needed");
}

#[test]
fn lines_that_both_sides_changed_are_a_conflict_with_both_sides() {
    let proposal = proposal(&PLAYBOOK.replace("No answer in time.", "None came."));
    let current = PLAYBOOK.replace("No answer in time.", "Too late.");
    let said = apply(&loaded(&current), &proposal).unwrap_err().to_string();
    assert!(said.contains("the playbook has changed in the same lines"), "{said}");
    let rebased = rebased(&source(&current), &proposal).unwrap().expect("it has moved");
    let conflict = "<<<<<<< the playbook as it is\n    means: Too late.\n=======\n    means: None came.\n\
                    >>>>>>> as proposed\n";
    assert_eq!(rebased.conflicts, [conflict]);
    assert!(rebased.text.contains(conflict));
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
    let means = "write this - what this failure means, in a sentence".to_owned();
    let added = |then| VerdictChange::Added { means: means.clone(), effect: EffectClaim::Unknown, then };
    assert_eq!(draft.change, added(then));
    assert_eq!(draft.rule.map(|rule| rule.when).as_deref(), Some("{ kind: 'write this' }"));
    assert_eq!(notes, [Note::EscalatesTo("people".into())]);
    let like = DraftRequest { like: Some("slow".into()), ..request("gone") };
    let (draft, notes) = asked(&like, None).unwrap();
    let then = "{ retry_with_backoff: { backoff_ms: [200] } }".to_owned();
    assert_eq!(draft.change, added(then));
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
    let (proposed, _) = place_rule(&mut draft, "p", &loaded(PLAYBOOK)).unwrap_or_else(|report| panic!("{report}"));
    let (before, after) = (plan_of(PLAYBOOK), Plan::new(proposed.playbook, &Tools::default()));
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
    let [caught, acted, spared] = fixtures.as_slice() else { panic!("{fixtures:?}") };
    assert_eq!([caught, acted, spared].map(|one| &*one.name), ["gone-2", "gone-acted", "not-gone"]);
    let says = |message: &str| Title::Says { tool: "pay".into(), message: Some(message.into()) };
    let hides = |acted| Title::Hides { of: Box::new(says(FROZEN[0])), acted };
    assert_eq!((&caught.title, &acted.title), (&hides(false), &hides(true)));
    assert_eq!(spared.title, says("page 3 was lost"));
    let verdicts = |one: &DraftFixture| {
        let call = one.fixture.expect["ours"].calls.values().next().cloned().unwrap_or_default();
        (call.verdicts, call.not_verdicts)
    };
    for one in [caught, acted] {
        assert_eq!(verdicts(one), (Some(vec!["gone".into()]), None));
    }
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
fn tried(context: &ProposalContext, own: &[(String, Fixture)]) -> (ProposalReport, Applied) {
    let rule = ProposedRule { name: "other".into(), when: "{ kind: other }".into(), before: None };
    let edited = edited(PLAYBOOK, &Draft { rule: Some(rule), ..slower(&[]) }).unwrap();
    let (proposal, before) = (proposal(&edited), loaded(PLAYBOOK));
    let applied = apply(&before, &proposal).unwrap_or_else(|report| panic!("{report}"));
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

#[test]
fn a_proposal_is_tried_on_the_fixtures_that_run_under_its_playbook() {
    let elsewhere = fixture_of(&LOOK_ALIKE.replace("ours", "theirs"));
    let usual = fixture_of(&LOOK_ALIKE.replace("playbooks: [ours]\n", ""));
    let mut context = context(vec![("a".into(), elsewhere), ("b".into(), usual.clone())]);
    let touched = ("ours".to_owned(), vec!["rule other".to_owned()]);
    context.touched = BTreeMap::from([("x".into(), touched.clone()), ("y".into(), touched)]);
    let (judged, _) = tried(&context, &[("b".into(), usual)]);
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
    let (proposed, _) = place_rule(&mut draft, "p", &loaded(PLAYBOOK)).unwrap_or_else(|report| panic!("{report}"));
    let (before, after) = (plan_of(PLAYBOOK), Plan::new(proposed.playbook, &Tools::default()));
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
    let (judged, _) = tried(&context, &own);
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
    let verdict = "  done: { means: Done., effect: applied, then: { deprecate_tool_call: { reason: done } } }\n";
    let rule = "  - { rule: other, when: { kind: other }, verdict: done }\n";
    let lie = plan_of(&PLAYBOOK.replace("classify:\n", &format!("{verdict}classify:\n{rule}")));
    let harm = NotAccepted::Harmful(id, vec![FindingId::UntruthfulOutcome]);
    assert_eq!(refused(&context, &BTreeMap::from([("theirs", &lie)])), harm);
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
    let (judged, applied) = tried(&context, &[]);
    let before = loaded(PLAYBOOK);
    let record_of = |history: &History| record(history, &judged, (&before, &applied), &[], "docs\\adr\\1.md", "why");
    let record = record_of(&history(PLAYBOOK)).unwrap();
    assert_eq!(record.rows.iter().map(|row| &*row.name).collect::<Vec<_>>(), ["rule other"]);
    let RecordKind::Proposal(taken) = &record.kind else { panic!("{record:?}") };
    assert_eq!((&*taken.adr, taken.goldens.as_slice()), ("docs/adr/1.md", ["ours/a".to_owned()].as_slice()));
    let edited = history(&PLAYBOOK.replace("max_attempts: 4", "max_attempts: 5"));
    assert_eq!(record_of(&edited), Err(NotAccepted::NotRecorded(1, "limit max_attempts".into())));
    let all = history(applied.text());
    assert!(matches!(record_of(&all), Err(NotAccepted::NotRecorded(..))));
}

#[test]
fn rows_that_both_sides_add_at_one_place_are_both_kept() {
    let proposal = proposal(&edited(PLAYBOOK, &said_no()).unwrap());
    let other = Draft {
        verdict: "gone".into(),
        rule: Some(ProposedRule { name: "gone".into(), when: "{ kind: gone }".into(), before: None }),
        ..said_no()
    };
    let current = edited(PLAYBOOK, &other).unwrap();
    let applied = apply(&loaded(&current), &proposal).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(applied.rows.iter().map(|row| &*row.name).collect::<Vec<_>>(), ["rule said-no", "verdict said_no"]);
}
