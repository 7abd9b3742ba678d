//! Tests of pairing: which answer each call gets, when calls close, and that the account balances.

use proptest::prelude::*;

use super::*;
use crate::call::AttemptCounts;
use crate::call::CompletedCall;
use crate::digest::{CallPool, read_piece, read_piece_into};
use crate::key_number::KeyNumber;
use crate::pieces::{Chunks, InputPiece};
use crate::redact::RedactionRules;
use playproof_engine::call::{AnswerTo, RecordedCall, Reply};
use playproof_formats::diagnostic::Report;

struct Read {
    calls: Vec<RecordedCall>,
    counts: Vec<AttemptCounts>,
    ledger: InputLedger,
    reports: Vec<Report>,
}

fn try_assemble(text: &[u8], options: AssembleOptions) -> Result<Read, Report> {
    try_redacted(text, options, &RedactionRules::default())
}

fn try_redacted(text: &[u8], options: AssembleOptions, rules: &RedactionRules) -> Result<Read, Report> {
    let writes = |tool: &str| !tool.starts_with("read");
    let mut assembler = Assembler::new(3, "t.jsonl", options, &writes);
    let mut closed = Vec::new();
    let mut chunks = Chunks::new(text);
    while let Some(piece) = chunks.next(Vec::new()).unwrap() {
        assembler.take(read_piece(&piece, rules), &mut closed)?;
    }
    let (ledger, reports, _) = assembler.finish(&mut closed);
    assert!(ledger.balances(), "{ledger:?}");
    let counts = closed.iter().map(|closed| closed.counts).collect();
    Ok(Read { counts, calls: closed.iter().map(|closed| closed.raw().clone()).collect(), ledger, reports })
}

fn assemble_with(lines: &[&str], options: AssembleOptions) -> Read {
    try_assemble(lines.join("\n").as_bytes(), options).unwrap()
}

fn assemble(lines: &[&str]) -> Read {
    assemble_with(lines, AssembleOptions::default())
}

fn joining(lines: &[&str]) -> Read {
    assemble_with(lines, AssembleOptions { join_resends: true, ..AssembleOptions::default() })
}

/// `tool` and one letter an answer: `+` ok, `-` failed, lower case `i` after it: inferred.
fn shape(read: &Read) -> Vec<String> {
    let answer =
        |ok: bool, inferred: bool| format!("{}{}", if ok { "+" } else { "-" }, if inferred { "i" } else { "" });
    let calls = read.calls.iter();
    calls
        .map(|call| {
            let answers = call.answers.iter().map(|seen| answer(seen.reply == Reply::Ok, seen.inferred));
            format!("{} {}{}", call.reference(), call.tool(), answers.collect::<String>())
        })
        .collect()
}

