//! Gates: no command succeeds where nothing was checked.

use crate::place::Place;

/// Four failures, three of one form.
const ODD: &str = r#"{"run_id":"r1","call_id":"c","tool":"tool.x","args":{"o":1},"status":"error","error":{"kind":"k","message":"/etc/passwd was touched"}}
{"run_id":"r2","call_id":"c","tool":"tool.x","args":{"o":2},"status":"error","error":{"kind":"k","message":"/etc/passwd was touched"}}
{"run_id":"r3","call_id":"c","tool":"tool.x","args":{"o":3},"status":"error","error":{"kind":"k","message":"/etc/passwd was touched"}}
{"run_id":"r9","call_id":"c","tool":"tool.x","args":{"o":1},"status":"error","error":{"kind":"k2","message":"other thing"}}
"#;

const FIXTURE: &str = "a-denial-goes-to-people";

/// A project with a trace `odd.jsonl`.
fn with_odd() -> Place {
    let place = Place::begun();
    place.write("odd.jsonl", ODD);
    place
}

/// The same with a proposal `vv` that could be accepted.
fn with_proposal() -> Place {
    let place = with_odd();
    propose(&place);
    place
}

fn propose(place: &Place) {
    let new = ["propose", "new", "vv", "--means", "m", "--from-cluster", "1", "--trace", "odd.jsonl"];
    let then = ["--effect", "unknown", "--then", "{ deprecate_tool_call: { reason: r } }"];
    place.run(&[&new[..], &then].concat()).exits(0);
    for (name, text) in place.files().iter().filter(|(name, _)| name.starts_with("proposals/vv/")) {
        let text = String::from_utf8_lossy(text);
        let written: Vec<String> = text
            .lines()
            .map(|line| match line.split_once("<!-- write this") {
                Some((before, _)) => format!("{before}They wait."),
                None => line.to_owned(),
            })
            .collect();
        place.write(name, &(written.join("\n") + "\n"));
    }
}

/// A second project beside the first one, with the same names.
fn another(place: &Place) -> String {
    let theirs = place.path("").parent().expect("a folder around").join("theirs");
    std::fs::create_dir(&theirs).expect("a folder");
    place.run(&["init", &theirs.to_string_lossy()]).exits(0);
    theirs.to_string_lossy().into_owned()
}

#[test]
fn a_fixture_s_path_that_is_not_there_or_is_another_project_s_names_no_fixture() {
    let place = Place::begun();
    place.edit("playbooks/ours.yaml", "backoff_ms: [200", "backoff_ms: [250");
    place.run(&["check"]);
    let theirs = another(&place);
    for path in [
        format!("/nonexistent/fixtures/{FIXTURE}.yaml"),
        format!("nowhere/fixtures/{FIXTURE}.yaml"),
        format!("nowhere/{FIXTURE}"),
        format!("./nowhere/{FIXTURE}.yaml"),
        format!("{theirs}/fixtures/{FIXTURE}.yaml"),
        format!("../theirs/fixtures/{FIXTURE}"),
        format!("../theirs/goldens/ours/{FIXTURE}.snap"),
        format!("other/ours/{FIXTURE}"),
        format!("fixtures/../nowhere/{FIXTURE}.yaml"),
    ] {
        for command in ["check", "accept", "reject"] {
            let (code, said) = place.refused(&[command, &path]);
            assert_eq!(code, 2, "{command} {path}: {said}");
        }
    }
}

#[test]
fn a_fixture_is_named_by_its_name_its_run_its_golden_or_a_path_to_them_from_anywhere() {
    let place = Place::begun();
    std::fs::create_dir(place.path("sub")).expect("a folder");
    let whole = place.path(&format!("fixtures/{FIXTURE}.yaml"));
    for name in [
        FIXTURE.to_owned(),
        format!("ours/{FIXTURE}"),
        format!("fixtures/{FIXTURE}.yaml"),
        format!("./fixtures/{FIXTURE}.yaml"),
        format!("goldens/ours/{FIXTURE}.snap"),
        format!("sub/../fixtures/{FIXTURE}.yaml"),
        whole.to_string_lossy().into_owned(),
    ] {
        let out = place.run(&["check", &name]).exits(0).out;
        assert!(out.contains("1 run: 1 as accepted"), "{name}: {out}");
    }
    let below = place.run_below("sub", &["check", &format!("../fixtures/{FIXTURE}.yaml")]).exits(0);
    assert!(below.out.contains("1 run: 1 as accepted"), "{}", below.out);
}

#[test]
fn a_proposal_s_path_that_is_not_there_is_accepted_by_no_command() {
    let place = with_proposal();
    for path in ["/nonexistent/proposals/vv", "nowhere/vv", "./vv", "../theirs/proposals/vv", "history", ".accepting"] {
        for command in [
            &["accept", path, "--reason", "r"][..],
            &["reject", path, "--reason", "r"],
            &["propose", "check", path],
            &["propose", "rebase", path],
        ] {
            let (code, said) = place.refused(command);
            assert_eq!(code, 2, "{command:?}: {said}");
        }
    }
    for path in ["vv", "proposals/vv", "./proposals/vv/", "proposals/vv/playbook.yaml"] {
        assert_eq!(place.run(&["propose", "check", path]).code, 0, "{path}");
    }
}

