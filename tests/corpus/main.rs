//! Replays what fuzzing found: every file under `tests/corpus/<target>/` through the target of that name.
//! `fuzz/README.md` says how files get there.

use std::fs;
use std::path::Path;

mod targets;

/// Runs a target on each file of its folder, in the order of their names.
fn replay(target: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(target);
    let entries = fs::read_dir(&folder).expect("the target's folder");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry of the folder").path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{target} has no corpus");
    for file in files {
        println!("{}", file.display()); // shown if the target panics
        run(&fs::read(&file).expect("a file of the corpus"));
    }
}

#[test]
fn any_text_is_yaml_or_a_report_that_points_into_it() {
    replay("yaml", targets::yaml);
}

#[test]
fn any_bytes_are_imported_whole_or_refused_with_a_place() {
    replay("import", targets::import);
}

#[test]
fn any_text_is_a_playbook_in_which_every_name_leads_somewhere_or_a_report() {
    replay("playbook", targets::playbook);
}

#[test]
fn any_bytes_are_a_trace_whose_lines_balance() {
    replay("trace", targets::trace);
}

#[test]
fn any_mapping_of_any_recording_gives_whole_lines_or_a_place() {
    replay("mapping", targets::mapping);
}
