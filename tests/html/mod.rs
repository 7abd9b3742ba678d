//! `--report html=FILE`: pages that are one file each, in which nothing of a trace is markup, and which stay short.

mod browser;
mod files;
mod markup;
mod pages;

use serde_json::json;

use crate::place::Place;

/// What a page must have of each command.
const COMMANDS: [(&str, &[&str]); 6] = [
    ("replay", &["replay", "trace.jsonl", "--playbook", "standard", "--playbook", "study/retry-everything"]),
    ("fixture", &["replay", "fixtures/a-denial-goes-to-people.yaml"]),
    ("check", &["check"]),
    ("propose", &["propose", "check", "--corpus", "trace.jsonl"]),
    ("impact", &["impact", "trace.jsonl", "--base", "standard", "--candidate", "study/retry-everything"]),
    ("coverage", &["coverage"]),
];

/// What a log may say to harm the reader of a page.
const HOSTILE: &str = "</style></title><script>alert(1)</script>\"onload=\"x' onmouseover='y javascript:alert(2) \
    <img src=http://evil.example/x onerror=alert(3)> &lt;b&gt; <!-- --> ]]> \u{202e}\u{202d}\u{0}\u{1b}[31m\u{200b}\u{2028}";

/// Calls of which every text is `text`, in several runs; some fail, some are sent again.
fn trace(calls: usize, text: &str) -> String {
    let line = |n: usize| {
        let error = json!({ "kind": text, "message": format!("it went wrong: {text}"), "code": text });
        let (run, id, tool) = (format!("{text} r{}", n / 20), format!("{text} c{n}"), format!("{text} t{}", n % 3));
        let call = json!({ "run_id": run, "call_id": id, "tool": tool, "args": { text: text, "n": n / 2 },
            "idempotency_key": n.is_multiple_of(4).then(|| format!("{text} k{n}")), "at_ms": n * 1_000 });
        let answer = |attempt: usize| match (n % 3, attempt) {
            (0, 1) => {
                json!({ "run_id": run, "call_id": id, "attempt": 1, "error": { "kind": "timeout" }, "at_ms": n * 1_000 + 200 })
            }
            (1, _) => {
                json!({ "run_id": run, "call_id": id, "attempt": attempt, "error": error, "at_ms": n * 1_000 + 300 })
            }
            _ => json!({ "run_id": run, "call_id": id, "attempt": attempt, "status": "ok", "at_ms": n * 1_000 + 400 }),
        };
        let attempts = if n.is_multiple_of(3) { 2 } else { 1 };
        std::iter::once(call).chain((1..=attempts).map(answer)).map(|line| format!("{line}\n")).collect::<String>()
    };
    (0..calls).map(line).collect()
}

/// A project with a trace, an edited row and a proposal, whose texts are `text`.
fn place(calls: usize, text: &str) -> Place {
    let place = Place::begun();
    place.write("trace.jsonl", &trace(calls, text));
    place.run(&["propose", "new", "odd", "--when", "{ status: 499 }", "--like", "transient_timeout"]).exits(0);
    place.edit_first("playbooks/ours.yaml", "backoff_ms: [200, 600, 1800]", "backoff_ms: [300, 600, 1800]");
    place
}

/// The page of a command.
#[track_caller]
fn page(place: &Place, name: &str, args: &[&str]) -> String {
    let file = format!("{name}.html");
    let report = format!("html={file}");
    let ran = place.run(&[args, &["--report", &report]].concat());
    assert!([0, 1].contains(&ran.code), "{args:?}: {ran:?}");
    place.read(&file)
}
