//! `playproof.yaml`, key by key: honoured by every command that it is about, found from below, and beaten by flags.

use crate::place::Place;

const TRACE: &str = r#"{"type":"tool_call","run_id":"r1","call_id":"c1","tool":"pay","args":{"email":"ada@example.com"}}
{"type":"tool_result","run_id":"r1","call_id":"c1","status":"error","error":{"kind":"odd","message":"card 4242424242424242 was refused"}}
"#;

/// Every command that puts something through a playbook, with what it needs. (`review` wants a terminal first.)
const COMMANDS: [&[&str]; 10] = [
    &["replay", "trace.jsonl"],
    &["explain", "trace.jsonl", "c1"],
    &["propose", "find", "trace.jsonl"],
    &["impact", "trace.jsonl", "--candidate", "reversing"],
    &["lint"],
    &["check"],
    &["coverage"],
    &["coverage", "--mutate"],
    &["accept"],
    &["accept", "--reason", "x"],
];

fn place(config: &str) -> Place {
    let place = Place::begun();
    place.write("trace.jsonl", TRACE);
    place.write("playproof.yaml", &format!("format: project/1\n{config}\n"));
    place
}

/// What each command of which `is_meant` says so prints, stdout and stderr.
fn each(config: &str, is_meant: impl Fn(&str) -> bool) -> Vec<(&'static str, i32, String)> {
    let place = place(config);
    let run = |args: &&[&'static str]| {
        let ran = place.run(args);
        (args[0], ran.code, ran.out + &ran.err)
    };
    COMMANDS.iter().filter(|args| is_meant(args[0])).map(run).collect()
}

#[test]
fn the_playbook_is_used_by_every_command_and_a_flag_wins() {
    for (command, code, said) in each("playbook: playbooks/nowhere.yaml", |_| true) {
        assert_eq!(code, 2, "{command}: {said}");
        assert!(said.contains("nowhere"), "{command}: {said}");
    }
    let place = place("playbook: playbooks/nowhere.yaml");
    for args in [
        &["replay", "trace.jsonl", "--playbook", "standard"][..],
        &["explain", "trace.jsonl", "c1", "--playbook", "standard"],
        &["propose", "find", "trace.jsonl", "--playbook", "standard"],
        &["impact", "trace.jsonl", "--base", "standard", "--candidate", "reversing"],
        &["lint", "standard"],
    ] {
        place.run(args).exits(0);
    }
}

#[test]
fn the_tool_facts_are_used_by_every_command_that_runs_calls_and_a_flag_wins() {
    let config = "playbook: playbooks/ours.yaml\ntools: tools/nowhere.yaml";
    for (command, code, said) in each(config, |command| command != "lint") {
        assert_eq!(code, 2, "{command}: {said}");
        assert!(said.contains("tools/nowhere.yaml: no such file"), "{command}: {said}");
    }
    let place = place(config);
    place.write("facts.yaml", "format: tools/1\ntools:\n  pay: { access: read }\n");
    for args in [
        &["replay", "trace.jsonl", "--tools", "facts.yaml"][..],
        &["explain", "trace.jsonl", "c1", "--tools", "facts.yaml"],
        &["propose", "find", "trace.jsonl", "--tools", "facts.yaml"],
        &["impact", "trace.jsonl", "--candidate", "reversing", "--tools", "facts.yaml"],
    ] {
        place.run(args).exits(0);
    }
}

#[test]
fn fixtures_are_looked_for_where_the_project_says() {
    let is_about_fixtures = |command: &str| ["check", "coverage"].contains(&command);
    for (command, code, said) in each("playbook: playbooks/ours.yaml\nfixtures: scenarios", is_about_fixtures) {
        assert_eq!(code, 2, "{command}: {said}");
        assert!(said.contains("`scenarios`"), "{command}: {said}");
    }
    let place = place("playbook: playbooks/ours.yaml\nfixtures: scenarios/");
    place.write("scenarios/one.yaml", &place.read("fixtures/a-denial-goes-to-people.yaml"));
    assert!(place.run(&["check"]).exits(1).out.contains("ours/one"));
    place.run(&["coverage", "--fixtures", "fixtures"]).exits(0);
}

#[test]
fn goldens_and_lock_are_kept_where_the_project_says() {
    let place = place("playbook: playbooks/ours.yaml\ngoldens: accepted");
    place.run(&["check"]).exits(1);
    let waits = "accepted/ours/a-denial-goes-to-people.snap.new";
    assert!(place.path(waits).exists());
    assert!(place.run(&["check"]).exits(1).out.contains("a-denial-goes-to-people"));
    place.run(&["reject", "ours/a-denial-goes-to-people"]).exits(0);
    assert!(!place.path(waits).exists());
    place.run(&["check"]).exits(1);
    place.run(&["accept"]).exits(0);
    place.run(&["accept", "--reason", "moved"]).exits(0);
    place.run(&["check"]).exits(0);
    assert!(place.path("accepted/playbook.lock").exists());
}

