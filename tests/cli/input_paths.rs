//! Folders and globs as inputs.

use super::Place;

const CALLS: &str = r#"{"run_id":"r1","tool":"pay","status":"error","error":{"kind":"timeout","message":"t"}}
"#;

/// The files that a replay reads.
fn read(place: &Place, inputs: &[&str]) -> Vec<String> {
    let ran = place.run(&[&["replay", "--format", "json"], inputs].concat());
    assert_ne!(ran.code, 2, "{}", ran.err);
    let page: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let inputs = page["inputs"].as_array().expect("inputs");
    inputs.iter().map(|input| input["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn folders_and_globs_stand_for_their_files_and_each_file_counts_once() {
    let place = Place::new();
    for file in ["a/2.jsonl", "a/b/1.json", "a/notes.md", "a/x.yaml", "[1].json"] {
        place.write(file, CALLS);
    }
    assert_eq!(read(&place, &["a"]), ["a/2.jsonl", "a/b/1.json"]);
    assert_eq!(read(&place, &["a/2.jsonl", "a/"]), ["a/2.jsonl", "a/b/1.json"]);
    assert_eq!(read(&place, &["a/*.jsonl"]), ["a/2.jsonl"]);
    assert_eq!(read(&place, &["**/1.json", "a/*.{jsonl,md}"]), ["a/b/1.json", "a/2.jsonl", "a/notes.md"]);
    assert_eq!(read(&place, &["[1].json"]), ["[1].json"]);
    for (input, said) in
        [("a/*.csv", "no file matches"), ("a/b/*/c*", "no file matches"), ("gone.jsonl", "no such file")]
    {
        let ran = place.run(&["replay", input]).exits(2);
        assert!(ran.err.contains(said), "{}", ran.err);
    }
}

#[test]
fn a_folder_without_traces_stands_for_its_fixtures() {
    let place = Place::new();
    place.run(&["init"]).exits(0);
    let ran = place.run(&["replay", "fixtures"]);
    let pages = ran.out.lines().filter(|line| line.contains("fixtures/")).count();
    assert!(ran.code != 2 && pages > 1, "{ran:?}");
    place.write("empty/notes.md", "");
    let ran = place.run(&["replay", "empty"]).exits(2);
    assert!(ran.err.contains("there is no trace and no fixture in this folder"), "{}", ran.err);
}

#[test]
fn suggested_commands_name_a_folder_or_a_glob_as_typed() {
    let place = Place::new();
    place.write("lines/a.jsonl", CALLS);
    place.write("lines/b.jsonl", CALLS);
    for (input, next) in
        [("lines", "next: playproof replay lines\n"), ("lines/*", "next: playproof replay 'lines/*'\n")]
    {
        let ran = place.run(&["replay", input, "--run", "Z"]).exits(2);
        assert!(ran.err.ends_with(next), "{}", ran.err);
    }
}

#[test]
fn an_input_without_calls_beside_others_is_noted() {
    let place = Place::new();
    place.write("a.jsonl", CALLS);
    place.write("ends.jsonl", "{\"type\":\"run_end\",\"run_id\":\"r\"}\n");
    let ran = place.run(&["replay", "ends.jsonl", "a.jsonl"]);
    assert!(ran.code != 2 && ran.err.contains("note: no calls in ends.jsonl"), "{}", ran.err);
    place.run(&["replay", "ends.jsonl"]).exits(2);
}
