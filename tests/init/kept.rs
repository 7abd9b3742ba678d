//! Files that are there already: kept, named, and a set that does not go together is said so.

use crate::place::Place;

#[test]
fn a_configuration_of_the_user_s_own_is_kept_and_the_rest_fits_it() {
    let place = Place::new();
    let config = "format: project/1\nplaybook: playbooks/ours.yaml\nredaction: { keys: email }\n";
    place.write("playproof.yaml", config);
    let page = place.run(&["init"]).exits(0).out;
    assert!(page.contains("kept   playproof.yaml ") && page.contains("wrote  playbooks/ours.yaml "), "{page}");
    assert_eq!(place.read("playproof.yaml"), config);
}

#[test]
fn a_project_that_lies_elsewhere_gets_nothing_that_it_would_not_use() {
    let place = Place::new();
    place.write("playproof.yaml", "format: project/1\nplaybook: standard\nfixtures: scenarios\n");
    place.write("trace.jsonl", "{\"tool\":\"pay\",\"status\":\"ok\"}\n");
    let page = place.run(&["init", "--from", "trace.jsonl"]).exits(0).out;
    assert!(page.contains("names its own playbook, fixtures or goldens"), "{page}");
    assert!(page.contains("write `tools: tools/trace.yaml` into `playproof.yaml`"), "{page}");
    assert!(!page.contains("goldens/") && !place.path("goldens").exists() && place.path("tools/trace.yaml").exists());
}

#[test]
fn a_playbook_of_the_user_s_own_is_what_the_goldens_and_the_lock_are_made_of() {
    let place = Place::begun();
    let edited = place.read("playbooks/ours.yaml").replace("[200, 600, 1800]", "[250, 600]");
    for name in place.everything().into_keys().filter(|name| !name.ends_with('/') && !name.starts_with("playbooks/")) {
        place.remove(&name);
    }
    place.write("playbooks/ours.yaml", &edited);
    place.run(&["init"]).exits(0);
    assert!(place.read("goldens/ours/a-keyed-refund-meets-its-own-effect.snap").contains("delay_ms: 250"));
    place.run(&["check"]).exits(0);
}

#[test]
fn a_lock_that_does_not_hold_the_rows_is_kept_and_the_way_out_is_said() {
    let place = Place::begun();
    let lock = place.read("goldens/playbook.lock").replace("200,600", "100,600");
    place.write("goldens/playbook.lock", &lock);
    place.remove("playproof.yaml");
    let page = place.run(&["init"]).exits(1).out;
    assert!(page.contains("kept   goldens/playbook.lock ") && page.contains("playproof accept --reason"), "{page}");
    assert_eq!(place.read("goldens/playbook.lock"), lock);
    place.run(&["accept", "--reason", "meant"]).exits(0);
    place.run(&["init"]).exits(0);
}

/// The rows are edited, so a lock or a golden of them would accept the edit without a reason.
#[test]
fn a_project_with_a_history_gets_no_lock_and_no_golden_that_nobody_accepted() {
    let place = Place::begun();
    let edited = place.read("playbooks/ours.yaml").replace("[200, 600, 1800]", "[250, 600]");
    let golden = "goldens/ours/a-keyed-refund-meets-its-own-effect.snap";
    place.write("playbooks/ours.yaml", &edited);
    for missing in ["goldens/playbook.lock", golden] {
        place.remove(missing);
    }
    let page = place.run(&["init"]).exits(1).out;
    assert!(page.contains("kept   goldens/ours/") && !page.contains("playbook.lock  "), "{page}");
    assert!(!place.path("goldens/playbook.lock").exists() && !place.path(golden).exists());
    place.run(&["accept", "--reason", "waits a little longer"]).exits(0);
    assert!(place.run(&["history"]).exits(0).out.contains("waits a little longer"));
    place.run(&["check"]).exits(1);
    place.run(&["accept"]).exits(0);
    place.run(&["init"]).exits(0);
}

