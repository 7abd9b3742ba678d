//! Random worlds: a playbook that says the truth about its failures, and a fixture whose script decides what was done.

use std::fmt::Write as _;

use playproof_engine::event::ErrorFacts;
use playproof_engine::fixture::Fixture;
use playproof_engine::playbook::Tools;
use playproof_engine::sim::Plan;
use playproof_engine::time::Instant;
use playproof_engine::upstream::{Outage, ScriptedAnswer, UpstreamReply};
use playproof_formats::diagnostic::Source;
use playproof_formats::{fixture, playbook};

use crate::storms::Numbers;

/// What each verdict says of the effect is true of every answer below. A denial is told as one that passes.
const PLAYBOOK: &str = "format: playbook/1
name: world
verdicts:
  limited: { means: m, effect: not_applied, then: { deprecate_tool_call: { reason: r } }, tell: { class: external_api_error } }
  busy: { means: m, effect: not_applied, then: { retry_with_backoff: { backoff_ms: [10, 500], max_retries: 2, max_wait_ms: 100 } } }
  slow: { means: m, effect: unknown, then: { deprecate_tool_call: { reason: r } }, tell: { class: external_api_error } }
  silent: { means: m, effect: unknown, then: { retry_with_backoff: { backoff_ms: [10], max_retries: 1 } } }
  processed: { means: m, effect: applied, then: { deprecate_tool_call: { reason: r } }, tell: { class: network_error } }
  seen: { means: m, effect: not_applied, then: { deprecate_tool_call: { reason: r } }, tell: { class: network_error } }
  policy_denied: { means: m, effect: not_applied, then: { deprecate_tool_call: { reason: r } }, tell: { class: binding_failed, transient: true } }
  stale: { means: m, effect: not_applied, then: { refresh_evidence: {} } }
  undone: { means: m, effect: unknown, then: { issue_reversal: { reason: r } } }
  kept: { means: m, effect: unknown, then: { issue_reversal: { reason: r, on_refused: { deprecate_tool_call: { reason: r } } } }, tell: { class: external_api_error } }
  idempotency_conflict: { means: m, effect: applied, then: { deprecate_tool_call: { reason: r } }, tell: { class: network_error } }
  key_reused: { means: m, effect: not_applied, then: { deprecate_tool_call: { reason: r } }, tell: { class: external_api_error } }
classify:
  - { rule: limited, when: { status: 429 }, verdict: limited }
  - { rule: busy, when: { status: 503 }, verdict: busy }
  - { rule: slow, when: { status: 504 }, verdict: slow }
  - { rule: silent, when: { kind: timeout }, verdict: silent }
  - { rule: processed, when: { kind: 409_conflict, message: { contains: already processed }, keyed: true }, verdict: processed }
  - { rule: handled, when: { kind: 409_conflict, message: { contains: handled }, keyed: true }, verdict: idempotency_conflict }
  - { rule: kept, when: { status: 502 }, verdict: kept }
  - { rule: named, when: { kind: policy }, verdict: policy_denied }
  - { rule: said, when: { kind: 403_forbidden }, verdict: limited }
  - { rule: seen, when: { kind: 409_conflict, message: { contains: completed } }, verdict: seen }
  - { rule: flight, when: { kind: 409_conflict }, verdict: slow }
  - { rule: denied, when: { status: 403 }, verdict: policy_denied }
  - { rule: stale, when: { status: 412 }, verdict: stale }
  - { rule: undone, when: { status: 500 }, verdict: undone }
  - { rule: reused, when: { kind: 422_key_reused }, verdict: key_reused }
otherwise: unclassified
default_queue: q
queues: [q]
tools:
  find: { access: read, timeout_ms: 20 }
  post: { access: write, timeout_ms: 20 }
  pay: { access: write, timeout_ms: 20 }
  note: { access: write, idempotent: true, timeout_ms: 20 }
  old: { access: write, keys: ignored, timeout_ms: 20 }
  log: { access: write, repeatable: true, timeout_ms: 20 }
  once: { access: write, same_across: runs, timeout_ms: 20 }
actions:
  ship: { steps: [{ id: find, tool: find }, { id: post, tool: post }, { id: pay, tool: pay }] }
  look: { steps: [{ id: find, tool: find }, { id: note, tool: note }, { id: post, tool: post }] }
  deliver: { steps: [{ id: find, tool: find }, { id: once, tool: once }] }
limits: { max_attempts: 3, deadline_ms: 60000 }
";

const DEDUPE: &str = "dedupe: { window_ms: 30 }\n";
const GRAPH: &str = "graph: { entry: '*', next: { ship: '*', look: '*', deliver: '*' } }\n";
const PERMITS: &str = "permits: { max_in_flight: 2, queue: 3 }\n";
const DEADLINE: &str = "limits: { max_attempts: 3, deadline_ms: 15 }\n";