#[test]
fn a_result_whose_line_comes_before_that_of_its_call_is_paired_if_the_times_say_so() {
    let call = r#"{"tool":"a","run_id":"r","call_id":"1","at_ms":10}"#;
    let result = r#"{"type":"tool_result","run_id":"r","call_id":"1","status":"ok","at_ms":20}"#;
    for lines in [[result, call], [call, result]] {
        let read = assemble(&lines);
        assert_eq!((shape(&read), read.ledger.orphans), (vec!["r#1 a+".to_owned()], 0));
    }
    for look_alike in [
        result.replace("20", "9"),            // it answers an earlier call
        result.replace(r#","at_ms":20"#, ""), // only the lines tell
        result.replace("\"r\"", "\"s\""),     // another run
        result.replace("\"1\"", "\"2\""),     // another id
    ] {
        let read = assemble(&[&look_alike, call]);
        assert_eq!((shape(&read), read.ledger.orphans), (vec!["r#1 a".to_owned()], 1), "{look_alike}");
    }
    let again = call.replace(":10", ":30");
    let read = assemble(&[result, call, &again]);
    assert_eq!(shape(&read), ["r#1 a+", "r#2 a"], "a result is paired once");
}

#[test]
fn results_find_their_calls_by_run_and_id() {
    let read = assemble(&[
        r#"{"tool":"a","run_id":"r","call_id":"1"}"#,
        r#"{"tool":"b","run_id":"s","call_id":"1"}"#,
        r#"{"tool":"c","run_id":"r","call_id":"2"}"#,
        r#"{"call_id":"1","run_id":"r","status":"error"}"#,
        r#"{"call_id":"1","run_id":"s","status":"ok"}"#,
        r#"{"call_id":"1","run_id":"r","status":"ok","attempt":2}"#,
        r#"{"call_id":"1","status":"ok"}"#,
    ]);
    assert_eq!(shape(&read), ["r#1 a-+", "s#1 b+", "r#2 c"]);
    let InputLedger { runs, orphans, unanswered, attached, .. } = read.ledger;
    assert_eq!((runs, orphans, unanswered, attached), (2, 1, 1, 3));
    assert_eq!((read.calls[1].place.input, read.calls[1].place.line, read.calls[1].number), (3, 2, 2));
    assert_eq!(read.calls[0].answers[1].place.line, 6);
}

#[test]
fn a_result_without_a_run_goes_to_the_only_open_call_with_its_id() {
    let read = assemble(&[
        r#"{"tool":"a","run_id":"r","call_id":"1"}"#,
        r#"{"tool":"b","run_id":"s","call_id":"2"}"#,
        r#"{"tool":"c","run_id":"t","call_id":"2"}"#,
        r#"{"call_id":"1","status":"error"}"#,
        r#"{"call_id":"2","status":"ok"}"#,
        r#"{"call_id":"3","status":"ok"}"#,
        r#"{"type":"run_end","run_id":"s"}"#,
        r#"{"call_id":"2","status":"ok"}"#,
        r#"{"tool":"d","run_id":"u","call_id":"1"}"#,
        r#"{"call_id":"1","status":"ok"}"#,
        r#"{"type":"run_end","run_id":"r"}"#,
        r#"{"call_id":"1","status":"ok"}"#,
        r#"{"call_id":"1","run_id":"v","status":"ok"}"#,
    ]);
    assert_eq!(shape(&read), ["r#1 a-", "s#1 b", "t#1 c+", "u#1 d+"]);
    assert_eq!((read.ledger.orphans, read.ledger.attached), (4, 3), "of two it says nothing, and another run is named");
}

#[test]
fn a_result_without_a_run_prefers_the_call_without_one_and_skips_an_id_that_was_used_again() {
    let read = assemble(&[
        r#"{"tool":"a","call_id":"1"}"#,
        r#"{"tool":"b","run_id":"r","call_id":"1"}"#,
        r#"{"call_id":"1","status":"ok"}"#,
        r#"{"tool":"c","run_id":"s","call_id":"2"}"#,
        r#"{"call_id":"2","status":"error"}"#,
        r#"{"tool":"d","run_id":"s","call_id":"2"}"#,
        r#"{"call_id":"2","status":"ok"}"#,
    ]);
    let mut shapes = shape(&read);
    shapes.sort();
    assert_eq!(shapes, ["#1 a+", "r#1 b", "s#1 c-", "s#2 d+"]);
    assert_eq!(read.ledger.orphans, 0);
}

#[test]
fn a_result_without_a_run_finds_a_resend_that_was_joined() {
    let lines = [
        r#"{"call_id":"0","status":"ok"}"#,
        r#"{"tool":"a","run_id":"r","call_id":"1"}"#,
        r#"{"call_id":"1","status":"error"}"#,
        r#"{"tool":"a","run_id":"r","call_id":"2"}"#,
        r#"{"call_id":"2","status":"ok"}"#,
    ];
    for lines in [&lines[..], &lines[1..]] {
        assert_eq!(shape(&joining(lines)), ["r#1 a-+i"]);
    }
}

#[test]
fn a_result_without_an_id_goes_to_the_newest_open_call_of_its_tool_that_has_not_succeeded() {
    let result = |tool, status| format!(r#"{{"type":"tool_result","tool":"{tool}","status":"{status}"}}"#);
    let lines = [
        r#"{"tool":"a"}"#.to_owned(),
        r#"{"tool":"a"}"#.to_owned(),
        r#"{"tool":"b"}"#.to_owned(),
        result("a", "error"),
        result("a", "ok"),
        result("a", "ok"),
        result("a", "ok"),
        r#"{"type":"tool_result","status":"ok"}"#.to_owned(),
    ];
    let read = assemble(&lines.each_ref().map(String::as_str));
    assert_eq!(shape(&read), ["#1 a+", "#2 a-+", "#3 b"]);
    assert_eq!(read.ledger.orphans, 2);
}

#[test]
fn an_id_that_is_used_again_closes_the_call_that_had_it() {
    let read = assemble(&[
        r#"{"tool":"a","call_id":"1"}"#,
        r#"{"tool":"b"}"#,
        r#"{"tool":"c","call_id":"1"}"#,
        r#"{"call_id":"1","status":"ok"}"#,
    ]);
    assert_eq!(shape(&read), ["#1 a", "#2 b", "#3 c+"]);
    assert_eq!(read.calls[0].number, 1);
    let lines = [r#"{"tool":"a","call_id":"1"}"#, r#"{"tool":"b","call_id":"1"}"#, r#"{"tool":"b","call_id":"1"}"#];
    let read = assemble(
        &[&lines[..], &[r#"{"call_id":"1","status":"ok"}"#, r#"{"type":"tool_result","tool":"b","status":"error"}"#]]
            .concat(),
    );
    assert_eq!(shape(&read), ["#1 a", "#2 b", "#3 b+"], "a result without a label does not find it either");
    assert_eq!(read.ledger.orphans, 1);
}

#[test]
fn calls_of_a_run_close_in_the_order_of_their_lines_whatever_their_ids() {
    let lines = [r#"{"tool":"a"}"#, r#"{"tool":"b","call_id":"1"}"#, r#"{"tool":"c","call_id":"1"}"#];
    let mut closed = Vec::new();
    let mut assembler = Assembler::new(0, "t", AssembleOptions::default(), &|_| true);
    let piece = InputPiece::Lines(lines.join("\n").into_bytes());
    assembler.take(read_piece(&piece, &RedactionRules::default()), &mut closed).unwrap();
    assert_eq!(closed.len(), 0, "the first one may still be answered");
    assembler.finish(&mut closed);
    assert_eq!(closed.iter().map(|closed| closed.call.tool()).collect::<Vec<_>>(), ["a", "b", "c"]);
}

#[test]
fn the_end_of_a_run_closes_only_its_calls_and_a_later_call_continues_its_numbers() {
    let read = assemble(&[
        r#"{"tool":"a","run_id":"s","call_id":"1"}"#,
        r#"{"tool":"b","run_id":"r","call_id":"1"}"#,
        r#"{"tool":"c","run_id":"r"}"#,
        r#"{"type":"run_end","run_id":"r"}"#,
        r#"{"type":"run_end","run_id":"never seen"}"#,
        r#"{"run_id":"r","call_id":"1","status":"ok"}"#,
        r#"{"run_id":"s","call_id":"1","status":"ok"}"#,
        r#"{"tool":"d","run_id":"r"}"#,
    ]);
    assert_eq!(shape(&read), ["s#1 a+", "r#1 b", "r#2 c", "r#3 d"]);
    assert_eq!((read.ledger.run_ends, read.ledger.orphans, read.ledger.runs), (2, 1, 2));
}

#[test]
fn calls_of_a_run_close_in_the_order_in_which_they_were_made() {
    let lines = [
        r#"{"tool":"a","run_id":"r","call_id":"1","at_ms":30}"#,
        r#"{"tool":"b","run_id":"s","call_id":"1","at_ms":0}"#,
        r#"{"tool":"c","run_id":"r","call_id":"2","at_ms":40}"#,
        r#"{"tool":"d","run_id":"r","call_id":"3","at_ms":10}"#,
        r#"{"tool":"e","run_id":"r","call_id":"4","at_ms":35}"#,
        r#"{"tool":"f","run_id":"r","call_id":"5"}"#,
        r#"{"run_id":"r","call_id":"1","status":"ok"}"#,
        r#"{"run_id":"r","call_id":"3","status":"ok"}"#,
    ];
    let read = assemble(&lines);
    assert_eq!(shape(&read), ["r#3 d+", "s#1 b", "r#1 a+", "r#4 e", "r#2 c", "r#5 f"], "without a time: by lines");
    let read = assemble_with(&lines, AssembleOptions { reorder_window: 2, ..AssembleOptions::default() });
    assert_eq!(shape(&read), ["r#1 a", "s#1 b", "r#3 d", "r#4 e", "r#2 c", "r#5 f"], "within the window");
    let in_order = lines.map(|line| line.replace("at_ms\":10", "at_ms\":50"));
    let read = assemble(&in_order.each_ref().map(String::as_str));
    assert_eq!(shape(&read)[..4], ["r#1 a+", "s#1 b", "r#4 e", "r#2 c"]);
}

#[test]
fn the_first_call_with_a_key_is_the_one_that_was_made_first() {
    let reused = |lines: &[&str]| -> Vec<String> {
        let calls = assemble(lines).calls;
        calls.iter().filter(|call| call.key_is_reused).map(RecordedCall::reference).collect()
    };
    let first = r#"{"tool":"pay","run_id":"r","args":{"n":1},"idempotency_key":"k","at_ms":0,"status":"ok"}"#;
    let second = r#"{"tool":"pay","run_id":"s","args":{"n":2},"idempotency_key":"k","at_ms":9,"status":"ok"}"#;
    let (ends, open) = (r#"{"type":"run_end","run_id":"s"}"#, r#"{"type":"run_end","run_id":"r"}"#);
    assert_eq!(reused(&[first, second]), ["s#1"]);
    assert_eq!(reused(&[first, second, ends, open]), ["s#1"], "whichever run ends first");
    assert_eq!(reused(&[second, ends, first]), ["s#1"], "by their times, not by their lines");
    let [untimed, other] = [first, second].map(|line| line.replace("\"at_ms\":", "\"x\":"));
    assert_eq!(reused(&[&other, &untimed]), ["r#1"], "by their lines, for want of times");
    assert_eq!(reused(&[first, &second.replace("\"n\":2", "\"n\":1.0")]), [""; 0], "the same arguments");
    assert_eq!(reused(&[first, &second.replace("pay", "read")]), [""; 0], "another tool");
    let read = |line: &str| line.replace("pay", "read");
    assert_eq!(reused(&[&read(first), &read(second)]), [""; 0], "a read");
}

#[test]
fn a_key_has_its_number_in_all_inputs_and_a_read_has_none_even_in_a_box_that_a_write_has_left() {
    let line = |tool: &str, key: &str| format!(r#"{{"tool":"{tool}","idempotency_key":"{key}","status":"ok"}}"#);
    let mut keys = FirstUses::default();
    let mut pool = CallPool::new();
    let mut numbers = |lines: &[String]| -> Vec<Option<usize>> {
        let writes = |tool: &str| tool == "pay";
        let options = AssembleOptions::default();
        let mut assembler = Assembler::new(0, "t", options, &writes).with_keys(std::mem::take(&mut keys));
        let mut closed = Vec::new();
        let piece = InputPiece::Lines(lines.join("\n").into_bytes());
        let rules = RedactionRules::default();
        assembler.take(read_piece_into(&piece, &rules, &mut pool), &mut closed).unwrap();
        keys = assembler.finish(&mut closed).2;
        let numbers = closed.iter().map(|closed| closed.key_number.map(KeyNumber::index)).collect();
        pool.extend(closed.into_iter().map(CompletedCall::into_box));
        numbers
    };
    assert_eq!(numbers(&[line("pay", "a"), line("pay", "b"), line("pay", "a")]), [Some(0), Some(1), Some(0)]);
    assert_eq!(numbers(&[line("read", "a"), line("pay", "c"), line("pay", "b")]), [None, Some(2), Some(1)]);
}

#[test]
fn a_write_counts_for_calls_that_were_made_after_it_whatever_the_order_of_lines() {
    let call = r#"{"tool":"a","run_id":"r","call_id":"1","at_ms":30}"#;
    let write = r#"{"tool":"w","run_id":"r","call_id":"2","at_ms":10}"#;
    let result = r#"{"run_id":"r","call_id":"2","at_ms":20,"status":"ok"}"#;
    let last_write = |lines: [&str; 3]| {
        let mut assembler = Assembler::new(0, "t", AssembleOptions::default(), &|_| true);
        let mut closed = Vec::new();
        let piece = InputPiece::Lines(lines.join("\n").into_bytes());
        assembler.take(read_piece(&piece, &RedactionRules::default()), &mut closed).unwrap();
        assembler.finish(&mut closed);
        let a = closed.iter().find(|closed| closed.raw().tool() == "a").unwrap();
        a.counts.last_write.and_then(|write| write.at).map(|at| at.as_micros() / 1_000)
    };
    for lines in [[write, result, call], [write, call, result], [call, write, result]] {
        assert_eq!(last_write(lines), Some(20), "{lines:?}");
        assert_eq!(
            last_write(lines.map(|line| if line == call { r#"{"tool":"a","run_id":"r","at_ms":15}"# } else { line })),
            None
        );
    }
}

#[test]
fn a_call_closes_a_window_later_and_a_result_after_that_is_an_orphan() {
    let lines = [
        r#"{"tool":"a","call_id":"1"}"#,
        r#"{"tool":"b","call_id":"2"}"#,
        r#"{"call_id":"1","status":"ok"}"#,
        r#"{"tool":"c","call_id":"3"}"#,
        r#"{"call_id":"1","status":"ok","attempt":2}"#,
        r#"{"call_id":"2","status":"ok"}"#,
    ];
    let read = assemble_with(&lines, AssembleOptions { reorder_window: 2, ..AssembleOptions::default() });
    assert_eq!(shape(&read), ["#1 a+", "#2 b+", "#3 c"]);
    assert_eq!(read.ledger.orphans, 1);
}

#[test]
fn an_attempt_that_is_answered_twice_keeps_its_first_answer_and_the_other_came_late() {
    let read = assemble(&[
        r#"{"tool":"a","call_id":"1"}"#,
        r#"{"call_id":"1","status":"error","attempt":1}"#,
        r#"{"call_id":"1","status":"ok","attempt":1}"#,
        r#"{"call_id":"1","status":"ok","attempt":1,"answers":"refresh"}"#,
        r#"{"call_id":"1","status":"ok","attempt":2}"#,
    ]);
    assert_eq!((shape(&read), read.ledger.duplicates), (vec!["#1 a-+++".to_owned()], 0));
    let counts = read.counts[0];
    assert_eq!((counts.attempts, counts.succeeded, counts.late, counts.ambiguous), (2, 1, 1, 1));
    assert_eq!(counts.net_effects(), 2);
}

#[test]
fn of_two_answers_with_one_number_the_earlier_by_time_is_that_of_the_attempt() {
    let ends = |results: [&str; 2]| {
        let result = |rest: &str| format!(r#"{{"call_id":"1","attempt":1,{rest},"type":"tool_result"}}"#);
        let [one, other] = results.map(result);
        let read = assemble(&[r#"{"tool":"a","call_id":"1","at_ms":0}"#, &one, &other]);
        let answers = read.calls[0].answers.iter().map(|answer| (answer.to, answer.reply == Reply::Ok)).collect();
        let AttemptCounts { late, ambiguous, left_out, failed_on, .. } = read.counts[0];
        (answers, read.ledger.duplicates, [late, ambiguous, left_out], failed_on)
    };
    const OK: &str = r#""at_ms":20,"status":"ok""#;
    const REFUSED: &str = r#""at_ms":10,"status":"error","error":{"status":403}"#;
    let refused_first: Vec<_> = vec![(AnswerTo::Attempt, false), (AnswerTo::Late, true)];
    assert_eq!(ends([REFUSED, OK]), (refused_first.clone(), 0, [1, 1, 0], 2));
    assert_eq!(ends([OK, REFUSED]), (refused_first, 0, [1, 1, 0], 3), "in either order of lines");
    let ok_first: Vec<_> = vec![(AnswerTo::Attempt, true), (AnswerTo::Late, false)];
    let refused_later = REFUSED.replace("10", "30");
    assert_eq!(ends([OK, &refused_later]), (ok_first, 0, [0, 0, 0], 0), "what was refused was no attempt more");
    let again = OK.replace("20", "25");
    assert_eq!(ends([OK, &again]), (vec![(AnswerTo::Attempt, true)], 1, [0, 0, 0], 0), "a copy, shipped later");
    let other = OK.replace("\"ok\"", "\"ok\",\"span\":2");
    let both_ok: Vec<_> = vec![(AnswerTo::Attempt, true), (AnswerTo::Late, true)];
    assert_eq!(ends([OK, &other]), (both_ok, 0, [0, 1, 0], 0), "it says something else");
}

#[test]
fn a_reversal_that_says_something_else_under_its_number_is_another_one() {
    let read = |again: &str| {
        let read = assemble(&[
            r#"{"tool":"a","call_id":"1","status":"ok"}"#,
            r#"{"call_id":"1","status":"error","error":{"status":500},"attempt":1,"answers":"reversal"}"#,
            again,
        ]);
        (read.counts[0].reversed, read.counts[0].unclear_reversals, read.ledger.duplicates)
    };
    let failed = r#"{"call_id":"1","status":"error","error":{"status":500},"attempt":1,"answers":"reversal"}"#;
    assert_eq!(read(failed), (0, 1, 1));
    assert_eq!(read(r#"{"call_id":"1","status":"ok","attempt":1,"answers":"reversal"}"#), (1, 1, 0));
}

#[test]
fn a_repeated_result_is_a_duplicate_and_a_different_one_is_an_attempt() {
    let answers = |result: &str, again: &str| {
        let read = assemble(&[r#"{"tool":"a","call_id":"1"}"#, result, r#"{"tool":"b"}"#, again]);
        (read.calls[0].attempts().count(), read.ledger.duplicates)
    };
    let timed = r#"{"call_id":"1","status":"error","error":{"kind":"timeout"},"at_ms":50}"#;
    assert_eq!(answers(timed, timed), (1, 1));
    assert_eq!(answers(timed, &timed.replace("50", "60")), (2, 0));
    assert_eq!(answers(timed, &timed.replace("timeout", "5xx")), (2, 0));
    let early = |at: &str| timed.replace("50", at);
    let read = |again: &str| {
        let call = r#"{"tool":"a","call_id":"1","at_ms":90}"#;
        let read = assemble(&[call, timed, again]);
        (read.calls[0].attempts().count(), read.ledger.duplicates)
    };
    assert_eq!(
        (read(timed), read(&early("60"))),
        ((1, 1), (2, 0)),
        "a time before that of the call tells them apart too"
    );
    let odd = r#"{"call_id":"1","status":"error","span":1}"#;
    assert_eq!(answers(odd, odd), (1, 1));
    assert_eq!(answers(odd, &odd.replace(":1}", ":2}")), (2, 0), "an unknown field distinguishes them");
    let row = odd.replace(":1}", ":1,\"row\":7}");
    assert_eq!(answers(&row, &row.replace(":1,", ":2,")), (2, 0), "beside a `row` that no import wrote too");
    let numbered = r#"{"call_id":"1","status":"error","attempt":1}"#;
    assert_eq!(answers(numbered, numbered), (1, 1));
    assert_eq!(answers(numbered, &numbered.replace("error", "ok")), (1, 0), "the number says that one came late");
    let refresh = r#"{"call_id":"1","status":"ok","answers":"refresh"}"#;
    assert_eq!(answers(refresh, refresh), (0, 1));
}

#[test]
fn redaction_makes_no_two_results_equal() {
    let rules = RedactionRules::new(&[], &["secret [a-z]"]).unwrap();
    let answer = |c| format!(r#"{{"call_id":"1","status":"error","error":{{"message":"secret {c}"}}}}"#);
    let text = [r#"{"tool":"a","call_id":"1"}"#.to_owned(), answer('a'), answer('b'), answer('b')].join("\n");
    let mut closed = Vec::new();
    let mut assembler = Assembler::new(0, "t", AssembleOptions::default(), &|_| true);
    assembler.take(read_piece(&InputPiece::Lines(text.into_bytes()), &rules), &mut closed).unwrap();
    let (ledger, ..) = assembler.finish(&mut closed);
    assert_eq!((closed[0].call.answers.len(), ledger.duplicates), (2, 1));
}

#[test]
fn answers_beyond_a_thousand_are_counted_and_dropped() {
    let answer = |n: u32| format!(r#"{{"call_id":"1","status":"error","at_ms":{n}}}"#);
    let answers: Vec<String> = (0..1_300).map(answer).collect();
    let lines = std::iter::once(r#"{"tool":"a","call_id":"1"}"#).chain(answers.iter().map(String::as_str));
    let read = assemble(&lines.collect::<Vec<_>>());
    assert_eq!((read.calls[0].answers.len(), read.ledger.surplus), (1_000, 300));
}

#[test]
fn times_that_go_backwards_are_counted_and_give_no_latency() {
    let read = assemble(&[
        r#"{"tool":"a","call_id":"1","at_ms":100}"#,
        r#"{"call_id":"1","status":"error","at_ms":50}"#,
        r#"{"call_id":"1","status":"ok","at_ms":300,"started_ms":400}"#,
        r#"{"tool":"b","run_id":"other","at_ms":0}"#,
        r#"{"tool":"c","at_ms":200}"#,
    ]);
    assert_eq!(read.ledger.backwards, 3);
    assert_eq!(read.calls[0].answers.iter().map(|answer| answer.at).collect::<Vec<_>>(), [None, None]);
}

#[test]
fn an_identical_call_after_a_failed_one_is_its_next_attempt_where_resends_are_joined() {
    let read = joining(&[
        r#"{"tool":"pay","call_id":"1","args":{"a":1,"b":2},"at_ms":0}"#,
        r#"{"call_id":"1","status":"error","at_ms":5}"#,
        r#"{"tool":"read","args":{},"status":"ok","at_ms":6}"#,
        r#"{"tool":"pay","call_id":"2","args":{"b":2,"a":1.0},"at_ms":7}"#,
        r#"{"call_id":"2","status":"error","attempt":1,"at_ms":9}"#,
        r#"{"tool":"pay","args":{"a":1,"b":2},"status":"ok","at_ms":11}"#,
        r#"{"tool":"pay","args":{"a":1,"b":2},"status":"error","at_ms":12}"#,
    ]);
    assert_eq!(shape(&read), ["#1 pay--i+i", "#2 read+", "#5 pay-"]);
    assert_eq!((read.ledger.joined, read.ledger.closed), (2, 3));
    let millis = playproof_engine::time::Instant::from_millis;
    assert_eq!((read.calls[0].answers[2].started, read.calls[0].answers[1].attempt), (Some(millis(11)), None));
}

#[test]
fn the_first_answer_to_a_resend_has_its_start_time() {
    let read = joining(&[
        r#"{"tool":"pay","call_id":"1","at_ms":0}"#,
        r#"{"call_id":"1","status":"error","at_ms":5}"#,
        r#"{"tool":"pay","call_id":"2","at_ms":7}"#,
        r#"{"call_id":"2","status":"error","at_ms":9}"#,
        r#"{"call_id":"2","status":"error","at_ms":12}"#,
        r#"{"tool":"pay","call_id":"3","at_ms":20}"#,
        r#"{"call_id":"3","status":"ok","attempt":2,"at_ms":23}"#,
    ]);
    assert_eq!(shape(&read), ["#1 pay--i-i+i"]);
    let started: Vec<_> = read.calls[0].answers.iter().map(|answer| answer.started).collect();
    assert_eq!(
        started,
        [None, Some(playproof_engine::time::Instant::from_millis(7)), None, None],
        "the others were sent later"
    );
}

#[test]
fn resends_are_not_joined_after_a_write_with_another_key_or_before_an_answer() {
    let fail = |extra: &str| format!(r#"{{"tool":"pay","args":1{extra},"status":"error"}}"#);
    let apart = |second: &str, between: &str| shape(&joining(&[&fail(""), between, second])).len();
    assert_eq!(apart(&fail(""), ""), 1);
    assert_eq!(apart(&fail(""), r#"{"tool":"write","status":"ok"}"#), 3);
    assert_eq!(apart(&fail(""), r#"{"tool":"write","status":"error"}"#), 2);
    assert_eq!(apart(&fail(r#","idempotency_key":"k""#), ""), 2);
    assert_eq!(apart(&fail(r#","run_id":"r""#), ""), 2);
    assert_eq!(shape(&joining(&[r#"{"tool":"pay"}"#, r#"{"tool":"pay"}"#])).len(), 2);
    assert_eq!(shape(&assemble(&[&fail(""), &fail("")])).len(), 2);
}

#[test]
fn a_resend_may_use_the_id_again() {
    let read = joining(&[
        r#"{"tool":"pay","call_id":"1"}"#,
        r#"{"call_id":"1","status":"error","attempt":1}"#,
        r#"{"tool":"pay","call_id":"1"}"#,
        r#"{"call_id":"1","status":"ok","attempt":2}"#,
    ]);
    assert_eq!(shape(&read), ["#1 pay-+"]);
}

#[test]
fn the_first_bad_line_is_an_error_unless_bad_lines_are_skipped() {
    let text = b"{\"tool\":\"a\"}\n\n{\"tool\":\"b\",\"at_ms\":-1}\n{\"tool\":\n{\"tool\":\"c\"}\n";
    let report = try_assemble(text, AssembleOptions::default()).err().unwrap();
    assert_eq!(report.to_string(), "t.jsonl:3:21: `at_ms` is negative");
    let read = try_assemble(text, AssembleOptions { skip_invalid: true, ..AssembleOptions::default() }).unwrap();
    assert_eq!((read.ledger.skipped, read.ledger.calls, read.ledger.lines, read.reports.len()), (2, 2, 5, 2));
    assert_eq!(read.reports[1].to_string(), "t.jsonl:4:8: the JSON of the line is cut off");
}

#[test]
fn bad_lines_of_every_kind_have_a_place_and_can_be_skipped() {
    let mut text = b"{\"tool\":\"a\"}\n".to_vec();
    text.extend(b"{\"tool\":\"\xff\"}\n");
    text.extend(format!("{{\"tool\":\"a\",\"args\":{}\n", "[".repeat(100_000)).into_bytes());
    text.extend(vec![b'x'; 60_000_000]);
    text.extend(b"\n{\"tool\":\"a\",\"at_ms\":");
    text.extend(vec![b'9'; 5_000]);
    text.extend(b"}\n{\"tool\":\"z\"}");
    let read = try_assemble(&text, AssembleOptions { skip_invalid: true, ..AssembleOptions::default() }).unwrap();
    assert_eq!((read.ledger.lines, read.ledger.skipped, read.ledger.calls), (6, 4, 2));
    let ids: Vec<String> = read.reports.iter().map(ToString::to_string).collect();
    assert_eq!(ids[0], "t.jsonl:2:10: the line is not UTF-8 text: its byte 10 is 0xff");
    assert_eq!(ids[1], "t.jsonl:3:147: the line nests deeper than 128 levels");
    assert_eq!(ids[2], "t.jsonl:4:1: the line is longer than 16 MiB, the limit of a line");
    assert!(ids[3].starts_with("t.jsonl:5:21: `at_ms` is beyond"), "{}", ids[3]);
}

#[test]
fn an_empty_input_has_an_empty_account() {
    assert_eq!(assemble(&[]).ledger, InputLedger::default());
    let read = assemble(&["", "  "]);
    assert_eq!((read.ledger.lines, read.ledger.blank), (2, 2), "a last line without a break counts too");
}

fn line() -> impl Strategy<Value = String> {
    let name = |field: &'static str, names: &'static [&'static str]| {
        proptest::option::of(proptest::sample::select(names))
            .prop_map(move |name| name.map(|name| format!(",\"{field}\":\"{name}\"")).unwrap_or_default())
    };
    let head = proptest::sample::select(&[
        r#"{"type":"tool_call","tool":"a""#,
        r#"{"type":"tool_call","tool":"read""#,
        r#"{"tool":"a""#,
        r#"{"type":"tool_result","tool":"a""#,
        r#"{"type":"tool_result""#,
        r#"{"type":"run_end""#,
        r#"{"type":"other""#,
        r#"{"broken"#,
    ]);
    const REST: [&str; 8] =
        ["", "", ",\"attempt\":1", ",\"attempt\":2", ",\"x\":1", ",\"at_ms\":7", ",\"at_ms\":3", ",\"at_ms\":-1"];
    let parts = (
        head,
        name("run_id", &["r", "s"]),
        name("call_id", &["1", "2", "3"]),
        name("status", &["ok", "error"]),
        proptest::sample::select(&REST),
    );
    let full = parts.prop_map(|(head, run, id, status, rest)| format!("{head}{run}{id}{status}{rest}}}"));
    prop_oneof![9 => full, 1 => Just(String::new())]
}

proptest! {
    #[test]
    fn the_account_always_balances_and_every_call_closes_once(
        lines in proptest::collection::vec(line(), 0..60),
        window in 1..20_u64,
        join_resends: bool,
    ) {
        let options = AssembleOptions { reorder_window: window, join_resends, skip_invalid: true, requests: None };
        let read = try_assemble(lines.join("\n").as_bytes(), options).unwrap();
        let mut numbers: Vec<u64> = read.calls.iter().map(|call| call.number).collect();
        numbers.sort_unstable();
        prop_assert_eq!(numbers, (1..=read.calls.len() as u64).collect::<Vec<_>>());
        let mut references: Vec<String> = read.calls.iter().map(RecordedCall::reference).collect();
        references.sort();
        references.dedup();
        prop_assert_eq!(references.len(), read.calls.len());
        let attached: usize = read.calls.iter().map(|call| call.answers.len()).sum();
        prop_assert_eq!(attached as u64, read.ledger.attached);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let piece = InputPiece::Lines(bytes);
        let read = read_piece(&piece, &RedactionRules::default());
        prop_assert!(read.entries.len() + read.bad.len() <= 301);
    }
}

#[test]
fn answers_that_arrive_out_of_order_are_sorted_by_attempt() {
    let result = |attempt: u32, status: &str| {
        format!(r#"{{"call_id":"1","status":"{status}","attempt":{attempt},"type":"tool_result"}}"#)
    };
    let call = r#"{"tool":"a","call_id":"1"}"#.to_owned();
    let lines = [call, result(3, "ok"), result(1, "error"), result(2, "error"), result(2, "ok"), result(5, "error")];
    let read = assemble(&lines.each_ref().map(String::as_str));
    assert_eq!(shape(&read), ["#1 a--++-"], "the second answer to attempt 2 came late");
    let numbers: Vec<u32> = read.calls[0].attempts().map(|(number, _)| number.get()).collect();
    assert_eq!((numbers, read.ledger.duplicates), (vec![1, 2, 3, 5], 0));
}

#[test]
fn an_answer_without_a_number_answers_the_attempt_after_the_highest_one() {
    let read = assemble(&[
        r#"{"tool":"a","call_id":"1","status":"error"}"#,
        r#"{"call_id":"1","status":"error","attempt":3}"#,
        r#"{"call_id":"1","status":"ok"}"#,
        r#"{"call_id":"1","status":"ok","attempt":1}"#,
        r#"{"call_id":"1","status":"error","attempt":2}"#,
    ]);
    assert_eq!(shape(&read), ["#1 a---++"], "the second answer to attempt 1 came late");
    let numbers: Vec<u32> = read.calls[0].attempts().map(|(number, _)| number.get()).collect();
    assert_eq!((numbers, read.ledger.duplicates), (vec![1, 2, 3, 4], 0));
}

#[test]
fn the_last_failure_of_a_call_follows_the_order_of_attempts_and_not_of_lines() {
    let lines = |first: &str, second: &str| {
        [
            r#"{"tool":"read","call_id":"1"}"#.to_owned(),
            format!(r#"{{"call_id":"1","status":"{second}","attempt":2,"type":"tool_result"}}"#),
            format!(r#"{{"call_id":"1","status":"{first}","attempt":1,"type":"tool_result"}}"#),
            r#"{"tool":"read","call_id":"2","status":"ok"}"#.to_owned(),
        ]
    };
    let joined = |lines: [String; 4]| joining(&lines.each_ref().map(String::as_str)).ledger.joined;
    assert_eq!(joined(lines("ok", "error")), 0, "it succeeded");
    assert_eq!(joined(lines("error", "error")), 1);
    assert_eq!(joined(lines("error", "ok")), 0);
}

#[test]
fn a_successful_refresh_is_no_write() {
    let lines = |answers: &str| {
        [
            r#"{"tool":"read","call_id":"1","status":"error"}"#.to_owned(),
            r#"{"tool":"write","call_id":"2","status":"error"}"#.to_owned(),
            format!(r#"{{"call_id":"2","answers":"{answers}","status":"ok","type":"tool_result"}}"#),
            r#"{"tool":"read","call_id":"3","status":"ok"}"#.to_owned(),
        ]
    };
    let joined = |answers| joining(&lines(answers).each_ref().map(String::as_str)).ledger.joined;
    assert_eq!((joined("refresh"), joined("attempt"), joined("reversal")), (1, 0, 0));
}

#[test]
fn what_a_dispatcher_did_is_noted_of_its_call() {
    let call = r#"{"tool":"a","run_id":"r","call_id":"1","at_ms":10,"dispatcher_id":"d"}"#;
    let cancel = r#"{"type":"cancel","run_id":"r","call_id":"1","at_ms":20}"#;
    let end = r#"{"type":"decision","run_id":"r","call_id":"1","at_ms":30,"event":"outcome","outcome":"cancelled"}"#;
    let read = assemble(&[call, cancel, end]);
    let [one] = &read.calls[..] else { panic!() };
    let ms = playproof_engine::time::Instant::from_millis;
    assert_eq!((one.cancelled_at(), one.end(), one.dispatcher()), (Some(ms(20)), Some((ms(30), 3)), Some("d")));
    assert_eq!(one.dispatch.as_ref().unwrap().decisions, [(3, end.into())]);
    assert_eq!((read.ledger.dispatched, read.ledger.other), (2, 0));
    assert!(read.ledger.rows().contains(&("dispatched", 2)));
}

#[test]
fn what_cannot_have_happened_to_a_call_is_refused_where_it_stands() {
    let call = r#"{"tool":"a","run_id":"r","call_id":"1","at_ms":10}"#;
    let cancel = r#"{"type":"cancel","run_id":"r","call_id":"1","at_ms":20}"#;
    let decision =
        r#"{"type":"decision","run_id":"r","call_id":"1","at_ms":20,"event":"outcome","outcome":"cancelled"}"#;
    let [ok, failed] = ["ok", "error"]
        .map(|status| format!(r#"{{"type":"tool_result","run_id":"r","call_id":"1","status":"{status}","at_ms":15}}"#));
    let refused = |lines: &[&str], rules: &[&str]| {
        let rules = RedactionRules::new(rules, &[]).unwrap();
        match try_redacted(lines.join("\n").as_bytes(), AssembleOptions::default(), &rules) {
            Ok(_) => None,
            Err(report) => {
                let shown = report.source.text[report.diagnostics[0].labels[0].span.clone()].to_owned();
                Some((report.source.first_line, report.diagnostics[0].id, shown))
            }
        }
    };
    let unknown = |line: usize, shown: &str| Some((line, "unknown_call", shown.to_owned()));
    let impossible = |line: usize, shown: &str| Some((line, "impossible_time", shown.to_owned()));
    let other = |line: &str| line.replace("\"call_id\":\"1\"", "\"call_id\":\"2\"");
    assert_eq!(refused(&[call, &other(cancel)], &[]), unknown(2, "\"2\""));
    assert_eq!(refused(&[call, &other(decision)], &[]), unknown(2, "\"2\""));
    assert_eq!(refused(&[cancel, call], &[]), unknown(1, "\"1\""), "its call is not made yet");
    assert_eq!(refused(&[call, &other(cancel)], &["ssn"]), unknown(2, "[redacted]"));
    for early in [cancel, decision].map(|line| line.replace("20", "9")) {
        assert_eq!(refused(&[call, &early], &[]), impossible(2, "9"));
    }
    assert_eq!(refused(&[call, &ok, cancel], &[]), impossible(3, "20"));
    assert_eq!(refused(&[call, decision, &cancel.replace("20", "21")], &[]), impossible(3, "21"));
    for lines in [&[call, &failed, cancel][..], &[call, cancel, &ok], &[call, &ok, &cancel.replace("20", "15")]] {
        assert_eq!(refused(lines, &[]), None, "{lines:?}");
    }

    // An input that ends early has an account, too.
    let text = [call, &other(cancel), call].join("\n");
    let mut assembler = Assembler::new(0, "t.jsonl", AssembleOptions::default(), &|_| true);
    let piece = Chunks::new(text.as_bytes()).next(Vec::new()).unwrap().unwrap();
    assert!(assembler.take(read_piece(&piece, &RedactionRules::default()), &mut Vec::new()).is_err());
    assert!(assembler.finish(&mut Vec::new()).0.balances());

    let options = AssembleOptions { skip_invalid: true, ..AssembleOptions::default() };
    let read = assemble_with(&[call, &other(cancel), cancel], options);
    assert_eq!((read.ledger.skipped, read.ledger.dispatched), (1, 1));
}

#[test]
fn a_late_answer_to_an_attempt_that_was_not_sent_is_counted_with_its_line() {
    let unsent = |numbers: &[u32]| {
        let late = |n: &u32| format!(r#"{{"call_id":"1","attempt":{n},"status":"ok","answers":"late"}}"#);
        let first = [r#"{"tool":"a","call_id":"1"}"#, r#"{"call_id":"1","attempt":1,"status":"error"}"#];
        let lines: Vec<String> = first.map(str::to_owned).into_iter().chain(numbers.iter().map(late)).collect();
        let read = assemble(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(read.ledger.rows().iter().any(|row| row.0 == "unsent"), read.ledger.unsent > 0);
        (read.ledger.unsent, read.ledger.first_unsent)
    };
    assert_eq!((unsent(&[]), unsent(&[1]), unsent(&[2]), unsent(&[3, 2])), ((0, 0), (0, 0), (0, 0), (0, 0)));
    assert_eq!((unsent(&[3]), unsent(&[2, 9, 9, 7])), ((1, 3), (2, 4)), "a repeated line counts once");
}

#[test]
fn a_crash_of_a_run_without_calls_before_it_is_counted_with_its_line() {
    let of = |run: &str| {
        let crash = format!(r#"{{"type":"crash"{run}}}"#);
        let read = assemble(&[r#"{"tool":"a","call_id":"1","run_id":"r"}"#, &crash, &crash]);
        assert_eq!(read.ledger.rows().iter().any(|row| row.0 == "stray_crashes"), read.ledger.stray_crashes > 0);
        (read.ledger.stray_crashes, read.ledger.first_stray_crash)
    };
    assert_eq!((of(""), of(r#","run_id":"r""#), of(r#","run_id":"s""#)), ((0, 0), (0, 0), (2, 2)));
}
