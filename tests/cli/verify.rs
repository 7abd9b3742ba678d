//! `verify`: its exit codes, what it writes, and that it refuses what it cannot use.

use crate::place::Place;

const PLAYBOOK: &str = "refunds.yaml";

fn place() -> Place {
    let place = Place::new();
    place.copy("docs/examples/refunds.yaml", PLAYBOOK);
    place.write("playproof.yaml", "format: project/1\nplaybook: refunds.yaml\n");
    place
}

#[test]
fn a_lie_is_found_written_as_a_fixture_and_shown_by_replay() {
    let place = place();
    let run = place.run(&["verify", "--write-fixtures", "fixtures/found"]).exits(1);
    assert!(
        run.out.lines().any(|line| line.split_whitespace().take(2).eq(["duplicate_effect", "violated"])),
        "{}",
        run.out
    );
    let fixture = "fixtures/found/refunds-duplicate-effect.yaml";
    let replayed = place.run(&["replay", fixture]).exits(1);
    assert!(replayed.out.contains("duplicate_effect"), "{}", replayed.out);
    let again = place.run(&["verify", "--write-fixtures", "fixtures/found"]).exits(2);
    assert!(again.err.contains("is there already"), "{}", again.err);
}

#[test]
fn fixtures_of_a_playbook_that_the_project_does_not_find_are_not_written_among_its_own() {
    let place = place();
    place.write("elsewhere.yaml", &place.read(PLAYBOOK).replace("name: refunds", "name: elsewhere"));
    let run = place.run(&["verify", "elsewhere.yaml", "--write-fixtures", "fixtures/found"]).exits(2);
    assert!(run.err.contains("the project has no playbook `elsewhere`"), "{}", run.err);
    place.run(&["verify", "elsewhere.yaml", "--write-fixtures", "found"]).exits(1);
}

#[test]
fn what_is_mended_holds_and_a_search_that_is_cut_is_inconclusive() {
    let place = place();
    place.edit_first(PLAYBOOK, "effect: not_applied", "effect: unknown");
    place.run(&["verify", PLAYBOOK]).exits(0);
    let cut = place.run(&["verify", PLAYBOOK, "--max-states", "0"]).exits(3);
    assert!(cut.out.contains("cut short"), "{}", cut.out);
}

#[test]
fn the_document_has_each_property_with_its_shortest_script_for_any_number_of_threads() {
    let place = place();
    let run = |jobs: &str| place.run(&["verify", "--format", "json", "--jobs", jobs]).exits(1).out;
    let document: serde_json::Value = serde_json::from_str(&run("1")).expect("a document");
    let property = &document["playbooks"][0]["properties"][0];
    assert_eq!(
        (&property["id"], &property["result"], &property["departures"], &property["answers"]),
        (&"duplicate_effect".into(), &"violated".into(), &1.into(), &2.into())
    );
    assert_eq!(run("1"), run("5"));
}

#[test]
fn a_fixture_or_an_unknown_property_is_refused() {
    let place = place();
    place.copy("fixtures/unkeyed-refund-times-out-after-landing.yaml", "fixture.yaml");
    assert!(place.run(&["verify", "fixture.yaml"]).exits(2).err.contains("is a fixture"));
    let unknown = place.run(&["verify", "--property", "duplicate_efect"]).exits(2);
    assert!(unknown.err.contains("did you mean `duplicate_effect`?"), "{}", unknown.err);
}

#[test]
fn calls_of_actions_are_not_asked_about_and_no_result_says_that_they_hold() {
    let place = Place::new();
    for name in ["coffee", "steps"] {
        let run = place.run(&["verify", name]).exits(2);
        assert!(run.out.contains("no call of its actions was tried") && !run.out.contains("holds"), "{}", run.out);
        assert!(!run.out.contains(", every script") && run.err.contains("orders actions"), "{}{}", run.out, run.err);
    }
}

#[test]
fn guarantees_that_are_lost_and_gained_against_another_playbook_are_named() {
    let place = place();
    place.write("mended.yaml", &place.read(PLAYBOOK).replace("effect: not_applied", "effect: unknown"));
    let lost = place.run(&["verify", PLAYBOOK, "--against", "mended.yaml"]).exits(1);
    assert!(lost.out.contains("\n   lost  duplicate_effect\n"), "{}", lost.out);
    let gained = place.run(&["verify", "mended.yaml", "--against", PLAYBOOK, "--format", "json"]).exits(0);
    let document: serde_json::Value = serde_json::from_str(&gained.out).expect("a document");
    let against = &document["playbooks"][0]["against"];
    assert_eq!((&against["gained"][0], &against["lost"]), (&"duplicate_effect".into(), &serde_json::json!([])));
    let same = place.run(&["verify", "mended.yaml", "--against", "mended.yaml"]).exits(0);
    assert!(same.out.contains("no guarantee and no assumption is gained or lost"), "{}", same.out);
}

#[test]
fn a_page_shows_the_story_with_the_rows_that_decided() {
    let place = place();
    place.run(&["verify", "--report", "html=verify.html"]).exits(1);
    let page = place.read("verify.html");
    for part in ["duplicate_effect", "no answer; it acted", "+1 effect", "not_applied"] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[test]
fn large_playbooks_and_places_that_are_taken_end_in_a_clear_word() {
    let place = place();
    place.write("file", "");
    let run = place.run(&["verify", "--write-fixtures", "file"]).exits(2);
    assert!(run.err.contains("nothing was changed"), "{}", run.err);
    let verdict = |n: u32| {
        let then = format!("{{ retry_with_backoff: {{ backoff_ms: [{}], max_retries: 999 }} }}", n + 1);
        format!("  v{n}:\n    means: It is {n}.\n    effect: unknown\n    then: {then}\n")
    };
    let rule = |n: u32| format!("  - {{ rule: r{n}, when: {{ kind: k{n} }}, verdict: v{} }}\n", n % 5);
    let large = |rules: u32, attempts: u32| {
        let (verdicts, rules): (String, String) = ((0..5).map(verdict).collect(), (0..rules).map(rule).collect());
        let head = format!("format: playbook/1\nname: large\nverdicts:\n{verdicts}classify:\n{rules}");
        format!(
            "{head}otherwise: unclassified\ndefault_queue: p\nqueues: [p]\nlimits: {{ max_attempts: {attempts} }}\n"
        )
    };
    place.write("many.yaml", &large(1_000, 5));
    assert!(place.run(&["verify", "many.yaml"]).exits(0).out.contains("every script of answers"));
    place.write("deep.yaml", &large(5, 1_000));
    let run = place.run(&["verify", "deep.yaml", "--max-states", "5000"]).exits(3);
    assert!(run.out.contains("cut short: holds to"), "{}", run.out);
    assert_eq!(place.run(&["verify", "--max-states", "0", "many.yaml"]).code, 3);
}
