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

#[test]
fn nothing_of_the_command_line_is_in_its_tree() {
    let tree = tree();
    assert!(tree.contains("tokio") && tree.contains("playproof-engine"), "{tree:?}");
    assert!(tree.len() <= 60, "{} packages: {tree:?}", tree.len());
    let foreign = ["clap", "comfy-table", "console", "indicatif", "miette", "flate2", "ruzstd", "rayon"];
    let found: Vec<&str> = foreign.into_iter().filter(|name| tree.contains(*name)).collect();
    assert!(found.is_empty(), "{found:?}");
}
