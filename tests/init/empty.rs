//! What `init` makes of an empty folder, and that all of it works.

use std::process::Command;

use playproof_formats::diagnostic::Source;
use playproof_formats::yaml;

use crate::place::Place;

#[test]
fn an_empty_folder_becomes_a_project_in_which_every_command_works() {
    let place = Place::new();
    let page = place.run(&["init"]).exits(0);
    assert!(page.err.is_empty() && page.out.contains("playproof check: clean, 3 runs"), "{}", page.out);
    assert_eq!(place.run(&["check"]).exits(0).out, "3 runs: 3 as accepted\n");
    assert!(place.run(&["history", "verify"]).exits(0).out.contains("1 record"));
    let lint = place.run(&["lint"]).exits(0).out;
    assert!(lint.starts_with("playbooks/ours.yaml: clean\nours: "), "{lint}");
    assert!(lint.contains("; in place of those of") && lint.contains("rule policy-denial, "), "{lint}");
    assert!(place.run(&["coverage"]).exits(0).out.contains("ours"));
    // A few fixtures leave most rows unwatched: `coverage --mutate` says which.
    assert!(place.run(&["coverage", "--mutate"]).exits(1).out.contains("ours"));
    place.write("trace.jsonl", "{\"tool\":\"search.web\",\"status\":\"error\",\"error\":{\"kind\":\"timeout\"}}\n");
    assert!(place.run(&["replay", "trace.jsonl"]).exits(0).out.contains(" ours\n"));
    for fixture in
        place.everything().into_keys().filter(|name| name.starts_with("fixtures/") && name.ends_with(".yaml"))
    {
        assert!(place.run(&["replay", &fixture]).exits(0).out.contains("as fixture expects"), "{fixture}");
        place.run(&["explain", &fixture]).exits(0);
    }
}

#[test]
fn expectations_for_a_misspelt_playbook_are_an_error_in_every_command() {
    let place = Place::new();
    place.run(&["init"]).exits(0);
    let fixture = "fixtures/a-denial-goes-to-people.yaml";
    let text = place.read(fixture).replace("  ours:\n", "  our:\n");
    place.write(fixture, &text);
    for args in [&["check"][..], &["replay", fixture], &["explain", fixture]] {
        let ran = place.run(args).exits(2);
        assert!(ran.err.contains("no playbook of this fixture is called `our`"), "{args:?}: {}", ran.err);
        assert!(ran.err.contains("did you mean `ours`?"), "{args:?}: {}", ran.err);
    }
    // Elsewhere the playbook of a fixture that names none is unknown.
    place.write("elsewhere.yaml", &text);
    place.run(&["replay", "elsewhere.yaml"]).exits(0);
}

#[test]
fn every_part_is_shown_whole_and_said_to_be_written() {
    let place = Place::new();
    let page = place.run(&["init"]).exits(0).out;
    for name in place.everything().into_keys().filter(|name| !name.ends_with('/') && !name.ends_with(".snap")) {
        assert!(page.lines().any(|line| line.starts_with(&format!("wrote  {name} "))), "{name}\n{page}");
    }
    assert!(
        page.contains("wrote  goldens/ours/*.snap ") && page.lines().all(|line| line.chars().count() <= 110),
        "{page}"
    );
}

#[test]
fn each_fixture_fails_without_what_it_teaches() {
    let edits = [
        ("max_attempts: 6", "max_attempts: 1", "a-keyed-refund-meets-its-own-effect"),
        ("effect: not_applied", "effect: applied", "a-denial-goes-to-people"),
        ("issue_refund: { access: write", "issue_refund: { access: read", "an-unkeyed-refund-is-not-sent-twice"),
    ];
    for (old, new, fixture) in edits {
        let place = Place::begun();
        let playbook = place.read("playbooks/ours.yaml");
        assert!(playbook.contains(old), "{old}");
        place.write("playbooks/ours.yaml", &playbook.replace(old, new));
        let found = place.run(&["check"]).exits(1).out;
        assert!(found.contains(&format!("ours/{fixture}")), "{fixture}\n{found}");
    }
}

#[test]
fn a_second_time_everything_is_kept_as_it_is() {
    let place = Place::begun();
    let before = place.everything();
    let page = place.run(&["init"]).exits(0).out;
    assert!(page.contains("kept   playproof.yaml ") && !page.contains("wrote"), "{page}");
    assert_eq!(place.everything(), before);
}

#[test]
fn a_folder_is_made_where_it_is_named_and_the_next_commands_begin_there() {
    let place = Place::new();
    let page = place.run(&["init", "agents/refunds/"]).exits(0).out;
    assert!(page.contains("\nnext:\n  cd agents/refunds "), "{page}");
    assert!(page.contains("wrote  playproof.yaml "), "{page}");
    place.run_below("agents/refunds", &["check"]).exits(0);
    place.run_below("agents/refunds/fixtures", &["check"]).exits(0);
}

#[test]
fn the_ci_job_needs_no_editing_and_its_commands_pass() {
    let place = Place::begun();
    let text = place.read(".github/workflows/playproof.yml");
    yaml::parse(Source::whole("workflow", &*text), |_| Some(())).expect("YAML");
    let runs = text.lines().filter_map(|line| line.trim().strip_prefix("run: "));
    let (ours, others): (Vec<&str>, Vec<&str>) = runs.partition(|run| run.starts_with("playproof "));
    assert_eq!(others, [">-"]);
    let version = env!("CARGO_PKG_VERSION");
    let built = format!("|| cargo install --locked --git \"${{REPOSITORY:?no wheel of Playproof {version}: ");
    let wheel = format!("python -m pip install playproof=={version}\n          {built}");
    assert!(text.contains(&wheel), "{text}");
    assert_eq!(ours, ["playproof lint", "playproof check", "playproof history verify"]);
    for run in ours {
        place.run(&run.split(' ').skip(1).collect::<Vec<_>>()).exits(0);
    }
}

#[test]
fn inside_of_a_repository_the_ci_job_knows_its_folder_and_the_lock_merges_by_union() {
    let place = Place::new();
    let git = |args: &[&str]| Command::new("git").args(args).current_dir(place.path("")).output();
    if !git(&["init", "-q"]).is_ok_and(|made| made.status.success()) {
        return; // there is no git here
    }
    let page = place.run(&["init", "agents/refunds"]).exits(0).out;
    assert!(page.contains("move it there"), "{page}");
    let workflow = place.read("agents/refunds/.github/workflows/playproof.yml");
    assert!(workflow.contains("working-directory: \"agents/refunds\""), "{workflow}");
    let said = git(&["check-attr", "merge", "agents/refunds/goldens/playbook.lock"]).expect("git").stdout;
    assert!(String::from_utf8_lossy(&said).ends_with("merge: union\n"));
    let said = git(&["check-ignore", "agents/refunds/goldens/ours/x.snap.new"]).expect("git").stdout;
    assert!(!said.is_empty());
}
