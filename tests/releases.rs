//! Projects as earlier releases wrote them, and what this program makes of them (docs/compatibility.md).
//!
//! `tests/releases/VERSION/project` is the project; `commands.txt` beside it has a command a line, with its exit code in
//! front, and `N.out` what command N printed, from 1. `PLAYPROOF_FREEZE=1` writes the outputs of the present version,
//! which is not published yet.

use std::fs;
use std::path::{Path, PathBuf};

use crate::place::{Place, copy_tree};

/// The folder of every release, in order.
fn releases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/releases");
    let entries = fs::read_dir(folder).expect("the folder of the releases");
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    all.sort_unstable();
    all
}

#[test]
fn projects_of_earlier_releases_get_the_same_decisions() {
    let releases = releases();
    assert!(!releases.is_empty(), "there is no release to compare with");
    for release in releases {
        let name = release.file_name().and_then(|name| name.to_str()).expect("a version");
        let commands = fs::read_to_string(release.join("commands.txt")).expect("the commands");
        assert!(commands.lines().count() > 3, "{name} has too few commands");
        let place = Place::new();
        copy_tree(&release.join("project"), &place.path(""));
        for (n, line) in commands.lines().enumerate() {
            let (code, command) = line.split_once(' ').expect("an exit code and a command");
            let ran = place.run(&command.split(' ').collect::<Vec<_>>());
            let output = release.join(format!("{}.out", n + 1));
            if name == env!("CARGO_PKG_VERSION") && std::env::var_os("PLAYPROOF_FREEZE").is_some() {
                fs::write(&output, &ran.out).expect("the output can be written");
            }
            let ran = ran.exits(code.parse().expect("a number"));
            let wanted = fs::read_to_string(&output).unwrap_or_default();
            assert_eq!(ran.out, wanted, "{name}: `playproof {command}` decides otherwise");
        }
    }
}
