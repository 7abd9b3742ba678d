//! What the two commands make of good and bad use: exit codes, messages, the same bytes.

use crate::adequacy::project::{LIMIT, Project};

#[test]
fn a_share_that_is_too_small_fails_and_one_that_is_reached_does_not() {
    let project = Project::five();
    project.remove(LIMIT);
    let run = project.run(&["coverage", "five", "--fail-under", "99.9"]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("is below 99.9 %") && run.err.contains("next: playproof coverage five"), "{}", run.err);
    assert_eq!(project.run(&["coverage", "five", "--fail-under", "20"]).code, 0);
    assert_eq!(project.run(&["coverage", "five", "--fail-under", "many"]).code, 2);
}

#[test]
fn a_playbook_that_no_fixture_names_has_nothing_to_measure() {
    let project = Project::copy();
    let playbook = std::fs::read_to_string(project.path("playbooks/reversing.yaml")).expect("readable");
    project.write("playbooks/mine.yaml", &playbook.replace("name: reversing", "name: mine"));
    for command in [&["coverage"][..], &["coverage", "--mutate"]] {
        let run = project.run(&[command, &["mine"]].concat());
        assert_eq!((run.code, run.out.as_str()), (2, ""));
        assert!(run.err.contains("no fixture in `fixtures` runs under `mine`"), "{}", run.err);
        assert!(run.err.contains("next:"), "{}", run.err);
        let run = project.run(&[command, &["standart"]].concat());
        assert_eq!(run.code, 2);
        assert!(run.err.contains("did you mean `standard`?"), "{}", run.err);
        assert_eq!(project.run(&[command, &["standard", "--fixtures", "nowhere"]].concat()).code, 2);
    }
    let run = project.run(&["coverage", "mine"]);
    let err = run.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(err.contains("write `playbooks: [mine]` in a fixture"), "{err}");
    assert!(err.contains(" fixtures name no playbook, so they run under the project's"), "{err}");
}

#[test]
fn a_playbook_of_the_project_is_measured_as_it_is_on_disk() {
    let project = Project::five();
    project.edit("playbooks/five.yaml", "max_attempts: 3", "max_attempts: 30");
    let run = project.run(&["coverage", "five"]);
    assert!(
        run.out.contains("stop max_attempts") && run.out.contains("all retries and refreshes together stay within"),
        "{}",
        run.out
    );
}

#[test]
fn the_missing_fixtures_are_written_over_no_file_and_exercise_the_rest() {
    let project = Project::five();
    project.remove(LIMIT);
    let coverage = || project.json(&["coverage", "five"]);
    let missing: Vec<String> =
        coverage()["suggestions"].as_array().expect("fixtures").iter().map(|one| one["name"].to_string()).collect();
    assert!(!missing.is_empty());
    let write = ["coverage", "five", "--write", "fixtures/more"];
    let run = project.run(&write);
    assert_eq!(run.code, 0, "{}", run.err);
    for name in &missing {
        assert!(project.path(&format!("fixtures/more/{}.yaml", name.trim_matches('"'))).exists(), "{name}");
    }
    let fixtures = if missing.len() == 1 { "fixture" } else { "fixtures" };
    let said = format!("wrote {} {fixtures} into fixtures/more\n", missing.len());
    assert!(run.out.starts_with(&said) && run.out.ends_with("next: playproof check\n"), "{}", run.out);
    assert_eq!(coverage()["suggestions"].as_array().map(Vec::len), Some(0));
    assert_eq!(project.run(&write).out, "no fixture is missing: the fixtures exercise all that can be exercised\n");
    let check = project.run(&["check", "--run", "^five/"]);
    assert!(check.code == 1 && !check.out.contains("contradict"), "only the goldens are new: {}", check.out);
    let accepted = project.run(&["accept", "--reason", "reviewed"]);
    let is_harm = accepted.err.contains("harm that its fixture does not expect: denial_not_escalated");
    assert!(accepted.code == 2 && is_harm, "this playbook hands no denial over: {}", accepted.err);
}

#[test]
fn missing_fixtures_are_not_written_over_files_nor_among_other_files_of_the_project() {
    let project = Project::five();
    project.remove(LIMIT);
    let name = project.json(&["coverage", "five"])["suggestions"][0]["name"].as_str().expect("a name").to_owned();
    std::fs::create_dir(project.path("own")).expect("a folder");
    std::fs::write(project.path(&format!("own/{name}.yaml")), "mine").expect("written");
    for (folder, said) in [
        ("own", "is there already: it would be overwritten"),
        ("goldens", "would be read as a golden"),
        ("proposals/x", "would be read as a file of a proposal"),
        ("../out", "error: "),
    ] {
        let run = project.run(&["coverage", "five", "--write", folder]);
        assert!(run.code == 2 && run.err.contains(said), "{folder}: {}", run.err);
    }
    assert_eq!(std::fs::read_to_string(project.path(&format!("own/{name}.yaml"))).expect("readable"), "mine");
}

#[test]
fn the_lines_of_a_playbook_are_marked() {
    let project = Project::five();
    project.remove(LIMIT);
    let run = project.run(&["coverage", "five", "--format", "lines"]);
    let line = |part: &str| run.out.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("{part}"));
    assert!(line("rule: timeout,").trim_start().starts_with("1/1 "), "{}", line("rule: timeout,"));
    assert!(line("limits:").contains(" ! "), "{}", line("limits:"));
    let text = std::fs::read_to_string(project.path("playbooks/five.yaml")).expect("readable");
    assert_eq!(run.out.lines().count(), text.lines().count());
}

#[test]
fn a_stale_entry_fails_and_is_underlined() {
    let project = Project::five();
    project.write("mutants.yaml", "format: mutants/1\nfive:\n  rule timeout/drop: nobody minds\n");
    let run = project.run(&["coverage", "--mutate", "five"]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("`rule timeout/drop` is accepted needlessly: the fixture"), "{}", run.err);
    assert!(run.err.contains("mutants.yaml:"), "{}", run.err);
    project.write("mutants.yaml", "format: mutants/1\nfive: 7\n");
    assert_eq!(project.run(&["coverage", "--mutate", "five"]).code, 2);
}

#[test]
fn the_same_bytes_come_from_any_number_of_threads_and_from_any_folder() {
    let project = Project::five();
    project.remove(LIMIT);
    for format in ["table", "json"] {
        let mutate = |jobs| {
            let run = project.run(&["coverage", "--mutate", "five", "--all", "--format", format, "--jobs", jobs]);
            (run.code, run.out)
        };
        assert_eq!(mutate("1"), mutate("7"));
    }
    let coverage = || project.run(&["coverage", "five", "--all"]).out;
    assert_eq!(coverage(), coverage());
}
