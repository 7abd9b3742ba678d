//! The manifest of a release, the workflows and hooks: they agree with each other and with the program, and no second
//! version stands beside that of Cargo.toml.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use playproof_formats::diagnostic::Source;
use playproof_formats::yaml;
use serde_json::Value;

use crate::place::Place;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Files that GitHub and pre-commit read.
const YAML: [&str; 4] =
    ["action.yml", ".pre-commit-hooks.yaml", ".github/workflows/ci.yml", ".github/workflows/release.yml"];

fn text(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path))
        .unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every file under a folder of this repository that is text, with its path.
fn texts(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).expect("a folder") {
        let entry = entry.expect("an entry");
        let path = format!("{folder}/{}", entry.file_name().to_str().expect("UTF-8"));
        match entry.path().is_dir() {
            true => found.extend(texts(&path)),
            false => found.extend(fs::read_to_string(entry.path()).ok().map(|text| (path, text))),
        }
    }
    found
}

fn manifest() -> Value {
    serde_json::from_str(&text("tools/release/manifest.json")).expect("JSON")
}

fn targets() -> Vec<Value> {
    manifest()["targets"].as_array().expect("targets").clone()
}

/// The lines that hold a version as a whole: not `10.1.0` where the version is `0.1.0`.
fn lines_with_version<'a>(text: &'a str, version: &str) -> Vec<&'a str> {
    let stands = |line: &str| {
        line.match_indices(version).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = line[at + version.len()..].chars().next();
            !before.is_some_and(|c| c.is_ascii_digit() || c == '.') && !after.is_some_and(|c| c.is_ascii_digit())
        })
    };
    text.lines().filter(|line| stands(line)).collect()
}

#[test]
fn no_second_version_stands_anywhere() {
    let mut files: Vec<(String, String)> = ["tools", ".github", "crates/analysis/src/setup"].map(texts).concat();
    let others = ["pyproject.toml", "action.yml", ".pre-commit-hooks.yaml", "README.md", "SECURITY.md"];
    let documents = ["docs/ci.md", "docs/install.md", "docs/releasing.md"];
    files.extend(others.into_iter().chain(documents).map(|path| (path.to_owned(), text(path))));
    for (path, text) in &files {
        assert!(lines_with_version(text, VERSION).is_empty(), "{path}: {:?}", lines_with_version(text, VERSION));
    }
    assert_eq!(lines_with_version(&text("Cargo.toml"), VERSION).first(), Some(&&*format!("version = \"{VERSION}\"")));
    for (path, text) in texts("crates").into_iter().filter(|(path, _)| path.ends_with("/Cargo.toml")) {
        assert!(text.contains("\nversion.workspace = true\n"), "{path}");
    }
    assert!(text("pyproject.toml").contains("dynamic = [\"version\"]"));
}

#[test]
fn a_second_version_is_found_and_a_longer_number_is_not_one() {
    assert_eq!(lines_with_version("x\npip install playproof==0.1.0\n", "0.1.0").len(), 1);
    assert!(lines_with_version("a 10.1.0, b 0.1.01, c 2.0.1.0\n", "0.1.0").is_empty());
}

#[test]
fn the_manifest_names_every_file_of_every_target_once() {
    let mut names = BTreeSet::new();
    for target in targets() {
        let triple = target["target"].as_str().expect("a target");
        let npm = &target["npm"];
        let musl = if npm["libc"] == "musl" { "-musl" } else { "" };
        let word = |key: &str| npm[key].as_str().expect("a word").to_owned();
        // The launcher makes this name of what node says of the platform.
        assert_eq!(word("platform"), format!("{}-{}{musl}", word("os"), word("cpu")), "{triple}");
        assert_eq!(triple.ends_with("musl"), !musl.is_empty(), "{triple}");
        let files = target["files"].as_object().expect("files");
        assert_eq!(files.keys().collect::<Vec<_>>(), ["archive", "npm", "sbom", "wheel"], "{triple}");
        for (kind, name) in files {
            let name = name.as_str().expect("a name");
            assert!(name.starts_with("playproof-") && name.matches("{version}").count() == 1, "{name}");
            assert!(names.insert(name.to_owned()), "{name} is there twice");
            match kind.as_str() {
                "archive" | "sbom" => assert!(name.contains(triple), "{name}"),
                "npm" => assert_eq!(name, format!("playproof-{}-{{version}}.tgz", word("platform"))),
                _ => assert!(name.ends_with(".whl"), "{name}"),
            }
        }
        let archive = files["archive"].as_str().expect("a name");
        assert_eq!(archive.ends_with(".zip"), triple.contains("windows"), "{archive}");
    }
    for system in ["linux-gnu", "linux-musl", "apple-darwin", "windows-msvc"] {
        assert!(names.iter().any(|name| name.contains(system)), "{system}");
    }
}

#[test]
fn the_release_workflow_builds_every_target_of_the_manifest() {
    let workflow = text(".github/workflows/release.yml");
    let rows = workflow.lines().filter_map(|line| line.trim().strip_prefix("- { target: "));
    let built: Vec<String> = rows.map(str::to_owned).collect();
    let wanted = |target: &Value| {
        let word = |key: &str| target[key].as_str().expect("a word").to_owned();
        format!("{}, runner: {} }}", word("target"), word("runner"))
    };
    assert_eq!(built, targets().iter().map(wanted).collect::<Vec<_>>());
    assert!(workflow.contains(&format!("rustup default {}\n", env!("CARGO_PKG_RUST_VERSION"))));
}

