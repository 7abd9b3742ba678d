//! The pages on how a playbook and a fixture are written: their examples run, and no key is left out.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::place::Place;

fn page(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name)).expect("a page")
}

/// The file with which a page begins.
fn example(page: &str) -> &str {
    let (_, rest) = page.split_once("```yaml\n").expect("an example");
    rest.split_once("```").expect("its end").0
}

/// The keys at these places of a schema that the page does not name.
fn left_out(page: &str, schema: &str, places: &[&str]) -> Vec<String> {
    let schema: Value = serde_json::from_str(schema).expect("a schema");
    let keys = places.iter().flat_map(|place| schema.pointer(place).and_then(Value::as_object).expect(place).keys());
    keys.filter(|key| !page.contains(&format!("`{key}`")) && !page.contains(&format!("{key}:"))).cloned().collect()
}

#[test]
fn the_page_on_playbooks_has_one_that_is_clean_and_every_key() {
    let page = page("write-a-playbook.md");
    let place = Place::new();
    place.write("ours.yaml", example(&page));
    place.run(&["lint", "ours.yaml"]).exits(0);
    let places = [
        "/properties",
        "/$defs/verdict/properties",
        "/$defs/when/properties",
        "/$defs/message/properties",
        "/$defs/tool/properties",
        "/$defs/compensation/properties",
        "/properties/limits/properties",
    ];
    assert_eq!(left_out(&page, include_str!("../../schemas/playbook.json"), &places), [""; 0]);
}

#[test]
fn the_page_on_fixtures_has_one_that_shows_what_it_expects_and_every_key() {
    let page = page("write-a-fixture.md");
    let place = Place::new();
    place.write("it.yaml", example(&page));
    let shown = place.run(&["replay", "it.yaml"]).exits(0).out;
    assert!(shown.contains("as fixture expects  yes"), "{shown}");
    let places = [
        "/properties",
        "/$defs/call/properties",
        "/$defs/answer/properties",
        "/$defs/expect/properties",
        "/$defs/expect_call/properties",
    ];
    assert_eq!(left_out(&page, include_str!("../../schemas/fixture.json"), &places), [""; 0]);
}

#[test]
fn each_of_the_two_pages_fits_on_two() {
    for name in ["write-a-playbook.md", "write-a-fixture.md"] {
        assert!(page(name).split_whitespace().count() <= 1_100, "{name}");
    }
}

/// The most words of all documents without decision records, changelog, the generated gallery and the summary, whose lines
/// are the headings of the pages (a rule compares them). Whoever adds a page cuts another.
const MOST_WORDS: usize = 15_000;

#[test]
fn the_documents_together_do_not_grow() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = fs::read_dir(root.join("docs")).expect("docs").map(|entry| entry.expect("an entry").path());
    let is_counted = |path: &std::path::PathBuf| {
        path.extension().is_some_and(|end| end == "md")
            && !["gallery.md", "SUMMARY.md"].iter().any(|name| path.ends_with(name))
    };
    let of_docs = docs.filter(is_counted);
    let others = ["README.md", "DESIGN.md", "CONTRIBUTING.md", "SECURITY.md"].map(|name| root.join(name));
    let words = |path: std::path::PathBuf| fs::read_to_string(path).expect("a document").split_whitespace().count();
    let all: usize = of_docs.chain(others).map(words).sum();
    assert!(all > 10_000 && all <= MOST_WORDS, "{all} words");
}
