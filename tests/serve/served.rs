//! What is served, and what is not: study playbooks, presets, and rows that no lock approves.

use crate::place::Place;
use crate::serve::process::HELLO;

const CALL: &str = r#"{"type":"call","id":"a","at_ms":0,"tool":"payments.issue_refund"}"#;

#[test]
fn a_playbook_is_served_whose_rows_the_lock_of_its_project_approves() {
    let place = Place::begun();
    let ran = place.run_with(&["serve"], &format!("{HELLO}\n{CALL}\n")).exits(0);
    assert!(
        ran.out.contains("\"protocol\":\"dispatch/1\"") && ran.out.contains("{\"send\":\"a\",\"attempt\":1"),
        "{ran:?}"
    );
}

#[test]
fn a_row_that_nobody_approved_is_not_served() {
    let place = Place::begun();
    let path = place.run(&["lint", "--format", "json"]).out;
    assert!(path.contains("playbooks/"), "{path}");
    let name =
        place.files().into_keys().find(|name| name.starts_with("playbooks/") && name.ends_with(".yaml")).unwrap();
    let text = place.read(&name);
    assert!(text.contains("max_attempts: "), "{text}");
    place.write(&name, &text.replacen("max_attempts: ", "max_attempts: 1", 1));
    let ran = place.run_with(&["serve"], CALL).exits(2);
    assert!(
        ran.out.is_empty() && ran.err.contains("does not approve") && ran.err.contains("playproof accept"),
        "{ran:?}"
    );
    place.run_with(&["serve", "--unlocked"], CALL).exits(0);
}

#[test]
fn without_a_lock_nothing_is_served_but_what_is_unlocked_by_hand() {
    let place = Place::new();
    let ran = place.run_with(&["serve", "--playbook", "standard"], CALL).exits(2);
    assert!(ran.err.contains("no lock approves"), "{ran:?}");
    assert!(ran.err.contains("next: playproof serve --playbook standard --unlocked"), "{ran:?}");
    place.run_with(&["serve", "--playbook", "standard", "--unlocked"], CALL).exits(0);
}

#[test]
fn a_lock_that_is_named_approves() {
    let repository = env!("CARGO_MANIFEST_DIR");
    let place = Place::new();
    let lock = format!("{repository}/goldens/playbook.lock");
    place.run_with(&["serve", "--playbook", "standard", "--lock", &lock], CALL).exits(0);
}

#[test]
fn study_playbooks_and_presets_are_not_served() {
    let place = Place::new();
    for name in ["study/retry-everything", "preset/stripe"] {
        let ran = place.run_with(&["serve", "--playbook", name, "--unlocked"], CALL).exits(2);
        assert!(ran.out.is_empty() && ran.err.contains("for study"), "{ran:?}");
    }
}

#[test]
fn the_page_of_the_protocol_is_in_the_program() {
    let place = Place::new();
    let page = place.run(&["help", "page", "dispatch"]).exits(0).out;
    assert!(page.contains("## A driver") && page.contains("id_taken"), "{page}");
    assert!(place.run(&["help", "dispatch"]).exits(0).out.contains("playproof help page dispatch"));
    assert!(place.run(&["help", "serve"]).exits(0).out.contains("playproof help dispatch"));
}
