//! The commands whose outputs are kept. Runs none of them.

use std::path::{Path, PathBuf};

const FORMATS: [&str; 4] = ["table", "json", "jsonl", "markdown"];

/// A log with its mapping.
const EXAMPLE: &str = "docs/examples/my-log.jsonl --map docs/examples/my-log.mapping.yaml";

/// Commands without an input of their own.
const ALONE: &str = "
check
check --format json
check --format markdown
lint playbooks/standard.yaml
lint playbooks/reversing.yaml --format json
lint playbooks/study/retry-everything.yaml
history
history verify
coverage standard
coverage reversing --format json
coverage --mutate standard
coverage --mutate reversing --format json
propose list
propose check
schema trace
schema playbook
schema fixture
schema mapping
schema tools
schema project
help topics
completions bash
demo
--help
";

/// Real recordings that are read without a mapping, each with the tool facts that go with it.
const TRACES: [&str; 3] = [
    "tau-bench/gpt-4o-airline.errors-slice.json",
    "tau2-bench/gpt-oss-120b_airline.duplicate-side-effects-slice.json",
    "tau2-bench/toolorchestra_airline_gpt-5_1trial.json",
];

fn words(command: &str) -> Vec<String> {
    command.split_whitespace().map(str::to_owned).collect()
}

/// Every command over what this repository holds.
pub fn over_the_repository(root: &Path) -> Vec<Vec<String>> {
    let mut commands: Vec<_> = ALONE.lines().filter(|line| !line.is_empty()).map(words).collect();
    for fixture in files(&root.join("fixtures"), "yaml") {
        let fixture = fixture.strip_prefix(root).unwrap_or(&fixture).to_string_lossy().into_owned();
        commands.extend(explain(root, &fixture));
        commands.extend(["table", "json"].map(|format| words(&format!("replay {fixture} --format {format}"))));
        commands.push(words(&format!("replay {fixture} --playbook study/retry-everything --playbook standard")));
    }
    commands.extend(over(root, EXAMPLE));
    commands.push(words("replay docs/examples/warehouse.jsonl"));
    commands
}

/// Every command that reads traces, over real ones in a folder `traces` of the working directory.
pub fn over_traces(folder: &Path) -> Vec<Vec<String>> {
    let input = |name: &&str| format!("traces/{name} --tools tau.yaml");
    let mut commands: Vec<_> = TRACES.iter().flat_map(|name| over(folder, &input(name))).collect();
    // Whatever else lies there: read, or refused with the same words.
    for file in all_files(&folder.join("traces")) {
        let name = file.strip_prefix(folder).unwrap_or(&file).display();
        commands.push(words(&format!("replay {name}")));
    }
    commands
}

fn over(folder: &Path, input: &str) -> Vec<Vec<String>> {
    let mut commands = Vec::new();
    for format in FORMATS {
        commands.push(words(&format!("replay {input} --all --format {format}")));
        commands.push(words(&format!("replay {input} --format {format} --playbook standard --playbook study/retry-everything --beyond-tape repeat")));
    }
    for format in ["table", "json"] {
        commands.push(words(&format!("propose find {input} --format {format}")));
        commands.push(words(&format!(
            "impact {input} --base standard --candidate study/retry-everything --format {format}"
        )));
    }
    commands.extend(explain(folder, input));
    let (file, map) =
        input.split_once(" --map").map_or((input, String::new()), |(file, map)| (file, format!(" --map{map}")));
    let file = file.split_once(" --tools").map_or(file, |(file, _)| file);
    commands.push(words(&format!("confirm --draft {file}{map}")));
    commands.push(words(&format!("formats convert {file}{map}")));
    commands
}

/// The pages of the first calls of an input.
fn explain(folder: &Path, input: &str) -> Vec<Vec<String>> {
    let listed = crate::frozen::run(folder, &words(&format!("replay {input} --format jsonl --playbook standard")));
    let listed = String::from_utf8_lossy(&listed.out).into_owned();
    let lines = listed.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let calls = lines.filter(|line| line["type"] == "call").filter_map(|line| line["ref"].as_str().map(str::to_owned));
    calls.take(4).map(|call| words(&format!("explain {input} {call}"))).collect()
}

/// The files of a folder with an ending, sorted.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    all_files(folder).into_iter().filter(|file| file.extension().is_some_and(|its| its == ending)).collect()
}

/// All files below a folder, sorted.
fn all_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        match entry.is_dir() {
            true => found.extend(all_files(&entry)),
            false => found.push(entry),
        }
    }
    found.sort();
    found
}