#[test]
fn redaction_holds_for_every_command_that_shows_a_trace() {
    let place = place("redaction: { keys: email, patterns: '\\d{16}' }");
    for args in [
        &["replay", "trace.jsonl"][..],
        &["replay", "trace.jsonl", "--format", "json", "--all"],
        &["replay", "trace.jsonl", "--format", "jsonl"],
        &["explain", "trace.jsonl", "c1"],
        &["propose", "find", "trace.jsonl"],
        &["propose", "find", "trace.jsonl", "--format", "json"],
        &["impact", "trace.jsonl", "--candidate", "study/retry-everything"],
        &["init", "project", "--from", "trace.jsonl"],
    ] {
        let ran = place.run(args);
        assert!(ran.code < 2, "{args:?}: {}", ran.err);
        let said = ran.out + &ran.err;
        assert!(!said.contains("ada@example.com") && !said.contains("4242424242424242"), "{args:?}: {said}");
    }
}

#[test]
fn the_file_is_found_from_below_and_its_paths_are_its_own() {
    let place = Place::begun();
    place.write("deep/er/trace.jsonl", TRACE);
    place.run_below("deep/er", &["check"]).exits(0);
    assert!(place.run_below("deep/er", &["replay", "trace.jsonl"]).exits(0).out.contains(" ours\n"));
    place.write("deep/playproof.yaml", "format: project/1\nplaybook: standard\n");
    assert!(
        place.run_below("deep/er", &["replay", "trace.jsonl"]).exits(0).out.contains(" standard\n"),
        "the nearest wins"
    );
}

#[test]
fn every_mistake_in_the_file_is_shown_at_its_place_by_every_command() {
    for (config, place) in [
        ("playbok: x", "playproof.yaml:2:1"),
        ("playbook: [a]", "playproof.yaml:2:11"),
        ("tools: {}", "playproof.yaml:2:8"),
        ("fixtures: ''", "playproof.yaml:2:11"),
        ("goldens: 3", "playproof.yaml:2:10"),
        ("proposals: [x]", "playproof.yaml:2:12"),
        ("redaction: { key: x }", "playproof.yaml:2:14"),
        ("redaction: { patterns: '(' }", "playproof.yaml:2:24"),
        ("tools: a\ntools: b", "playproof.yaml:3:1"),
    ] {
        for (command, code, said) in each(config, |_| true) {
            assert_eq!(code, 2, "{config}: {command}: {said}");
            assert!(said.contains(place), "{config}: {command}: {said}");
        }
    }
}

#[test]
fn a_playbook_s_name_means_the_same_to_every_command_with_and_without_a_project_file() {
    let named: [&[&str]; 9] = [
        &["lint", "standard"],
        &["replay", "trace.jsonl", "--playbook", "standard"],
        &["explain", "trace.jsonl", "c1", "--playbook", "standard"],
        &["propose", "find", "trace.jsonl", "--playbook", "standard"],
        &["impact", "trace.jsonl", "--base", "standard", "--candidate", "reversing"],
        &["coverage", "standard"],
        &["coverage", "--mutate", "standard"],
        &["propose", "keep", "trace.jsonl", "c1", "--expect", "odd_one", "--note", "x", "--playbook", "standard"],
        &["check"],
    ];
    for project in ["format: project/1\n", ""] {
        let place = Place::new();
        place.write("trace.jsonl", TRACE);
        place.copy("fixtures/unkeyed-refund-times-out-after-landing.yaml", "fixtures/refund.yaml");
        if !project.is_empty() {
            place.write("playproof.yaml", project);
        }
        let embedded = place.run(&["lint", "standard"]).exits(0);
        assert!(embedded.out.contains("<embedded>/standard: clean"), "{}", embedded.out);
        place.write("playbooks/standard.yaml", "format: playbook/1\nname: ours\nverdict: {}\n");
        for args in named {
            let ran = place.run(args);
            let said = ran.out + &ran.err;
            assert_eq!(ran.code, 2, "{args:?}: {said}");
            assert!(said.contains("playbooks/standard.yaml") && said.contains("`verdict`"), "{args:?}: {said}");
        }
        let unknown = place.run(&["lint", "standrad"]).exits(2);
        assert!(unknown.err.contains("did you mean `standard`?"), "{}", unknown.err);
    }
}

