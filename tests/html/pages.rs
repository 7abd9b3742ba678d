//! What pages say, and what they never hold.

use serde_json::json;

use super::markup::texts;
use super::{COMMANDS, HOSTILE, page, place, trace};
use crate::place::Place;

#[test]
fn every_page_is_one_file_that_runs_and_asks_for_nothing() {
    let place = place(60, "plain");
    for (name, args) in COMMANDS {
        let page = page(&place, name, args);
        let said = texts(&page).join("\n");
        assert!(said.contains("This page holds no script"), "{name}");
        for part in ["<script", "http:", "https:", "src=", "url(", "@import", "style=\"", "javascript:"] {
            assert!(!page.contains(part), "{name} has {part}");
        }
        assert!(page.contains("content=\"default-src &#39;none&#39;; style-src &#39;sha256-"), "{name}");
        assert!(page.contains("prefers-color-scheme: dark") && page.contains("@media print"), "{name}");
    }
}

#[test]
fn the_page_of_coverage_has_the_fixtures_that_the_terminal_lists() {
    let place = Place::new();
    place.write("fixtures/one.yaml", include_str!("../../fixtures/a-keyed-refund-times-out-after-it-landed.yaml"));
    let page = page(&place, "coverage", &["coverage", "standard"]);
    let said = texts(&page).concat();
    let listed = place.run(&["coverage", "standard", "--all"]).out;
    let heads: Vec<&str> =
        listed.lines().filter_map(|line| line.strip_prefix("# ")?.split_once(" adds ")).map(|head| head.0).collect();
    assert!(heads.len() > 3, "{listed}");
    for head in heads.iter().take(40) {
        assert!(said.contains(head), "{head}");
    }
    assert!(said.contains("upstream:\n"), "with their lines");
    let args = ["coverage", "standard", "--write", "fixtures"];
    assert!(said.contains(&format!("This command writes all of them: playproof {}", args.join(" "))), "{said}");
    place.run(&args).exits(0);
}

#[test]
fn the_marks_of_coverage_are_explained_where_they_stand() {
    let page = page(&Place::begun(), "coverage", &["coverage"]);
    let said = texts(&page).join(" ");
    for legend in
        ["The four marks stand for a call with no key", "Before a line: how many of the things that it declares"]
    {
        assert!(said.contains(legend), "{said}");
    }
}

#[test]
fn a_page_of_fixtures_lists_them_first_and_shows_the_calls_of_times_once() {
    let place = Place::new();
    let loop_of = "a-loop-of-one-call-ends-with-the-budget.yaml";
    place.write(loop_of, include_str!("../../fixtures/a-loop-of-one-call-ends-with-the-budget.yaml"));
    place.write("refund.yaml", include_str!("../../fixtures/a-keyed-refund-times-out-after-it-landed.yaml"));
    let page = page(&place, "fixtures", &["replay", loop_of, "refund.yaml"]);
    let said = texts(&page);
    for (id, title) in
        [("fixture-1", "An agent makes the same read again and again"), ("fixture-2", "A refund times out")]
    {
        assert!(page.contains(&format!("<a href=\"#{id}\">{title}")) && page.contains(&format!("id=\"{id}\"")), "{id}");
    }
    let of_loop =
        said.iter().position(|text| text.ends_with("(refund.yaml)")).map_or(&said[..], |end| &said[..end]).join(" ");
    for once in ["same- 1 to same- 50: outcome", "same- 51 to same- 60: outcome", "×10", "×40", "and 35 more"] {
        assert!(of_loop.contains(once), "{once}: {of_loop}");
    }
    assert!(of_loop.contains("the same call was made up to 60 times in one run"), "the greatest count: {of_loop}");
    assert!(!of_loop.contains("this is the"), "a count of several calls is no place of one: {of_loop}");
    let one = place.run(&["replay", loop_of, "--call", "same-12"]).out;
    assert!(one.contains("1. search.web  same-12 ──"), "a call that was asked for stands by itself: {one}");
}

