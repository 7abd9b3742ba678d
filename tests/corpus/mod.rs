//! Replays what fuzzing found: every file under `tests/corpus/<target>/` through the target of that name.
//! `fuzz/README.md` says how files get there.

use std::fs;
use std::path::Path;

mod mutations;
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
fn any_text_of_a_result_is_one_result_however_a_chat_holds_it() {
    replay("failure", targets::failure);
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

#[test]
fn any_proposal_record_kept_call_lock_or_golden_is_whole_or_a_report_that_points_into_it() {
    replay("project", targets::project);
}

#[test]
fn any_journal_of_interrupted_work_leads_nowhere_up_or_is_refused() {
    replay("journal", targets::journal);
}

#[test]
fn any_tool_facts_are_usable_or_a_report_that_points_into_them() {
    replay("tools", targets::tools);
}

#[test]
fn any_text_is_a_glob_that_can_be_asked_or_is_refused_in_one_line() {
    replay("glob", targets::glob);
}

#[test]
fn any_header_is_a_wait_or_has_a_fault() {
    replay("headers", targets::headers);
}

#[test]
fn any_fixture_shows_something_or_is_a_report_that_points_into_it() {
    replay("fixture", targets::fixture);
}

/// Files of the corpus that are valid in spite of everything; all others must be refused.
const VALID: [&str; 7] = [
    "playbook/what-calls-share.yaml",
    "fixture/what-calls-share.yaml",
    "playbook/crlf-and-bom.yaml",
    "fixture/crlf-and-bom.yaml",
    "playbook/anchors.yaml",
    "playbook/breakers-and-budgets.yaml",
    "tools/plain.yaml",
];

#[test]
fn nasty_files_are_refused_and_odd_but_valid_ones_are_not() {
    use playproof_formats::diagnostic::{Report, Source};
    let accepted = |target: &str, text: &str| -> Result<(), Report> {
        let source = Source::whole("t", text);
        match target {
            "playbook" => playproof_formats::playbook::parse(source).map(drop),
            "tools" => playproof_formats::playbook::tools::parse(source).map(drop),
            _ => playproof_formats::fixture::parse(source).map(drop),
        }
    };
    let mut seen = 0;
    for target in ["playbook", "tools", "fixture"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(target);
        for entry in fs::read_dir(&folder).expect("the target's folder") {
            let path = entry.expect("an entry of the folder").path();
            let Ok(text) = fs::read_to_string(&path) else { continue };
            let name = format!("{target}/{}", path.file_name().expect("a file").to_string_lossy());
            let read = accepted(target, &text);
            assert_eq!(read.is_ok(), VALID.contains(&name.as_str()), "{name}: {read:?}");
            seen += usize::from(read.is_ok());
        }
    }
    assert_eq!(seen, VALID.len(), "a valid file is missing");
}
