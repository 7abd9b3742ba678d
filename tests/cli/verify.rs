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
    assert!(run.out.contains("duplicate_effect        violated"), "{}", run.out);
    let fixture = "fixtures/found/refunds-duplicate-effect.yaml";
    let replayed = place.run(&["replay", fixture]).exits(1);
    assert!(replayed.out.contains("duplicate_effect"), "{}", replayed.out);
    let again = place.run(&["verify", "--write-fixtures", "fixtures/found"]).exits(2);
    assert!(again.err.contains("is there already"), "{}", again.err);
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