#[test]
fn hostile_text_stays_text_on_every_page() {
    let place = place(30, HOSTILE);
    for (name, args) in COMMANDS {
        let is_of_trace = ["replay", "impact"].contains(&name); // the proposal changes no call
        let page = page(&place, name, args);
        let all = texts(&page).concat();
        assert_eq!(all.contains("<script>alert(1)</script>\"onload=\"x'"), is_of_trace, "{name}: {all}");
        assert_eq!(all.contains("\\u{202e}"), is_of_trace, "{name}");
        let is_odd = |c: &char| matches!(c, '\u{0}'..='\u{9}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}');
        let odd = page.chars().find(is_odd);
        assert_eq!(odd, None, "{name}");
    }
    let streamed = page(&place, "streamed", &[COMMANDS[0].1, &["--format", "jsonl"]].concat());
    assert!(streamed.contains("<article"), "calls that are written as lines are on the page too");
    let shown = page(&place, "shown", &[COMMANDS[0].1, &["--show-args", "--all"]].concat());
    assert!(texts(&shown).concat().contains("\"n\":"));
    let types = page(&place, "types", COMMANDS[0].1);
    assert!(!texts(&types).concat().contains("\"n\":"), "arguments are shown as keys and types");
}

#[test]
fn a_page_has_a_link_from_the_summary_to_each_call_and_no_other() {
    let place = place(60, "plain");
    let page = page(&place, "replay", COMMANDS[0].1);
    let ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let mut once = ids.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), ids.len(), "{ids:?}");
    let links: Vec<&str> = page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let dangling = links.iter().find(|link| !ids.contains(link));
    assert_eq!(dangling, None);
    assert!(links.contains(&"call-1") && links.contains(&"top") && links.contains(&"delays"), "{links:?}");
}

#[test]
fn failures_are_counted_by_verdict_and_message_and_numbers_stand_beside_bars() {
    let place = place(60, "plain");
    let page = page(&place, "replay", COMMANDS[0].1);
    let said = texts(&page);
    let mut row = said.iter().skip_while(|text| *text != "it went wrong: plain").skip(1);
    let count = row.find(|text| !text.starts_with('#') && text.trim() != "…");
    assert_eq!(count.map(String::as_str), Some("20"), "every third call fails with these words: {said:?}");
    let mut bars = said.iter().skip_while(|text| *text != "Delay added, all calls: standard").skip(1);
    let bars: Vec<&str> = bars.by_ref().take(8).map(String::as_str).collect();
    assert_eq!(bars, ["p50", "0 ms", "p95", "200 ms", "p99", "200 ms", "max", "200 ms"], "{said:?}");
    assert!(page.matches("<svg").count() > 8, "a bar for each percentile");
    let count = |is: &dyn Fn(&str) -> bool| said.iter().filter(|text| is(text)).count();
    let charts = count(&|text| text.starts_with("Delay added, ") || text.starts_with("Upstream calls per call"));
    assert_eq!(count(&|text| text == "p99"), charts, "none is in the table, too");
}

/// A refund that is answered with 500 and sent again without a key, and a cancellation that is denied and sent again.
fn two_mistakes() -> Place {
    let place = Place::begun();
    let call = |run: &str, id: &str, tool: &str| {
        json!({ "run_id": run, "call_id": id, "tool": tool, "args": { "order": run } }).to_string()
    };
    let answer = |run: &str, id: &str, attempt: u32, kind: &str| {
        json!({ "run_id": run, "call_id": id, "attempt": attempt, "error": { "kind": kind } }).to_string()
    };
    let lines = [
        call("c3", "a", "cancel"),
        answer("c3", "a", 1, "403_forbidden"),
        answer("c3", "a", 2, "403_forbidden"),
        call("c1", "b", "issue_refund"),
        answer("c1", "b", 1, "5xx"),
        json!({ "run_id": "c1", "call_id": "b", "attempt": 2, "status": "ok" }).to_string(),
        call("c4", "c", "issue_refund"),
        answer("c4", "c", 1, "timeout"),
    ];
    let tools = "format: tools/1\ntools:\n  cancel: { access: write }\n  issue_refund: { access: write }\n";
    place.write("tools.yaml", tools);
    place.write("trace.jsonl", &(lines.join("\n") + "\n"));
    place
}

const MISTAKES: &[&str] = &["replay", "trace.jsonl", "--tools", "tools.yaml", "--playbook", "standard"];

