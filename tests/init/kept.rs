//! Files that are there already: kept, named, and a set that does not go together is said so.

use std::fs;

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
    assert!(page.contains("names a playbook, fixtures or goldens of its own"), "{page}");
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
    assert!(page.contains("kept   goldens/playbook.lock ") && page.contains("playproof approve --reason"), "{page}");
    assert_eq!(place.read("goldens/playbook.lock"), lock);
    place.run(&["approve", "--reason", "meant"]).exits(0);
    place.run(&["init"]).exits(0);
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

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_is_left_as_it_was() {
    use std::os::unix::fs::PermissionsExt;
    for locked in ["", ".github"] {
        let place = Place::new();
        place.write(".github/keep", "");
        let folder = place.path(locked);
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).expect("permissions");
        let binds = fs::write(folder.join("probe"), "").is_err(); // not for root
        if binds {
            let before = place.everything();
            let ran = place.run(&["init"]).exits(2);
            assert!(ran.err.contains("permission denied") && ran.err.contains("nothing was written"), "{}", ran.err);
            assert_eq!(place.everything(), before);
        }
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).expect("permissions");
    }
}
