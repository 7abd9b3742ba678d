//! The page of each command on twenty inputs, and every JSON document that a command writes, in a project of its own
//! that nothing else changes. `explain` is given the first call of each input.

use serde_json::Value;

use crate::cli;
use crate::frozen;
use crate::nets::{keep, typed, written};
use crate::propose::project::Project;

/// The inputs: fixtures, and recordings with what reads them. Each is copied into the project.
const INPUTS: [(&str, &str); 20] = [
    ("fixtures/a-breaker-opens-refuses-and-closes-after-a-probe.yaml", ""),
    ("fixtures/a-drawn-wait-is-repeatable-and-names-its-draw.yaml", ""),
    ("fixtures/a-follower-takes-over-a-lost-leader.yaml", ""),
    ("fixtures/a-grpc-client-retries-nothing-with-half-of-its-tokens.yaml", ""),
    ("fixtures/a-keyed-refund-times-out-after-it-landed.yaml", ""),
    ("fixtures/a-probe-that-nobody-answers-gives-way-to-the-next.yaml", ""),
    ("fixtures/a-reversal-whose-answer-was-lost.yaml", ""),
    ("fixtures/a-step-is-tried-again-only-where-no-write-would-be-done-twice.yaml", ""),
    ("fixtures/a-write-is-cancelled-while-it-may-have-acted.yaml", ""),
    ("fixtures/an-action-is-offered-again-after-a-late-failure.yaml", ""),
    ("trace.jsonl", ""),
    ("docs/examples/my-log.jsonl", "docs/examples/my-log.mapping.yaml"),
    ("docs/examples/burr-log.jsonl", "docs/examples/burr-log.mapping.yaml"),
    ("docs/examples/step-log.jsonl", "docs/examples/step-log.mapping.yaml"),
    ("docs/examples/warehouse.jsonl", ""),
    ("docs/examples/refund-chat.json", ""),
    ("tests/samples/tau-bench.json", ""),
    ("tests/intake/samples/otlp.json", ""),
    ("tests/intake/samples/claude-code-session.jsonl", ""),
    ("tests/intake/samples/mcp-jsonrpc-enveloped.jsonl", ""),
];

/// The inputs whose JSON is kept as well.
const AS_JSON: [usize; 3] = [4, 10, 11];

/// Two playbooks that differ.
const PAIR: &str = "--base standard --candidate study/retry-everything";

/// Commands without an input of their own, by the name under which their pages are kept.
const ALONE: [(&str, &str); 9] = [
    ("check", "check\ncheck --format json\ncheck --run slow\ncheck --run ^nothing$"),
    ("history", "history\nhistory --format json\nhistory verify\nhistory verify --format json"),
    (
        "coverage",
        "coverage\ncoverage --all\ncoverage --format json\ncoverage --format lines\n\
         coverage --mutate\ncoverage --mutate --all\ncoverage --mutate --format json",
    ),
    (
        "proposals",
        "propose list\npropose check\npropose check --format json\n\
         propose check --format markdown\npropose check --corpus trace.jsonl",
    ),
    ("kept", "check\ncheck --format json"),
    (
        "lint",
        "lint\nlint --format json\nlint standard\nlint reversing\nlint coffee\nlint steps\nlint dispatcher\n\
         lint preset/aws-2.0\nlint preset/envoy\nlint preset/grpc\nlint preset/polly\nlint preset/stripe\n\
         lint study/retry-everything\nlint study/course-dispatcher-literal --format json\n\
         lint tests/corpus/playbook/wrong-sharing.yaml\nlint tests/corpus/playbook/wrong-sharing.yaml --format json",
    ),
    (
        "graph",
        "graph show coffee\ngraph show coffee --format json\ngraph show coffee --format mermaid\n\
         graph show coffee --format dot\ngraph show steps\n\
         graph next docs/examples/burr-log.jsonl --map docs/examples/burr-log.mapping.yaml --playbook coffee\n\
         graph next docs/examples/burr-log.jsonl --map docs/examples/burr-log.mapping.yaml --playbook coffee --format json\ngraph draft trace.jsonl\n\
         graph history fixtures/an-action-is-offered-again-after-a-late-failure.yaml --playbook coffee\n\
         graph history docs/examples/burr-log.jsonl --map docs/examples/burr-log.mapping.yaml --playbook coffee",
    ),
    (
        "formats",
        "formats show langfuse-observations\nformats show otlp-genai\nformats show openai-chat\nformats show no-such\n\
         formats try docs/examples/my-log.jsonl --map docs/examples/my-log.mapping.yaml\n\
         formats try docs/examples/step-log.jsonl --map docs/examples/step-log.mapping.yaml\n\
         formats try docs/examples/step-log.jsonl --map docs/examples/my-log.mapping.yaml",
    ),
    ("demo", "demo\ncompletions no-such"),
];

