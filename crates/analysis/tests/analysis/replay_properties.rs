//! Properties of what recordings show, over random stories: only when calls were made and answered counts, never how the
//! lines name and order that. A fixture that tells the same story gives the same findings.

use std::collections::BTreeMap;
use std::io::Cursor;

use playproof_analysis::replay::*;
use playproof_engine::event::{Finding, FindingBy, FindingId, IntentDoubt};
use playproof_engine::fixture::{Fixture, FixtureCall};
use playproof_engine::playbook::{Access, ToolFacts, ToolRow, Tools};
use playproof_engine::sim::{Plan, Scenario, Simulator};
use playproof_engine::time::{Duration, Instant};
use playproof_engine::upstream::{Script, ScriptedAnswer, UpstreamReply};
use playproof_formats::diagnostic::Source;
use proptest::prelude::*;
use proptest::sample::select;

/// It never sends anything again, so that all findings are the agent's.
const PLAYBOOK: &str = "format: playbook/1\nname: p\nverdicts:\n\
    \x20 refused: { means: x, effect: not_applied, then: { escalate_to_human: { queue: q } } }\n\
    \x20 lost: { means: x, effect: unknown, then: { escalate_to_human: { queue: q } } }\n\
    \x20 stale: { means: x, effect: not_applied, then: { refresh_evidence: { then: abort } } }\n\
    classify:\n  - { rule: r, when: { kind: [refused, 403_forbidden] }, verdict: refused }\n\
    \x20 - { rule: s, when: { kind: stale }, verdict: stale }\n\
    \x20 - { rule: l, when: { kind: [timeout, 409_conflict] }, verdict: lost }\n\
    default_queue: q\nqueues: [q]\n";

const TOOLS: [&str; 6] = ["pay", "set", "mail", "read", "odd", "void"];

/// The plan; every tool is called `prefix` and its name. `odd` is not declared; the upstream of `void` ignores keys.
fn plan(prefix: &str) -> Plan {
    let playbook = playproof_formats::playbook::parse(Source::whole("p", PLAYBOOK)).unwrap().playbook;
    let row = |name: &str, access, idempotent, repeatable| {
        let facts = ToolFacts { access, idempotent, repeatable, declared: true, ..ToolFacts::ASSUMED };
        let facts = ToolFacts { ignores_keys: name == "void", ..facts };
        ToolRow::new(format!("{prefix}{name}"), facts).unwrap()
    };
    let rows = vec![
        row("pay", Access::Write, false, false),
        row("set", Access::Write, true, false),
        row("mail", Access::Write, false, true),
        row("read", Access::Read, false, false),
        row("void", Access::Write, false, false),
    ];
    Plan::new(playbook, &Tools::new(rows))
}