/// What a playbook adds to what its calls share.
const VARIANTS: [&[&str]; 6] = [&[], &[DEDUPE], &[GRAPH], &[PERMITS], &[GRAPH, DEDUPE, PERMITS], &[GRAPH, DEADLINE]];

/// The kinds of answers that only suggest a failure, and of those that say that the work goes on.
const SUSPECTED: &str = "suspected";
const UNFINISHED: &str = "unfinished";

const TOOLS: [&str; 6] = ["find", "post", "pay", "note", "old", "log"];

/// The playbooks of the worlds; the world of a seed has one of them.
pub fn plans() -> Vec<Plan> {
    plans_with(&|text| text)
}

/// One of them.
pub fn plan(place: usize) -> Plan {
    plan_with(VARIANTS[place], &|text| text)
}

/// The same after a change of their texts.
pub fn plans_with(changed: &dyn Fn(String) -> String) -> Vec<Plan> {
    VARIANTS.map(|more| plan_with(more, changed)).into()
}

fn plan_with(more: &[&str], changed: &dyn Fn(String) -> String) -> Plan {
    let base = if more.contains(&DEADLINE) { &PLAYBOOK[..PLAYBOOK.find("limits").expect("limits")] } else { PLAYBOOK };
    let loaded = playbook::parse(Source::whole("world", changed(format!("{base}{}", more.concat()))));
    Plan::new(loaded.unwrap_or_else(|report| panic!("{report}")).playbook, &Tools::default())
}

/// One answer; `acts`: whether one that leaves it open may have acted; `reads`: whether an ok does nothing.
fn answer(numbers: &mut Numbers, acts: bool, reads: bool) -> String {
    let latency = numbers.below(4) * 8;
    let applied = acts && numbers.one_in(2);
    match numbers.below(15) {
        0 | 1 => format!("{{ timeout: {{}}, applied: {applied} }}"),
        2 => format!("{{ error: {{ status: 503 }}, latency_ms: {latency} }}"),
        3 => format!("{{ error: {{ status: 503, retry_after_ms: 900 }}, latency_ms: {latency} }}"),
        4 | 5 => format!("{{ error: {{ status: 429 }}, latency_ms: {latency} }}"),
        6 => format!("{{ error: {{ status: 504 }}, latency_ms: {latency}, applied: {applied} }}"),
        7 => format!("{{ error: {{ status: 403 }}, latency_ms: {latency} }}"),
        8 => format!("{{ error: {{ status: 412 }}, latency_ms: {latency} }}"),
        9 => format!("{{ error: {{ status: 500 }}, latency_ms: {latency}, applied: {applied} }}"),
        10 => format!("{{ error: {{ kind: odd }}, latency_ms: {latency}, applied: {applied} }}"),
        11 => format!("{{ error: {{ kind: {SUSPECTED} }}, latency_ms: {latency}, applied: {applied} }}"),
        12 => format!("{{ error: {{ kind: {UNFINISHED} }}, latency_ms: {latency}, applied: {applied} }}"),
        _ if acts || reads => format!("{{ ok: {{}}, latency_ms: {latency} }}"),
        _ => format!("{{ error: {{ status: 429 }}, latency_ms: {latency} }}"),
    }
}

fn answers(numbers: &mut Numbers, acts: bool, reads: bool) -> String {
    let all: Vec<String> = (0..numbers.below(3)).map(|_| answer(numbers, acts, reads)).collect();
    format!("[{}]", all.join(", "))
}