#[test]
fn a_playbook_is_called_the_same_however_its_path_is_written() {
    let place = place("playbook: playbooks/ours.yaml");
    let ours = place.read("playbooks/ours.yaml");
    place.write("playbooks/team/mine.yaml", &ours.replace("name: ours", "name: mine"));
    place.edit_first("fixtures/a-denial-goes-to-people.yaml", "\ncalls:", "\nplaybooks: [ours, team/mine]\ncalls:");
    let whole = place.path("playbooks/team/mine.yaml");
    let said = |folder: &str, path: &str| place.run_below(folder, &["coverage", path]).exits(0).out;
    let by_name = said("", "team/mine");
    assert!(by_name.starts_with("Coverage of team/mine\n\n1 fixture"), "{by_name}");
    place.write("elsewhere/mine.yaml", &ours);
    place.run(&["accept", "elsewhere/mine.yaml", "--reason", "x"]).exits(2);
    let first = |page: &str| page.lines().next().map(str::to_owned);
    for (folder, path) in [
        ("", "playbooks/team/mine.yaml"),
        ("", "./playbooks/team/mine.yaml"),
        ("", whole.to_str().expect("UTF-8")),
        ("fixtures", "../playbooks/team/mine.yaml"),
        ("playbooks/team", "mine.yaml"),
    ] {
        assert_eq!(first(&said(folder, path)), first(&by_name), "{folder} {path}");
        // The rows are accepted once; then none of `team/mine` waits.
        let accepted = place.run_below(folder, &["accept", path, "--reason", "x"]);
        let accepted = accepted.out + &accepted.err;
        let records = place.run_below(folder, &["history", "-p", path]).exits(0).out;
        assert!(accepted.contains("team/mine") && records.contains("team/mine"), "{accepted}{records}");
        let trace = place.path("trace.jsonl");
        let add = ["propose", "keep", trace.to_str().expect("UTF-8"), "c1", "--expect", "odd_one", "--note", "odd"];
        let out = place.run_below(folder, &[&add[..], &["--playbook", path]].concat()).exits(0).out;
        let id = out.lines().next().and_then(|line| line.strip_prefix("kept as ")).unwrap_or_else(|| panic!("{out}"));
        assert!(place.read(&format!("kept/{id}.yaml")).contains("playbook: 'team/mine'"), "{path}");
        place.remove(&format!("kept/{id}.yaml"));
        place.remove(&format!("kept/{id}.jsonl"));
    }
}

#[test]
fn a_file_that_is_no_playbook_and_one_that_git_could_not_merge_are_told_by_every_command() {
    let place = place("playbook: playbooks/ours.yaml");
    let fixture = "fixtures/a-denial-goes-to-people.yaml";
    place.write("playbooks/half.yaml", &format!("{}<<<<<<< HEAD\n", place.read("playbooks/ours.yaml")));
    for args in [&["lint"][..], &["coverage"], &["coverage", "--mutate"], &["replay", "trace.jsonl", "--playbook"]] {
        let ran = place.run(&[args, &[fixture]].concat()).exits(2);
        assert!(ran.err.contains("is a fixture, and a playbook is wanted here"), "{args:?}: {}", ran.err);
        let ran = place.run(&[args, &["half"]].concat()).exits(2);
        assert!((ran.out + &ran.err).contains("git could not merge this file"), "{args:?}");
    }
    let add = ["propose", "keep", "trace.jsonl", "c1", "--expect", "odd_one", "--note", "odd", "--playbook", "-"];
    let before = place.everything();
    let ran = place.run_with(&add, &place.read("playbooks/ours.yaml")).exits(2);
    assert!(ran.err.contains("a playbook from standard input"), "{}", ran.err);
    assert_eq!(place.everything(), before);
}

#[test]
fn what_git_could_not_merge_is_told_as_that_whatever_file_it_is() {
    let place = Place::begun();
    place.write(
        "trace.jsonl",
        "{\"run_id\":\"r\",\"tool\":\"pay\",\"status\":\"error\",\"error\":{\"kind\":\"odd\"}}\n",
    );
    place.run(&["propose", "keep", "trace.jsonl", "r#1", "--expect", "odd_one", "--note", "odd"]).exits(0);
    place.run(&["confirm", "--draft", "trace.jsonl", "-o", "facts.yaml"]).exits(0);
    place.write("map.yaml", "format: mapping/1\ncall: { tool: tool }\n");
    let is_slice = |name: &&String| name.starts_with("kept/") && name.ends_with(".jsonl");
    let slice = place.files().into_keys().find(|name| is_slice(&name)).expect("a slice");
    let fixture = "fixtures/a-denial-goes-to-people.yaml";
    for (file, args) in [
        (fixture, &["check"][..]),
        (fixture, &["replay", fixture]),
        ("playproof.yaml", &["check"]),
        (&slice, &["check"]),
        ("facts.yaml", &["replay", "trace.jsonl", "--tools", "facts.yaml"]),
        ("map.yaml", &["replay", "trace.jsonl", "--map", "map.yaml"]),
    ] {
        let good = place.read(file);
        let (first, rest) = good.split_once('\n').expect("lines");
        place.write(file, &format!("{first}\n<<<<<<< HEAD\n{rest}=======\n{rest}>>>>>>> other\n"));
        let ran = place.run(args).exits(2);
        assert!(ran.err.contains("git could not merge this file"), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(&format!("{file}:2:1]")), "{args:?}: {}", ran.err);
        assert!(ran.err.contains("remove git's conflict markers"), "{args:?}: {}", ran.err);
        place.write(file, &good);
    }
}
