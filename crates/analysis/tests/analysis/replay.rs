//! Tests of whole replays: what is found in recordings, that books balance, and that threads change nothing.

use std::io::{self, Cursor, Read};
use std::sync::LazyLock;

use proptest::prelude::*;

use playproof_analysis::replay::*;
use playproof_engine::event::{EffectClaim, FindingBy, FindingId, OutcomeWord};
use playproof_engine::playbook::{Access, ToolFacts, ToolRow, Tools};
use playproof_engine::sim::Plan;
use playproof_engine::upstream::MissingAnswerPolicy;
use playproof_formats::diagnostic::Source;
use playproof_intake::assemble::AssembleOptions;
use playproof_intake::input::ReadError;

fn facts(access: Access) -> ToolFacts {
    ToolFacts { access, declared: true, ..ToolFacts::ASSUMED }
}

/// Read once, because reading it takes longer than a replay.
static PLAN: LazyLock<Plan> = LazyLock::new(plan);

/// The standard playbook, with `pay` a declared write, `mail` a repeatable one, `put` an idempotent one, `forgets` one whose upstream ignores keys, `read.*` reads and the rest assumed.
fn plan() -> Plan {
    let text = playproof_formats::playbook::embedded("standard").unwrap();
    let loaded = playproof_formats::playbook::parse(Source::whole("standard", text)).unwrap();
    let row = |pattern: &str, facts| ToolRow::new(pattern, facts).unwrap();
    let repeatable = ToolFacts { repeatable: true, ..facts(Access::Write) };
    let idempotent = ToolFacts { idempotent: true, ..facts(Access::Write) };
    let forgets = ToolFacts { ignores_keys: true, ..facts(Access::Write) };
    let writes =
        [row("pay", facts(Access::Write)), row("mail", repeatable), row("put", idempotent), row("forgets", forgets)];
    let rows = writes.into_iter().chain([row("read.*", facts(Access::Read))]).collect();
    Plan::new(loaded.playbook, &Tools::new(rows))
}

/// Writes what it sees of each call in one line.
struct Lines;

impl Observer for Lines {
    type Part = String;

    fn part(&self) -> String {
        String::new()
    }

    fn on_call(&self, result: &CallResult<'_>, part: &mut String) {
        let outcomes: Vec<&str> =
            result.records().flat_map(|record| &record.outcomes).map(|outcome| outcome.kind.as_str()).collect();
        let ids: Vec<String> =
            result.findings().map(|(_, finding)| format!("{} x{}", finding.id.as_str(), finding.count)).collect();
        let at = (result.call.place.input, result.call.place.line);
        *part += &format!("{at:?} {} {} {outcomes:?} {ids:?}\n", result.call.reference(), result.call.tool());
    }
}

fn options(jobs: usize) -> ReplayOptions {
    ReplayOptions { jobs, ..ReplayOptions::default() }
}

fn input(name: &str, text: &str) -> TraceInput<'static> {
    TraceInput::own(name, Cursor::new(text.to_owned().into_bytes()))
}

fn replay_all(texts: &[&str], options: &ReplayOptions) -> (Replayed, String) {
    let inputs: Vec<_> = texts.iter().enumerate().map(|(n, text)| input(&format!("t{n}"), text)).collect();
    let mut out = String::new();
    let inputs = Box::new(inputs.into_iter());
    let replayed = replay(std::slice::from_ref(&*PLAN), inputs, options, &Lines, |part: String| {
        out += &part;
        Ok(())
    })
    .unwrap();
    assert!(replayed.ledger().balances(), "{:?}", replayed.ledger());
    (replayed, out)
}

fn replay_lines(lines: &[&str]) -> (Replayed, String) {
    replay_all(&[&lines.join("\n")], &options(1))
}

fn recorded(lines: &[&str], id: FindingId) -> u64 {
    replay_lines(lines).0.recorded.count(id, FindingBy::Recorded)
}

const PAID: &str = r#"{"tool":"pay","run_id":"r","args":{"order":1},"status":"ok"}"#;