/// The goldens show that rows were accepted once, so that a lock of the edited ones would accept the edit.
#[test]
fn a_project_whose_lock_and_history_are_gone_gets_no_lock_without_a_reason() {
    let place = Place::begun();
    let edited = place.read("playbooks/ours.yaml").replace("[200, 600, 1800]", "[250, 600]");
    place.write("playbooks/ours.yaml", &edited);
    let is_gone = |name: &String| {
        name == "goldens/playbook.lock" || name.starts_with("proposals/history/") && !name.ends_with('/')
    };
    place.everything().into_keys().filter(is_gone).for_each(|name| place.remove(&name));
    let page = place.run(&["init"]).exits(1).out;
    assert!(page.contains("playproof accept --reason"), "{page}");
    assert!(!place.path("goldens/playbook.lock").exists(), "{page}");
    place.run(&["accept", "--reason", "waits a little longer"]).exits(0);
    assert!(place.run(&["history"]).exits(0).out.contains("waits a little longer"));
}

#[test]
fn what_is_there_and_cannot_be_used_stops_it_before_anything_is_written() {
    for (name, text, said) in [
        ("playproof.yaml", "format: project/1\nplaybok: x\n", "playproof.yaml:2:1"),
        ("playbooks/ours.yaml", "format: playbook/1\nname: ours\nverdits: {}\n", "playbooks/ours.yaml:3:1"),
        ("fixtures/users.yaml", "- name: Ada\n", "playproof init playproof"),
        ("fixtures", "", "`fixtures` is a file, and a folder of this name is needed"),
        ("goldens", "", "`goldens` is a file, and a folder of this name is needed"),
        ("playproof.yaml/x", "", "`playproof.yaml` is a folder, and a file of this name is needed"),
        (".github/workflows", "", "`.github/workflows` is a file"),
    ] {
        let place = Place::new();
        place.write(name, text);
        let before = place.everything();
        let ran = place.run(&["init"]).exits(2);
        assert!(ran.err.contains(said), "{name}: {}", ran.err);
        assert!(ran.out.is_empty());
        assert_eq!(place.everything(), before, "{name}");
    }
    let place = Place::new();
    place.write("file", "");
    assert!(place.run(&["init", "file"]).exits(2).err.contains("`file` is a file; a project needs a folder"));
    assert!(place.run(&["init", "file/x"]).exits(2).err.contains("`file` is a file, and a folder"));
}

#[test]
fn what_cannot_be_written_is_left_as_it_was() {
    // A file where a folder should be: the same for every user, also for one who may write anywhere.
    let place = Place::new();
    place.write("proposals/.accepting", "in the way");
    let before = place.everything();
    let ran = place.run(&["init"]).exits(2);
    assert!(ran.err.contains("cannot be written: ") && ran.err.contains("nothing was changed"), "{}", ran.err);
    assert_eq!(place.everything(), before);
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_left_as_it_was_and_so_is_one_on_which_init_was_killed() {
    // A limit on the size of files stands for the disk; where nobody catches its signal, it kills.
    for (limits, code) in [("trap '' XFSZ; ulimit -f 0", 2), ("trap '' XFSZ; ulimit -f 1", 2), ("ulimit -f 1", -1)] {
        for folder in [".", "new/deep"] {
            let place = Place::new();
            let ran = place.limited(limits, &["init", folder]).exits(code);
            if code == 2 {
                assert!(ran.err.contains("cannot be written: file too large"), "{}", ran.err);
                assert_eq!(place.everything(), Place::new().everything());
            }
            // What a kill has left is cleared by the next one.
            place.run(&["init", folder]).exits(0);
            let whole = Place::new();
            whole.run(&["init", folder]).exits(0);
            assert_eq!(place.everything(), whole.everything());
        }
    }
}

#[test]
fn a_project_inside_another_one_is_said_to_be() {
    let place = Place::begun();
    let said = place.run(&["init", "apart/deeper"]).exits(0).err;
    assert!(said.contains("note: this folder is part of a project already: `playproof.yaml`\n"), "{said}");
    assert!(!place.run(&["init"]).exits(0).err.contains("note: this folder"), "its own project is none around it");
    assert!(place.run(&["init", ""]).exits(2).err.contains("it is empty"));
}
