//! Runs the commands that the documents show and compares what they print, so that no document shows what is not so.
//!
//! A block marked `console` (with `exit=N` where the command must not end with 0) holds lines that begin with `$ `,
//! each followed by what the command prints; a line `...` stands for any lines. `playproof ARGS` and
//! `cargo run --release -- ARGS` run the binary of this build; other commands are for people and show no output.
//! `UPDATE_DOCUMENTS=1 cargo test --test readme` writes the present output into the documents.

use std::path::{Path, PathBuf};
use std::{env, fs};

use assert_cmd::Command;
use playproof::diagnostic::Source;
use playproof::playbook;
use playproof::trace::wire;

const DOCUMENTS: [&str; 1] = ["README.md"];

/// A command that a document shows.
#[derive(Debug, PartialEq, Eq)]
struct Shown<'a> {
    line: usize,
    command: &'a str,
    exit: i32,
    output: Vec<&'a str>,
}

/// The commands of a document's console blocks, in order.
fn shown(text: &str) -> Vec<Shown<'_>> {
    let mut found: Vec<Shown<'_>> = Vec::new();
    let mut exit = None;
    for (number, line) in text.lines().enumerate() {
        match (exit, line.strip_prefix("```"), line.strip_prefix("$ ")) {
            (None, Some(info), _) if info.split_whitespace().next() == Some("console") => {
                let wanted = info.split_whitespace().find_map(|word| word.strip_prefix("exit="));
                exit = Some(wanted.map_or(0, |code| code.parse().expect("`exit=` takes a number")));
            }
            (Some(_), Some(_), _) => exit = None,
            (Some(exit), None, Some(command)) => {
                found.push(Shown { line: number + 1, command, exit, output: Vec::new() });
            }
            (Some(_), None, None) => found.last_mut().expect("a block begins with a command").output.push(line),
            (None, ..) => {}
        }
    }
    found
}

/// The arguments of a command that this test can run.
fn arguments(command: &str) -> Option<Vec<&str>> {
    let rest = command.strip_prefix("playproof ").or_else(|| command.strip_prefix("cargo run --release -- "))?;
    assert!(!rest.contains(['|', '>', '"', '\'', '\\', '*']), "`{command}` needs a shell, and this test has none");
    Some(rest.split_whitespace().collect())
}

/// What a command prints (its result, then what it said beside it) and its exit code.
fn run(arguments: &[&str]) -> (String, Option<i32>) {
    let output = Command::cargo_bin("playproof")
        .expect("the binary of this build")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_clear()
        .args(arguments)
        .output()
        .expect("the binary runs");
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8(text).expect("output is UTF-8"), output.status.code())
}

/// Whether printed lines are the expected ones, where `...` stands for any number of lines.
fn agrees(expected: &[&str], printed: &[&str]) -> bool {
    match expected {
        [] => printed.is_empty(),
        ["...", rest @ ..] => (0..=printed.len()).any(|skipped| agrees(rest, &printed[skipped..])),
        [line, rest @ ..] => {
            printed.first().is_some_and(|first| first.trim_end() == *line) && agrees(rest, &printed[1..])
        }
    }
}

/// Every command of a document that does something else than it shows, and the document as it should be.
fn check(text: &str) -> (Vec<String>, String) {
    let mut problems = Vec::new();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for shown in shown(text).into_iter().rev() {
        let Some(arguments) = arguments(shown.command) else {
            assert!(shown.output.is_empty(), "line {}: nobody checks this output", shown.line);
            continue;
        };
        let (printed, code) = run(&arguments);
        let printed: Vec<&str> = printed.lines().collect();
        if code != Some(shown.exit) || !agrees(&shown.output, &printed) {
            let (line, command, exit) = (shown.line, shown.command, shown.exit);
            problems
                .push(format!("line {line}: `{command}` must exit {exit}, exited {code:?}\n{}", printed.join("\n")));
            let fresh = printed.iter().map(|line| line.trim_end().to_owned());
            lines.splice(shown.line..shown.line + shown.output.len(), fresh);
        }
    }
    problems.reverse();
    (problems, lines.join("\n") + "\n")
}

fn path_of(document: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(document)
}

#[test]
fn the_documents_show_what_the_commands_print() {
    for document in DOCUMENTS {
        let text = fs::read_to_string(path_of(document)).expect("the document");
        let (problems, fresh) = check(&text);
        if !problems.is_empty() && env::var_os("UPDATE_DOCUMENTS").is_some() {
            fs::write(path_of(document), fresh).expect("the document can be written");
        }
        assert!(problems.is_empty(), "{document} shows something else:\n{}", problems.join("\n\n"));
    }
}

#[test]
fn the_readme_s_first_two_commands_are_the_promised_ones() {
    let text = fs::read_to_string(path_of("README.md")).expect("the README");
    let commands: Vec<&str> = shown(&text).into_iter().map(|shown| shown.command).collect();
    let first = "cargo run --release -- replay fixtures/unkeyed-refund-times-out-after-landing.yaml \
                 --playbook study/retry-everything --playbook standard";
    assert_eq!(commands.get(..2), Some([first, "cargo test"].as_slice()));
}

/// The fenced blocks of a language.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let open = format!("```{language}\n");
    text.split(&open).skip(1).filter_map(|rest| rest.split_once("```")).map(|(block, _)| block).collect()
}

#[test]
fn the_playbook_of_the_readme_is_sound_and_lint_has_nothing_to_say() {
    let text = fs::read_to_string(path_of("README.md")).expect("the README");
    let blocks = blocks(&text, "yaml");
    assert!(!blocks.is_empty());
    for block in blocks {
        let loaded = playbook::parse(Source::whole("README.md", block)).unwrap_or_else(|report| panic!("{report}"));
        assert_eq!(playbook::lint::lint(&loaded), []);
    }
}

#[test]
fn every_line_of_the_readme_s_trace_is_one() {
    let text = fs::read_to_string(path_of("README.md")).expect("the README");
    let lines: Vec<&str> = blocks(&text, "json").into_iter().flat_map(str::lines).collect();
    assert!(!lines.is_empty());
    for line in lines {
        let parsed = wire::parse_line(line).unwrap_or_else(|error| panic!("{}: {line}", error.message));
        assert_eq!(parsed.unknown_fields, 0, "{line}");
    }
}

#[test]
fn commands_are_found_with_their_output_and_exit_code() {
    let text = "a\n```console exit=1\n$ playproof x\none\n\ntwo\n$ cargo test\n```\n```\n$ no\n```\n";
    let expected = [
        Shown { line: 3, command: "playproof x", exit: 1, output: vec!["one", "", "two"] },
        Shown { line: 7, command: "cargo test", exit: 1, output: vec![] },
    ];
    assert_eq!(shown(text), expected);
}

#[test]
fn three_dots_stand_for_any_lines_and_nothing_else_does() {
    assert!(agrees(&["a", "...", "d"], &["a", "b", "c", "d"]));
    assert!(agrees(&["..."], &[]));
    assert!(!agrees(&["a", "...", "d"], &["a", "b"]));
    assert!(!agrees(&["a"], &["a", "b"]));
}

#[test]
fn a_document_that_shows_something_else_is_caught_and_mended() {
    let (problems, fresh) = check("```console\n$ playproof --version\nplayproof 999\n```\n");
    assert_eq!(problems.len(), 1);
    assert_eq!(fresh, format!("```console\n$ playproof --version\nplayproof {}\n```\n", env!("CARGO_PKG_VERSION")));
}