/// The project: a playbook, fixtures, a proposal, a kept call, and the inputs.
fn project() -> Project {
    let project = Project::with_proposal();
    project.write("trace.jsonl", cli::TRACE);
    for (input, map) in INPUTS.iter().filter(|(input, _)| *input != "trace.jsonl") {
        project.copy(input, &format!("shown/{input}"));
        if !map.is_empty() {
            project.copy(map, &format!("shown/{map}"));
        }
    }
    project.copy("tests/corpus/playbook/wrong-sharing.yaml", "shown/wrong-sharing.yaml");
    let keep = ["propose", "keep", "trace.jsonl", "r1#1", "--expect", "done_twice", "--note", "it was done twice"];
    project.run(&keep).exits(0);
    project
}

/// An input as it is typed in the project.
fn input(n: usize) -> String {
    let (input, map) = INPUTS[n];
    match (input, map) {
        ("trace.jsonl", _) => input.to_owned(),
        (_, "") => format!("shown/{input}"),
        _ => format!("shown/{input} --map shown/{map}"),
    }
}

fn is_fixture(n: usize) -> bool {
    INPUTS[n].0.starts_with("fixtures/")
}

/// One command line for each input, and the same with each format for those whose JSON is kept.
fn over_inputs(formats: &[&str], line: impl Fn(usize) -> Option<String>) -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    for n in 0..INPUTS.len() {
        let Some(line) = line(n) else { continue };
        if AS_JSON.contains(&n) {
            lines.extend(formats.iter().map(|format| format!("{line} --format {format}")));
        }
        lines.push(line);
    }
    typed(&lines.join("\n"))
}

/// The first call of an input, as `explain` names them.
fn first_call(project: &Project, n: usize) -> Vec<String> {
    let line = format!("replay {} --format jsonl", input(n));
    let ran = frozen::run_all(&project.path(""), &typed(&line));
    let lines = ran.first().map(|ran| String::from_utf8_lossy(&ran.out).into_owned()).unwrap_or_default();
    let lines = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let calls = lines.filter(|line| line["type"] == "call").filter_map(|line| line["ref"].as_str().map(str::to_owned));
    calls.take(1).collect()
}

#[test]
fn the_pages_of_commands_over_inputs_are_as_they_were() {
    let project = project();
    let folder = project.path("");
    let keep_over = |name: &str, commands: &[Vec<String>]| keep(name, &written(&folder, commands));
    let all = |line: String| Some(line);
    keep_over("replay", &over_inputs(&["json", "jsonl", "markdown"], |n| all(format!("replay {}", input(n)))));
    let pair = "--playbook standard --playbook study/retry-everything";
    keep_over(
        "replay-of-two",
        &over_inputs(&["json"], |n| [3, 4, 10, 11, 16].contains(&n).then(|| format!("replay {} {pair}", input(n)))),
    );
    let traces = |line: &dyn Fn(&str) -> String, n: usize| (!is_fixture(n)).then(|| line(&input(n)));
    keep_over("find", &over_inputs(&["json"], |n| traces(&|input| format!("propose find {input}"), n)));
    keep_over("impact", &over_inputs(&["json", "markdown"], |n| traces(&|input| format!("impact {input} {PAIR}"), n)));
    let plain = |n: usize| INPUTS[n].1.is_empty() || n % 2 == 1;
    keep_over(
        "convert",
        &over_inputs(&[], |n| plain(n).then(|| traces(&|input| format!("formats convert {input}"), n)).flatten()),
    );
    keep_over("confirm", &over_inputs(&[], |n| traces(&|input| format!("confirm --draft {input}"), n)));
    let explained = (0..INPUTS.len())
        .flat_map(|n| first_call(&project, n).into_iter().map(move |call| format!("explain {} {call}", input(n))));
    let explained: Vec<String> = explained.collect();
    assert!(explained.len() > 15, "{explained:?}");
    keep_over("explain", &typed(&explained.join("\n")));
}

#[test]
fn the_pages_of_commands_without_inputs_are_as_they_were() {
    let project = project();
    for (name, lines) in ALONE {
        let lines = lines.replace(" docs/", " shown/docs/").replace(" fixtures/", " shown/fixtures/");
        let lines = lines.replace("tests/corpus/playbook/", "shown/");
        keep(name, &written(&project.path(""), &typed(&lines)));
    }
}

#[test]
fn the_schemas_are_printed_as_they_were() {
    // Their texts are files of the repository: it is enough that they are printed.
    let project = Project::new();
    for name in ["dispatch", "fixture", "history", "kept", "mapping", "playbook", "project", "tools", "trace"] {
        let printed: Value = serde_json::from_str(&project.run(&["schema", name]).exits(0).out).expect("JSON");
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("schemas/{name}.json"));
        let file: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("a schema")).expect("JSON");
        assert_eq!(printed["title"], file["title"], "{name}");
    }
}