#[test]
fn a_kept_call_s_path_that_is_not_there_names_none() {
    let place = with_odd();
    place.run(&["propose", "keep", "odd.jsonl", "r1#1", "--expect", "odd_one", "--note", "n"]).exits(0);
    let name = place.files().into_keys().find(|name| name.starts_with("kept/") && name.ends_with(".yaml"));
    let name = name.expect("a kept call");
    let id = name.trim_start_matches("kept/").trim_end_matches(".yaml");
    for (n, good) in [id, &name, &format!("./{name}")].iter().enumerate() {
        place.run(&["propose", "new", &format!("odd_{n}"), "--from", good]).exits(0);
    }
    for path in [format!("/nonexistent/{id}"), format!("nowhere/{id}.yaml"), format!("../theirs/{name}"), String::new()]
    {
        let (code, said) = place.refused(&["propose", "new", "another", "--from", &path]);
        assert_eq!(code, 2, "{path}: {said}");
    }
}

#[test]
fn a_playbook_of_another_project_is_not_measured_by_this_one_s_fixtures() {
    let place = Place::begun();
    let theirs = another(&place);
    let playbook = format!("{theirs}/playbooks/ours.yaml");
    for command in [&["coverage"][..], &["coverage", "--mutate"]] {
        for path in [&*playbook, "../theirs/playbooks/ours.yaml", "/nonexistent/playbooks/ours.yaml"] {
            let (code, said) = place.refused(&[command, &[path]].concat());
            assert_eq!(code, 2, "{command:?} {path}: {said}");
        }
        assert_ne!(place.run(&[command, &["playbooks/ours.yaml"]].concat()).code, 2);
    }
    assert_eq!(place.run(&["lint", "/nonexistent/playbooks/ours.yaml"]).code, 2);
}