#[test]
fn a_page_begins_with_what_went_wrong_the_possible_double_before_the_denial() {
    let page = page(&two_mistakes(), "wrong", MISTAKES);
    let said = texts(&page).join(" ");
    let at = |part: &str| said.find(part).unwrap_or_else(|| panic!("{part}: {said}"));
    let double =
        at("issue_refund of c1 was sent twice (answered with the failure 5xx, then ok): it may have acted twice.");
    let denial = at("cancel of c3 was denied, and was sent again all the same");
    let (tag, numbers) = (at("unsafe the recording"), at("calls that claim"));
    assert!(tag < double && at("What went wrong") < double && double < denial && denial < numbers, "{said}");
    assert_eq!(page.matches("it may have acted twice.").count(), 2, "on top, and on the call's timeline");
    assert!(!said.contains("issue_refund of c4 was sent"), "what was sent once is told as it is");
}

#[test]
fn a_page_counts_the_mistakes_that_it_does_not_tell_and_tells_them_in_the_order_of_the_calls() {
    let place = two_mistakes();
    let again = |n: usize| {
        let id = format!("e{n}");
        let call = json!({ "run_id": id, "call_id": id, "tool": "cancel", "args": { "n": n } });
        let answer = |attempt: u32| json!({ "run_id": id, "call_id": id, "attempt": attempt, "error": { "kind": "403_forbidden" } });
        [call, answer(1), answer(2)].map(|line| format!("{line}\n")).concat()
    };
    place.write("trace.jsonl", &(place.read("trace.jsonl") + &(0..28).map(again).collect::<String>()));
    let page = page(&place, "wrong", MISTAKES);
    let said = texts(&page).join(" ");
    let end = said.find(" and 25 more of 30").unwrap_or_else(|| panic!("{said}"));
    let told = &said[said.find("What went wrong #1 ").expect("the first") + "What went wrong ".len()..end];
    let places: Vec<usize> = (1..=5).map(|n| told.find(&format!("#{n} ")).expect("in order")).collect();
    assert!(places.is_sorted() && told.starts_with("#1  issue_refund of c1"), "{told}");
    let first = page.split("id=\"call-1\"").nth(1).and_then(|rest| rest.split("id=\"call-2\"").next());
    assert!(
        first.expect("the first call").contains("issue_refund of c1 was sent twice"),
        "the same call is first below"
    );
}

/// A payment without an answer, and the same one in a second call.
fn paid_twice() -> Place {
    let place = two_mistakes();
    place.write("tools.yaml", "format: tools/1\ntools: { pay: { access: write } }\n");
    let call = |id: &str| json!({ "run_id": "r", "call_id": id, "tool": "pay", "args": { "amount": 5 } });
    let lost = json!({ "run_id": "r", "call_id": "a", "attempt": 1, "error": { "kind": "timeout" } });
    let ok = json!({ "run_id": "r", "call_id": "b", "attempt": 1, "status": "ok" });
    place.write("trace.jsonl", &[call("a"), lost, call("b"), ok].map(|line| format!("{line}\n")).concat());
    place
}

#[test]
fn a_playbook_that_sends_what_may_have_acted_twice_is_not_clean() {
    let both = [MISTAKES, &["--playbook", "reversing"]].concat();
    let said = texts(&page(&paid_twice(), "twice", &both)).join(" ");
    for name in ["standard", "reversing"] {
        let kept = format!("unsafe {name} : the recorded calls with unsafe_retry stay as they were");
        assert!(said.contains(&kept), "{said}");
    }
    let place = paid_twice();
    place.write("trace.jsonl", &(place.read("trace.jsonl") + &two_mistakes().read("trace.jsonl")));
    let said = texts(&page(&place, "less", MISTAKES)).join(" ");
    let may = "doubt standard : the recorded calls with unsafe_retry stay as they were, or fewer: it sends \
               some calls less often";
    assert!(said.contains(may), "it stops the resend of another call: {said}");
    let stopped = texts(&page(&two_mistakes(), "stopped", MISTAKES)).join(" ");
    assert!(stopped.contains("clean standard : no finding"), "it sends each of them once: {stopped}");
}

