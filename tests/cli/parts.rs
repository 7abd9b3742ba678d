//! `--partial` of a command and `merge`: whatever runs the parts of a corpus have, in any order and on any number of threads, the
//! whole is what the command gives of all files at once.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use playproof_engine::playbook::Tools;
use playproof_engine::sim::Plan;
use playproof_formats::diagnostic::Source;
use playproof_formats::{fixture, playbook};
use playproof_report::decisions::trace_of;
use serde_json::{Value, json};

use super::Place;
use crate::seeds::{seeds, share};
use crate::storms::Numbers;

const REPLAY: &[&str] = &["replay"];
const OF_TWO: &[&str] = &["replay", "--playbook", "standard", "--playbook", "dispatcher"];
const IMPACT: &[&str] = &["impact", "--base", "standard", "--candidate", "dispatcher"];
const FIND: &[&str] = &["propose", "find", "--top", "30"];

/// How results of the command are shown.
fn pages(command: &[&str]) -> &'static [&'static [&'static str]] {
    match command[0] {
        "replay" => &[&["--format", "json"], &["--stats"], &["--format", "markdown", "--report", "html=page.html"]],
        "impact" => &[&["--format", "json"], &[], &["--format", "markdown", "--report", "html=page.html"]],
        _ => &[&["--format", "json"], &[]],
    }
}

/// Writes lines into files by their runs (those of one fixture into one file), and compares their parts, added in any order, with one call of the command on the
/// files. False: the page says that calls of two parts were not compared.
fn is_same_in_parts(command: &[&str], lines: &[Value], numbers: &mut Numbers) -> bool {
    let place = Place::new();
    let count = 2 + numbers.below(4);
    let mut of_run: BTreeMap<Option<&str>, u64> = BTreeMap::new();
    let mut files: BTreeMap<u64, String> = BTreeMap::new();
    for line in lines {
        let run = line["run_id"].as_str().unwrap_or_default().split('/').next();
        let file = *of_run.entry(run).or_insert_with(|| numbers.below(count));
        *files.entry(file).or_default() += &format!("{line}\n");
    }
    let names: Vec<String> = files.keys().map(|file| format!("part-{file}.jsonl")).collect();
    let mut parts = Vec::new();
    for (name, text) in names.iter().zip(files.values()) {
        place.write(name, text);
        let (part, jobs) = (format!("{name}.part"), (1 + numbers.below(4)).to_string());
        place.run(&[command, &[name, "--partial", &part, "--jobs", &jobs]].concat()).exits(0);
        parts.insert(numbers.place(parts.len() + 1), part);
    }
    let inputs: Vec<&str> = names.iter().map(String::as_str).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let merged = place.run(&[&["merge", "--format", "json"], &*parts].concat());
    let whole: Value = serde_json::from_str(&merged.out).unwrap_or_else(|error| panic!("{error}: {merged:?}"));
    if let Some(said) = whole.get("approximate") {
        assert!(said[0].as_str().is_some_and(|said| said.starts_with("Not compared from part to part")), "{said}");
        return false;
    }
    for shown in pages(command) {
        let once = place.run(&[command, &*inputs, shown].concat());
        let page = place.path().join("page.html").exists().then(|| place.read("page.html"));
        let _ = fs::remove_file(place.path().join("page.html")); // most have none
        let merged = place.run(&[&["merge"], &*parts, shown].concat());
        assert_eq!((merged.code, merged.out), (once.code, once.out), "{command:?} {shown:?} {parts:?}");
        assert_eq!(place.path().join("page.html").exists().then(|| place.read("page.html")), page);
    }
    true
}