#[test]
fn lint_without_a_playbook_is_refused() {
    let (code, said) = Place::new().refused(&["lint"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("there is no playbook to lint"), "{said}");
    let place = Place::new();
    place.write("playproof.yaml", "format: project/1\n");
    assert_eq!(place.run(&["lint"]).code, 2);
    assert_eq!(place.run(&["lint", "standard"]).code, 0);
}

/// Calls of which nothing can be decided.
const UNDECIDED: [(&str, &str); 3] = [
    ("calls without results", "{\"run_id\":\"r\",\"call_id\":\"c\",\"tool\":\"x\"}\n"),
    (
        "orphans only",
        "{\"type\":\"tool_result\",\"run_id\":\"r\",\"call_id\":\"c\",\"status\":\"error\",\"error\":{\"kind\":\"timeout\"}}\n{\"type\":\"tool_call\",\"run_id\":\"r\",\"call_id\":\"c\",\"tool\":\"x\"}\n",
    ),
    ("calls that all went well", "{\"run_id\":\"r\",\"tool\":\"x\",\"status\":\"ok\"}\n"),
];

#[test]
fn a_gate_of_impact_does_not_pass_where_nothing_was_decided() {
    let place = Place::new();
    let gate = |trace: &str, more: &[&str]| {
        place.write("t.jsonl", trace);
        let args = ["impact", "-c", "study/retry-everything", "--fail-on", "widening,effects", "t.jsonl"];
        place.run(&[&args[..], more].concat())
    };
    for (what, trace) in UNDECIDED {
        let ran = gate(trace, &[]).exits(3);
        assert!(ran.out.contains("nothing was decided") && !ran.out.lines().any(|line| line == "passes"), "{what}");
        gate(trace, &["--allow-empty"]).exits(0);
        let json = gate(trace, &["--format", "json"]).exits(3).out;
        assert!(json.contains(r#""passed":false"#), "{what}: {json}");
        assert!(gate(trace, &["--format", "markdown"]).exits(3).out.contains("nothing was decided"), "{what}");
    }
    place.write("reads.yaml", "format: tools/1\ntools:\n  x: { access: read }\n");
    let undetermined = r#"{"run_id":"r","tool":"x","status":"error","error":{"kind":"timeout","message":"no"}}"#;
    gate(undetermined, &["--tools", "reads.yaml"]).exits(3);
    let denied = r#"{"run_id":"r","tool":"x","status":"error","error":{"kind":"permission_denied","message":"no"}}"#;
    place.write("t.jsonl", denied);
    assert!(gate(denied, &["--tools", "reads.yaml"]).code != 3, "a call that ends under both is decided");
}

#[test]
fn an_empty_trace_is_refused_by_every_command_that_reads_one() {
    let place = Place::begun();
    place.write("t.jsonl", "");
    for command in [
        &["replay", "t.jsonl"][..],
        &["propose", "find", "t.jsonl"],
        &["confirm", "--draft", "t.jsonl"],
        &["formats", "convert", "t.jsonl"],
        &["explain", "t.jsonl", "x"],
        &["impact", "-c", "study/retry-everything", "t.jsonl"],
        &["propose", "keep", "t.jsonl", "x", "--expect", "odd_one", "--note", "n"],
        &["propose", "new", "vv", "--from-cluster", "1", "--trace", "t.jsonl"],
        &["init", "new", "--from", "t.jsonl"],
    ] {
        let (code, said) = place.refused(command);
        assert!(code == 2 && said.contains("t.jsonl: it is empty"), "{command:?}: {said}");
    }
}

#[test]
fn a_strict_replay_of_calls_without_results_is_inconclusive() {
    let place = Place::new();
    place.write("t.jsonl", UNDECIDED[0].1);
    place.run(&["replay", "t.jsonl"]).exits(0);
    place.run(&["replay", "t.jsonl", "--strict"]).exits(3);
}

#[test]
fn more_lines_skipped_than_read_are_inconclusive_unless_so_many_are_allowed() {
    let place = with_odd();
    let good = r#"{"run_id":"r","tool":"x","status":"error","error":{"kind":"k","message":"was touched"}}"#;
    place.write("t.jsonl", &format!("{good}\nnonsense\nmore\n"));
    place.write("even.jsonl", &format!("{good}\nnonsense\n"));
    let new = ["propose", "new", "vv", "--means", "m", "--from-cluster", "1", "--trace"];
    for command in [
        &["replay"][..],
        &["propose", "find"],
        &["confirm", "--draft"],
        &["impact", "-c", "study/retry-everything"],
        &["explain", "--call", "r#1"],
        &new,
    ] {
        let run = |file: &str, more: &[&str]| place.run(&[command, &[file, "--skip-invalid"], more].concat());
        let ran = run("t.jsonl", &[]);
        assert_eq!(ran.code, 3, "{command:?}: {ran:?}");
        let next = ran.err.rsplit_once("next: playproof ").map_or("", |(_, next)| next.trim_end());
        assert!(next.ends_with(" t.jsonl --skip-invalid --allow-skipped 2"), "{command:?}: {ran:?}");
        assert_eq!(run("even.jsonl", &["--allow-skipped", "0"]).code, 3, "{command:?}");
        for (file, more) in [("even.jsonl", &[][..]), ("t.jsonl", &["--allow-skipped", "2"])] {
            let allowed = run(file, more);
            assert!(!matches!(allowed.code, 2 | 3), "{command:?}: {allowed:?}");
            std::fs::remove_dir_all(place.path("proposals/vv")).ok(); // what `propose new` has written
        }
    }
}

#[test]
fn rows_of_a_mapped_log_that_are_skipped_count_as_lines_do() {
    let place = Place::new();
    place.write("m.yaml", "format: mapping/1\ncall: { tool: t }\n");
    place.write("log.jsonl", "{\"t\":\"x\"}\nnonsense\nmore\n");
    for command in [&["replay"][..], &["formats", "convert"]] {
        let args = [command, &["--map", "m.yaml", "log.jsonl", "--skip-invalid"]].concat();
        let ran = place.run(&args).exits(3);
        assert!(ran.err.contains("2 lines skipped, 1 read"), "{ran:?}");
        assert_ne!(place.run(&[&args[..], &["--allow-skipped", "2"]].concat()).code, 3);
    }
}

#[test]
fn a_range_that_runs_backwards_is_refused_wherever_it_is_written() {
    let place = Place::new();
    place.write("l.jsonl", "{\"t\":\"x\",\"s\":500}\n");
    for condition in ["{ s: 599-400 }", "{ s: '599-400' }", "{ s: [429, 599-400] }", "{ s: 599 - 400 }"] {
        let map =
            format!("format: mapping/1\ncall: {{ tool: t }}\nresult: {{ status: s }}\nfailed:\n  - {condition}\n");
        place.write("m.yaml", &map);
        for command in [&["replay"][..], &["formats", "convert"]] {
            let (code, said) = place.refused(&[command, &["--map", "m.yaml", "l.jsonl"]].concat());
            assert_eq!(code, 2, "{condition}: {said}");
            assert!(said.contains("is a range that runs backwards") && said.contains("m.yaml:5:"), "{said}");
        }
    }
    let map = "format: mapping/1\ncall: { tool: t }\nresult: { status: s }\nfailed: { s: { equals: 599-400 } }\n";
    place.write("m.yaml", map);
    place.run(&["formats", "convert", "--map", "m.yaml", "l.jsonl"]).exits(0);
}

#[test]
fn lint_is_clean_after_a_rule_that_mine_drew_was_accepted() {
    let place = Place::new();
    place.write("odd.jsonl", ODD);
    place.run(&["init", "--from", "odd.jsonl"]).exits(0);
    place.run(&["lint"]).exits(0);
    propose(&place);
    place.run(&["accept", "vv", "--reason", "r"]).exits(0);
    place.run(&["lint"]).exits(0);
    place.run(&["check"]).exits(0);
}

#[test]
fn a_history_and_a_lock_of_nothing_verify_nothing() {
    let place = Place::begun();
    std::fs::remove_dir_all(place.path("proposals/history")).ok();
    place.write("goldens/playbook.lock", "format: lock/1\n");
    assert_eq!(place.run(&["history", "verify"]).code, 2);
}
