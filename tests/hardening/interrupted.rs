//! Interruption: a command that was killed anywhere leaves a project that the next command completes.

use std::fs;
use std::path::Path;

use serde_json::json;
use sha2::{Digest, Sha256};

use crate::hardening::commands::{ACCEPT, JUDGING, WRITING};
use crate::place::{Place, Ran};
use crate::propose::project::{PLAYBOOK, Project};

const JOURNAL: &str = "proposals/.accepting/journal.json";

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(unix)]
fn identity(folder: &Path) -> String {
    use std::os::unix::fs::MetadataExt;
    let facts = fs::metadata(folder).expect("a folder");
    format!("{}:{}", facts.dev(), facts.ino())
}

/// What the change is that was interrupted: the playbook gets a comment, a document is new, a file goes.
fn changed(place: &Place) -> String {
    place.read(PLAYBOOK) + "# a word more\n"
}

/// As a machine leaves a project that stops when the first of three files is in its place.
fn interrupt(place: &Place) {
    place.write("gone.txt", "old");
    let (old, new) = (place.read(PLAYBOOK), changed(place));
    place.write("proposals/.accepting/.gitignore", "*\n");
    place.write("proposals/.accepting/1.new", "why\n");
    let staging = place.path("proposals/.accepting");
    let journal = json!({
        "format": "changeset/2", "root": identity(&place.path("")), "staging": identity(&staging), "files": [
            { "path": PLAYBOOK, "old": hash(&old), "new": hash(&new) },
            { "path": "docs/adr/0009-x.md", "old": null, "new": hash("why\n") },
            { "path": "gone.txt", "old": hash("old"), "new": null },
        ],
    });
    place.write("proposals/.accepting/lock", &identity(&staging));
    place.write(JOURNAL, &journal.to_string());
    place.write(PLAYBOOK, &new);
}

/// The same where nothing was interrupted.
fn change(place: &Place) {
    place.write(PLAYBOOK, &changed(place));
    place.write("docs/adr/0009-x.md", "why\n");
}

/// The commands that read or write the project itself.
fn commands() -> impl Iterator<Item = (fn(&Project), Vec<&'static str>)> {
    let writing = WRITING.iter().filter(|writing| !writing.args.contains(&"new/deep"));
    let writing = writing.map(|writing| (writing.prepare, writing.args.to_vec()));
    let nothing: fn(&Project) =
        |project| project.write("trace.jsonl", "{\"run_id\":\"r1\",\"tool\":\"pay\",\"status\":\"error\"}\n");
    writing.chain(JUDGING.iter().map(move |args| (nothing, args.to_vec())))
}

fn run(place: &Place, args: &[&str]) -> Ran {
    let id = |name: String| Some(name.strip_prefix("kept/")?.strip_suffix(".yaml")?.to_owned());
    let id = place.files().into_keys().find_map(id).unwrap_or_default();
    place.run(&args.iter().map(|arg| if *arg == "ID" { &*id } else { arg }).collect::<Vec<_>>())
}

#[test]
fn every_command_finishes_first_what_another_was_killed_in_and_says_so_in_one_line() {
    for (prepare, args) in commands() {
        let [finished, whole] = [interrupt, change].map(|begin| {
            let project = Project::with_proposal();
            prepare(&project);
            begin(&project);
            let ran = run(&project, &args);
            ((ran.code, ran.out, ran.err), project.everything())
        });
        let (note, rest) = finished.0.2.split_once('\n').unwrap_or_default();
        assert!(note.starts_with("note: finished the change of a killed command: `"), "{args:?}: {note}");
        assert_eq!(((finished.0.0, finished.0.1, rest.to_owned()), finished.1), whole, "{args:?}");
    }
}

#[test]
fn a_journal_that_came_with_a_copy_is_refused_by_every_command_with_its_path() {
    for (prepare, args) in commands() {
        let project = Project::with_proposal();
        prepare(&project);
        interrupt(&project);
        let copy = Place::new();
        for (name, bytes) in project.files() {
            copy.write_bytes(&name, &bytes);
        }
        let (code, said) = copy.refused(&args);
        assert_eq!(code, 2, "{args:?}: {said}");
        assert!(said.contains("proposals/.accepting/") && said.contains("next: rm -r proposals/.accepting"), "{said}");
    }
}

#[test]
fn a_change_that_cannot_be_finished_here_is_told_with_what_to_do() {
    let project = Project::with_proposal();
    interrupt(&project);
    // The same for every user, also for one who may write anywhere.
    project.remove("proposals/.accepting/lock");
    fs::create_dir(project.path("proposals/.accepting/lock")).expect("a folder");
    for (prepare, args) in commands().filter(|(_, args)| !["init", "confirm", "formats"].contains(&args[0])) {
        let _ = prepare;
        let (code, said) = project.refused(&args);
        assert_eq!(code, 2, "{args:?}: {said}");
        assert!(said.contains("`proposals/.accepting/lock` cannot be written"), "{args:?}: {said}");
        assert!(said.contains("once the project can be written") && said.contains("next: playproof check"), "{said}");
    }
}

