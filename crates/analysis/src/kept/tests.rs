//! Kept calls: written, read back and held against a playbook.

use super::slice::belongs;
use super::*;
use crate::explain::InRun;
use playproof_engine::call::{AnswerTo, CallTexts, Place, RecordedAnswer, RecordedCall, Reply};
use playproof_engine::event::{ErrorFacts, StatusFrom};
use playproof_engine::playbook::{Access, ToolFacts, Tools};
use playproof_engine::sim::Plan;
use playproof_engine::time::{Duration, Instant};
use playproof_formats::diagnostic::Source;
use playproof_formats::playbook::{embedded, parse as parse_playbook};
use playproof_intake::assemble::AssembleOptions;
use playproof_intake::call::CompletedCall;
use playproof_intake::input::TraceInput;
use playproof_intake::redact::RedactionRules;

fn call(error: Option<ErrorFacts>) -> RecordedCall {
    let texts = CallTexts { run: Some("r1"), tool: "payments.refund", args: Some("{}"), ..CallTexts::default() };
    let mut call = RecordedCall::new(texts, Place { input: 0, line: 1 });
    call.number_in_run = 1;
    call.at = Some(Instant::ZERO);
    call.answers = vec![RecordedAnswer {
        to: AnswerTo::Attempt,
        attempt: None,
        started: None,
        at: Some(Instant::from_millis(40)),
        reply: error.map_or(Reply::Ok, |error| Reply::Failed(Some(error.into()))),
        inferred: false,
        status_from: StatusFrom::Flag,
        draw: None,
        line_hash: 0,
        place: Place { input: 0, line: 2 },
    }];
    call
}

fn odd() -> ErrorFacts {
    ErrorFacts { kind: Some("out_of_stock".into()), message: Some("slow down".into()), ..ErrorFacts::default() }
}

fn plan() -> Plan {
    let source = Source::whole("standard", embedded("standard").unwrap());
    Plan::new(parse_playbook(source).unwrap().playbook, &Tools::default())
}

fn file(expect: &str) -> KeptFile {
    KeptFile {
        note: "it's a \"limit\":\nwait".into(),
        playbook: "standard".into(),
        call: "r1#1".into(),
        attempt: 1,
        expect: expect.to_owned(),
        was: "unclassified".into(),
        facts: None,
        came_from: CameFrom { trace: "t.jsonl".into(), call: "r1#7".into(), line: 9 },
    }
}

fn kept(expect: &str) -> Kept {
    let file = file(expect);
    let source = Source::whole("x.yaml", file.render());
    let (file, places) = parse(source.clone()).unwrap_or_else(|report| panic!("{report}"));
    let calls = vec![call(Some(odd()))];
    Kept { id: "x".into(), file, places, source, recorded: calls.clone(), calls, about: 0 }
}

#[test]
fn what_is_written_is_read_back_and_written_again_to_the_byte() {
    let facts = ToolFacts {
        access: Access::Read,
        idempotent: false,
        repeatable: true,
        timeout: Duration::from_millis(900),
        declared: true,
        ..ToolFacts::ASSUMED
    };
    for file in [file("out_of_stock"), KeptFile { facts: Some(facts), ..file("a") }] {
        let (again, _) = parse(Source::whole("x.yaml", file.render())).unwrap_or_else(|report| panic!("{report}"));
        assert_eq!((again.render(), again), (file.render(), file));
    }
}

#[test]
fn an_ending_says_verdict_rule_compensation_outcome_and_effect() {
    let ending = Ending::of(&plan(), &call(Some(odd())), &InRun::default());
    let failed = ending.failed.unwrap();
    assert_eq!((&*failed.verdict, &*failed.rule, failed.attempt), ("unclassified", "otherwise", 1));
    assert_eq!((&*failed.compensation, &*ending.outcome), ("escalate_to_human", "escalated"));
    assert_eq!((&*ending.effect, ending.attempts), ("unknown", 1));
}

#[test]
fn a_call_is_handled_right_once_its_failure_has_the_expected_verdict() {
    let judged = kept("out_of_stock").judged(&plan());
    assert_eq!(judged.now, Some(("unclassified".into(), "otherwise".into())));
    assert!(!judged.is_right() && kept("unclassified").judged(&plan()).is_right());
    let mut gone = kept("unclassified");
    gone.recorded = vec![call(None)];
    let judged = gone.judged(&plan());
    assert!(judged.now.is_none() && !judged.is_right());
}

