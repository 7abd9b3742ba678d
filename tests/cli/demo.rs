//! `playproof demo [NAME]`: the examples, without a file.

use std::fs;
use std::path::Path;

use crate::place::Place;

/// Each example with its exit code and what it must show.
const DEMOS: [(&str, i32, &[&str]); 6] = [
    (
        "conflict",
        1,
        &[
            "effects upstream    3                                         1",
            "exhausted, effect unknown                 deprecated, effect applied",
            "and the planner reads the upstream's",
        ],
    ),
    (
        "order",
        0,
        &["\"error\":\"invalid_transition\"", "\"valid_next_actions\":[", "\"take_order\"", "upstream calls      3"],
    ),
    ("dispatcher", 0, &["joined, effect applied", "effects upstream                1", "At most 8 calls were out"]),
    (
        "told",
        0,
        &[
            "\"retriable\":false",
            "ship/react: outcome    skipped",
            "Its chain of hashes is whole; with that line altered,",
        ],
    ),
    (
        "crash",
        1,
        &[
            "effects upstream  2                              1",
            "charge_again      succeeded, effect applied      cached, effect applied",
            "commit            succeeded, effect not_applied  refused, effect not_applied",
        ],
    ),
    ("lie", 1, &["duplicate_effect: one intent had 2 effects", "claims `not_applied`"]),
];

#[test]
fn each_example_fits_on_a_screen_shows_what_it_is_for_and_leaves_no_file() {
    let place = Place::new();
    for (name, code, shown) in DEMOS {
        let page = place.run(&["demo", name]).exits(code).out;
        for wanted in shown {
            assert!(page.contains(wanted), "{name}: {wanted}\n{page}");
        }
        assert!(page.lines().count() <= 30, "{name}\n{page}");
    }
    assert!(place.everything().is_empty());
}

#[test]
fn alone_it_shows_the_first_example_and_the_list_of_all() {
    let place = Place::new();
    let alone = place.run(&["demo"]).exits(1).out;
    let first = place.run(&["demo", "conflict"]).exits(1).out;
    assert!(alone.starts_with(first.rsplit_once("\n\nnext:").expect("a next command").0), "{alone}");
    for (name, ..) in DEMOS {
        assert!(alone.contains(&format!("\nplayproof demo {name} ")), "{alone}");
    }
    assert!(alone.lines().count() <= 30, "{alone}");
    let wrong = place.run(&["demo", "conflikt"]).exits(2);
    assert!(wrong.err.contains("did you mean `conflict`?"), "{}", wrong.err);
}

#[test]
fn the_readme_has_each_example_in_its_table() {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("the README");
    for (name, ..) in DEMOS {
        assert!(readme.contains(&format!("| `playproof demo {name}` |")), "{name}");
    }
}

#[test]
fn an_example_is_the_same_in_a_project_that_has_playbooks_of_these_names_or_cannot_be_read() {
    let alone = Place::new().run(&["demo"]).exits(1).out;
    let place = Place::new();
    place.write("playbooks/standard.yaml", "no: playbook\n");
    place.write("playproof.yaml", "format: project/1\nnonsense: true\n");
    assert_eq!(place.run(&["demo"]).exits(1).out, alone);
}
