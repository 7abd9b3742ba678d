//! What the package needs: little, and nothing of the command line. And a package outside the repository builds with it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Names of packages in the tree of `playproof-live`, for every platform.
fn tree() -> BTreeSet<String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let arguments = ["tree", "--offline", "-p", "playproof-live", "-e", "normal,build", "--prefix", "none", "--format"];
    let said = Command::new(cargo).args(arguments).arg("{p}").current_dir(repository()).output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let text = String::from_utf8(said.stdout).unwrap();
    text.lines().filter_map(|line| Some(line.split_whitespace().next()?.to_owned())).collect()
}

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The program that the crate's page shows.
fn of_the_page() -> String {
    let lib = std::fs::read_to_string(repository().join("crates/live/src/lib.rs")).unwrap();
    let (_, after) = lib.split_once("//! ```no_run\n").unwrap();
    let lines = after.split("//! ```").next().unwrap().lines();
    lines.map(|line| line.strip_prefix("//! ").unwrap_or_default().to_owned() + "\n").collect()
}

#[test]
#[ignore = "the gate runs it: it builds a package of its own"]
fn the_program_of_the_page_runs_in_a_package_outside_that_has_other_versions() {
    let program = of_the_page();
    assert!(program.lines().count() <= 24, "{program}");
    let place = tempfile::tempdir().unwrap();
    let live = std::fs::canonicalize(env!("CARGO_MANIFEST_DIR")).unwrap();
    let manifest = format!(
        "[package]\nname = \"yours\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n\
         playproof-live = {{ path = {live:?} }}\ntokio = {{ version = \"1\", features = [\"macros\", \"rt-multi-thread\"] }}\n\n\
         [profile.dev]\ndebug = 0\n"
    );
    let playbooks = place.path().join("playbooks");
    std::fs::create_dir_all(place.path().join("src")).unwrap();
    std::fs::create_dir_all(&playbooks).unwrap();
    std::fs::write(place.path().join("Cargo.toml"), manifest).unwrap();
    std::fs::write(place.path().join("src/main.rs"), program).unwrap();
    std::fs::copy(repository().join("playbooks/standard.yaml"), playbooks.join("ours.yaml")).unwrap();
    let cargo = |arguments: &[&str]| {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        let target = repository().join("target/outside");
        let mut command = Command::new(cargo);
        command.args(arguments).current_dir(place.path()).env("CARGO_TARGET_DIR", target).output().unwrap()
    };
    // Without a network both are what is there.
    let other = cargo(&["update", "tokio", "--precise", "1.48.0"]).status.success();
    let offline: &[&str] = if other { &[] } else { &["--offline"] };
    let ran = cargo(&[&["run", "--quiet"][..], offline].concat());
    let (said, wrong) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert_eq!(said, "succeeded, effect applied: Some(\"receipt of ik_91\")\n", "{wrong}");
    let locked = std::fs::read_to_string(place.path().join("Cargo.lock")).unwrap();
    assert_eq!(locked.contains("name = \"tokio\"\nversion = \"1.48.0\""), other, "{locked}");
}

#[test]
fn nothing_of_the_command_line_is_in_its_tree() {
    let tree = tree();
    assert!(tree.contains("tokio") && tree.contains("playproof-engine"), "{tree:?}");
    assert!(tree.len() <= 60, "{} packages: {tree:?}", tree.len());
    let foreign = ["clap", "console", "indicatif", "miette", "flate2", "ruzstd", "rayon"];
    let found: Vec<&str> = foreign.into_iter().filter(|name| tree.contains(*name)).collect();
    assert!(found.is_empty(), "{found:?}");
}