#[test]
fn facts_that_were_kept_win_over_all_others() {
    let mut kept = kept("a");
    let playbook = plan().playbook;
    assert!(!kept.plan(&playbook, &Tools::default()).facts("payments.refund").idempotent);
    kept.file.facts = Some(ToolFacts { idempotent: true, ..ToolFacts::ASSUMED });
    assert!(kept.plan(&playbook, &Tools::default()).facts("payments.refund").idempotent);
}

#[test]
fn what_no_file_says_is_refused_with_its_place() {
    let good = file("out_of_stock").render();
    for (old, new, said) in [
        ("kept/1", "kept/2", "x.yaml:3:9: expected `kept/1`"),
        ("expect:", "expct:", "x.yaml:8:1: a kept call has no key `expct`"),
        ("expect: 'out_of_stock'", "expect: 'out of stock'", "x.yaml:8:9: `out of stock` is not a valid name"),
        ("note: ", "note: ' ' #", "x.yaml:4:7: this text is empty"),
        ("attempt: 1", "attempt: 0", "x.yaml:7:10: expected a whole number from 1"),
        ("was: 'unclassified'\n", "", "x.yaml:3:1: a kept call needs `was`"),
        ("call: ", "<<<<<<< HEAD\ncall: ", "x.yaml:6:1: git could not merge"),
    ] {
        let text = good.replacen(old, new, 1);
        let report = parse(Source::whole("x.yaml", text)).expect_err(said).to_string();
        assert!(report.starts_with(said), "{said}\n{report}");
    }
}

#[test]
fn an_id_is_readable_and_stable_and_another_for_another_slice() {
    let id = KeptFile::id("payments.issue_refund", "timeout", "standard", "slice");
    assert!(id.starts_with("payments-issue-refund-timeout-") && id.len() == 36, "{id}");
    assert_eq!(id, KeptFile::id("payments.issue_refund", "timeout", "standard", "slice"));
    assert_ne!(id, KeptFile::id("payments.issue_refund", "timeout", "standard", "other"));
    assert_eq!(KeptFile::id("…", "", "p", "s").len(), 6);
    assert!(KeptFile::id(&"x".repeat(300), "y", "p", "s").len() <= 67);
}

