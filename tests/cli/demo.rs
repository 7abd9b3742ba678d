//! `playproof demo`: the first example of the README, without a file.

use std::fs;
use std::path::Path;

use crate::place::Place;

/// What the README shows of the output of its first command.
fn first_example() -> String {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("the README");
    let (_, after) = readme.split_once("```console exit=1\n").expect("an example that exits with 1");
    let (command, rest) = after.split_once('\n').expect("a command");
    assert!(command.contains("replay fixtures/unkeyed-refund-times-out-after-landing.yaml"), "{command}");
    rest.split_once("\n...\n").expect("the rest is left out").0.to_owned()
}

/// The heading as one line without the name of its file, and the rest as it is.
fn without_name(page: &str) -> String {
    let (heading, rest) = page.split_once("\n\n").expect("a heading");
    let heading = heading.split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
    format!("{heading}\n\n{rest}")
}

#[test]
fn the_demo_shows_what_the_readme_shows_and_leaves_no_file() {
    let place = Place::new();
    let ran = place.run(&["demo"]).exits(1);
    assert!(place.everything().is_empty());
    let (story, end) = ran.out.split_once("\n\nThe exit code is ").expect("a closing line");
    assert!(without_name(story).starts_with(&without_name(&first_example())), "{story}");
    assert!(story.contains("unsafe  duplicate_effect: one intent had 3 effects"), "{story}");
    insta::assert_snapshot!(end, @r"
    1, as it should be: a playbook did harm. Nothing was sent anywhere.

    next:
      playproof replay trace.jsonl  your own recorded calls under a playbook
      playproof help replay         what else can be replayed, with examples
      playproof init                a project here: a playbook, fixtures, goldens and a CI job
    ");
}

#[test]
fn the_demo_is_the_same_in_a_project_that_has_playbooks_of_these_names_or_cannot_be_read() {
    let alone = Place::new().run(&["demo"]).exits(1).out;
    let place = Place::new();
    place.write("playbooks/standard.yaml", "no: playbook\n");
    place.write("playproof.yaml", "format: project/1\nnonsense: true\n");
    assert_eq!(place.run(&["demo"]).exits(1).out, alone);
    place.run(&["demo", "trace.jsonl"]).exits(2);
}
