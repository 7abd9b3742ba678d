//! From a folder below the project's root: what is shown and suggested can be opened and typed there.

use crate::check::project::Project;
use crate::place::Place;

const CONTRADICTED: &str = "an-unkeyed-refund-is-not-sent-twice";

/// A project with a folder inside, in which nothing lies.
fn begun() -> Place {
    let place = Place::begun();
    place.write("deep/er/notes.txt", "");
    place
}

fn next_of(said: &str) -> &str {
    said.rsplit_once("next: ").map_or("", |(_, next)| next.trim_end())
}

#[test]
fn a_check_shows_places_and_commands_from_where_people_stand_and_reports_from_the_root() {
    let place = begun();
    let idempotent = "payments.issue_refund: { access: write, idempotent: ";
    place.edit("playbooks/ours.yaml", &format!("{idempotent}false"), &format!("{idempotent}true"));
    let check = ["check", "--report", "json=out.json"];
    let below = place.run_below("deep/er", &check).exits(1);
    assert!(below.out.contains("╭─[../../playbooks/ours.yaml:"), "{}", below.out);
    let replay = format!("playproof replay ../../fixtures/{CONTRADICTED}.yaml --playbook ../../playbooks/ours.yaml");
    assert_eq!(next_of(&below.out), replay);
    let words: Vec<&str> = next_of(&below.out).split(' ').skip(1).collect();
    assert!(place.run_below("deep/er", &words).exits(1).out.contains("as fixture expects"), "the command works there");
    let above = place.run(&check).exits(1);
    assert!(above.out.contains("╭─[playbooks/ours.yaml:"), "{}", above.out);
    assert_eq!(next_of(&above.out), replay.replace("../", ""));
    assert_eq!(place.read("deep/er/out.json"), place.read("out.json"), "reports are the same from anywhere");
}

#[test]
fn what_cannot_be_read_or_is_left_over_is_named_from_where_people_stand() {
    let place = begun();
    let golden = format!("goldens/ours/{CONTRADICTED}.snap");
    let good = place.read(&golden);
    place.write("goldens/ours/old.snap", &good);
    assert_eq!(next_of(&place.run_below("deep", &["check"]).exits(1).out), "rm ../goldens/ours/old.snap");
    place.write(&golden, "");
    let run = place.run_below("deep", &["check"]).exits(2);
    assert_eq!(next_of(&run.out), format!("rm ../{golden}"));
    assert!(run.out.contains(&format!("../{golden}")), "{}", run.out);
    place.write("playbooks/ours.yaml", "format: playbook/1\n");
    let run = place.run_below("deep", &["check"]).exits(2);
    assert!(run.err.contains("[../playbooks/ours.yaml:"), "{}", run.err);
    assert_eq!(next_of(&run.err), "playproof lint ../playbooks/ours.yaml");
}

#[test]
fn a_golden_that_git_could_not_merge_is_restored_from_one_side() {
    let place = Place::begun();
    let golden = format!("goldens/ours/{CONTRADICTED}.snap");
    let good = place.read(&golden);
    let change = |word: &str| {
        place.write(&golden, &good.replace("title", word).replacen("---\n", &format!("---\n# {word}\n"), 1))
    };
    if place.commit() != Some(true) {
        return; // no git here
    }
    place.git(&["checkout", "-q", "-b", "theirs"]);
    change("theirs");
    place.git(&["commit", "-qam", "theirs"]);
    place.git(&["checkout", "-q", "main"]);
    change("ours");
    place.git(&["commit", "-qam", "ours"]);
    assert_eq!(place.git(&["merge", "-q", "theirs"]), Some(false), "both changed the same line");
    let run = place.run(&["check"]).exits(2);
    assert_eq!(next_of(&run.out), format!("git restore --ours {golden}"));
    assert_eq!(place.git(&["restore", &golden]), Some(false), "git itself asks for a side");
    assert_eq!(place.git(&["restore", "--ours", &golden]), Some(true));
    assert!(!place.run(&["check"]).out.contains("unreadable"));
}

#[test]
fn what_is_accepted_and_kept_is_named_from_where_people_stand() {
    let place = begun();
    place.write(
        "deep/t.jsonl",
        "{\"run_id\":\"r\",\"tool\":\"pay\",\"status\":\"error\",\"error\":{\"kind\":\"odd\"}}\n",
    );
    let run =
        place.run_below("deep", &["propose", "keep", "t.jsonl", "r#1", "--expect", "odd_one", "--note", "x"]).exits(0);
    assert!(run.out.contains("  ../kept/pay-odd-"), "{}", run.out);
    place.edit("playbooks/ours.yaml", "max_attempts: ", "max_attempts: 1");
    let run = place.run_below("deep", &["accept", "--reason", "more"]).exits(0);
    for named in ["../goldens/playbook.lock", "../proposals/history/0002-"] {
        assert!(run.out.contains(named), "{named}: {}", run.out);
    }
    if place.commit() == Some(true) {
        place.write("fixtures/an-unkeyed-refund-is-not-sent-twice.yaml", "format: fixture/1\n");
        let run = place.run_below("fixtures", &["check", "--changed-since", "HEAD"]).exits(2);
        assert!(run.err.contains("[../fixtures/an-unkeyed-refund"), "{}", run.err);
    }
}

#[test]
fn a_file_that_the_project_names_and_that_is_not_there_is_told_where_it_is_named() {
    let project = Project::few();
    for (key, name) in [("tools", "facts/nope.yaml"), ("playbook", "books/nope.yaml")] {
        project.write("playproof.yaml", &format!("format: project/1\n{key}: {name}\n"));
        let run = project.run(&[if key == "tools" { "check" } else { "lint" }]);
        assert_eq!(run.code, 2, "{run:?}");
        for said in [&format!("{name}: no such file"), "[playproof.yaml:2:", "are relative to its folder"] {
            assert!(run.err.contains(said), "{said}\n{}", run.err);
        }
        assert!(!run.err.contains("working directory"), "{}", run.err);
    }
}
