//! Commands that were interrupted: what is half written is told by whoever meets it, and one command mends it.

use std::collections::{BTreeMap, BTreeSet};

use crate::project::{PLAYBOOK, Project};

const ACCEPT: [&str; 5] = ["propose", "accept", "said-no", "--reason", "because"];

/// Every command that writes into a project, as it is typed.
const WRITING: [(&str, &[&str]); 16] = [
    ("init", &["init"]),
    ("check", &["check"]),
    ("check", &["check", "--accept"]),
    ("review", &["review"]),
    ("accept", &["accept"]),
    ("reject", &["reject"]),
    ("approve", &["approve", "--reason", "because"]),
    ("feedback add", &["feedback", "add", "trace.jsonl", "--call", "0", "--note", "odd"]),
    ("feedback edit", &["feedback", "edit", "x", "--note", "odder"]),
    ("feedback close", &["feedback", "close", "x", "--reason", "known"]),
    ("feedback reopen", &["feedback", "reopen", "x"]),
    ("propose new", &["propose", "new", "another", "--when", "{ status: 418 }"]),
    ("propose accept", &ACCEPT),
    ("propose reject", &["propose", "reject", "said-no", "--reason", "no"]),
    ("propose rebase", &["propose", "rebase", "said-no"]),
    ("propose recover", &["propose", "recover"]),
];

/// Commands that read a project or a playbook of it: what they say of one that is half written would be wrong.
const JUDGING: [&[&str]; 15] = [
    &["lint"],
    &["lint", PLAYBOOK],
    &["replay", "trace.jsonl"],
    &["explain", "trace.jsonl", "--call", "#1"],
    &["mine", "trace.jsonl"],
    &["impact", "trace.jsonl", "--candidate", "standard"],
    &["propose", "check"],
    &["propose", "list"],
    &["diff"],
    &["history"],
    &["history", "verify"],
    &["coverage"],
    &["mutate"],
    &["feedback", "list"],
    &["feedback", "show", "x"],
];

/// Commands that write nothing but a file that they are told to write.
const READING: [&str; 18] = [
    "completions",
    "coverage",
    "diff",
    "explain",
    "feedback list",
    "feedback show",
    "help",
    "history",
    "history verify",
    "impact",
    "import",
    "lint",
    "mine",
    "mutate",
    "propose check",
    "propose list",
    "replay",
    "schema",
];

/// A project as it is left by a machine that stops after the first two files of an accept.
fn interrupted() -> (Project, BTreeMap<String, Vec<u8>>) {
    let project = Project::with_proposal();
    project.write("trace.jsonl", "{\"tool\":\"pay\",\"status\":\"error\"}\n");
    let before = project.files();
    let old = project.read(PLAYBOOK);
    project.write("proposals/.accepting/.gitignore", "*\n");
    project.write("proposals/.accepting/0.old", &old);
    project.write("proposals/.accepting/2.new", "format: fixture/1\n");
    let journal = r#"{"format":"changeset/1","files":[
        {"path":"playbooks/ours.yaml","was_there":true,"removes":false},
        {"path":"docs/adr/0001-said-no.md","was_there":false,"removes":false},
        {"path":"fixtures/said-no.yaml","was_there":false,"removes":false}],"made":["docs","docs/adr"]}"#;
    project.write("proposals/.accepting/journal.json", journal);
    project.write(PLAYBOOK, "half");
    project.write("docs/adr/0001-said-no.md", "half");
    (project, before)
}

#[test]
fn every_command_that_writes_refuses_what_is_half_written_in_the_same_words() {
    let (project, before) = interrupted();
    let mut words = BTreeSet::new();
    let writing = WRITING.iter().map(|(_, args)| *args).filter(|args| args[1..] != ["recover"]);
    for args in writing.chain(JUDGING) {
        let (code, said) = project.refused(args);
        assert_eq!(code, 2, "{args:?}: {said}");
        assert!(said.contains("interrupted") && said.contains("next: playproof propose recover"), "{args:?}: {said}");
        words.insert(said);
    }
    assert_eq!(words.len(), 1, "{words:?}");
    let ran = project.run(&["propose", "recover"]);
    assert!(ran.code == 0 && ran.out.contains("put back playbooks/ours.yaml\nput back docs/adr/"), "{ran:?}");
    assert_eq!(project.files(), before);
    assert!(!project.path("docs").exists() && project.run(&["propose", "check"]).code == 0);
    assert_eq!(project.run(&["propose", "recover"]).out, "nothing was interrupted\n");
}