#[test]
fn earlier_calls_of_the_run_belong_that_ask_the_same_or_hold_the_token() {
    let call = |number, run, tool, key, args, token| {
        let (run, args) = (Some(run), Some(args));
        let texts = CallTexts { run, tool, key, args, token, ..CallTexts::default() };
        let mut call = RecordedCall::new(texts, Place::default());
        call.number = number;
        call
    };
    let (a, b) = (r#"{"x":1,"y":2}"#, r#"{"z":1}"#);
    let about = call(9, "r", "pay", Some("k"), a, Some("t"));
    assert!(belongs(&call(1, "r", "pay", None, r#"{"y":2, "x":1}"#, None), &about));
    assert!(belongs(&call(1, "r", "pay", Some("k"), b, None), &about));
    assert!(belongs(&call(1, "r", "bill", None, b, Some("t")), &about));
    assert!(!belongs(&call(1, "r", "pay", None, b, None), &about));
    assert!(!belongs(&call(1, "r", "bill", Some("k"), a, None), &about));
    assert!(!belongs(&call(1, "r2", "pay", Some("k"), a, Some("t")), &about));
    assert!(!belongs(&call(10, "r", "pay", Some("k"), a, Some("t")), &about));
}

#[test]
fn a_file_that_is_cut_off_or_lost_a_line_is_read_or_refused_with_a_place() {
    let text = KeptFile { facts: Some(ToolFacts::ASSUMED), ..file("out_of_stock") }.render();
    let cuts = (0..text.len()).filter_map(|at| text.get(..at)).map(str::to_owned);
    let lines: Vec<&str> = text.lines().collect();
    let gaps = (0..lines.len()).map(|gap| [&lines[..gap], &lines[gap + 1..]].concat().join("\n"));
    for text in cuts.chain(gaps) {
        if let Err(report) = parse(Source::whole("x.yaml", text.as_str())) {
            let end = report.source.text.len();
            let spans = report.diagnostics.iter().flat_map(|said| &said.labels).map(|label| label.span.clone());
            assert!(spans.into_iter().all(|span| span.start <= span.end && span.end <= end), "{text}");
        }
    }
}

/// Three calls of one intent and one of another; each fails as it says.
const TRACE: &str = r#"{"run_id":"r","call_id":"a","tool":"pay","args":{"x":1},"status":"error","error":{"kind":"5xx"}}
{"run_id":"r","call_id":"b","tool":"pay","args":{"x":2},"status":"ok"}
{"run_id":"r","call_id":"c","tool":"pay","args":{"x":1},"status":"error","error":{"kind":"tool_error","message":"denied 42"}}
{"run_id":"r","call_id":"d","tool":"pay","args":{"x":1},"status":"ok"}
"#;

fn read(redaction: &RedactionRules) -> Vec<CompletedCall> {
    TraceInput::own("t.jsonl", TRACE.as_bytes()).calls(redaction).unwrap()
}

fn cut(about: usize, redaction: &RedactionRules) -> Result<Slice, NotCut> {
    let about = &read(redaction)[about];
    let input = TraceInput::own("t.jsonl", TRACE.as_bytes());
    let others = OtherCalls::of(input, AssembleOptions::default(), redaction, about.raw(), false).unwrap();
    Slice::cut(&plan(), about, &InRun::default(), &others, redaction)
}

#[test]
fn a_slice_holds_the_call_and_the_earlier_ones_that_ask_the_same() {
    let slice = cut(2, &RedactionRules::default()).unwrap();
    assert_eq!((slice.calls, &*slice.reference), (2, "r#2"));
    assert_eq!(slice.ending, Ending::of(&plan(), read(&RedactionRules::default())[2].raw(), &InRun::default()));
    assert!(slice.text.contains("denied 42") && !slice.text.contains(r#""x":2"#), "{}", slice.text);
    let id = slice.id(read(&RedactionRules::default())[2].shown(), "standard");
    assert!(id.starts_with("pay-tool-error-"), "{id}");
    let fine = cut(1, &RedactionRules::default()).unwrap();
    assert_eq!((fine.calls, fine.ending.failed), (1, None));
}

#[test]
fn a_slice_that_redaction_makes_something_else_of_is_not_cut() {
    let rules = RedactionRules::new(&[], &["5xx"]).unwrap();
    let Err(NotCut::Redacted { wanted, got }) = cut(0, &rules) else { panic!("it was cut") };
    let verdict = |ending: Box<Ending>| ending.failed.unwrap().verdict;
    assert_eq!((verdict(wanted), verdict(got.unwrap())), ("server_error_5xx".into(), "unclassified".into()));
    let harmless = RedactionRules::new(&[], &["42"]).unwrap();
    assert!(!cut(2, &harmless).unwrap().text.contains("42"));
}

#[test]
fn a_call_that_does_not_replay_alone_as_in_its_trace_is_not_cut() {
    let text = r#"{"run_id":"r","call_id":"a","tool":"pay","args":{},"reversal_token":"t","status":"error","error":{"kind":"timeout"}}"#;
    let about = &TraceInput::own("t.jsonl", text.as_bytes()).calls(&RedactionRules::default()).unwrap()[0];
    let source = Source::whole("reversing", embedded("reversing").unwrap());
    let plan = Plan::new(parse_playbook(source).unwrap().playbook, &Tools::default());
    let cut = |token_spent| {
        Slice::cut(
            &plan,
            about,
            &InRun { token_spent, record: None },
            &OtherCalls::default(),
            &RedactionRules::default(),
        )
    };
    assert!(cut(false).is_ok());
    assert!(matches!(cut(true), Err(NotCut::NotAlone { left_out: 0 })), "no call of the slice spends the token");
}

#[test]
fn a_file_whose_slice_lacks_its_call_is_refused_at_its_name() {
    let said = || {
        let source = Source::whole("x.yaml", file("a").render());
        (parse(source.clone()).unwrap_or_else(|report| panic!("{report}")), source)
    };
    let ((parsed, places), source) = said();
    let report = Kept::new("x", (parsed, places), source, "x.jsonl", read(&RedactionRules::default())).unwrap_err();
    let report = report.to_string();
    assert!(report.starts_with("x.yaml:6:7: the slice `x.jsonl` has no call `r1#1`"), "{report}");
    let ((parsed, places), source) = said();
    let parsed = KeptFile { call: "r#3".into(), ..parsed };
    let kept = Kept::new("x", (parsed, places), source, "x.jsonl", read(&RedactionRules::default())).unwrap();
    assert_eq!((kept.about, kept.call().and_then(RecordedCall::id)), (2, Some("c")));
}