#[test]
fn one_intent_that_succeeded_twice_is_a_duplicate_effect() {
    let again = r#"{"tool":"pay","run_id":"r","args":{"order":1.0},"status":"ok"}"#;
    assert_eq!(recorded(&[PAID, again, PAID], FindingId::DuplicateEffect), 2);
    let keyed = |run: &str, key: &str| {
        format!(r#"{{"tool":"pay","run_id":"{run}","args":{{}},"idempotency_key":"{key}","status":"ok"}}"#)
    };
    let again = replay_lines(&[&keyed("r", "k"), &keyed("s", "k")]).0;
    assert_eq!(again.recorded.count(FindingId::DuplicateEffect, FindingBy::Recorded), 0);
    let possible = &again.possible_duplicates;
    assert_eq!(possible.keyed.rows(), [("pay", 1)], "the upstream may have given its first answer again");
    assert_eq!(possible.undeclared.total(), 0, "somebody declared this tool");
    assert_eq!(again.recorded.count(FindingId::PossibleDuplicateEffect, FindingBy::Recorded), 1);
    assert_eq!(replay_lines(&[&keyed("r", "k"), &keyed("r", "l")]).0.possible_duplicates.keyed.total(), 0);
}

#[test]
fn other_arguments_a_failed_first_try_another_run_a_read_and_a_repeatable_tool_are_no_duplicates() {
    let with = |from: &str, to: &str| PAID.replace(from, to);
    for other in [with(":1}", ":2}"), with("\"ok\"", "\"error\""), with("\"r\"", "\"s\"")] {
        assert_eq!(recorded(&[&other, PAID], FindingId::DuplicateEffect), 0, "{other}");
    }
    for tool in ["read.x", "mail"] {
        let call = with("pay", tool);
        assert_eq!(recorded(&[&call, &call], FindingId::DuplicateEffect), 0, "{tool}");
    }
    let (replayed, _) = replay_all(&[PAID, PAID], &options(1));
    let proved = replayed.recorded.count(FindingId::DuplicateEffect, FindingBy::Recorded);
    assert_eq!(proved, 0, "two inputs prove nothing together");
}

#[test]
fn an_ok_beside_an_identical_call_that_may_have_acted_is_a_doubt_in_either_order() {
    let failed = |kind: &str| PAID.replace("\"ok\"", &format!("\"error\",\"error\":{{\"kind\":\"{kind}\"}}"));
    let (timeout, denied) = (failed("timeout"), failed("403_forbidden"));
    let doubts = |lines: &[&str]| recorded(lines, FindingId::PossibleDuplicateEffect);
    assert_eq!(doubts(&[&timeout, PAID]), 1);
    assert_eq!(doubts(&[PAID, &timeout]), 1);
    assert_eq!(doubts(&[&denied, PAID]) + doubts(&[PAID, &denied]), 0, "a denial did not act");
    assert_eq!(doubts(&[&timeout, &denied, PAID]) + doubts(&[&denied, &timeout, PAID]), 2);
    assert_eq!(doubts(&[PAID, &timeout, &timeout]), 1, "it is told once");
    assert_eq!(doubts(&[&timeout, PAID, PAID]), 1, "and then the effect is there twice, without a doubt");
    assert_eq!(recorded(&[&timeout, PAID, PAID], FindingId::DuplicateEffect), 1);
    assert_eq!(doubts(&[&timeout, &timeout]), 0, "nothing is proved to be there");
    for other in [(":1}", ":2}"), ("\"r\"", "\"s\""), ("\"pay\"", "\"read.x\""), ("\"pay\"", "\"mail\"")] {
        let with = |line: &str| line.replace(other.0, other.1);
        match other.0 {
            "\"pay\"" => assert_eq!(doubts(&[&with(&timeout), &with(PAID)]), 0, "{other:?}"),
            "\"r\"" => {
                assert_eq!(doubts(&[&with(&timeout), PAID]), 1, "a run that begins with what one before it left")
            }
            _ => assert_eq!(doubts(&[&with(&timeout), PAID]), 0, "{other:?}"),
        }
    }
    let keyed = |line: &str| line.replace("\"run_id\"", "\"idempotency_key\":\"k\",\"run_id\"");
    assert_eq!(doubts(&[&keyed(&timeout), &keyed(PAID)]), 0, "that is what a key is for");
}

/// A call, and its result.
fn written(run: &str, id: &str, order: usize) -> [String; 2] {
    let call = format!(r#"{{"tool":"pay","run_id":"{run}","call_id":"{id}","args":{{"order":{order}}}}}"#);
    [call, format!(r#"{{"run_id":"{run}","call_id":"{id}","status":"ok"}}"#)]
}

/// The possible duplicates of a trace.
fn doubts(lines: &[String]) -> u64 {
    recorded(&lines.iter().map(String::as_str).collect::<Vec<_>>(), FindingId::PossibleDuplicateEffect)
}

#[test]
fn a_write_under_one_call_id_is_compared_with_the_last_65_536_of_all_runs() {
    let mut lines = [written("r", "a", 0), written("r", "b", 1)].concat();
    lines.extend((2..65_537).map(|n| PAID.replace(":1}", &format!(":{n}}}"))));
    lines.extend(written("s", "b", 1));
    assert_eq!(doubts(&lines), 1);
    let end = lines.len() - 2;
    lines.splice(end.., written("s", "a", 0));
    assert_eq!(doubts(&lines), 0, "it was the 65,537th before");
}

#[test]
fn a_run_that_goes_on_makes_the_last_64_writes_of_the_one_before_again_and_under_one_call_id_any() {
    let doubts_of = |id: &str| {
        let before: Vec<[String; 2]> = (0..70).map(|n| written("r", &format!("r{n}"), n)).collect();
        let again = (0..70).flat_map(|n| written("s", &format!("{id}{n}"), n));
        // The second run begins while the writes of the first one are open.
        let mut lines = written("r", "first", 100).to_vec();
        lines.extend(before.iter().map(|[call, _]| call.clone()));
        lines.extend(written("s", "begins", 101));
        lines.extend(before.into_iter().map(|[_, result]| result));
        lines.extend(again);
        doubts(&lines)
    };
    assert_eq!((doubts_of("s"), doubts_of("r")), (64, 70));
}

#[test]
fn what_a_recording_shows_does_not_depend_on_which_playbook_is_named_first() {
    let failed = r#"{"call_id":"1","status":"error","error":{"kind":"tool_error","message":"seat not found"}}"#;
    let text = [r#"{"tool":"x.y","call_id":"1"}"#, failed, r#"{"call_id":"1","status":"ok"}"#].join("\n");
    let plan = |name: &str| {
        let text = playproof_formats::playbook::embedded(name).unwrap();
        let loaded = playproof_formats::playbook::parse(Source::whole(name, text)).unwrap();
        Plan::new(loaded.playbook, &Tools::default())
    };
    let doubts = |names: &[&str]| {
        let plans: Vec<Plan> = names.iter().map(|name| plan(name)).collect();
        let inputs = Box::new([input("t", &text)].into_iter());
        let replayed = replay(&plans, inputs, &options(1), &(), |()| Ok(())).unwrap();
        let listed = replayed.possible_duplicates.resent.total();
        (replayed.recorded.count(FindingId::PossibleDuplicateEffect, FindingBy::Recorded), listed)
    };
    assert_eq!((doubts(&["standard"]), doubts(&["reversing"])), ((0, 0), (1, 1)), "the two read the failure otherwise");
    assert_eq!(doubts(&["standard", "reversing"]), (1, 1));
    assert_eq!(doubts(&["reversing", "standard"]), (1, 1));
}

#[test]
fn an_effect_that_was_taken_back_is_none() {
    let reversed = [
        r#"{"tool":"pay","run_id":"r","call_id":"1","args":{"order":1}}"#,
        r#"{"run_id":"r","call_id":"1","status":"ok"}"#,
        r#"{"run_id":"r","call_id":"1","status":"ok","answers":"reversal"}"#,
    ];
    assert_eq!(recorded(&[reversed[0], reversed[1], reversed[2], PAID], FindingId::DuplicateEffect), 0);
    assert_eq!(recorded(&[reversed[0], reversed[1], PAID], FindingId::DuplicateEffect), 1);
}

#[test]
fn on_assumed_facts_a_repeated_effect_is_a_doubt_and_counted_by_tool() {
    let call = PAID.replace("pay", "unheard_of");
    let (replayed, _) = replay_lines(&[&call, &call, &call]);
    assert_eq!(replayed.possible_duplicates.undeclared.rows(), [("unheard_of", 2)]);
    assert_eq!(replayed.recorded.count(FindingId::PossibleDuplicateEffect, FindingBy::Recorded), 2);
    assert_eq!(replayed.recorded.count(FindingId::DuplicateEffect, FindingBy::Recorded), 0);
}

#[test]
fn of_an_evident_read_a_repeated_effect_is_a_note_and_the_claim_stays() {
    let severity = |tool: &str, lines: &[&str]| {
        let lines: Vec<String> = lines.iter().map(|line| line.replace("pay", tool)).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        severities(&lines, FindingId::PossibleDuplicateEffect)
    };
    let timeout = PAID.replace("\"ok\"", "\"error\",\"error\":{\"kind\":\"timeout\"}");
    let no_run = PAID.replace("\"run_id\":\"r\",", "");
    for lines in [[PAID, PAID], [&timeout, PAID], [&no_run, &no_run]] {
        assert_eq!(severity("get_order", &lines), [("note", 1)], "{lines:?}");
        assert_eq!(severity("order_get", &lines), [("doubt", 1)], "{lines:?}");
    }
    let claims = |tool: &str| {
        let summary = &replay_lines(&[&timeout.replace("pay", tool)]).0.summaries[0];
        (summary.claims, summary.outcomes, summary.verdicts.clone())
    };
    assert_eq!(claims("get_order"), claims("order_get"), "a guess decides nothing");
}

#[test]
fn a_call_that_is_read_as_an_attempt_of_the_one_before_it_is_as_futile() {
    let fails = r#"{"tool":"read.x","run_id":"r","args":{"q":1},"status":"error"}"#;
    let attempts = [
        r#"{"tool":"read.x","run_id":"s","call_id":"1","args":{"q":1}}"#,
        r#"{"run_id":"s","call_id":"1","status":"error"}"#,
        r#"{"run_id":"s","call_id":"1","status":"error"}"#,
    ];
    let found = |lines: &[&str]| {
        let assemble = AssembleOptions { join_resends: true, ..AssembleOptions::default() };
        let (_, out) = replay_all(&[&lines.join("\n")], &ReplayOptions { assemble, ..options(1) });
        let ids = out.split('"').filter(|id| id.starts_with("futile_retry"));
        ids.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(found(&[fails, fails, fails]), ["futile_retry x2"]);
    assert_eq!(found(&[fails, &fails.replace("error", "ok")]), Vec::<String>::new());
    assert_eq!(found(&attempts), Vec::<String>::new(), "the harness sent these, not the agent");
}

#[test]
fn a_failed_call_sent_again_unchanged_that_fails_again_is_futile_unless_something_was_written() {
    let fails = r#"{"tool":"read.x","run_id":"r","args":{"q":1},"status":"error"}"#;
    let wrote = r#"{"tool":"mail","run_id":"r","status":"ok"}"#;
    let looked = r#"{"tool":"read.y","run_id":"r","status":"ok"}"#;
    let elsewhere = r#"{"tool":"mail","run_id":"s","status":"ok"}"#;
    assert_eq!(recorded(&[fails, fails, fails], FindingId::FutileRetry), 2);
    assert_eq!(recorded(&[fails, looked, elsewhere, fails], FindingId::FutileRetry), 1);
    assert_eq!(recorded(&[fails, wrote, fails], FindingId::FutileRetry), 0);
    assert_eq!(recorded(&[fails, &fails.replace(":1}", ":2}")], FindingId::FutileRetry), 0);
    assert_eq!(recorded(&[fails, &fails.replace("error", "ok"), fails], FindingId::FutileRetry), 0);
    let parallel = [
        r#"{"tool":"read.x","call_id":"1"}"#,
        r#"{"tool":"read.x","call_id":"2"}"#,
        r#"{"call_id":"1","status":"error"}"#,
        r#"{"call_id":"2","status":"error"}"#,
    ];
    assert_eq!(recorded(&parallel, FindingId::FutileRetry), 0, "both were sent before either failed");
    let label_used_again = [
        r#"{"tool":"read.x","call_id":"1"}"#,
        r#"{"call_id":"1","status":"error"}"#,
        r#"{"tool":"read.x","call_id":"2"}"#,
        r#"{"call_id":"2","status":"error"}"#,
        r#"{"tool":"read.y","call_id":"2"}"#,
    ];
    assert_eq!(recorded(&label_used_again, FindingId::FutileRetry), 1, "the first call is still looked at first");
}

#[test]
fn advice_to_send_what_may_act_twice_is_unsafe_and_advice_that_is_not_taken_is_a_note() {
    let failed = |tool: &str, key: &str, told: &str| {
        format!(
            r#"{{"tool":"{tool}","run_id":"r","args":{{"order":1}}{key},"status":"error","error":{{"kind":"timeout"{told}}}}}"#
        )
    };
    let count = |tool: &str, key: &str, told: &str, id: FindingId| {
        let first = failed(tool, key, told);
        let again = failed(tool, key, "");
        (recorded(&[&first, &again], id), recorded(&[&first], id))
    };
    let (told_to, told_not) = (r#","retriable":true"#, r#","retriable":false"#);
    let key = r#","idempotency_key":"k""#;
    assert_eq!(count("pay", "", told_to, FindingId::UnsafeAdvice), (1, 0), "one call has made nothing again");
    assert_eq!(count("pay", key, told_to, FindingId::UnsafeAdvice), (0, 0));
    assert_eq!(count("pay", "", "", FindingId::UnsafeAdvice), (0, 0));
    assert_eq!(count("read.x", "", told_to, FindingId::UnsafeAdvice), (0, 0));
    assert_eq!(count("other", "", told_to, FindingId::UnsafeAdvice), (1, 0));
    for tool in ["pay", "read.x"] {
        assert_eq!(count(tool, "", told_not, FindingId::IgnoredAdvice), (1, 0), "{tool}");
        assert_eq!(count(tool, "", told_to, FindingId::IgnoredAdvice), (0, 0), "{tool}");
    }
    let refused =
        r#"{"tool":"pay","run_id":"r","args":{"order":1},"status":"error","error":{"status":429,"retriable":true}}"#;
    assert_eq!(recorded(&[refused, PAID], FindingId::UnsafeAdvice), 0, "it did nothing");
    let unadvised = failed("pay", "", "");
    let all = recorded(&[&unadvised, refused, PAID], FindingId::UnsafeAdvice);
    assert_eq!(all, 1, "the refusal did nothing, and the call before it may have");
    let other = failed("pay", "", told_not);
    assert_eq!(recorded(&[&other, &other.replace(":1}", ":2}")], FindingId::IgnoredAdvice), 0, "another request");
    let lost = failed("pay", "", told_to);
    assert_eq!(severities(&[&lost, &lost], FindingId::UnsafeAdvice), [("unsafe", 1)]);
    let undeclared = failed("other", "", told_to);
    assert_eq!(severities(&[&undeclared, &undeclared], FindingId::UnsafeAdvice), [("doubt", 1)]);
}

#[test]
fn one_call_more_than_ten_times_among_the_last_ten_thousand_is_a_loop() {
    let call = r#"{"tool":"read.x","run_id":"r","args":1,"status":"ok"}"#;
    assert_eq!(recorded(&[call; 10], FindingId::RunawayLoop), 0);
    assert_eq!(recorded(&[call; 12], FindingId::RunawayLoop), 2);
    let others: Vec<String> =
        (0..10_000).map(|n| format!(r#"{{"tool":"read.x","args":"{n}","status":"ok"}}"#)).collect();
    let mut lines = vec![call; 10];
    lines.extend(others.iter().map(String::as_str));
    lines.extend([call; 10]);
    assert_eq!(recorded(&lines, FindingId::RunawayLoop), 0);
}

#[test]
fn recorded_attempts_are_judged_by_themselves() {
    let attempts = |tool: &str, error: &str| {
        [
            format!(r#"{{"tool":"{tool}","call_id":"1","timeout_ms":10,"at_ms":0}}"#),
            format!(r#"{{"call_id":"1","status":"error","error":{error},"at_ms":20}}"#),
            r#"{"call_id":"1","status":"ok","started_ms":30,"at_ms":40}"#.to_owned(),
        ]
    };
    let count = |tool: &str, error: &str, id| recorded(&attempts(tool, error).each_ref().map(String::as_str), id);
    assert_eq!(count("pay", r#"{"kind":"timeout"}"#, FindingId::UnsafeRetry), 1);
    assert_eq!(count("read.x", r#"{"kind":"timeout"}"#, FindingId::UnsafeRetry), 0);
    assert_eq!(count("other", r#"{"kind":"timeout"}"#, FindingId::PossibleDuplicateEffect), 1);
    assert_eq!(count("pay", r#"{"status":403}"#, FindingId::UnsafeRetry), 0);
    assert_eq!(count("pay", r#"{"status":403}"#, FindingId::RetriedAfterDenial), 1);
    let processed = r#"{"status":409,"message":"key already processed"}"#;
    assert_eq!(
        count("pay", processed, FindingId::RetriedAfterConflict),
        0,
        "without a key it says nothing of this call"
    );
    assert_eq!(count("pay", processed, FindingId::OverTimeout), 1);
    assert_eq!(recorded(&[PAID], FindingId::OverTimeout), 0);
}

/// The severities of one finding of the recording, each with its number of calls.
fn severities(lines: &[&str], id: FindingId) -> Vec<(&'static str, u64)> {
    let recorded = replay_lines(lines).0.recorded;
    let rows = recorded.rows().filter(|(kind, ..)| kind.id == id);
    rows.map(|(kind, _, count)| (kind.severity.as_str(), count)).collect()
}

fn failed(kind: &str) -> String {
    PAID.replace("\"ok\"", &format!("\"error\",\"error\":{{\"kind\":\"{kind}\"}}"))
}

#[test]
fn a_write_without_a_key_that_is_made_again_after_one_that_may_have_acted_is_an_unsafe_retry() {
    let (timeout, denied) = (failed("timeout"), failed("403_forbidden"));
    let unsafe_retries = |lines: &[&str]| severities(lines, FindingId::UnsafeRetry);
    for end in [&timeout, &denied, PAID] {
        assert_eq!(unsafe_retries(&[&timeout, end]), [("unsafe", 1)], "whatever the end of the second one");
    }
    assert_eq!(unsafe_retries(&[&timeout, &timeout, &timeout]), [("unsafe", 2)]);
    for first in [&denied, PAID] {
        assert_eq!(unsafe_retries(&[first, &timeout]), [], "a refusal did not act, and an ok is another finding");
    }
    for (from, to) in [(":1}", ":2}"), ("\"r\"", "\"s\""), ("pay", "read.x"), ("pay", "mail")] {
        let second = timeout.replace(from, to);
        let first = if from == "pay" { &second } else { &timeout };
        assert_eq!(unsafe_retries(&[first, &second]), [], "{to}");
    }
    let keyed = timeout.replace("\"run_id\"", "\"idempotency_key\":\"k\",\"run_id\"");
    assert_eq!(unsafe_retries(&[&keyed, &keyed]), []);
}

#[test]
fn what_is_not_proved_of_a_repeated_write_is_a_doubt() {
    let timeout = failed("timeout");
    let doubts = |lines: &[&str]| severities(lines, FindingId::PossibleDuplicateEffect);
    let undeclared = timeout.replace("pay", "unheard_of");
    assert_eq!(doubts(&[&undeclared, &undeclared]), [("doubt", 1)]);
    let no_run = timeout.replace(r#""run_id":"r","#, "");
    assert_eq!(doubts(&[&no_run, &no_run]), [("doubt", 1)]);
    let open = r#"{"tool":"pay","run_id":"r","args":{"order":1}}"#;
    assert_eq!(doubts(&[open, &timeout]), [("doubt", 1)], "without an end it may have run at the same time");
    for lines in [[&*undeclared, &undeclared], [&no_run, &no_run], [open, &timeout]] {
        assert_eq!(severities(&lines, FindingId::UnsafeRetry), []);
    }
    let parallel = [
        r#"{"tool":"pay","run_id":"r","call_id":"1"}"#,
        r#"{"tool":"pay","run_id":"r","call_id":"2"}"#,
        r#"{"run_id":"r","call_id":"1","status":"error","error":{"kind":"timeout"}}"#,
        r#"{"run_id":"r","call_id":"2","status":"error","error":{"kind":"timeout"}}"#,
    ];
    assert_eq!(doubts(&parallel), [("doubt", 1)], "the second was sent before the first had ended");
}

#[test]
fn times_say_which_call_ended_before_another_was_made_where_there_are_any() {
    let lines = |made: u32| {
        [
            r#"{"tool":"pay","run_id":"r","call_id":"1","args":{"order":1},"at_ms":0}"#.to_owned(),
            format!(r#"{{"tool":"pay","run_id":"r","call_id":"2","args":{{"order":1}},"at_ms":{made}}}"#),
            r#"{"run_id":"r","call_id":"1","at_ms":500,"status":"error","error":{"kind":"timeout"}}"#.to_owned(),
            r#"{"run_id":"r","call_id":"2","at_ms":9000,"status":"error","error":{"kind":"timeout"}}"#.to_owned(),
        ]
    };
    let unsafe_retries = |made| recorded(&lines(made).each_ref().map(String::as_str), FindingId::UnsafeRetry);
    assert_eq!((unsafe_retries(400), unsafe_retries(600)), (0, 1));
}

#[test]
fn a_call_that_is_made_again_after_a_denial_or_a_conflict_is_found() {
    let denied = failed("403_forbidden");
    let denials = |lines: &[&str]| severities(lines, FindingId::RetriedAfterDenial);
    assert_eq!(denials(&[&denied, &denied, PAID, PAID]), [("unsafe", 2)], "after a success it is none");
    assert_eq!(denials(&[&denied, &denied.replace(":1}", ":2}")]), []);
    assert_eq!(denials(&[&denied, &denied.replace("\"r\"", "\"s\"")]), []);
    let suspected = PAID.replace(r#""ok""#, r#""suspected","error":{"message":"User not found"}"#);
    assert_eq!(denials(&[&denied, &suspected, PAID]), [("unsafe", 2)], "a suspected failure is no success");
    assert_eq!(denials(&[&denied, PAID, &suspected]), [("unsafe", 1)]);
    let undeclared = denied.replace("pay", "unheard_of");
    assert_eq!(denials(&[&undeclared, &undeclared]), [("doubt", 1)]);
    let processed = PAID.replace(
        r#""status":"ok""#,
        r#""idempotency_key":"k","status":"error","error":{"status":409,"message":"key already processed"}"#,
    );
    let conflicts = |line: &str| severities(&[line, line], FindingId::RetriedAfterConflict);
    assert_eq!(conflicts(&processed), [("unsafe", 1)]);
    let unkeyed = processed.replace(r#""idempotency_key":"k","#, "");
    assert_eq!(conflicts(&unkeyed), []);
    assert_eq!(severities(&[&unkeyed, &processed, PAID], FindingId::RetriedAfterConflict), [("unsafe", 1)]);
    assert_eq!(conflicts(&processed.replace("processed\"", "processed; pending\"")), []);
    let named = |key: &str| processed.replace("key already", &format!("idempotency key {key} was already"));
    assert_eq!(conflicts(&named("'k'")), [("unsafe", 1)]);
    assert_eq!(conflicts(&named("'l'")), [], "it is about another request");
}

#[test]
fn one_request_under_another_key_is_unsafe_after_a_call_that_may_have_acted_or_if_both_succeeded() {
    let keyed =
        |line: &str, key: &str| line.replace("\"run_id\"", &format!("\"idempotency_key\":\"{key}\",\"run_id\""));
    let timeout = failed("timeout");
    let resent = |lines: &[&str]| severities(lines, FindingId::ResentUnderNewKey);
    assert_eq!(resent(&[&keyed(PAID, "k"), &keyed(PAID, "l")]), [("unsafe", 1)]);
    assert_eq!(resent(&[&keyed(PAID, "k"), PAID]), [("unsafe", 1)]);
    assert_eq!(resent(&[PAID, &keyed(PAID, "k")]), [("unsafe", 1)]);
    assert_eq!(resent(&[&keyed(&timeout, "k"), &keyed(PAID, "l")]), [("unsafe", 1)]);
    let argument = |line: &str, key: &str| line.replace(":1}", &format!(":1,\"idempotency_key\":\"{key}\"}}"));
    assert_eq!(resent(&[&argument(&timeout, "k"), &argument(PAID, "l")]), [("unsafe", 1)]);
    assert_eq!(resent(&[&keyed(PAID, "k"), &keyed(&timeout, "l")]), [("doubt", 1)]);
    for (from, to) in [("pay", "unheard_of"), ("\"run_id\":\"r\",", "")] {
        let doubt = |key| keyed(PAID, key).replace(from, to);
        assert_eq!(resent(&[&doubt("k"), &doubt("l")]), [("doubt", 1)], "{from}");
    }
    assert_eq!(resent(&[&keyed(&failed("403_forbidden"), "k"), &keyed(PAID, "l")]), []);
    assert_eq!(resent(&[&keyed(PAID, "k"), &keyed(PAID, "k")]), []);
    for (from, to) in [("pay", "read.x"), ("pay", "mail"), (":1}", ":2}"), ("\"r\"", "\"s\"")] {
        let (first, second) = (keyed(PAID, "k"), keyed(PAID, "l").replace(from, to));
        let first = if from == "pay" { first.replace(from, to) } else { first };
        assert_eq!(resent(&[&first, &second]), [], "{to}");
    }
}

#[test]
fn a_key_with_other_arguments_is_a_doubt_and_its_ok_proves_nothing_in_any_run_and_input() {
    let keyed = PAID.replace("\"run_id\"", "\"idempotency_key\":\"k\",\"run_id\"");
    let other = keyed.replace(":1}", ":2}").replace("\"r\"", "\"s\"");
    for texts in [&[&*format!("{keyed}\n{other}")][..], &[&*keyed, &*other]] {
        let (replayed, out) = replay_all(texts, &options(1));
        let rows: Vec<_> =
            replayed.recorded.rows().map(|(kind, ..)| (kind.severity.as_str(), kind.id.as_str())).collect();
        assert_eq!(rows, [("doubt", "key_reused")], "{out}");
        let claims = |claim| replayed.summaries[0].claim(claim);
        assert_eq!((claims(EffectClaim::Applied), claims(EffectClaim::Unknown)), (1, 1));
        assert_eq!((replayed.summaries[0].effects.recorded, replayed.summaries[0].effects.unobserved), (1, 1));
    }
    let (same, _) = replay_all(&[&keyed, &keyed.replace("\"r\"", "\"s\"")], &options(1));
    assert_eq!(same.recorded.count(FindingId::KeyReused, FindingBy::Recorded), 0);
    assert_eq!(same.recorded.count(FindingId::PossibleDuplicateEffect, FindingBy::Recorded), 1, "as in one input");
    assert_eq!(recorded(&[&keyed, &other.replace("pay", "mail")], FindingId::KeyReused), 0, "a key belongs to a tool");
    let read = |line: &str| line.replace("pay", "read.x");
    assert_eq!(recorded(&[&read(&keyed), &read(&other)], FindingId::KeyReused), 0);
}

#[test]
fn a_reused_key_is_found_once_for_each_further_request_in_any_order_of_the_inputs() {
    let call = |run: &str, order: u32| {
        let keyed = PAID.replace("\"run_id\"", "\"idempotency_key\":\"k\",\"run_id\"");
        keyed.replace(":1}", &format!(":{order}}}")).replace("\"r\"", &format!("\"{run}\""))
    };
    let (twice, once) = (format!("{}\n{}", call("r", 1), call("r", 1)), call("s", 2));
    let third = call("t", 3);
    let count = |texts: &[&str]| {
        let (replayed, _) = replay_all(texts, &options(1));
        replayed.recorded.count(FindingId::KeyReused, FindingBy::Recorded)
    };
    assert_eq!((count(&[&twice, &once]), count(&[&once, &twice])), (1, 1));
    assert_eq!((count(&[&twice, &once, &third]), count(&[&third, &once, &twice])), (2, 2));
    assert_eq!((count(&[&twice]), count(&[&once, &once])), (0, 0));
}

#[test]
fn identical_calls_without_a_run_are_a_doubt_and_no_proof() {
    let no_run = PAID.replace(r#""run_id":"r","#, "");
    assert_eq!(severities(&[&no_run, &no_run], FindingId::DuplicateEffect), []);
    assert_eq!(severities(&[&no_run, &no_run], FindingId::PossibleDuplicateEffect), [("doubt", 1)]);
    assert_eq!(replay_lines(&[&no_run, &no_run]).0.possible_duplicates.without_run.rows(), [("pay", 1)]);
    assert_eq!(severities(&[PAID, PAID], FindingId::DuplicateEffect), [("unsafe", 1)]);
}

#[test]
fn the_answers_of_a_call_decide_what_the_next_one_repeats() {
    let call = |tool: &str, id: &str| format!(r#"{{"tool":"{tool}","run_id":"r","call_id":"{id}","args":{{}}}}"#);
    let answer = |id: &str, rest: &str| format!(r#"{{"run_id":"r","call_id":"{id}",{rest}}}"#);
    let denied = r#""status":"error","error":{"kind":"403_forbidden","status":403}"#;
    let timeout = r#""status":"error","error":{"kind":"timeout"}"#;
    let second = |tool: &str, results: &[&str], id: FindingId| {
        let mut lines = vec![call(tool, "1")];
        lines.extend(results.iter().map(|rest| answer("1", rest)));
        let first = recorded(&lines.iter().map(String::as_str).collect::<Vec<_>>(), id);
        lines.extend([call(tool, "2"), answer("2", "\"status\":\"ok\"")]);
        recorded(&lines.iter().map(String::as_str).collect::<Vec<_>>(), id) - first
    };
    let after_denial = |results: &[&str]| second("pay", results, FindingId::RetriedAfterDenial);
    assert_eq!((after_denial(&[timeout, denied]), after_denial(&[denied, timeout])), (1, 0), "the last answer counts");
    let numbered = format!("\"attempt\":2,{denied}");
    let unsafe_retry = |results: &[&str]| second("pay", results, FindingId::UnsafeRetry);
    assert_eq!(
        (unsafe_retry(&[&numbered]), unsafe_retry(&[denied])),
        (1, 0),
        "an attempt that is left out may have acted"
    );
    let suspected = "\"status\":\"suspected\",\"error\":{\"message\":\"User not found\"}";
    assert_eq!((unsafe_retry(&[suspected]), second("read.x", &[suspected], FindingId::UnsafeRetry)), (1, 0));
}

#[test]
fn a_key_is_resent_by_an_ok_of_a_tool_that_acts_again() {
    let keyed = |line: &str| line.replace("\"run_id\"", "\"idempotency_key\":\"k\",\"run_id\"");
    let (ok, denied) = (keyed(PAID), keyed(&failed("403_forbidden")));
    let doubts = |lines: &[&str]| severities(lines, FindingId::PossibleDuplicateEffect);
    assert_eq!(doubts(&[&ok, &ok]), [("doubt", 1)]);
    assert_eq!(doubts(&[&ok, &ok, &denied]), [("doubt", 1)], "a denial adds no effect");
    for tool in ["mail", "put", "read.x"] {
        let call = ok.replace("pay", tool);
        assert_eq!(doubts(&[&call, &call]), [], "{tool}");
    }
    let put = PAID.replace("pay", "put");
    assert_eq!(severities(&[&put, &put], FindingId::DuplicateEffect), [], "it changes as much as one");
}

#[test]
fn a_missing_object_is_a_refusal_where_the_words_name_it_and_unknown_where_a_status_says_it() {
    let claim = |tool: &str, rest: &str| {
        let summary = &replay_lines(&[&PAID.replace("pay", tool).replace("\"status\":\"ok\"", rest)]).0.summaries[0];
        EffectClaim::ALL.into_iter().find(|&claim| summary.claim(claim) == 1)
    };
    let words = |text: &str| format!(r#""status":"error","error":{{"kind":"tool_error","message":"{text}"}}"#);
    let status = r#""status":"error","error":{"kind":"404_not_found","status":404,"message":"Recipient not found"}"#;
    assert_eq!(claim("pay", &words("Recipient not found")), Some(EffectClaim::NotApplied));
    assert_eq!(claim("pay", &words("Paid, but the recipient was not found")), Some(EffectClaim::Unknown));
    assert_eq!(claim("pay", status), Some(EffectClaim::Unknown), "a first answer may be hidden");
    assert_eq!(claim("read.x", status), Some(EffectClaim::NotApplied));
    let timeout = r#"{"run_id":"r","call_id":"1","status":"error","error":{"kind":"timeout"}}"#;
    let refused = format!(r#"{{"run_id":"r","call_id":"1",{}}}"#, words("Recipient not found"));
    let call = r#"{"tool":"pay","run_id":"r","call_id":"1","args":{},"idempotency_key":"k"}"#;
    let lost = replay_lines(&[call, timeout, &refused]).0;
    assert_eq!(lost.summaries[0].claim(EffectClaim::Unknown), 1, "a refusal says nothing about the attempt before it");
}

/// Severities, ids and counts of what inputs show together.
fn shown_by(texts: &[&str]) -> Vec<(&'static str, &'static str, u64)> {
    let rows = replay_all(texts, &options(1)).0.recorded;
    rows.rows().map(|(kind, _, count)| (kind.severity.as_str(), kind.id.as_str(), count)).collect()
}

#[test]
fn identical_writes_of_one_run_id_in_two_inputs_are_a_doubt() {
    let doubt = [("doubt", "possible_duplicate_effect", 1)];
    let unanswered = PAID.replace(r#","status":"ok""#, "");
    assert_ne!(unanswered, PAID);
    for (first, second) in [(PAID, PAID), (&*unanswered, PAID), (PAID, &*unanswered)] {
        assert_eq!(shown_by(&[first, second]), doubt, "{first} {second}");
        assert_eq!(shown_by(&[first, "{\"tool\":\"read.x\"}", second]), doubt, "an input lies between them");
    }
    let (replayed, _) = replay_all(&[PAID, PAID], &options(1));
    assert_eq!(replayed.possible_duplicates.two_inputs.rows(), [("pay", 1)]);
    let refused = PAID.replace(r#""status":"ok""#, r#""status":"error","error":{"kind":"403_forbidden","status":403}"#);
    let alone = shown_by(&[&refused]);
    for look_alike in [PAID.replace("\"r\"", "\"s\""), PAID.replace(":1}", ":2}")] {
        assert_eq!(shown_by(&[PAID, &look_alike]), [], "{look_alike}");
    }
    for tool in ["mail", "put", "read.x"] {
        let call = PAID.replace("pay", tool);
        assert_eq!(shown_by(&[&call, &call]), [], "{tool}");
    }
    let no_run = PAID.replace(r#""run_id":"r","#, "");
    for (first, second) in [(&*no_run, &*no_run), (PAID, &no_run), (&no_run, PAID)] {
        assert_eq!(shown_by(&[first, second]), doubt, "files without run ids may have parts of one run");
        assert_eq!(shown_by(&[first, &second.replace(":1}", ":2}")]), [], "another request");
    }
    let (replayed, _) = replay_all(&[&no_run, &no_run], &options(1));
    assert_eq!(replayed.possible_duplicates.without_run.rows(), [("pay", 1)]);
    let no_args = no_run.replace(r#","args":{"order":1}"#, "");
    assert_ne!(no_args, no_run);
    assert_eq!(shown_by(&[&no_run, &no_args]), doubt, "nor need the arguments be recorded");
    assert_eq!(shown_by(&[PAID, &refused]), alone, "what is refused adds no effect");
    // What one input proves stays proved.
    let twice = format!("{PAID}\n{PAID}");
    assert_eq!(
        shown_by(&[PAID, &twice]),
        [("unsafe", "duplicate_effect", 1), ("doubt", "possible_duplicate_effect", 1)]
    );
}

/// The payment under a key.
fn paid_under(key: &str) -> String {
    PAID.replace("\"run_id\"", &format!("\"idempotency_key\":\"{key}\",\"run_id\""))
}

#[test]
fn a_request_under_another_key_in_what_may_be_its_run_is_a_doubt() {
    let doubt = [("doubt", "possible_duplicate_effect", 1)];
    let unanswered = paid_under("k2").replace(r#","status":"ok""#, "");
    for second in [&paid_under("k2"), PAID, &unanswered] {
        assert_eq!(shown_by(&[&paid_under("k1"), second]), doubt, "{second}");
        assert_eq!(shown_by(&[second, &paid_under("k1")]), doubt, "{second}");
    }
    let no_run = paid_under("k2").replace(r#""run_id":"r","#, "");
    assert_eq!(shown_by(&[&format!("{}\n{no_run}", paid_under("k1"))]), doubt);
    let (replayed, shown) = replay_all(&[&paid_under("k1"), &paid_under("k2")], &options(1));
    assert_eq!(replayed.possible_duplicates.two_inputs.rows(), [("pay", 1)]);
    assert!(shown.contains("possible_duplicate_effect x2"), "{shown}");
    // A key has one effect, however often it is sent.
    let twice = format!("{}\n{}", paid_under("k1"), paid_under("k1"));
    let shown = replay_all(&[&twice, &paid_under("k2")], &options(1)).1;
    assert!(shown.lines().last().is_some_and(|last| last.contains("possible_duplicate_effect x2")), "{shown}");
    assert_eq!(shown_by(&[&paid_under("k2"), &unanswered]), [], "one key is one intent");
    assert_eq!(shown_by(&[&paid_under("k1"), &no_run]), doubt);
    // Look-alikes: another run, another request.
    let other_run = paid_under("k2").replace("\"r\"", "\"s\"");
    for look_alike in [other_run, paid_under("k2").replace(":1}", ":2}")] {
        assert_eq!(shown_by(&[&paid_under("k1"), &look_alike]), [], "{look_alike}");
    }
}

#[test]
fn a_denial_of_what_may_be_the_same_request_is_a_doubt_for_the_next_one() {
    let found =
        |texts: &[&str]| shown_by(texts).into_iter().filter(|(_, id, _)| id.contains("retried")).collect::<Vec<_>>();
    let with = |error: &str| PAID.replace(r#""status":"ok""#, &format!(r#""status":"error","error":{{{error}}}"#));
    let denied = with(r#""kind":"403_forbidden","status":403"#);
    let doubt = [("doubt", "retried_after_denial", 1)];
    for tool in ["pay", "read.x"] {
        let [denied, paid] = [&*denied, PAID].map(|line| line.replace("pay", tool));
        assert_eq!(found(&[&denied, &paid]), doubt, "two inputs");
        let no_run = |line: &str| line.replace(r#""run_id":"r","#, "");
        for (first, second) in [(no_run(&denied), paid.clone()), (denied.clone(), no_run(&paid))] {
            assert_eq!(found(&[&format!("{first}\n{second}")]), doubt, "one call names no run");
        }
        // Look-alikes: the denial comes later, is of another run or request, or a success came in between.
        let other = denied.replace("\"r\"", "\"s\"");
        let done = format!("{paid}\n{paid}");
        for texts in [
            [&paid, &denied],
            [&other, &paid],
            [&denied.replace(":1}", ":2}"), &paid],
            [&no_run(&paid), &no_run(&denied)],
        ] {
            assert_eq!(found(&texts.map(String::as_str)), [], "{texts:?}");
        }
        assert_eq!(found(&[&no_run(&denied), &no_run(&paid)]), doubt, "two inputs without runs");
        assert_eq!(found(&[&denied, &done]), doubt, "the first of both only");
        // In one run it is no doubt.
        assert_eq!(found(&[&format!("{denied}\n{paid}")]), [("unsafe", "retried_after_denial", 1)]);
    }
    let call = |id: u32, run: &str| format!(r#"{{"tool":"pay","call_id":"{id}",{run}"args":{{"order":1}}}}"#);
    let result = |id: u32, run: &str, rest: &str| format!(r#"{{"type":"tool_result","call_id":"{id}",{run}{rest}}}"#);
    let (run, denial) = (r#""run_id":"r","#, r#""status":"error","error":{"kind":"403_forbidden"}"#);
    let (first, second) = (result(1, "", denial), result(2, run, r#""status":"ok""#));
    let in_order = |lines: [&str; 4]| found(&[&lines.join("\n")]);
    assert_eq!(in_order([&call(1, ""), &first, &call(2, run), &second]), doubt);
    assert_eq!(in_order([&call(1, ""), &call(2, run), &first, &second]), [], "made before the denial");
    let processed = with(r#""kind":"409_conflict","status":409,"message":"idempotency_key already processed""#);
    let processed = processed.replace("\"run_id\"", "\"idempotency_key\":\"k\",\"run_id\"");
    assert_eq!(found(&[&processed, &paid_under("k")]), [("doubt", "retried_after_conflict", 1)]);
    assert_eq!(found(&[&paid_under("k"), &processed]), []);
}

#[test]
fn writes_of_which_one_has_no_recorded_arguments_are_a_doubt() {
    let missing = PAID.replace("\"args\":{\"order\":1},", "");
    assert_ne!(missing, PAID);
    let doubt = [("doubt", "possible_duplicate_effect", 1)];
    for (first, second) in [(PAID, &*missing), (&*missing, PAID)] {
        let (replayed, shown) = replay_all(&[&format!("{first}\n{second}")], &options(1));
        assert_eq!(shown_by(&[&format!("{first}\n{second}")]), doubt);
        assert!(shown.lines().last().is_some_and(|last| last.contains("possible_duplicate_effect x2")), "{shown}");
        assert_eq!(replayed.possible_duplicates.without_arguments.rows(), [("pay", 1)]);
    }
    assert_eq!(shown_by(&[PAID, &missing]), doubt, "one run id in two inputs");
    let no_run = |line: &str| line.replace(r#""run_id":"r","#, "");
    assert_eq!(shown_by(&[&format!("{}\n{}", no_run(PAID), no_run(&missing))]), doubt);
    // Look-alikes: another run, another tool, other arguments, a tool whose calls each act.
    let refused = missing.replace(r#""status":"ok""#, r#""status":"error","error":{"kind":"429_rate_limited"}"#);
    for second in
        [missing.replace("\"r\"", "\"s\""), missing.replace("pay", "mail"), PAID.replace(":1}", ":2}"), refused]
    {
        assert_eq!(shown_by(&[&format!("{PAID}\n{second}")]), [], "{second}");
    }
    assert_eq!(shown_by(&[&no_run(PAID), &no_run(&missing)]), doubt, "two files without runs");
}

#[test]
fn identical_writes_with_a_run_and_without_one_are_a_doubt() {
    let no_run = PAID.replace(r#""run_id":"r","#, "");
    let doubt = [("doubt", "possible_duplicate_effect", 1)];
    for (first, second) in [(PAID, &*no_run), (&*no_run, PAID)] {
        assert_eq!(shown_by(&[&format!("{first}\n{second}")]), doubt);
    }
    let other = no_run.replace(":1}", ":2}");
    assert_eq!(shown_by(&[&format!("{PAID}\n{other}")]), []);
    assert_eq!(shown_by(&[&format!("{PAID}\n{}", PAID.replace("\"r\"", "\"s\""))]), [], "two runs are two intents");
}

#[test]
fn a_doubt_counts_the_effects_of_all_places_and_tells_the_strongest_reason() {
    let with_run = |run: &str| PAID.replace("\"r\"", run);
    let unanswered = PAID.replace(r#","status":"ok""#, "");
    let found = |texts: &[&str]| replay_all(texts, &options(1)).1;
    for (texts, count) in [
        (&[PAID, PAID, PAID][..], "possible_duplicate_effect x3"),
        (&[&unanswered, &unanswered], "possible_duplicate_effect x2"),
        (&[&format!("{PAID}\n{PAID}"), PAID], "possible_duplicate_effect x3"),
        (&[&format!("{PAID}\n{}", with_run("\"s\"")), PAID], "possible_duplicate_effect x2"),
    ] {
        let out = found(texts);
        assert!(out.lines().last().is_some_and(|last| last.contains(count)), "{out}");
    }
    let no_run = |line: &str| line.replace(r#""run_id":"r","#, "");
    let empty = PAID.replace("\"order\":1", "");
    let missing = empty.replace("\"args\":{},", "");
    let one_input = [&*missing, &no_run(&empty), &empty].join("\n");
    let possible = replay_all(&[&one_input], &options(1)).0.possible_duplicates;
    assert_eq!((possible.without_run.total(), possible.without_arguments.total()), (2, 0), "a run is the stronger one");
    let two_inputs = replay_all(&[&empty, &[&*no_run(&empty), &missing, &empty].join("\n")], &options(1)).0;
    assert_eq!(two_inputs.possible_duplicates.two_inputs.total(), 2, "two inputs are the strongest");
}

#[test]
fn arguments_that_are_missing_null_or_empty_are_a_doubt() {
    let args = PAID.split_once("\"args\":").and_then(|(_, rest)| Some(rest.split_once('}')?.0)).expect("arguments");
    let with = |args_now: &str| PAID.replace(&format!("{args}}}"), args_now);
    let missing = with("{}").replace("\"args\":{},", "").replace(",\"args\":{}", "");
    assert!(!missing.contains("args"), "{missing}");
    let all = [with("{}"), with("null"), missing]; // the last two say the same
    for (n, first) in all.iter().enumerate() {
        for (m, second) in all.iter().enumerate() {
            let found = match (n, m) {
                (0, 0) => ("unsafe", "duplicate_effect", 1),
                _ => ("doubt", "possible_duplicate_effect", 1), // two without arguments may be two requests
            };
            assert_eq!(shown_by(&[&format!("{first}\n{second}")]), [found], "{first} {second}");
        }
    }
    assert_eq!(shown_by(&[&format!("{}\n{PAID}", all[0])]), [], "one with arguments is another request");
    let [empty, _, missing] = all;
    let timed_out = failed("timeout").replace("\"args\":{\"order\":1},", "");
    assert_eq!(severities(&[&timed_out, &timed_out], FindingId::UnsafeRetry), [], "both may be other requests");
    assert_eq!(severities(&[&timed_out, &timed_out], FindingId::PossibleDuplicateEffect), [("doubt", 1)]);
    let denied = failed("403_forbidden").replace("\"args\":{\"order\":1},", "");
    assert_eq!(severities(&[&denied, &denied], FindingId::RetriedAfterDenial), [("doubt", 1)]);
    let no_run = |line: &str| line.replace(r#""run_id":"r","#, "");
    let together = |second: &str| format!("{}\n{second}", no_run(&empty));
    assert_eq!(shown_by(&[&together(&no_run(&missing))]), [("doubt", "possible_duplicate_effect", 1)], "without a run");
    let other_run = missing.replace("\"r\"", "\"s\"");
    assert_eq!(shown_by(&[&format!("{empty}\n{other_run}")]), [], "in two runs");
}

#[test]
fn a_reversal_token_that_another_call_of_the_run_redeemed_is_a_doubt() {
    let call = |run: &str, id: u32, token: &str, reversal: &str| {
        let call =
            format!(r#""run_id":"{run}","call_id":"{id}","reversal_token":"{token}","args":{{"order":{id}}},{OK}"#);
        let reversal = format!(r#""run_id":"{run}","call_id":"{id}","answers":"reversal",{reversal}"#);
        format!("{{\"tool\":\"pay\",{call}}}\n{{\"type\":\"tool_result\",{reversal}}}\n")
    };
    let first = call("r", 1, "t", OK);
    assert_eq!(shown_by(&[&(first.clone() + &call("r", 2, "t", OK))]), [("doubt", "token_reused", 1)]);
    // Look-alikes: another token, another run, another input, and a reversal that was refused.
    let refused = r#""status":"error","error":{"kind":"x","status":410}"#;
    for second in [call("r", 2, "u", OK), call("s", 2, "t", OK), call("r", 2, "t", refused)] {
        assert_eq!(shown_by(&[&(first.clone() + &second)]), [], "{second}");
    }
    assert_eq!(shown_by(&[&first, &call("r", 2, "t", OK)]), []);
}

#[test]
fn an_effect_whose_reversal_is_unclear_may_be_there() {
    let call = |id: u32| PAID.replace("\"tool\"", &format!("\"call_id\":\"{id}\",\"tool\""));
    let after = |reversal: &str| {
        let reversal =
            format!(r#"{{"type":"tool_result","run_id":"r","call_id":"1","answers":"reversal",{reversal}}}"#);
        shown_by(&[&[call(1), reversal, call(2)].join("\n")])
    };
    let maybe = [("unsafe", "unsafe_retry", 1), ("doubt", "possible_duplicate_effect", 1)];
    assert_eq!(after(TIMEOUT), maybe);
    assert_eq!(after(r#""status":"error""#), maybe, "without an error object");
    assert_eq!(after(r#""status":"error","error":{"kind":"x","status":410}"#), [("unsafe", "duplicate_effect", 1)]);
    assert_eq!(after(OK), []);
}

/// A call of a tool with these results.
fn call_with(tool: &str, results: &[&str]) -> Vec<String> {
    let call = format!(r#"{{"tool":"{tool}","run_id":"r","call_id":"1","at_ms":0,"args":{{}}}}"#);
    let result = |fields: &&str| format!(r#"{{"run_id":"r","call_id":"1",{fields}}}"#);
    std::iter::once(call).chain(results.iter().map(result)).collect()
}

const OK: &str = r#""status":"ok""#;
const TIMEOUT: &str = r#""status":"error","error":{"kind":"timeout"}"#;

fn of_results(tool: &str, results: &[&str]) -> Vec<(&'static str, u64)> {
    let lines = call_with(tool, results);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let rows = replay_lines(&lines).0.recorded;
    rows.rows().map(|(kind, _, count)| (kind.id.as_str(), count)).collect()
}

#[test]
fn what_one_call_may_have_done_twice_is_found() {
    let numbered = |n: u32, said: &str| format!(r#""attempt":{n},{said}"#);
    let doubt = [("possible_duplicate_effect", 1)];
    assert_eq!(of_results("pay", &[&numbered(1, OK), &numbered(2, TIMEOUT)]), doubt);
    assert_eq!(of_results("mail", &[&numbered(1, OK), &numbered(2, TIMEOUT)]), []);
    assert_eq!(of_results("mail", &[&numbered(1, OK), &numbered(2, OK)]), [("duplicate_effect", 1)]);
    assert_eq!(of_results("mail", &[OK]), []);
    assert_eq!(of_results("pay", &[OK, OK]), doubt, "nothing says whether this is one attempt");
    assert_eq!(of_results("read.x", &[OK, OK]), []);
    for same in [numbered(1, OK), format!("\"at_ms\":5,{OK}")] {
        assert_eq!(of_results("pay", &[&same, &same]), [], "one attempt");
    }
    assert_eq!(of_results("pay", &[&numbered(2, OK)]), [("unsafe_retry", 1)], "the first attempt may have acted");
    assert_eq!(of_results("pay", &[&numbered(1, OK)]), []);
}

#[test]
fn the_order_of_a_calls_results_changes_nothing_where_numbers_or_times_say_it() {
    let again = r#"{"tool":"pay","run_id":"r","args":{},"status":"error","error":{"kind":"timeout"}}"#;
    for [first, second] in [["\"attempt\":1", "\"attempt\":2"], ["\"at_ms\":1", "\"at_ms\":2"]] {
        let results = [format!("{first},{OK}"), format!("{second},{TIMEOUT}")];
        let shown = |results: [&str; 2]| {
            let mut lines = call_with("pay", &results);
            lines.push(again.to_owned());
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            replay_lines(&lines)
        };
        let (in_order, reversed) = (shown([&results[0], &results[1]]), shown([&results[1], &results[0]]));
        assert_eq!(in_order.1, reversed.1);
        assert_eq!(in_order.0.recorded, reversed.0.recorded);
        assert!(in_order.0.recorded.rows().count() >= 2, "{}", in_order.1);
    }
}

#[test]
fn a_call_is_futile_after_the_identical_call_before_it() {
    let lines = [
        r#"{"tool":"read.x","call_id":"1"}"#,
        r#"{"tool":"read.x","call_id":"2"}"#,
        r#"{"call_id":"2","status":"error"}"#,
        r#"{"tool":"read.x","call_id":"3"}"#,
        r#"{"call_id":"1","status":"error"}"#,
        r#"{"call_id":"3","status":"error"}"#,
    ];
    assert_eq!(recorded(&lines, FindingId::FutileRetry), 1);
}

#[test]
fn an_answer_that_was_recorded_before_the_refresh_is_not_used_after_it() {
    let stale =
        r#""attempt":1,"at_ms":100,"status":"error","error":{"kind":"412_precondition","message":"evidence is stale"}"#;
    let used = |refreshed: u32| {
        let refresh = format!(r#""answers":"refresh","at_ms":{refreshed},"status":"ok""#);
        let lines = call_with("pay", &[stale, r#""attempt":2,"at_ms":200,"status":"ok""#, &refresh]);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        replay_lines(&lines).0.summaries[0].outcome(OutcomeWord::Undetermined) == 0
    };
    assert_eq!((used(150), used(300)), (true, false));
}

#[test]
fn the_summary_adds_up() {
    let lines = [
        r#"{"tool":"pay","run_id":"r","call_id":"1","idempotency_key":"k"}"#,
        r#"{"run_id":"r","call_id":"1","status":"error","error":{"kind":"timeout"}}"#,
        r#"{"run_id":"r","call_id":"1","status":"ok"}"#,
        r#"{"tool":"read.x","run_id":"r","status":"ok"}"#,
        r#"{"tool":"pay","run_id":"s","status":"error","error":{"message":"order 17 is odd"}}"#,
        r#"{"tool":"pay","run_id":"s","status":"error","error":{"message":"order 4 is odd"}}"#,
        r#"{"tool":"pay","run_id":"s","args":2,"status":"error","error":{"kind":"403_forbidden"}}"#,
        r#"{"tool":"pay","run_id":"t"}"#,
    ];
    let (replayed, out) = replay_lines(&lines);
    let summary = &replayed.summaries[0];
    assert_eq!((summary.calls, summary.failed_calls, summary.failed_attempts), (6, 4, 4), "{out}");
    assert_eq!(summary.outcomes.iter().sum::<u64>(), 6);
    assert_eq!(summary.claims.iter().sum::<u64>(), 6);
    assert_eq!(summary.outcome(OutcomeWord::SucceededAfterCompensation), 1);
    assert_eq!((summary.outcome(OutcomeWord::Escalated), summary.queues.iter().sum::<u64>()), (3, 3));
    assert_eq!((summary.outcome(OutcomeWord::Undetermined), summary.undetermined), (1, [1, 0, 0]));
    assert_eq!(summary.unclassified.rows(), [("order <n> is odd", 2)]);
    assert_eq!((summary.requests_recorded, summary.requests), (7, 7));
    assert_eq!((summary.effects.recorded, summary.effects.unobserved), (1, 4));
    assert_eq!(summary.added_delay, playproof_engine::time::Duration::from_millis(200));
    assert_eq!(summary.verdicts.iter().sum::<u64>(), 4);
    assert_eq!(replayed.ledger().unanswered, 1);
}

#[test]
fn what_a_dispatcher_did_not_send_is_no_recorded_request() {
    let recorded = |lines: &[&str]| replay_lines(lines).0.summaries[0].requests_recorded;
    let call = r#"{"type":"tool_call","run_id":"r","call_id":"1","tool":"pay","args":{}}"#;
    let decision = |said: &str| format!(r#"{{"type":"decision","run_id":"r","call_id":"1","at_ms":0,"event":{said}}}"#);
    let (joined, started) = (decision(r#""joined","leader":"2""#), decision(r#""attempt_started","attempt":1"#));
    let refused = decision(r#""refused","why":"schema","error":{"kind":"attempt_started"}"#);
    assert_eq!(recorded(&[call]), 1, "nobody says that it was not sent");
    assert_eq!((recorded(&[call, &joined]), recorded(&[call, &refused]), recorded(&[call, &started])), (0, 0, 1));
    let ok = r#"{"run_id":"r","call_id":"1","attempt":1,"status":"ok"}"#;
    let late = r#"{"run_id":"r","call_id":"1","attempt":1,"answers":"late","status":"ok"}"#;
    let second = late.replace("1,\"answers", "2,\"answers");
    assert_eq!((recorded(&[call, ok, late]), recorded(&[call, ok, &second])), (1, 2), "it answers an attempt");
}

#[test]
fn runs_off_tape_are_counted_once() {
    let fails = |run: &str| {
        format!(r#"{{"tool":"read.x","run_id":"{run}","args":1,"status":"error","error":{{"kind":"timeout"}}}}"#)
    };
    let lines = [fails("r"), fails("s"), fails("r")].join("\n");
    let options = ReplayOptions { beyond: MissingAnswerPolicy::Ok, ..options(1) };
    let (replayed, _) = replay_all(&[&lines], &options);
    assert_eq!((replayed.summaries[0].off_tape_calls, replayed.summaries[0].off_tape_runs), (3, 2));
}

/// Runs of uneven length, some of them interleaved, with everything that a trace may have.
fn uneven(runs: u64) -> String {
    let mut text = String::new();
    for n in 0..runs {
        for call in 0..=(n * n) % 23 {
            let (run, id) = (n - call % 3 % (n + 1), call % 5);
            let tool = ["pay", "read.x", "mail", "other"][usize::try_from((n + call) % 4).unwrap()];
            text +=
                &format!("{{\"tool\":\"{tool}\",\"run_id\":\"r{run}\",\"call_id\":\"{id}\",\"args\":{}}}\n", call % 4);
            let status = if (n + call) % 3 == 0 { "error" } else { "ok" };
            let error = if status == "error" { r#","error":{"kind":"timeout","message":"took 5 s"}"# } else { "" };
            text += &format!("{{\"call_id\":\"{id}\",\"run_id\":\"r{run}\",\"status\":\"{status}\"{error}}}\n");
        }
        if n % 5 == 0 {
            text += &format!("{{\"type\":\"run_end\",\"run_id\":\"r{n}\"}}\n");
        }
    }
    text
}

#[test]
fn the_bytes_are_the_same_for_any_number_of_threads() {
    let (long, short) = (uneven(900), uneven(7));
    let texts = [&*long, "", &*short, "\n\n"];
    let one = replay_all(&texts, &options(1));
    assert!(one.1.lines().count() > 5_000);
    assert_eq!(one.0.inputs.len(), 4);
    for jobs in [2, 3, 16] {
        let many = replay_all(&texts, &options(jobs));
        assert_eq!(many.0, one.0);
        assert!(many.1 == one.1, "{jobs} threads");
    }
}

#[test]
fn a_bad_line_ends_its_input_and_no_other_for_any_number_of_threads() {
    let text = format!("{}{{\"tool\":5}}\n{}", uneven(600), uneven(50_000));
    let run = |jobs| {
        let mut out = String::new();
        let plans = [plan()];
        let inputs = [input("t0", &uneven(50)), input("t1", &text), input("t2", &uneven(70))];
        let result = replay(&plans, Box::new(inputs.into_iter()), &options(jobs), &Lines, |part: String| {
            out += &part;
            Ok(())
        });
        let Err(ReplayError::Read(replayed, unread)) = result else { panic!("{result:?}") };
        let [UnreadInput { input: 1, error: ReadError::Invalid(report) }] = &*unread else { panic!("{unread:?}") };
        (report.to_string(), out, *replayed)
    };
    let one = run(1);
    assert!(one.0.starts_with("t1:") && one.0.ends_with(": `tool` must be a string"), "{}", one.0);
    let alone = |runs| replay_all(&[&uneven(runs)], &options(1)).0.inputs[0].ledger;
    let ledgers: Vec<_> = one.2.inputs.iter().map(|input| input.ledger).collect();
    assert_eq!((&ledgers[0], &ledgers[2]), (&alone(50), &alone(70)));
    assert!(one.2.ledger().balances() && ledgers[1].lines < 100_000, "{:?}", ledgers[1]);
    assert!(one.1.contains("(2, "), "the calls of the last input");
    for jobs in [2, 8] {
        assert_eq!(run(jobs), one);
    }
}

/// Gives some bytes, then an error.
struct Breaks<'a>(&'a [u8]);

impl Read for Breaks<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(io::Error::other("the cable was pulled")),
            n => Ok(n),
        }
    }
}

#[test]
fn inputs_that_cannot_be_read_and_sinks_that_fail_are_told_apart() {
    let run = |inputs: Vec<TraceInput<'static>>, sink: fn(String) -> io::Result<()>| {
        let replayed = replay(&[plan()], Box::new(inputs.into_iter()), &options(2), &Lines, sink);
        replayed.map(|replayed| replayed.inputs.len())
    };
    let broken = TraceInput::own("b", Breaks(b"{\"tool\":\"a\"}\n"));
    let Err(ReplayError::Read(replayed, unread)) = run(vec![broken, input("t", PAID)], |_| Ok(())) else { panic!() };
    assert_eq!(replayed.inputs.len(), 2);
    assert!(
        matches!(&*unread, [UnreadInput { input: 0, error: ReadError::Unreadable(name, error) }] if name == "b" && error.to_string() == "the cable was pulled")
    );
    let full = |_: String| Err(io::Error::other("the disk is full"));
    assert!(matches!(run(vec![input("t", PAID)], full), Err(ReplayError::Output(_))));
    assert_eq!(run(vec![], |_| Ok(())).unwrap(), 0);
}

proptest! {
    #[test]
    fn threads_and_windows_never_unbalance_the_books(runs in 0..40_u64, jobs in 1..5_usize, window in 1..30_u64, join_resends: bool) {
        let assemble = AssembleOptions { reorder_window: window, join_resends, ..AssembleOptions::default() };
        let text = uneven(runs);
        let one = replay_all(&[&text], &ReplayOptions { assemble: assemble.clone(), ..options(1) });
        let many = replay_all(&[&text], &ReplayOptions { assemble, ..options(jobs) });
        prop_assert_eq!(&many, &one);
        prop_assert_eq!(one.0.summaries[0].calls, one.0.ledger().closed);
    }
}

/// Calls of three runs: two with a token in common, of which the second comes when the first has been taken back.
fn sharing_tokens(runs: std::ops::Range<u32>) -> String {
    let call = |run: u32, token: &str, failed: bool| {
        let end = match failed {
            true => r#""status":"error","error":{"kind":"schema_validation"}"#,
            false => r#""status":"ok""#,
        };
        format!(r#"{{"run_id":"r{run}","tool":"pay","args":{{}},"reversal_token":"{token}",{end}}}"#) + "\n"
    };
    let calls = |run| call(run, "a", false) + &call(run, "a", true) + &call(run, "b", true) + &call(run, "a", true);
    runs.map(calls).collect()
}

/// How the calls of `trace` end under `reversing`, one word a call.
fn taken_back(trace: &str, jobs: usize) -> Vec<String> {
    struct Ends;
    impl Observer for Ends {
        type Part = Vec<String>;

        fn part(&self) -> Vec<String> {
            Vec::new()
        }

        fn on_call(&self, result: &CallResult<'_>, part: &mut Vec<String>) {
            part.extend(result.records().map(|record| record.outcomes[0].kind.as_str().to_owned()));
        }
    }
    let text = playproof_formats::playbook::embedded("reversing").unwrap();
    let playbook = || playproof_formats::playbook::parse(Source::whole("reversing", text)).unwrap().playbook;
    let plans = [Plan::new(playbook(), &Tools::default())];
    let options = ReplayOptions { beyond: MissingAnswerPolicy::Ok, ..options(jobs) };
    let mut ends = Vec::new();
    let inputs: Inputs<'_> = Box::new(std::iter::once(input("t", trace)));
    replay(&plans, inputs, &options, &Ends, |part| {
        ends.extend(part);
        Ok(())
    })
    .unwrap();
    ends
}

#[test]
fn a_token_that_calls_of_one_run_have_in_common_is_redeemed_once() {
    let ends = taken_back(&sharing_tokens(0..2), 1);
    let of_run = ["succeeded", "reversed", "reversed", "escalated"];
    assert_eq!(ends, [of_run, of_run].concat());
}

/// Timed calls of runs that are interleaved, more than one round of them; half of them have a token in common with
/// others of their run, and some come out of order.
fn interleaved(calls: u64) -> String {
    let call = |n: u64| {
        let (run, token, at) = (n % 37, n / 37 % 5, n / 37 * 3_000 % 40_000);
        let token = if n.is_multiple_of(2) { format!(r#""reversal_token":"t{token}","#) } else { String::new() };
        let kind = ["timeout", "schema_validation", "5xx"][usize::try_from(n % 3).unwrap()];
        format!(
            r#"{{"run_id":"r{run}","tool":"pay","args":{{"n":{n}}},{token}"at_ms":{at},"status":"error","error":{{"kind":"{kind}"}}}}"#
        ) + "\n"
    };
    (0..calls).map(call).collect()
}

#[test]
fn calls_that_are_simulated_together_come_in_the_same_order_on_any_number_of_threads() {
    let trace = interleaved(12_000);
    let one = taken_back(&trace, 1);
    assert_eq!(one.len(), 12_000);
    assert!(one.iter().filter(|end| *end == "reversed").count() > 37);
    for jobs in [2, 3, 9] {
        assert_eq!(taken_back(&trace, jobs), one);
    }
}

#[test]
fn tokens_are_spent_in_the_same_order_on_any_number_of_threads() {
    let trace = sharing_tokens(0..400) + &sharing_tokens(0..400);
    let one = taken_back(&trace, 1);
    assert_eq!(one.iter().filter(|end| *end == "reversed").count(), 800);
    for jobs in [2, 5, 16] {
        assert_eq!(taken_back(&trace, jobs), one);
    }
}

#[test]
fn an_attempt_that_is_sent_sooner_than_the_upstream_asked_for_is_found() {
    let of = |second: &str| {
        let made = r#"{"type":"tool_call","call_id":"c","tool":"look","at_ms":0}"#;
        let failed = r#"{"type":"tool_result","call_id":"c","attempt":1,"at_ms":10,"status":"error","error":{"kind":"429_rate_limited","retry_after_ms":100}}"#;
        let second = format!(r#"{{"type":"tool_result","call_id":"c","attempt":2,{second},"status":"ok"}}"#);
        recorded(&[made, failed, &second], FindingId::RetryAfterIgnored)
    };
    assert_eq!(of(r#""started_ms":109,"at_ms":300"#), 1);
    assert_eq!(of(r#""started_ms":110,"at_ms":300"#), 0);
    assert_eq!(of(r#""at_ms":109"#), 1, "it was answered before it was due");
    assert_eq!(of(r#""at_ms":300"#), 0, "nobody knows when it was sent");
}

#[test]
fn a_wait_in_headers_and_the_same_call_made_within_it_are_found_too() {
    let call = |id: &str, at: u32| {
        format!(r#"{{"type":"tool_call","run_id":"r","call_id":"{id}","tool":"read.x","args":{{"q":1}},"at_ms":{at}}}"#)
    };
    let failed = |error: &str| {
        format!(
            r#"{{"type":"tool_result","run_id":"r","call_id":"a","attempt":1,"at_ms":10,"status":"error","error":{{"kind":"429_rate_limited",{error}}}}}"#
        )
    };
    let again = |error: &str, at: u32, change: &dyn Fn(String) -> String| {
        let ok = format!(
            r#"{{"type":"tool_result","run_id":"r","call_id":"b","attempt":1,"at_ms":{},"status":"ok"}}"#,
            at + 9
        );
        recorded(&[&call("a", 0), &failed(error), &change(call("b", at)), &ok], FindingId::RetryAfterIgnored)
    };
    let same = |line: String| line;
    for error in
        [r#""retry_after_ms":2000"#, r#""headers":{"Retry-After":"2"}"#, r#""headers":{"retry-after-ms":"2000"}"#]
    {
        assert_eq!((again(error, 2009, &same), again(error, 2010, &same)), (1, 0), "{error}");
    }
    let error = r#""headers":{"retry-after":"2"}"#;
    for unlike in [r#""q":1"#, "read.x", r#""r""#] {
        let other = |line: String| line.replace(unlike, &unlike.replace(['1', 'x', 'r'], "7"));
        assert_eq!(again(error, 500, &other), 0, "{unlike}");
    }
    assert_eq!(again(r#""headers":{"x-wait":"2"}"#, 500, &same), 0);
    let second =
        r#"{"type":"tool_result","run_id":"r","call_id":"a","attempt":2,"started_ms":500,"at_ms":600,"status":"ok"}"#;
    let found = recorded(&[&call("a", 0), &failed(error), second], FindingId::RetryAfterIgnored);
    assert_eq!(found, 1, "an attempt of the call");
    assert_eq!(
        recorded(&[&call("a", 0), &failed(error), second, &call("b", 700)], FindingId::RetryAfterIgnored),
        1,
        "an ok came between"
    );
}

#[test]
fn an_attempt_that_is_sent_while_an_earlier_one_is_out_has_raced_itself() {
    let of = |made: &str, late_at: u32, second: &str| {
        let made = format!(r#"{{"type":"tool_call","call_id":"c",{made},"at_ms":0}}"#);
        let timed_out = r#"{"type":"tool_result","call_id":"c","attempt":1,"at_ms":100,"status":"error","error":{"kind":"timeout"}}"#;
        let late = format!(
            r#"{{"type":"tool_result","call_id":"c","attempt":1,"answers":"late","at_ms":{late_at},"status":"ok"}}"#
        );
        let second =
            format!(r#"{{"type":"tool_result","call_id":"c","attempt":2,"started_ms":300,"at_ms":400,{second}}}"#);
        recorded(&[&made, timed_out, &late, &second], FindingId::RacedItself)
    };
    let (pay, ok) = (r#""tool":"pay","idempotency_key":"k""#, r#""status":"ok""#);
    let conflict = r#""status":"error","error":{"kind":"409_conflict","message":"the key is in use"}"#;
    assert_eq!((of(pay, 301, ok), of(pay, 500, ok)), (1, 1));
    assert_eq!(of(pay, 300, ok), 0, "it had ended when the next one was sent");
    assert_eq!(of(pay, 500, conflict), 0, "the upstream saw that both are one request");
    assert_eq!(of(r#""tool":"pay""#, 500, conflict), 1, "a conflict about something else");
    assert_eq!(of(r#""tool":"read.it""#, 500, ok), 0, "a read changes nothing");
}

#[test]
fn retries_that_multiply_the_requests_of_an_outage_are_found_over_all_runs() {
    let calls = |attempts: u32, kind: &str| -> Vec<String> {
        let of_call = |n: u32| {
            let made = format!(
                r#"{{"type":"tool_call","call_id":"c{n}","run_id":"r{n}","tool":"read.it","args":{{"n":{n}}},"at_ms":{n}}}"#
            );
            let answer = move |attempt: u32| {
                let at = n + attempt;
                format!(
                    r#"{{"type":"tool_result","call_id":"c{n}","run_id":"r{n}","attempt":{attempt},"at_ms":{at},"status":"error","error":{{"kind":"{kind}"}}}}"#
                )
            };
            std::iter::once(made).chain((1..=attempts).map(answer))
        };
        (0..25).flat_map(of_call).collect()
    };
    let of = |lines: Vec<String>| {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        recorded(&lines, FindingId::RetryAmplification)
    };
    assert_eq!(of(calls(3, "5xx")), 1);
    assert_eq!(of(calls(2, "5xx")), 0, "two requests a call");
    assert_eq!(of(calls(3, "429_rate_limited")), 0, "a server that limits its rate works");
    let mut one_works = calls(3, "5xx");
    one_works.insert(40, r#"{"tool":"read.it","run_id":"s","args":{},"at_ms":10,"status":"ok"}"#.to_owned());
    assert_eq!(of(one_works), 0, "the outage was over");
}

#[test]
fn a_late_ok_counts_as_an_effect_and_a_key_that_may_have_been_honoured_is_a_doubt() {
    let (late, timeout) = (r#""attempt":1,"answers":"late","status":"ok""#, format!(r#""attempt":1,{TIMEOUT}"#));
    let refused = r#""attempt":1,"status":"error","error":{"kind":"429_rate_limited"}"#;
    let second = r#""attempt":2,"status":"ok""#;
    let shown = |key: &str, results: &[&str], again: bool| {
        let mut lines = call_with("pay", results);
        lines[0] = lines[0].replace(r#""tool""#, &format!(r#"{key}"tool""#));
        if again {
            lines.push(format!(r#"{{"tool":"pay","run_id":"r","args":{{}},{OK}}}"#));
        }
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let rows = replay_lines(&lines).0.recorded;
        rows.rows().map(|(kind, by, _)| (kind.id.as_str(), by)).collect::<Vec<_>>()
    };
    const KEYED: &str = r#""idempotency_key":"k","#;
    let by_agent = FindingBy::Recorded;
    assert_eq!(shown("", &[refused, late], true), [("duplicate_effect", by_agent)]);
    assert_eq!(shown("", &[refused], true), []);
    assert_eq!(
        shown("", &[&timeout, late, second], false),
        [("duplicate_effect", by_agent), ("unsafe_retry", by_agent)]
    );
    assert_eq!(shown(KEYED, &[&timeout, second], false), []);
    assert_eq!(shown(KEYED, &[&timeout, late, second], false), [("possible_duplicate_effect", by_agent)]);
}

#[test]
fn a_key_that_the_upstream_ignores_is_none() {
    let line = |key: &str, rest: &str| {
        format!(r#"{{"tool":"forgets","run_id":"r","args":{{"n":1}},"idempotency_key":"{key}",{rest}}}"#)
    };
    let unkeyed = |lines: &[String]| {
        let bare = |line: &String| {
            let (before, after) = line.split_once(r#""idempotency_key":""#).unwrap();
            format!("{before}{}", after.split_once("\",").unwrap().1)
        };
        lines.iter().map(bare).collect::<Vec<_>>()
    };
    let shown = |lines: &[String]| {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let rows = replay_lines(&lines).0.recorded;
        rows.rows().map(|(kind, _, count)| (kind.id.as_str(), count)).collect::<Vec<_>>()
    };
    let (ok, lost) = (|key| line(key, OK), |key| line(key, TIMEOUT));
    let doubled = [("unsafe_retry", 1), ("possible_duplicate_effect", 1)];
    for (lines, expected) in [
        (vec![lost("k"), ok("k")], &doubled[..]),
        (vec![lost("k"), ok("l")], &doubled),
        (vec![ok("k"), ok("k")], &[("duplicate_effect", 1)]),
        (vec![ok("k"), ok("k").replace(":1}", ":2}")], &[]),
    ] {
        assert_eq!(shown(&lines), expected, "{lines:?}");
        assert_eq!(shown(&unkeyed(&lines)), expected, "{lines:?}");
    }
    let honoured = |line: String| line.replace("forgets", "pay");
    assert_eq!(shown(&[honoured(lost("k")), honoured(ok("k"))]), []);
    let attempts = call_with("forgets", &[r#""attempt":1,"status":"error","error":{"kind":"timeout"}"#, LAST_OK]);
    let keyed = vec![
        attempts[0].replace(r#""tool""#, r#""idempotency_key":"k","tool""#),
        attempts[1].clone(),
        attempts[2].clone(),
    ];
    assert_eq!((shown(&keyed), shown(&attempts)), (vec![("unsafe_retry", 1)], vec![("unsafe_retry", 1)]));
}

const LAST_OK: &str = r#""attempt":2,"status":"ok""#;

#[test]
fn an_ok_under_a_key_whose_effect_was_reversed_before_claims_unknown() {
    let call = |id: &str, at: u32| {
        format!(
            r#"{{"tool":"pay","run_id":"r","call_id":"{id}","args":{{}},"idempotency_key":"k","at_ms":{at},"status":"ok"}}"#
        )
    };
    let reversal = r#"{"run_id":"r","call_id":"1","answers":"reversal","at_ms":20,"status":"ok"}"#;
    let claims = |texts: &[&str]| {
        let summary = replay_all(texts, &options(1)).0.summaries.remove(0);
        (summary.claim(EffectClaim::Applied), summary.claim(EffectClaim::Unknown))
    };
    let (first, second) = (call("1", 0), call("2", 30));
    assert_eq!(claims(&[&[first.as_str(), reversal, &second].join("\n")]), (1, 1));
    assert_eq!(claims(&[&[first.as_str(), &second, reversal].join("\n")]), (1, 1), "by times, not by lines");
    assert_eq!(claims(&[&[first.as_str(), reversal].join("\n"), &second]), (1, 1), "in a later input, too");
    let earlier = call("2", 10);
    assert_eq!(claims(&[&[first.as_str(), reversal, &earlier].join("\n")]), (2, 0), "it was made before");
    let failed = reversal.replace("ok", "error");
    assert_eq!(claims(&[&[first.as_str(), &failed, &second].join("\n")]), (2, 0), "the reversal failed");
    let no_key = |text: &str| text.replace(r#""idempotency_key":"k","#, "");
    assert_eq!(claims(&[&[no_key(&first).as_str(), reversal, &no_key(&second)].join("\n")]), (2, 0));
}
