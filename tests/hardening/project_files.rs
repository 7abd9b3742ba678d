//! Project files: no command writes, removes or follows anything outside its own project.

#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::hardening::commands::{JUDGING, WRITING};
use crate::place::Place;
use crate::propose::project::{PLAYBOOK, Project};

const TRACE: &str = "{\"run_id\":\"r1\",\"tool\":\"pay\",\"status\":\"error\",\"error\":{\"kind\":\"odd\"}}\n";

/// A folder outside of every project, and what is in it.
struct Outside(Place);

impl Outside {
    fn new() -> Outside {
        let place = Place::new();
        for name in ["thesis", "lock", "0.new", "1.new", "journal.tmp", ".gitignore"] {
            place.write(&format!("folder/{name}"), "precious\n");
        }
        place.write("file", "precious\n");
        Outside(place)
    }

    /// Puts a link in the place of what lies there, with a copy of that behind it where it is a folder.
    fn link(&self, project: &Place, name: &str) {
        let path = project.path(name);
        let target = match path.is_dir() {
            true => {
                let below = format!("{name}/");
                let files = project
                    .files()
                    .into_iter()
                    .filter_map(|(file, bytes)| Some((file.strip_prefix(&below)?.to_owned(), bytes)));
                files.for_each(|(file, bytes)| self.0.write_bytes(&format!("folder/{file}"), &bytes));
                fs::remove_dir_all(&path).expect("it goes");
                "folder"
            }
            false => {
                if let Ok(bytes) = fs::read(&path) {
                    self.0.write_bytes("file", &bytes);
                    fs::remove_file(&path).expect("it goes");
                }
                "file"
            }
        };
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        symlink(self.0.path(target), path).expect("a link");
    }

    /// As [`Outside::link`], to a folder where no folder is yet.
    fn link_folder(&self, project: &Place, name: &str) {
        match project.path(name).is_dir() {
            true => self.link(project, name),
            false => {
                fs::create_dir_all(project.path(name).parent().expect("a folder")).expect("a folder");
                symlink(self.0.path("folder"), project.path(name)).expect("a link");
            }
        }
    }
}