/// The text of a world. What honours a key decides by its own memory whether it acts again: no script says so.
pub fn text(seed: u64) -> String {
    let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let numbers = &mut numbers;
    let (mut calls, mut upstream) = (String::new(), String::new());
    let count = 2 + numbers.below(5);
    let runs = 1 + numbers.below(2);
    let tools = [TOOLS[numbers.place(6)], ["post", "pay", "old"][numbers.place(3)]];
    for n in 0..count {
        let action = numbers.one_in(3).then(|| ["ship", "look"][numbers.place(2)]);
        let tool = tools[numbers.place(2)];
        let what = action.map_or_else(|| format!("tool: {tool}"), |action| format!("action: {action}"));
        let _ = write!(calls, "  c{n}: {{ {what}, args: {{ x: {} }}", u8::from(numbers.one_in(4)));
        if runs > 1 {
            let _ = write!(calls, ", run: r{}", numbers.below(runs));
        }
        let is_keyed = numbers.one_in(3);
        if is_keyed {
            let _ = write!(calls, ", idempotency_key: k{}", numbers.below(2));
        }
        if action.is_none() && numbers.one_in(4) {
            let _ = write!(calls, ", reversal_token: t{n}");
        }
        if n > 0 && numbers.one_in(3) {
            let _ = write!(calls, ", after: [c{}], after_ms: {}", numbers.below(n), numbers.below(3) * 10);
        } else {
            let at = numbers.below(5) * 12;
            let _ = write!(calls, ", at_ms: {at}");
            if numbers.one_in(6) {
                let _ = write!(calls, ", cancel_at_ms: {}", at + numbers.below(5) * 10);
            }
        }
        calls += " }\n";
        let _ = match action {
            Some(action) => {
                let steps = if action == "ship" { ["find", "post", "pay"] } else { ["find", "note", "post"] };
                let steps = steps
                    .map(|step| format!("{step}: {}", answers(numbers, step != "find" && !is_keyed, step == "find")));
                writeln!(upstream, "  c{n}: {{ steps: {{ {} }} }}", steps.join(", "))
            }
            None => {
                let attempts = answers(numbers, tool != "find" && (!is_keyed || tool == "old"), tool == "find");
                let reversal = ["", "{ ok: {} }", "{ timeout: {} }", "{ error: { status: 429 } }"][numbers.place(4)];
                let refresh = ["", "{ ok: {}, latency_ms: 8 }"][numbers.place(2)];
                writeln!(upstream, "  c{n}: {{ attempts: {attempts}, reversal: [{reversal}], refresh: [{refresh}] }}")
            }
        };
    }
    let keys = ["replay", "ietf", "conflict"][numbers.place(3)];
    fixture_text(seed, keys, (&calls, &upstream))
}

/// The text of a world that people wrote.
pub fn written(calls: &str, upstream: &str) -> String {
    fixture_text(0, "replay", (&format!("{calls}\n"), &format!("{upstream}\n")))
}

fn fixture_text(seed: u64, keys: &str, (calls, upstream): (&str, &str)) -> String {
    format!(
        "format: fixture/1\ntitle: world {seed}\nkeys: {keys}\nseed: {seed}\ncalls:\n{calls}upstream:\n{upstream}expect: {{ world: {{ sends: 0 }} }}\n"
    )
}

/// The text with other names for tools, steps, actions, runs, keys and calls, and for all arguments.
pub fn renamed(text: &str) -> String {
    let new = |word: &str| match word {
        "find" | "post" | "pay" | "note" | "old" | "log" | "ship" | "look" => format!("z_{}", word.to_uppercase()),
        "c0" | "c1" | "c2" | "c3" | "c4" | "c5" => format!("y{word}"),
        "r0" | "r1" | "k0" | "k1" | "t0" | "t1" | "t2" | "t3" | "t4" | "t5" => format!("x{word}"),
        "x" => "order".to_owned(),
        _ => word.to_owned(),
    };
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut out = String::new();
    for piece in text.split_inclusive(|letter| !is_part(letter)) {
        let word = piece.trim_end_matches(|letter| !is_part(letter));
        out += &new(word);
        out += &piece[word.len()..];
    }
    out
}

/// The world that a text describes. What is not scripted works: by the memory of keys, and else with an ok.
pub fn world(text: &str) -> Fixture {
    let mut fixture = unscripted(text);
    let reply = UpstreamReply::failed(ErrorFacts::default());
    let never = Outage {
        from: Instant::from_millis(u64::MAX / 4000),
        to: None,
        answer: ScriptedAnswer { reply, latency: Default::default(), applied: None },
    };
    let own = TOOLS.iter().map(|tool| (*tool).to_owned());
    let names = own.clone().chain(own.map(|tool| renamed(&tool)));
    fixture.outages = names.map(|tool| (tool, vec![never.clone()])).collect();
    fixture
}

/// The same, where what is not scripted has no answer.
pub fn unscripted(text: &str) -> Fixture {
    let mut fixture = fixture::parse(Source::whole("world", text)).unwrap_or_else(|report| panic!("{report}\n{text}"));
    let scripts = fixture.calls.iter_mut().flat_map(|call| {
        let steps = call.steps.iter_mut().map(|step| &mut step.script);
        std::iter::once(&mut call.script).chain(steps)
    });
    for answer in scripts.flat_map(|script| &mut script.attempts) {
        let UpstreamReply::Failed(Some(error)) = &answer.reply else { continue };
        match error.kind.as_deref() {
            Some(SUSPECTED) => answer.reply = UpstreamReply::Suspected(None),
            Some(UNFINISHED) => answer.reply = UpstreamReply::Unfinished(None),
            _ => {}
        }
    }
    fixture
}