/// Calls of several runs, mixed, with failures, keys and resends.
fn random_lines(numbers: &mut Numbers) -> Vec<Value> {
    let mut lines = Vec::new();
    for n in 0..10 + numbers.below(40) {
        let run = numbers.below(9);
        let tool = ["pay", "get_order", "post", "send"][numbers.place(4)];
        let mut line =
            json!({"run_id": format!("r{run}"), "tool": tool, "at_ms": n * 7, "args": {"x": numbers.below(3)}});
        line["status"] = "ok".into();
        if numbers.one_in(2) {
            let kind = ["timeout", "http_503", "denied", "odd one"][numbers.place(4)];
            line["status"] = "error".into();
            line["error"] = json!({"kind": kind, "message": format!("{kind} {}", numbers.below(100))});
        }
        if numbers.one_in(3) {
            line["idempotency_key"] = format!("k{run}-{}", numbers.below(2)).into();
        }
        if numbers.one_in(400) {
            line["idempotency_key"] = "of all".into();
        }
        lines.push(line);
    }
    lines
}

/// The recordings of all fixtures, each with runs, keys and dispatchers of its own.
fn fixtures() -> Vec<Value> {
    let text = playbook::embedded("dispatcher").expect("a playbook");
    let loaded = playbook::parse(Source::whole("dispatcher", text)).unwrap_or_else(|report| panic!("{report}"));
    let plan = Plan::new(loaded.playbook, &Tools::default());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut paths: Vec<_> = fs::read_dir(folder).expect("fixtures/").map(|entry| entry.expect("one").path()).collect();
    paths.sort();
    let mut lines = Vec::new();
    for path in paths {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let source = Source::whole(&*name, fs::read_to_string(&path).expect("a text"));
        let fixture = fixture::parse(source).unwrap_or_else(|report| panic!("{report}"));
        for line in trace_of(&plan, &fixture).lines() {
            let mut line: Value = serde_json::from_str(line).expect("JSON");
            if !["tool_call", "tool_result"].contains(&line["type"].as_str().unwrap_or_default()) {
                continue; // what decided it would be another dispatcher in each file
            }
            for key in ["run_id", "idempotency_key", "dispatcher_id"] {
                let own = line.get(key).and_then(Value::as_str).map(str::to_owned);
                if own.is_some() || key == "run_id" {
                    line[key] = format!("{name}/{}", own.unwrap_or_default()).into();
                }
            }
            lines.push(line);
        }
    }
    lines
}

#[test]
fn random_traces_in_parts_are_the_whole() {
    let exact = seeds(64).filter(|seed| {
        let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let lines = random_lines(&mut numbers);
        let commands = [REPLAY, OF_TWO, IMPACT, FIND];
        is_same_in_parts(commands[usize::try_from(seed % 4).expect("below 4")], &lines, &mut numbers)
    });
    let exact = exact.count() as u64;
    assert!(exact > share(64) / 2 && exact <= share(64), "{exact}");
}

#[test]
fn recordings_of_fixtures_in_parts_are_the_whole() {
    let lines = fixtures();
    assert!(lines.len() > 500, "{}", lines.len());
    let mut numbers = Numbers(7);
    for command in [
        OF_TWO,
        &["replay", "--join-resends", "--beyond-tape", "ok"],
        &["replay", "--all"],
        &["replay", "--only", "findings"],
        IMPACT,
        &["impact", "--base", "dispatcher", "--candidate", "study/retry-everything", "--fail-on", "widening,effects"],
        FIND,
    ] {
        assert!(is_same_in_parts(command, &lines, &mut numbers), "{command:?}");
    }
}