/// One call of a story.
#[derive(Clone, Debug)]
pub(super) struct StoryCall {
    pub(super) run: usize,
    pub(super) tool: &'static str,
    pub(super) args: u8,
    pub(super) key: Option<u8>,
    pub(super) made: u64,
    /// The answers to its attempts, with their times.
    pub(super) answers: Vec<(&'static str, u64)>,
    /// The time of a successful reversal.
    pub(super) reversed: Option<u64>,
    /// The time of a late ok of the first attempt, which has another answer.
    pub(super) late: Option<u64>,
}

/// How a story is written down.
#[derive(Clone, Debug)]
struct Wording {
    prefix: &'static str,
    args: &'static str,
    later: u64,
    /// The order of the lines; none: that of their times.
    shuffle: Option<u64>,
    /// An unrelated run is told, too.
    unrelated: bool,
    /// Runs end explicitly.
    ends: bool,
    /// One file a run.
    split: bool,
    jobs: usize,
}

const PLAIN: Wording =
    Wording { prefix: "", args: "n", later: 0, shuffle: None, unrelated: false, ends: false, split: false, jobs: 1 };

/// Up to three runs; no two things happen at the same time. `shared`: keys mean the same in all runs.
pub(super) fn stories(shared: bool, attempts: usize) -> impl Strategy<Value = Vec<StoryCall>> {
    let answer = (select(vec!["ok", "ok", "timeout", "refused", "403_forbidden", "409_conflict", "other"]), 1..60_u64);
    let answers = proptest::collection::vec(answer, 0..=attempts);
    let reversal = proptest::option::weighted(0.1, 1..60_u64);
    let tool = prop_oneof![3 => Just("pay"), 2 => select(TOOLS.to_vec())];
    let late = proptest::option::weighted(0.15, 1..60_u64);
    let key = proptest::option::weighted(0.4, 0..2_u8);
    let call = (0..3_usize, tool, 0..2_u8, key, 0..40_u64, answers, reversal, late);
    proptest::collection::vec(call, 1..9).prop_map(move |calls| {
        let (mut clock, mut ticks) = (0, 0);
        let mut tick = |at: u64| {
            ticks += 1;
            at * 100 + ticks
        };
        let told = calls.into_iter().map(|(run, tool, args, key, gap, answers, reversal, late)| {
            clock += gap;
            let mut at = clock;
            let made = tick(at);
            let answers: Vec<_> = answers
                .into_iter()
                .map(|(said, gap)| {
                    (
                        said,
                        tick({
                            at += gap;
                            at
                        }),
                    )
                })
                .collect();
            let key = key.map(|key| if shared { key } else { key + 2 * u8::try_from(run).unwrap_or(0) });
            let reversed = reversal.map(|gap| tick(at + gap));
            let late = late.filter(|_| !answers.is_empty()).map(|gap| tick(at + gap));
            StoryCall { run, tool, args, key, made, answers, reversed, late }
        });
        told.collect()
    })
}

/// The lines of a story, each with the call that it begins, by file.
fn lines_of(story: &[StoryCall], wording: &Wording) -> Vec<Vec<(String, Option<usize>)>> {
    let Wording { prefix, args, later, .. } = wording;
    let mut lines: Vec<TimedLine> = Vec::new();
    for (n, call) in story.iter().enumerate() {
        let name = format!(r#""run_id":"{prefix}r{}","call_id":"{prefix}c{n}""#, call.run);
        let key = call.key.map(|key| format!(r#","idempotency_key":"{prefix}k{key}""#)).unwrap_or_default();
        let line = format!(
            r#"{{"type":"tool_call",{name},"tool":"{prefix}{}","args":{{"{args}":{}}},"at_ms":{}{key}}}"#,
            call.tool,
            call.args,
            call.made + later
        );
        lines.push((call.made, call.run, line, Some(n)));
        for (attempt, (said, at)) in (1..).zip(&call.answers) {
            let said = match *said {
                "ok" => r#""status":"ok""#.to_owned(),
                kind => format!(r#""error":{{"kind":"{kind}","message":"already processed"}}"#),
            };
            let at_ms = at + later;
            let line = format!(r#"{{"type":"tool_result",{name},"at_ms":{at_ms},"attempt":{attempt},{said}}}"#);
            lines.push((*at, call.run, line, None));
        }
        if let Some(at) = call.late {
            let at_ms = at + later;
            let said = r#""attempt":1,"answers":"late","status":"ok""#;
            lines.push((at, call.run, format!(r#"{{"type":"tool_result",{name},"at_ms":{at_ms},{said}}}"#), None));
        }
        if let Some(at) = call.reversed {
            let at_ms = at + later;
            let line = format!(r#"{{"type":"tool_result",{name},"at_ms":{at_ms},"answers":"reversal","status":"ok"}}"#);
            lines.push((at, call.run, line, None));
        }
    }
    if wording.unrelated {
        for at in [1, 4_000, 9_000] {
            let line = format!(
                r#"{{"run_id":"stranger","tool":"pay","args":{{"n":1}},"idempotency_key":"s","at_ms":{at},"status":"ok"}}"#
            );
            lines.push((at, 3, line, None));
        }
    }
    match wording.shuffle {
        None => lines.sort_by_key(|&(at, ..)| at),
        Some(seed) => shuffle(&mut lines, seed),
    }
    let mut files = vec![Vec::new(); if wording.split { 4 } else { 1 }];
    for (_, run, line, call) in lines {
        files[if wording.split { run } else { 0 }].push((line, call));
    }
    if wording.ends {
        let end = |run: usize| (format!(r#"{{"type":"run_end","run_id":"{prefix}r{run}"}}"#), None);
        files[0].extend((0..3).rev().map(end));
    }
    files
}

/// The time of a line, its run, its text, and its call if it is the line of one.
type TimedLine = (u64, usize, String, Option<usize>);

/// Any order in which the line of a call comes before those of its answers.
fn shuffle(lines: &mut Vec<TimedLine>, seed: u64) {
    let id =
        |line: &str| line.split(r#""call_id":"#).nth(1).map(|rest| rest.split(',').next().unwrap_or("").to_owned());
    let rank = |n: usize| (n as u64 + 1).wrapping_mul(seed | 1).rotate_left(17).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut calls: BTreeMap<String, u64> = BTreeMap::new();
    let mut ranked: Vec<(u64, TimedLine)> = Vec::new();
    for (n, line) in lines.drain(..).enumerate() {
        let own = rank(n);
        let place = match (id(&line.2), line.3) {
            (Some(id), Some(_)) => *calls.entry(id).or_insert(own),
            (Some(id), None) => own.max(calls.get(&id).map_or(0, |call| call.saturating_add(1))), // calls stand first
            (None, _) => own,
        };
        ranked.push((place, line));
    }
    ranked.sort_by_key(|(place, _)| *place);
    lines.extend(ranked.into_iter().map(|(_, line)| line));
}

/// What each call shows: places and names left out.
struct Shows;

impl Observer for Shows {
    type Part = Vec<((u32, u64), String)>;

    fn part(&self) -> Self::Part {
        Vec::new()
    }

    fn on_call(&self, result: &CallResult<'_>, part: &mut Self::Part) {
        let ends = result.records().flat_map(|record| &record.outcomes);
        let ends: Vec<String> =
            ends.map(|end| format!("{} {:?} {}", end.kind.as_str(), end.claim, end.attempts)).collect();
        // What rests on the order of lines, or on the run before, is of recordings alone, and has tests of its own.
        let is_of_lines = |finding: &Finding| {
            let doubt = matches!(finding.doubt, Some(IntentDoubt::SameId | IntentDoubt::BegunAgain));
            doubt || finding.id == FindingId::ChangedAfterDenial
        };
        let findings = result.findings().map(|(_, finding)| finding).filter(|finding| !is_of_lines(finding));
        let findings: Vec<String> = findings
            .map(|one| format!("{}/{:?} by {:?} x{}", one.id.as_str(), one.severity, one.by, one.count))
            .collect();
        let place = result.call.place;
        part.push(((place.input, place.line), format!("{ends:?} {findings:?}")));
    }
}

/// What every call of a story shows, in the order of the story.
fn shown(story: &[StoryCall], wording: &Wording) -> Vec<String> {
    let files = lines_of(story, wording);
    let mut calls = BTreeMap::new();
    for (input, file) in (0..).zip(&files) {
        for (line, (_, call)) in (1..).zip(file) {
            calls.extend(call.map(|call| ((input, line), call)));
        }
    }
    let text = |file: &[(String, _)]| file.iter().map(|(line, _)| format!("{line}\n")).collect::<String>();
    let inputs: Vec<_> = files.iter().map(|file| TraceInput::own("t", Cursor::new(text(file).into_bytes()))).collect();
    let options = ReplayOptions { jobs: wording.jobs, ..ReplayOptions::default() };
    let mut seen = vec![String::new(); story.len()];
    let plans = [plan(wording.prefix)];
    replay(&plans, Box::new(inputs.into_iter()), &options, &Shows, |part| {
        for (place, shows) in part {
            if let Some(&call) = calls.get(&place) {
                seen[call] = shows;
            }
        }
        Ok(())
    })
    .unwrap();
    seen
}

proptest! {

    #[test]
    fn names_times_and_places_change_nothing_else(story in stories(true, 3), jobs in 2..5_usize) {
        let plain = shown(&story, &PLAIN);
        prop_assert_eq!(&shown(&story, &Wording { prefix: "a.b.", args: "amount", ..PLAIN }), &plain);
        prop_assert_eq!(&shown(&story, &Wording { later: 777_000, ..PLAIN }), &plain);
        prop_assert_eq!(&shown(&story, &Wording { unrelated: true, ..PLAIN }), &plain);
        prop_assert_eq!(&shown(&story, &Wording { ends: true, ..PLAIN }), &plain);
        prop_assert_eq!(&shown(&story, &Wording { jobs, ..PLAIN }), &plain);
    }

    #[test]
    fn the_order_of_lines_and_files_changes_nothing_where_times_say_it(story in stories(false, 3), seed: u64) {
        let plain = shown(&story, &PLAIN);
        prop_assert_eq!(&shown(&story, &Wording { split: true, ..PLAIN }), &plain);
        let shuffled = Wording { shuffle: Some(seed), ends: true, ..PLAIN };
        prop_assert_eq!(&shown(&story, &shuffled), &plain, "{:#?}", lines_of(&story, &shuffled));
        prop_assert_eq!(&shown(&story, &Wording { split: true, ends: false, ..shuffled }), &plain);
    }

    #[test]
    fn a_fixture_that_tells_the_story_of_a_trace_gives_its_findings(story in stories(true, 1)) {
        let story: Vec<StoryCall> = (0..).zip(story).map(|(n, call)| StoryCall { run: 0, key: call.key.map(|_| n), reversed: None, late: None, ..call }).collect();
        prop_assert_eq!(recorded_in_trace(&story), recorded_in_fixture(&story));
    }
}

/// A call of `pay` in the only run of a story.
fn pay(made: u64, args: u8, key: Option<u8>, answers: &[(&'static str, u64)]) -> StoryCall {
    StoryCall { run: 0, tool: "pay", args, key, made, answers: answers.to_vec(), reversed: None, late: None }
}

/// The findings of the last call of a story, without their severities and counts.
fn of_last(calls: &[Vec<String>]) -> Vec<String> {
    let ids = calls.last().into_iter().flatten().filter_map(|finding| finding.split('/').next().map(str::to_owned));
    let mut ids: Vec<String> = ids.collect();
    ids.sort();
    ids
}

#[test]
fn what_had_ended_when_a_call_was_made_decides() {
    const POSSIBLE: &str = "possible_duplicate_effect";
    let cases: [(&str, Vec<StoryCall>, &[&str]); 11] = [
        (
            "one of two lost calls had ended",
            vec![
                pay(0, 0, None, &[("timeout", 60)]),
                pay(1, 0, None, &[("timeout", 5)]),
                pay(50, 0, None, &[("ok", 55)]),
            ],
            &[POSSIBLE, "unsafe_retry"],
        ),
        (
            "none of them had",
            vec![
                pay(0, 0, None, &[("timeout", 60)]),
                pay(1, 0, None, &[("timeout", 70)]),
                pay(50, 0, None, &[("ok", 55)]),
            ],
            &[POSSIBLE],
        ),
        (
            "a success ended after the call was made",
            vec![
                pay(0, 0, None, &[("403_forbidden", 5)]),
                pay(10, 0, None, &[("ok", 60)]),
                pay(20, 0, None, &[("refused", 30)]),
            ],
            &["retried_after_denial"],
        ),
        (
            "a success ended before it was made",
            vec![
                pay(0, 0, None, &[("403_forbidden", 5)]),
                pay(10, 0, None, &[("ok", 60)]),
                pay(70, 0, None, &[("refused", 80)]),
            ],
            &[],
        ),
        (
            "a denial ended after a success that had begun later",
            vec![
                pay(0, 0, None, &[("403_forbidden", 60)]),
                pay(10, 0, None, &[("ok", 20)]),
                pay(70, 0, None, &[("refused", 80)]),
            ],
            &["retried_after_denial"],
        ),
        (
            "made again after an ok, and lost",
            vec![pay(0, 0, None, &[("ok", 5)]), pay(10, 0, None, &[("timeout", 20)])],
            &[POSSIBLE],
        ),
        (
            "made again after an ok, and refused",
            vec![pay(0, 0, None, &[("ok", 5)]), pay(10, 0, None, &[("refused", 20)])],
            &[],
        ),
        (
            "refused, and only the refresh has no answer",
            vec![pay(0, 0, None, &[("stale", 5)]), pay(10, 0, None, &[("stale", 20)])],
            &["futile_retry"],
        ),
        ("the attempt has no answer", vec![pay(0, 0, None, &[]), pay(10, 0, None, &[("stale", 20)])], &[POSSIBLE]),
        (
            "refused, then lost",
            vec![pay(0, 0, None, &[("refused", 5)]), pay(10, 0, None, &[("timeout", 20)])],
            &["futile_retry"],
        ),
        ("other arguments", vec![pay(0, 1, None, &[("timeout", 5)]), pay(10, 0, None, &[("timeout", 20)])], &[]),
    ];
    for (name, story, expected) in cases {
        assert_eq!(of_last(&recorded_in_trace(&story)), expected, "{name}: trace");
        assert_eq!(of_last(&recorded_in_fixture(&story)), expected, "{name}: fixture");
    }
}

#[test]
fn each_further_ok_of_one_intent_is_found_with_the_effects_so_far() {
    for (tool, id) in [("pay", "duplicate_effect/Unsafe"), ("odd", "possible_duplicate_effect/Doubt")] {
        let ok = |made| StoryCall { tool, ..pay(made, 0, None, &[("ok", made + 5)]) };
        let story = [ok(0), ok(10), pay(20, 1, None, &[("ok", 25)]), ok(30)];
        let found = [vec![], vec![format!("{id} x2")], vec![], vec![format!("{id} x3")]];
        assert_eq!(recorded_in_trace(&story), found, "trace");
        assert_eq!(recorded_in_fixture(&story), found, "fixture");
    }
}

#[test]
fn an_ok_hides_no_attempt_that_may_have_acted_and_a_reused_key_no_second_ok() {
    let last = |story: &[StoryCall]| of_last(&recorded_in_trace(story));
    let again = pay(100, 0, None, &[("refused", 110)]);
    assert_eq!(
        last(&[pay(0, 0, None, &[("ok", 5), ("timeout", 20)]), again.clone()]),
        ["futile_retry", "unsafe_retry"]
    );
    assert_eq!(last(&[pay(0, 0, None, &[("timeout", 5), ("ok", 20)]), again.clone()]), ["unsafe_retry"]);
    assert_eq!(last(&[pay(0, 0, None, &[("refused", 5), ("ok", 20)]), again]), [""; 0]);
    let keyed = |made, args| pay(made, args, Some(1), &[("ok", made + 5)]);
    let possible = "possible_duplicate_effect";
    assert_eq!(last(&[keyed(0, 1), keyed(10, 0), keyed(20, 0)]), [possible], "the call before it shows the reused key");
    assert_eq!(last(&[keyed(0, 1), keyed(10, 0)]), ["key_reused"]);
    assert_eq!(last(&[keyed(0, 1), keyed(10, 0), keyed(20, 1)]), [possible]);
}

/// The findings by the agent, by call.
pub(super) fn recorded_in_trace(story: &[StoryCall]) -> Vec<Vec<String>> {
    let of = |shows: &String| -> Vec<String> {
        let findings = shows.split("] [").nth(1).unwrap_or("").trim_end_matches(']').split(", ");
        let findings = findings.map(|one| one.trim_matches('"').to_owned());
        findings.filter(|one| one.contains("by Recorded")).map(|one| one.replace("by Recorded ", "")).collect()
    };
    shown(story, &PLAIN).iter().map(of).collect()
}

fn recorded_in_fixture(story: &[StoryCall]) -> Vec<Vec<String>> {
    let calls = story.iter().enumerate().map(|(n, call)| {
        let answers = call.answers.iter().map(|&(said, at)| ScriptedAnswer {
            reply: match said {
                "ok" => UpstreamReply::Ok,
                kind => UpstreamReply::Failed(Some(std::sync::Arc::new(playproof_engine::event::ErrorFacts {
                    kind: Some(kind.into()),
                    message: Some("already processed".into()),
                    ..Default::default()
                }))),
            },
            latency: Duration::from_millis(at - call.made),
            applied: None,
        });
        FixtureCall {
            name: format!("c{n}"),
            tool: call.tool.to_owned(),
            args: format!(r#"{{"n":{}}}"#, call.args),
            key: call.key.map(|key| key.to_string()),
            at: Instant::from_millis(call.made),
            timeout: Some(Duration::from_millis(30_000)),
            script: Script { attempts: answers.collect(), ..Script::default() },
            ..FixtureCall::default()
        }
    });
    let fixture = Fixture { calls: calls.collect(), ..Fixture::default() };
    let plan = plan("");
    let scenario = Scenario::of_fixture(&fixture, &plan);
    let mut simulator = Simulator::new();
    let record = simulator.run_fixture(&plan, &scenario);
    let mut seen = vec![Vec::new(); story.len()];
    for finding in record.findings.iter().filter(|finding| finding.by == FindingBy::Recorded) {
        let shows = format!("{}/{:?} x{}", finding.id.as_str(), finding.severity, finding.count);
        seen[finding.call.index()].push(shows);
    }
    seen
}