#[test]
fn a_playbook_that_waits_as_it_was_asked_is_not_blamed_for_a_recording_that_did_not() {
    let place = two_mistakes();
    let call = json!({ "run_id": "r", "call_id": "a", "tool": "pay", "at_ms": 0, "args": {}, "idempotency_key": "k" });
    let busy = json!({ "kind": "429_rate_limited", "retry_after_ms": 5_000 });
    let failed = json!({ "run_id": "r", "call_id": "a", "attempt": 1, "at_ms": 100, "error": busy });
    let ok = json!({ "run_id": "r", "call_id": "a", "attempt": 2, "started_ms": 300, "at_ms": 400, "status": "ok" });
    place.write("trace.jsonl", &[call, failed, ok].map(|line| format!("{line}\n")).concat());
    let said = texts(&page(&place, "waits", MISTAKES)).join(" ");
    assert!(said.contains("retry_after_ignored") && said.contains("clean standard : no finding"), "{said}");
}

#[test]
fn a_call_that_was_sent_again_is_told_with_the_end_of_the_call_before_it() {
    let said = texts(&page(&paid_twice(), "again", MISTAKES)).join(" ");
    let again = "pay of r was sent again after an equal call that may have acted, and was answered ok: it may have acted \
                 twice. An equal call before it, r#1, was answered with a timeout.";
    assert_eq!(said.matches(again).count(), 2, "on top, and on the call's card: {said}");
}

#[test]
fn a_page_without_a_mistake_says_nothing_of_one() {
    let place = Place::begun();
    let call = json!({ "run_id": "r", "call_id": "a", "tool": "t" });
    let ok = json!({ "run_id": "r", "call_id": "a", "attempt": 1, "status": "ok" });
    place.write("trace.jsonl", &format!("{call}\n{ok}\n"));
    assert!(!texts(&page(&place, "well", &["replay", "trace.jsonl"])).contains(&"What went wrong".to_owned()));
}

#[test]
fn the_branch_that_acted_is_underlined_in_its_whole_row() {
    let page = page(&two_mistakes(), "rows", MISTAKES);
    let branch = "on_unsafe: <mark>{ escalate_to_human: { queue: ambiguous_effects } }</mark>";
    assert_eq!(page.matches(branch).count(), 1, "only where the guard stopped a retry");
    assert!(page.contains("the retry guard stopped the retry: this acted"), "{page}");
    assert!(!page.contains("<mark>retry_with_backoff</mark>"), "what was stopped did not decide");
    let when = "when: <mark>{ kind: timeout, access: write, idempotent: false, keyed: false }</mark>";
    assert!(page.contains(when) && page.contains("- rule: unanswered-write"), "{page}");
}