/// The commands that a page of help lists.
fn listed(page: &str) -> Vec<String> {
    let commands = page.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let name = |line: &str| Some(line.strip_prefix("  ")?.split(' ').next()?.to_owned());
    commands.filter_map(name).filter(|name| !name.is_empty()).collect()
}

#[test]
fn a_new_command_cannot_forget_to_say_whether_it_writes() {
    let project = Project::new();
    let mut all = BTreeSet::new();
    for command in listed(&project.run(&["--help"]).out) {
        let below = listed(&project.run(&[&command, "--help"]).out);
        all.extend(below.iter().map(|below| format!("{command} {below}")));
        // `history` alone is a command, and has another one below it.
        if below.is_empty() || command == "history" {
            all.insert(command);
        }
    }
    let known = WRITING.iter().map(|(name, _)| *name).chain(READING).chain(["tools"]);
    assert_eq!(all, known.map(str::to_owned).collect());
}

#[test]
fn what_was_written_by_hand_after_the_interruption_is_kept_aside() {
    let (project, before) = interrupted();
    let journal = project.read("proposals/.accepting/journal.json");
    let hashed = journal.replacen("\"removes\":false", "\"removes\":false,\"becomes\":\"00\"", 1);
    project.write("proposals/.accepting/journal.json", &hashed);
    let ran = project.run(&["propose", "recover"]);
    let said = "what was written to playbooks/ours.yaml since lies in playbooks/ours.yaml.aside";
    assert!(ran.code == 0 && ran.out.contains(said), "{ran:?}");
    assert_eq!(project.read("playbooks/ours.yaml.aside"), "half");
    std::fs::remove_file(project.path("playbooks/ours.yaml.aside")).unwrap();
    assert_eq!(project.files(), before);
}

#[cfg(unix)]
mod at_a_full_disk {
    //! A limit on the size of files stands for a disk that is full; where nobody catches its signal, it kills the
    //! program at the first file that is too large: the same for every user, and at the same place each time.

    use super::*;

    #[test]
    fn an_accept_on_a_full_disk_changes_nothing() {
        let project = Project::with_proposal();
        let before = project.files();
        for blocks in ["0", "1"] {
            let ran = project.limited(&format!("trap '' XFSZ; ulimit -f {blocks}"), &ACCEPT);
            assert!(ran.code == 2 && ran.err.contains("cannot be written: file too large"), "{ran:?}");
            assert!(ran.err.contains("nothing was changed"), "{ran:?}");
            assert_eq!(project.files(), before);
        }
        assert!(!project.path("proposals/.accepting").exists());
        assert_eq!(project.run(&ACCEPT).code, 0);
    }

    #[test]
    fn an_accept_that_is_killed_before_its_journal_is_written_has_changed_nothing() {
        for (name, args) in WRITING.iter().chain([&("propose check", &["propose", "check"][..])]) {
            let project = Project::with_proposal();
            project.write("trace.jsonl", "{\"tool\":\"pay\",\"status\":\"error\"}\n");
            let before = project.files();
            let killed = project.limited("ulimit -f 1", &ACCEPT);
            assert_eq!(killed.code, -1, "by the signal: {killed:?}");
            let left = project.files();
            assert!(left.contains_key("proposals/.accepting/0.old"), "{:?}", left.keys());
            assert!(!left.contains_key("proposals/.accepting/journal.json"), "{:?}", left.keys());
            let ran = project.run(args);
            assert!(!(ran.out + &ran.err).contains("interrupted: some"), "{name}");
            assert!(!project.path("proposals/.accepting").exists(), "{name} clears it");
            if ["review", "propose rebase", "propose check"].contains(name) {
                assert_eq!(project.files(), before, "{name}");
            }
        }
    }
}