#[test]
fn real_recordings_in_parts_are_the_whole() {
    let Some(traces) = std::env::var_os("PLAYPROOF_TRACES") else {
        return println!("skipped: PLAYPROOF_TRACES names no recordings");
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(traces);
    let (mut exact, place) = (0, Place::new());
    let mut all = Vec::new();
    for name in [
        "tau-bench/gpt-4o-airline.errors-slice.json",
        "tau2-bench/gpt-oss-120b_airline.duplicate-side-effects-slice.json",
        "tau2-bench/toolorchestra_airline_gpt-5_1trial.json",
        "livemcpbench/claude-sonnet-4.failures-slice-2.json",
    ] {
        let file = folder.join(name).to_string_lossy().into_owned();
        place.run(&["formats", "convert", &file, "-o", "trace.jsonl", "--allow-outside"]).exits(0);
        let text = place.read("trace.jsonl");
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        for command in [REPLAY, IMPACT, FIND] {
            exact += u64::from(is_same_in_parts(command, &lines, &mut Numbers(11)));
        }
        place.remove("trace.jsonl");
        // As it is, in its own format: the places are those of the user's file.
        for command in [REPLAY, IMPACT, FIND] {
            let part = format!("{}-{}.part", command[0], all.len());
            place.run(&[command, &[&file, "--partial", &part]].concat()).exits(0);
            let merged = place.run(&["merge", &part, "--format", "json"]);
            let once = place.run(&[command, &[&file, "--format", "json"]].concat());
            assert_eq!((merged.code, merged.out), (once.code, once.out), "{command:?} {name}");
        }
        all.push(file);
    }
    assert!(exact >= 9, "{exact}");
    // Texts of successful results, which rules must not match, are those of both too.
    let once = place.run(&[FIND, &[&all[3], &all[1]]].concat());
    let merged = place.run(&["merge", "propose-1.part", "propose-3.part"]);
    assert_eq!((merged.code, &*merged.out), (once.code, &*once.out));
    assert!(once.out.contains("successful results"), "{}", once.out);
}

#[test]
fn parts_that_cannot_be_added_are_named() {
    let place = Place::new();
    let call =
        |run: &str| format!("{{\"run_id\":\"{run}\",\"tool\":\"pay\",\"args\":{{\"a\":1}},\"status\":\"ok\"}}\n");
    place.write("a.jsonl", call("r1"));
    place.write("b.jsonl", &(call("r1") + &call("r2")));
    place.write("c.jsonl", call("r3"));
    let part = |file: &str, flags: &[&str]| {
        place.run(&[&["replay", file, "--partial", &format!("{file}.part")], flags].concat()).exits(0);
    };
    part("a.jsonl", &[]);
    part("b.jsonl", &[]);
    part("c.jsonl", &["--playbook", "dispatcher"]);
    place.write("old.part", place.read("a.jsonl.part").replacen("\"version\":\"", "\"version\":\"0.", 1));
    let whole = place.read("a.jsonl.part");
    place.write("cut.part", &whole[..whole.len() / 2]);
    place.run(&["propose", "find", "a.jsonl", "--partial", "find.part"]).exits(0);
    let wrong = |parts: [&str; 2], said: &[&str]| {
        let ran = place.run(&["merge", parts[0], parts[1]]).exits(2);
        assert!(said.iter().all(|said| ran.err.contains(said)) && ran.out.is_empty(), "{parts:?}: {}", ran.err);
    };
    wrong(["b.jsonl.part", "a.jsonl.part"], &["the run `r1` is in both `a.jsonl.part` and `b.jsonl.part`"]);
    wrong(["a.jsonl.part", "c.jsonl.part"], &["under two playbooks, `standard` (", "`dispatcher` ("]);
    wrong(["a.jsonl.part", "old.part"], &["`old.part` is partial/1 of Playproof 0."]);
    wrong(["a.jsonl.part", "cut.part"], &["`cut.part` is damaged: it ends too early"]);
    wrong(["a.jsonl.part", "find.part"], &["by two commands, `playproof replay` and `playproof propose find`"]);
    wrong(["a.jsonl.part", "a.jsonl.part"], &["`a.jsonl.part` is named twice"]);
    wrong(
        ["find.part", "--stats"],
        &["these are parts of `playproof propose find`: unexpected argument '--stats' found"],
    );
    wrong(["a.jsonl.part", "a.jsonl"], &["`a.jsonl` is no partial result"]);
    wrong(["a.jsonl.part", "gone"], &["gone: no such file"]);
}

#[test]
fn a_key_in_two_parts_is_named_and_a_pipe_needs_no_name() {
    let place = Place::new();
    let part = |run: &str, part: &str| {
        let call = format!("{{\"run_id\":\"{run}\",\"tool\":\"pay\",\"idempotency_key\":\"k\",\"status\":\"ok\"}}\n");
        place.command().args(["replay", "-", "--partial", part]).write_stdin(call).assert().success();
    };
    part("r1", "a.part");
    part("r2", "b.part");
    let merged = place.run(&["merge", "b.part", "a.part", "--stats"]);
    assert!(merged.out.contains("Not compared from part to part: calls of `pay`."), "{}", merged.out);
    assert!(merged.out.contains("2 calls"), "{}", merged.out);
    assert!(!merged.out.contains("playproof explain"), "what came through a pipe is gone: {}", merged.out);
}

#[test]
fn a_dispatcher_in_two_parts_is_named_where_its_calls_share_something() {
    let place = Place::new();
    for run in ["r1", "r2"] {
        place.write(
            &format!("{run}.jsonl"),
            format!("{{\"run_id\":\"{run}\",\"tool\":\"pay\",\"dispatcher_id\":\"d1\",\"status\":\"ok\"}}\n"),
        );
    }
    let merged = |playbook: &str| {
        for run in ["r1", "r2"] {
            let (file, part) = (format!("{run}.jsonl"), format!("{run}.part"));
            place.run(&["replay", &file, "--playbook", playbook, "--partial", &part]).exits(0);
        }
        place.run(&["merge", "r1.part", "r2.part"]).exits(0).out
    };
    assert!(merged("dispatcher").contains("Not compared from part to part: calls of the dispatchers `d1`."));
    assert!(!merged("standard").contains("Not compared"));
}

#[test]
fn a_playbook_whose_rows_were_moved_made_other_parts() {
    let place = Place::new();
    let [odd, even] = ["odd", "even"].map(|name| {
        let then = "{ escalate_to_human: { queue: policy_review } }";
        format!("  {name}:\n    means: It is {name}.\n    effect: unknown\n    then: {then}\n")
    });
    for (run, verdicts) in [("r1", odd.clone() + &even), ("r2", even + &odd)] {
        place.write("ours.yaml", format!("format: playbook/1\nname: ours\nextends: standard\nverdicts:\n{verdicts}"));
        let (file, part) = (format!("{run}.jsonl"), format!("{run}.part"));
        place.write(&file, format!("{{\"run_id\":\"{run}\",\"tool\":\"pay\",\"status\":\"ok\"}}\n"));
        place.run(&["replay", &file, "--playbook", "ours.yaml", "--partial", &part]).exits(0);
    }
    let ran = place.run(&["merge", "r1.part", "r2.part"]).exits(2);
    assert!(ran.err.contains("were made under playbooks whose rows have another order"), "{}", ran.err);
}

#[test]
fn no_raw_text_is_in_a_part() {
    let place = Place::new();
    place.write("playproof.yaml", "format: project/1\nredaction: { keys: [email], patterns: ['s3cr[a-z]+'] }\n");
    let call = |tool: &str| {
        let error = r#"{"kind":"odd","message":"of s3cret"}"#;
        format!(r#"{{"run_id":"r","tool":"{tool}","args":{{"email":"x@y.z"}},"status":"error","error":{error}}}"#)
            + "\n"
    };
    place.write("a.jsonl", call("pay"));
    place.run(&["replay", "a.jsonl", "--partial", "a.part"]).exits(0);
    place.run(&["impact", "a.jsonl", "--candidate", "reversing", "--partial", "impact.part"]).exits(0);
    place.run(&["propose", "find", "a.jsonl", "--partial", "find.part"]).exits(0);
    for part in ["a.part", "impact.part", "find.part"] {
        let text = place.read(part);
        assert!(!text.contains("s3cret") && !text.contains("x@y.z"), "{part}: {text}");
        assert!(text.contains("[redacted]"), "{part}: {text}");
    }
    let merged = place.run(&["merge", "find.part"]).exits(0).out;
    assert!(merged.contains("Rules are tried on redacted texts"), "{merged}");
    place.write("b.jsonl", call("pay s3cret"));
    let ran = place.run(&["replay", "b.jsonl", "--partial", "b.part"]).exits(2);
    assert!(ran.err.contains("redaction hides names of tools or runs"), "{}", ran.err);
}