#[test]
fn the_row_of_a_budget_that_refused_a_call_is_shown_and_of_one_that_did_not_is_not() {
    for (calls, refused) in [(1, true), (2, false)] {
        let place = Place::begun();
        let budget = format!("name: ours\nbudget:\n  tool_calls: {calls}\n");
        place.edit_first("playbooks/ours.yaml", "name: ours\n", &budget);
        let line = |id: &str, at: u32| {
            let call = json!({ "run_id": "r", "call_id": id, "tool": "t", "args": { "n": at }, "at_ms": at });
            let ok = json!({ "run_id": "r", "call_id": id, "attempt": 1, "status": "ok", "at_ms": at + 5 });
            format!("{call}\n{ok}\n")
        };
        place.write("trace.jsonl", &(line("a", 0) + &line("b", 10)));
        let page = page(&place, "budget", &["replay", "trace.jsonl", "--playbook", "ours", "--all"]);
        assert_eq!(page.contains("← refused it"), refused, "{calls}: {page}");
        assert_eq!(page.contains(&format!("tool_calls: {calls}</mark>")), refused, "{calls}: {page}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_page() {
    let place = place(2_000, "plain");
    for (name, args) in COMMANDS.iter().filter(|(name, _)| !["fixture", "coverage"].contains(name)) {
        let one = page(&place, name, &[*args, &["--jobs", "1"]].concat());
        for jobs in ["2", "7"] {
            assert_eq!(page(&place, name, &[*args, &["--jobs", jobs]].concat()), one, "{name} on {jobs} threads");
        }
    }
}

#[test]
fn a_page_is_short_however_many_calls_there_are_and_says_what_it_leaves_out() {
    let place = Place::new();
    let texts_of = |n: usize| format!("word{} {}", n, "x".repeat(300));
    let lines: Vec<String> = (0..5_000).map(|n| trace(1, &texts_of(n)).replace("r0", &format!("r{n}"))).collect();
    place.write("long.jsonl", &lines.concat());
    let folded = page(&place, "folded", &["replay", "long.jsonl", "--only", "failed"]);
    let all = page(&place, "all", &["replay", "long.jsonl", "--all", "--show-args"]);
    let impact = page(&place, "impact", &["impact", "long.jsonl", "--candidate", "study/retry-everything"]);
    for (name, page) in [("folded", &folded), ("all", &all), ("impact", &impact)] {
        assert!(page.len() < 1_000_000, "{name}: {}", page.len());
    }
    let said = texts(&all).join("\n");
    let shown = all.matches("<article").count();
    assert!((50..5_000).contains(&shown), "{shown}");
    assert!(said.contains("5,000 calls; the most serious first"), "{shown}");
    let left = 5_000 - shown + usize::from(!said.contains("playproof explain")); // the command to run next is a part, too
    let left = format!("{},{:03} parts are left out", left / 1_000, left % 1_000);
    assert!(said.contains(&left), "{left}: {shown}");
    let folded_says = texts(&folded);
    assert!(folded_says.join("\n").contains("--only failed"), "what the selection does not limit is said");
    let mut failures = folded_says.iter().skip_while(|text| *text != "(no message)").skip(1);
    assert_eq!(
        failures.find(|text| !text.starts_with('#') && text.trim() != "…").map(String::as_str),
        Some("5,000"),
        "each call fails once"
    );
    for jobs in ["1", "3"] {
        let again = page(&place, "again", &["replay", "long.jsonl", "--only", "failed", "--jobs", jobs]);
        assert_eq!(again, folded, "on {jobs} threads");
    }
}

#[test]
fn the_page_of_a_check_says_what_the_table_says() {
    let place = place(3, "plain");
    let table = place.run(&["check"]).exits(1).out;
    let said = texts(&page(&place, "check", &["check"])).concat();
    let counts = table.lines().find(|line| line.contains("as accepted")).expect("the counts");
    assert!(said.contains(counts), "{counts}");
    assert!(said.contains("backoff_ms") && said.contains("← `backoff_ms` was [200,600,1800]"), "{said}");
    place.write("playproof.yaml", "fixture: x\n");
    let unusable = place.run(&["check", "--report", "html=check.html"]).exits(2);
    let said = texts(&place.read("check.html")).concat();
    assert!(said.contains("Nothing was checked.") && said.contains("playproof.yaml"), "{unusable:?} {said}");
}

const PLAYBOOK: &str = "\
format: playbook/1
name: ours
verdicts:
  slow: { means: No answer in time., effect: unknown, then: { retry_with_backoff: { backoff_ms: [200] } } }
  unclassified: { means: No rule knows it., effect: unknown, then: { escalate_to_human: { queue: people } } }
classify:
  - { rule: timeout, when: { kind: timeout }, verdict: slow }
otherwise: unclassified
default_queue: people
queues: [people]
";

const FIXTURE: &str = "\
format: fixture/1
title: A charge with a key is sent again & <answered>
calls:
  charge: { tool: payments.charge, args: { amount: 5 }, idempotency_key: k1 }
upstream:
  charge: [{ timeout: {}, applied: true }, { ok: {} }]
expect:
  ours: { charge: { outcome: succeeded }, effects: 1 }
";

#[test]
fn the_page_of_a_fixture_is_as_it_was() {
    let place = Place::new();
    place.write("ours.yaml", PLAYBOOK);
    place.write("fixture.yaml", FIXTURE);
    let page = page(&place, "page", &["replay", "fixture.yaml", "--playbook", "ours.yaml"]);
    let (_, body) = page.split_once("<body>").expect("a body");
    insta::assert_snapshot!(body.replace("><", ">\n<"));
}