/// The files that a command changes, and every folder above them.
fn changed(
    before: &BTreeMap<String, Vec<u8>>,
    after: &BTreeMap<String, Vec<u8>>,
) -> (BTreeSet<String>, BTreeSet<String>) {
    let all = before.keys().chain(after.keys()).filter(|name| before.get(*name) != after.get(*name));
    let files: BTreeSet<String> = all.filter(|name| !name.ends_with('/')).cloned().collect();
    let above = |name: &String| {
        Path::new(name).ancestors().skip(1).map(|path| path.to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    let folders = files.iter().flat_map(above).filter(|name| !name.is_empty()).collect();
    (files, folders)
}

#[test]
fn no_command_writes_or_removes_through_a_link_and_each_names_it() {
    for writing in &WRITING {
        let project = writing.project();
        let before = project.everything();
        writing.run(&project);
        let (files, folders) = changed(&before, &project.everything());
        let staging = ["proposals/.accepting".to_owned(), "proposals/.accepting/lock".to_owned()];
        let is_deep = writing.args.contains(&"new/deep");
        for (link, is_folder) in files
            .iter()
            .map(|name| (name, false))
            .chain(folders.iter().map(|name| (name, true)))
            .chain(staging.iter().map(|name| (name, !name.ends_with("lock"))))
        {
            // A folder that people name may be a link: it is what they mean.
            if is_deep && !link.starts_with("new/deep/") {
                continue;
            }
            let (project, outside) = (writing.project(), Outside::new());
            match is_folder {
                true => outside.link_folder(&project, link),
                false => outside.link(&project, link),
            }
            let before = outside.0.everything();
            let ran = writing.run(&project);
            assert_eq!(outside.0.everything(), before, "{:?} with {link}: {ran:?}", writing.args);
            assert!(
                fs::symlink_metadata(project.path(link)).is_ok_and(|facts| facts.is_symlink()),
                "{:?}: {link}",
                writing.args
            );
            // Kept by `init`, left for another name, or refused because the name is taken: the link is not in the way.
            let said = ran.out.clone() + &ran.err;
            let is_kept = ran.code == 0 || writing.name == "init" && ran.code == 1 || said.contains(" already");
            assert!(is_kept || said.contains(link), "{:?} does not name {link}: {ran:?}", writing.args);
        }
    }
}

#[test]
fn no_command_touches_what_a_link_in_place_of_the_staging_folder_leads_to() {
    for args in JUDGING {
        for link in ["proposals/.accepting", "proposals"] {
            for project in [Project::new(), Project::with_proposal()] {
                project.write("trace.jsonl", TRACE);
                let outside = Outside::new();
                outside.0.write("folder/.accepting/0.new", "precious\n");
                outside.link_folder(&project, link);
                let before = outside.0.everything();
                let ran = project.run(args);
                assert_eq!(outside.0.everything(), before, "{args:?} with {link}: {ran:?}");
                assert!(
                    ran.code == 2 && ran.err.contains(&format!("`{link}")),
                    "{args:?} does not name {link}: {ran:?}"
                );
            }
        }
    }
}

#[test]
fn where_no_project_is_a_command_that_reads_removes_and_makes_nothing() {
    for args in JUDGING {
        for is_link in [false, true] {
            let (place, outside) = (Place::new(), Outside::new());
            place.write("trace.jsonl", TRACE);
            match is_link {
                true => outside.link_folder(&place, "proposals/.accepting"),
                false => place.write("proposals/.accepting/0.new", "precious\n"),
            }
            let before = (place.everything(), outside.0.everything());
            place.run(args);
            assert_eq!((place.everything(), outside.0.everything()), before, "{args:?}");
        }
    }
}

#[test]
fn a_journal_that_a_repository_brings_changes_nothing_and_is_named() {
    let files = r#"[{"path":"PATH","old":null,"new":null,"was_there":true,"removes":false}]"#;
    for format in ["changeset/1", "changeset/2"] {
        for path in ["../other", "/tmp/other", "playproof.yaml", "playbooks/../../other"] {
            let project = Project::new();
            let journal = format!(r#"{{"format":"{format}","root":"1:1","staging":"1:1","files":{files},"made":[]}}"#);
            project.write("proposals/.accepting/journal.json", &journal.replace("PATH", path));
            project.write("proposals/.accepting/0.new", "evil");
            project.write("proposals/.accepting/0.old", "evil");
            project.write("trace.jsonl", TRACE);
            for args in
                JUDGING.iter().copied().chain([&["accept", "--reason", "x"][..], &["init"], &["check", "--accept"]])
            {
                let (code, said) = project.refused(args);
                assert!(code == 2 && said.contains("`proposals/.accepting/"), "{args:?}: {said}");
            }
        }
    }
}

#[test]
fn a_path_that_leads_out_of_the_project_is_refused_where_it_is_named_unless_that_is_allowed() {
    for (key, folder) in [
        ("goldens", "goldens"),
        ("fixtures", "fixtures"),
        ("proposals", "proposals"),
        ("playbook", PLAYBOOK),
        ("tools", ""),
    ] {
        for is_link in [false, true] {
            let project = Project::new();
            let outside = Place::new();
            let target = match folder {
                "" => {
                    outside.write("tools.yaml", "format: tools/1\ntools: {}\n");
                    outside.path("tools.yaml")
                }
                folder => {
                    for (name, bytes) in project.files() {
                        outside.write_bytes(&name, &bytes);
                    }
                    outside.path(folder)
                }
            };
            let target = match is_link {
                true => {
                    symlink(&target, project.path("link.yaml")).expect("a link");
                    "link.yaml".to_owned()
                }
                false => target.to_string_lossy().into_owned(),
            };
            let named = if key == "playbook" { String::new() } else { format!("playbook: {PLAYBOOK}\n") };
            project.write("playproof.yaml", &format!("format: project/1\n{named}{key}: {target}\n"));
            project.write("trace.jsonl", TRACE);
            let (ours, theirs) = (project.everything(), outside.everything());
            for args in JUDGING.iter().copied().chain([&["accept", "--reason", "x"][..], &["init"]]) {
                let ran = project.run(args);
                assert!(ran.code == 2 && ran.err.contains("leads out of the project"), "{key} {args:?}: {ran:?}");
                assert!(
                    ran.err.contains("playproof.yaml:") && ran.err.contains("--allow-outside"),
                    "{key} {args:?}: {ran:?}"
                );
            }
            assert_eq!((project.everything(), outside.everything()), (ours, theirs), "{key}");
            let ran = project.run(&["lint", "--allow-outside"]).exits(0);
            assert!(ran.err.contains("lies outside this project, and `--allow-outside` allows it"), "{ran:?}");
        }
    }
}

#[test]
fn a_link_within_a_folder_leads_out_of_the_project_even_where_named_paths_may() {
    let (project, outside) = (Project::new(), Place::new());
    let fixture = outside.path("slow.yaml").to_string_lossy().into_owned();
    outside.write("slow.yaml", &project.read("fixtures/slow.yaml"));
    project.remove("fixtures/slow.yaml");
    symlink(&fixture, project.path("fixtures/slow.yaml")).expect("a link");
    for args in [&["check"][..], &["check", "--allow-outside"]] {
        let ran = project.run(args).exits(2);
        let said = format!("`fixtures/slow.yaml` leads out of the project: it is a symbolic link to `{fixture}`");
        assert!(ran.err.contains(&said), "{}", ran.err);
        assert!(ran.err.contains("not links in a folder"), "{}", ran.err);
    }
    // A single file that playproof.yaml names may be such a link.
    let project = Project::new();
    let playbook = outside.path("ours.yaml").to_string_lossy().into_owned();
    outside.write("ours.yaml", &project.read(PLAYBOOK));
    project.remove(PLAYBOOK);
    symlink(&playbook, project.path(PLAYBOOK)).expect("a link");
    let ran = project.run(&["check"]).exits(2);
    assert!(ran.err.contains("it is a symbolic link to `"), "{}", ran.err);
    project.run(&["check", "--allow-outside"]).exits(0);
}

#[test]
fn what_is_allowed_outside_is_written_there_and_a_kill_is_finished() {
    let (project, outside) = (Project::new(), Place::new());
    for (name, bytes) in project.files() {
        outside.write_bytes(&name, &bytes);
    }
    let goldens = outside.path("goldens").to_string_lossy().into_owned();
    project.write("playproof.yaml", &format!("format: project/1\nplaybook: {PLAYBOOK}\ngoldens: {goldens}\n"));
    let fixture = project.read("fixtures/slow.yaml");
    project.write("fixtures/another.yaml", &fixture);
    project.run(&["check", "--accept", "--allow-outside"]).exits(0);
    assert!(outside.path("goldens/ours/another.snap").exists());
}

#[test]
fn a_name_in_a_file_of_the_project_leads_nowhere_else() {
    let secret = "format: playbook/1\nname: secret\nverdicts: { sk_live_1: 5 }\n";
    let project = Project::with_proposal();
    project.write("../secret.yaml", secret);
    project.edit_first("fixtures/slow.yaml", "format: fixture/1\n", "format: fixture/1\nplaybooks: [../../secret]\n");
    let (code, said) = project.refused(&["check"]);
    assert!(code == 2 && said.contains("is not the name of a playbook") && !said.contains("sk_live"), "{said}");

    let project = Project::with_proposal();
    project.write("../secret.yaml", secret);
    project.edit_first("proposals/said-no/playbook.yaml", "for playbooks/ours.yaml at", "for ../secret.yaml at");
    let (code, said) = project.refused(&["accept", "said-no", "--reason", "x"]);
    assert!(code == 2 && said.contains("leads out of the project") && !said.contains("sk_live"), "{said}");

    for (name, args) in [
        ("fixtures/slow.yaml", &["check"][..]),
        ("goldens/playbook.lock", &["history", "verify"]),
        (PLAYBOOK, &["replay", "trace.jsonl"]),
    ] {
        let project = Project::with_proposal();
        project.write("trace.jsonl", TRACE);
        project.write("../secret.yaml", secret);
        project.remove(name);
        symlink(project.path("../secret.yaml"), project.path(name)).expect("a link");
        let said = project.run(args).exits(2).err;
        assert!(said.contains("leads out of the project") && !said.contains("sk_live"), "{args:?}: {said}");
    }
}

#[test]
fn a_path_with_characters_that_cannot_be_seen_is_refused() {
    let place = Place::begun();
    place.edit("playproof.yaml", "goldens: goldens", "goldens: \"a\\e[31mb\"");
    for args in [&["accept", "--reason", "r"][..], &["check"], &["init"]] {
        let (code, said) = place.refused(args);
        assert!(code == 2 && said.contains("invisible characters") && !said.contains('\u{1b}'), "{said}");
    }
}

#[test]
fn init_exits_with_2_only_where_nothing_was_written() {
    for (name, text) in [
        ("goldens/playbook.lock", "mine\n"),
        (
            "fixtures/x.yaml",
            "format: fixture/1\ntitle: t\nplaybooks: [none]\ncalls: { a: { tool: t } }\nupstream: { a: [ok: {}] }\n",
        ),
    ] {
        let place = Place::new();
        place.write(name, text);
        let ran = place.run(&["init"]);
        assert_eq!(ran.code == 2, !place.path("playproof.yaml").exists(), "{name}: {ran:?}");
        assert_eq!(place.read(name), text);
    }
}

#[test]
fn an_output_is_written_through_no_link_that_a_project_brings_but_through_one_that_people_made() {
    let project = Project::new();
    project.write("trace.jsonl", TRACE);
    project.copy("tests/samples/openai-chat.json", "chat.json");
    let outside = Outside::new();
    outside.0.write("file", "");
    symlink(outside.0.path("file"), project.path("out.xml")).expect("a link");
    symlink(outside.0.path("folder"), project.path("out")).expect("a link");
    for args in [
        &["formats", "convert", "chat.json", "-o", "out.xml"][..],
        &["formats", "convert", "chat.json", "-o", "out/x"],
        &["confirm", "--draft", "trace.jsonl", "-o", "out.xml"],
        &["confirm", "--draft", "trace.jsonl", "-o", "fixtures/../out/x"],
        &["check", "--report", "junit=out.xml"],
        &["check", "--report", "junit=out/deep/x.xml"],
        &["replay", "trace.jsonl", "--report", "html=out.xml"],
        &["coverage", "--report", "html=out/x"],
    ] {
        let before = outside.0.everything();
        let (code, said) = project.refused(args);
        assert!(code == 2 && said.contains("is a symbolic link"), "{args:?}: {said}");
        assert_eq!(outside.0.everything(), before);
    }
    let place = Place::new();
    place.write("trace.jsonl", TRACE);
    symlink(outside.0.path("file"), place.path("out.yaml")).expect("a link");
    place.run(&["confirm", "--draft", "trace.jsonl", "-o", "out.yaml"]).exits(0);
    assert!(outside.0.read("file").starts_with("# "), "{}", outside.0.read("file"));
    for place in [&place, &*project] {
        assert!(
            place
                .run(&["confirm", "--draft", "trace.jsonl", "-o", "/dev/stdout"])
                .exits(0)
                .out
                .contains("format: tools/1")
        );
    }
}

#[test]
fn a_temporary_file_that_a_killed_command_left_beside_an_output_goes_with_the_next() {
    let place = Place::new();
    place.write("trace.jsonl", &TRACE.repeat(50).replace("r1", &"r".repeat(100)));
    place.copy("tests/samples/openai-chat.json", "chat.json");
    let before = place.everything();
    let killed = place.limited("ulimit -f 0", &["formats", "convert", "chat.json", "-o", "out.jsonl"]);
    assert_eq!(killed.code, -1, "{killed:?}");
    assert_ne!(place.everything(), before, "it was killed with its file half written");
    place.run(&["formats", "convert", "chat.json", "-o", "out.jsonl"]).exits(0);
    let left: Vec<String> = place.everything().into_keys().collect();
    assert_eq!(left, ["chat.json", "out.jsonl", "trace.jsonl"]);
}

#[test]
fn a_link_to_a_folder_within_the_project_is_named_and_not_looked_into() {
    for (folder, args) in [
        ("fixtures", &["check"][..]),
        ("fixtures", &["coverage"]),
        ("goldens", &["check"]),
        ("proposals", &["propose", "list"]),
        ("proposals/history", &["history"]),
    ] {
        let project = Project::with_proposal();
        for n in 0..9 {
            fs::create_dir_all(project.path(folder)).expect("a folder");
            symlink(".", project.path(&format!("{folder}/l{n}"))).expect("a link");
        }
        let said = project.run(args).exits(2).err;
        assert!(said.contains("is a symbolic link to a folder, and is not looked into"), "{args:?}: {said}");
    }
    let place = Place::begun();
    let outside = Outside::new();
    symlink(outside.0.path("folder"), place.path("fixtures/theirs")).expect("a link");
    let said = place.run(&["check"]).exits(2).err;
    assert!(said.contains("`fixtures/theirs` is a symbolic link") && !said.contains("thesis"), "{said}");
}

#[test]
fn accepted_mutants_are_the_project_s_own_and_shown_through_no_link() {
    let outside = Outside::new();
    let place = Place::begun();
    symlink(outside.0.path("file"), place.path("mutants.yaml")).expect("a link");
    let said = place.run(&["coverage", "--mutate"]).exits(2).err;
    assert!(said.contains("leads out of the project") && !said.contains("precious"), "{said}");

    let place = Place::new();
    place.write("mutants.yaml", "nonsense\n");
    place.run(&["init", "apart"]).exits(0);
    let below = place.run_below("apart", &["coverage", "--mutate"]);
    assert!(!below.err.contains("nonsense") && below.code != 2, "{}", below.err);
}

#[test]
fn nothing_is_written_where_git_keeps_what_it_runs() {
    let place = Place::begun();
    place.write(".git/hooks/mine", "");
    place.write("a.jsonl", TRACE);
    let before = place.everything();
    let report = place.run(&["check", "--report", "json=.git/hooks/post-commit"]).exits(2).err;
    assert!(report.contains("is in a `.git` folder"), "{report}");
    place.run(&["confirm", "--draft", "a.jsonl", "-o", ".git/hooks/pre-commit"]).exits(2);
    assert_eq!(place.everything(), before);
    place.write("playproof.yaml", "format: project/1\ngoldens: .git\nproposals: .git\n");
    let before = place.everything();
    let said = place.run(&["check", "--accept"]).exits(2).err;
    assert!(said.contains("is in a `.git` folder"), "{said}");
    assert_eq!(place.everything(), before);
}