#[test]
fn what_was_written_by_hand_after_the_interruption_is_kept_aside_and_said() {
    let project = Project::with_proposal();
    interrupt(&project);
    project.write("docs/adr/0009-x.md", "mine\n");
    let ran = project.run(&["propose", "list"]).exits(0);
    assert!(
        ran.err.contains("`docs/adr/0009-x.md` was changed meanwhile; that text is kept in `docs/adr/0009-x.md.aside`"),
        "{ran:?}"
    );
    assert_eq!(project.read("docs/adr/0009-x.md.aside"), "mine\n");
    assert_eq!(project.read("docs/adr/0009-x.md"), "why\n");
}

#[test]
fn an_interrupted_project_is_found_from_a_folder_below_it() {
    let project = Project::with_proposal();
    interrupt(&project);
    project.run_below("fixtures", &["propose", "list"]).exits(0);
    assert!(!project.path("proposals/.accepting").exists() && project.path("docs/adr/0009-x.md").exists());
}

#[test]
fn an_init_that_was_killed_before_its_first_file_was_in_place_is_finished_by_any_command() {
    let place = Place::new();
    let whole = Place::begun();
    let text = whole.read("playproof.yaml");
    place.write("proposals/.accepting/0.new", &text);
    let staging = place.path("proposals/.accepting");
    place.write("proposals/.accepting/lock", &identity(&staging));
    let journal = json!({
        "format": "changeset/2", "root": identity(&place.path("")), "staging": identity(&staging),
        "files": [{ "path": "playproof.yaml", "old": null, "new": hash(&text) }],
    });
    place.write(JOURNAL, &journal.to_string());
    // In a folder below another project too; not from below: anybody may have made what lies above.
    fs::create_dir(place.path("below")).expect("a folder");
    place.run_below("below", &["history"]);
    assert!(place.path(JOURNAL).exists());
    place.write("../playproof.yaml", "format: project/1\n");
    place.run_below("below", &["history"]);
    let left: Vec<String> = place.everything().into_keys().collect();
    assert_eq!(left, ["below/", "playproof.yaml"]);
}

#[cfg(target_os = "linux")]
#[test]
fn where_only_standard_output_fails_every_command_says_what_it_has_done() {
    let mut silent = Vec::new();
    for writing in &WRITING {
        let project = writing.project();
        let plain = writing.project();
        let args = writing.args(&project).join("\u{1f}");
        let words: Vec<&str> = args.split('\u{1f}').collect();
        let ran = project.limited("exec >/dev/full", &words);
        run(&plain, writing.args);
        assert_eq!(project.everything(), plain.everything(), "{words:?}");
        if !ran.err.contains("standard output cannot be written") {
            silent.push(writing.name);
            continue;
        }
        assert!(ran.code == 2 && ran.err.contains("this is done all the same: "), "{words:?}: {ran:?}");
        assert!(ran.err.contains("wrote `") || ran.err.contains("removed `"), "{words:?}: {ran:?}");
    }
    assert_eq!(
        silent,
        ["replay", "impact", "propose find", "formats convert", "confirm"],
        "they say nothing on standard output"
    );
}

#[cfg(unix)]
mod at_a_full_disk {
    //! A limit on the size of files stands for a disk that is full; where nobody catches its signal, it kills the
    //! program at the first file that is too large: the same for every user, and at the same place each time.

    use super::*;

    #[test]
    fn an_accept_on_a_full_disk_changes_nothing() {
        let project = Project::with_proposal();
        let before = project.everything();
        for blocks in ["0", "1"] {
            let ran = project.limited(&format!("trap '' XFSZ; ulimit -f {blocks}"), &ACCEPT);
            assert!(ran.code == 2 && ran.err.contains("cannot be written: file too large"), "{ran:?}");
            assert!(ran.err.contains("nothing was changed"), "{ran:?}");
            assert_eq!(project.everything(), before);
        }
        assert_eq!(project.run(&ACCEPT).code, 0);
    }

    #[test]
    fn an_accept_that_is_killed_before_it_is_decided_has_changed_nothing() {
        for args in JUDGING {
            let project = Project::with_proposal();
            project.write("trace.jsonl", "{\"run_id\":\"r1\",\"tool\":\"pay\",\"status\":\"error\"}\n");
            let before = project.everything();
            let killed = project.limited("ulimit -f 1", &ACCEPT);
            assert_eq!(killed.code, -1, "by the signal: {killed:?}");
            let left = project.files();
            assert!(left.contains_key("proposals/.accepting/0.new"), "{:?}", left.keys());
            assert!(!left.contains_key(JOURNAL), "{:?}", left.keys());
            project.run(args);
            let mut after = project.everything();
            after.retain(|name, _| !name.ends_with(".snap.new"));
            assert_eq!(after, before, "{args:?} clears it");
        }
    }
}