#[test]
fn workflows_action_and_hooks_are_yaml_and_name_scripts_that_exist() {
    for path in YAML {
        let text = text(path);
        yaml::parse(Source::whole(path, &*text), |_| Some(())).unwrap_or_else(|report| panic!("{report}"));
    }
    let scripts = YAML.map(|path| (path.to_owned(), text(path))).into_iter().chain(texts("tools"));
    let mut named = 0;
    for (path, text) in scripts {
        for word in text.split(|c: char| c.is_whitespace() || "\"'`()=,".contains(c)) {
            let Some(at) = word.find("tools/") else { continue };
            let script = word[at..].trim_end_matches(['.', ':', ';']);
            if [".sh", ".py", ".json"].iter().any(|end| script.ends_with(end)) {
                named += 1;
                assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(script).is_file(), "{path} names {script}");
            }
        }
    }
    assert!(named >= 8, "{named}");
}

#[test]
fn hooks_and_documents_run_commands_that_exist() {
    let place = Place::new();
    let mut commands = BTreeSet::new();
    for line in text(".pre-commit-hooks.yaml").lines().filter_map(|line| line.trim().strip_prefix("entry: ")) {
        commands.insert(line.strip_prefix("playproof ").expect("our program").to_owned());
    }
    assert!(commands.contains("check") && commands.contains("lint"), "{commands:?}");
    for (path, block) in ["docs/ci.md", "docs/install.md"].into_iter().flat_map(|path| {
        let text = text(path);
        let blocks: Vec<String> = text.split("\n```").skip(1).step_by(2).map(str::to_owned).collect();
        blocks.into_iter().map(move |block| (path, block))
    }) {
        let (kind, body) = block.split_once('\n').expect("a block");
        if kind == "yaml" {
            yaml::parse(Source::whole(path, body), |_| Some(())).unwrap_or_else(|report| panic!("{report}"));
        }
        for line in body.lines() {
            let starts = ["", "- ", "run: ", "- run: ", "entry: "];
            let line = line.trim().split(" #").next().unwrap_or_default().trim_end();
            let run = starts.iter().find_map(|start| line.strip_prefix(start)?.strip_prefix("playproof "));
            commands.extend(run.map(str::to_owned));
        }
    }
    assert!(commands.iter().any(|command| command.starts_with("history verify")), "{commands:?}");
    for command in &commands {
        let words = command.split(' ').take_while(|word| !word.starts_with('-') && !word.contains(['.', '/']));
        let asked: Vec<&str> = words.chain(["--help"]).collect();
        let help = place.run(&asked).exits(0).out;
        for flag in command.split(' ').filter(|word| word.starts_with("--")) {
            assert!(help.contains(flag), "`playproof {command}`: there is no {flag}");
        }
    }
}

#[test]
fn the_scripts_are_read_by_their_shell_and_give_the_version_of_cargo() {
    for (path, _) in texts("tools").into_iter().filter(|(path, _)| path.ends_with(".sh")) {
        let Ok(read) = Command::new("bash").args(["-n", &path]).current_dir(env!("CARGO_MANIFEST_DIR")).output() else {
            return; // there is no bash here
        };
        assert!(read.status.success(), "{path}: {}", String::from_utf8_lossy(&read.stderr));
    }
    let modern = ["-c", "import sys; sys.exit(sys.version_info < (3, 11))"];
    if !Command::new("python3").args(modern).status().is_ok_and(|status| status.success()) {
        return; // there is no Python here, or an old one
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/release/pack.py");
    let python = |arguments: &[&str]| {
        let mut command = Command::new("python3");
        command.arg(&script).args(arguments).env("PYTHONDONTWRITEBYTECODE", "1").output().expect("Python")
    };
    assert_eq!(String::from_utf8_lossy(&python(&["version"]).stdout).trim(), VERSION);
    let unknown = python(&["target", "sparc-sun-solaris"]);
    assert!(!unknown.status.success() && String::from_utf8_lossy(&unknown.stderr).contains("has no target"));
    // What is missing is refused when a release is put together, and so is a file that nobody lists.
    let place = Place::new();
    let refused = |place: &Place| {
        let ran = python(&["gather", place.path("").to_str().expect("UTF-8")]);
        assert!(!ran.status.success());
        String::from_utf8_lossy(&ran.stderr).into_owned()
    };
    assert!(refused(&place).contains(&format!("missing: playproof-{VERSION}-py3-none-win_amd64.whl")));
    for target in targets() {
        for name in target["files"].as_object().expect("files").values() {
            place.write(&name.as_str().expect("a name").replace("{version}", VERSION), "x");
        }
    }
    place.write(&format!("playproof-{VERSION}.tgz"), "x");
    place.write("strange.txt", "x");
    assert!(refused(&place).contains("strange.txt"));
    place.remove("strange.txt");
    assert!(python(&["gather", place.path("").to_str().expect("UTF-8")]).status.success());
    assert_eq!(place.read("SHA256SUMS").lines().count(), 4 * targets().len() + 1);
}
