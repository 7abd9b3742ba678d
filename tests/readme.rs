//! Runs the commands that the documents show and compares what they print, so that no document shows what is not so.
//!
//! A block marked `console` (with `exit=N` where the command must not end with 0) holds lines that begin with `$ `,
//! each followed by what the command prints; a line `...` stands for any lines. `playproof ARGS` and
//! `cargo run --release -- ARGS` run the binary of this build; other commands are for people and show no output.
//!
//! A block with `in=NAME` runs in a folder of that name, which is empty at the beginning of the document and lies beside
//! this repository, known there as `../playproof`; `cp` copies files from it. A block with `edits=FILE` is what somebody
//! writes into a file of that folder: each part takes the place of the part with the same heading, or, where the lines
//! begin with `-` and `+`, each line of the ones that of the others.
//! `UPDATE_DOCUMENTS=1 cargo test --test all readme` writes the present output into the documents.

use std::path::{Path, PathBuf};
use std::{env, fs};

use assert_cmd::Command;
use playproof_intake::wire;

/// The README and every page of `docs/`.
fn documents() -> Vec<String> {
    let pages = fs::read_dir(path_of("docs")).expect("the folder").map(|entry| entry.expect("an entry").file_name());
    let pages = pages.map(|name| format!("docs/{}", name.to_str().expect("a name in UTF-8")));
    let mut documents: Vec<String> = pages.filter(|path| path.ends_with(".md")).collect();
    documents.push("README.md".to_owned());
    documents.sort_unstable();
    documents
}

/// A command that a document shows.
#[derive(Debug, PartialEq, Eq)]
struct Shown<'a> {
    line: usize,
    /// The folder of its own that it runs in.
    folder: Option<&'a str>,
    command: &'a str,
    exit: i32,
    output: Vec<&'a str>,
}

/// What a document tells its reader to do.
#[derive(Debug, PartialEq, Eq)]
enum Step<'a> {
    Run(Shown<'a>),
    /// The folder, the file, what is written into it.
    Edit(&'a str, &'a str, Vec<&'a str>),
}

/// The value of `NAME=VALUE` behind the opening of a block.
fn option<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    info.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

/// What a document tells its reader to do, in order.
fn steps(text: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    let mut block: Option<&str> = None;
    for (number, line) in text.lines().enumerate() {
        match (block, line.strip_prefix("```"), line.strip_prefix("$ ")) {
            (None, Some(info), _) => {
                block = Some(info);
                if let Some(file) = option(info, "edits") {
                    steps.push(Step::Edit(option(info, "in").expect("a folder"), file, Vec::new()));
                }
            }
            (Some(_), Some(_), _) => block = None,
            (Some(info), None, Some(command)) if info.starts_with("console") => {
                let exit = option(info, "exit").map_or(0, |code| code.parse().expect("`exit=` takes a number"));
                let (line, folder) = (number + 1, option(info, "in"));
                steps.push(Step::Run(Shown { line, folder, command, exit, output: Vec::new() }));
            }
            (Some(info), None, _) => match steps.last_mut() {
                Some(Step::Run(shown)) if info.starts_with("console") => shown.output.push(line),
                Some(Step::Edit(.., lines)) if option(info, "edits").is_some() => lines.push(line),
                _ => assert!(!info.starts_with("console"), "line {}: a block begins with a command", number + 1),
            },
            (None, ..) => {}
        }
    }
    steps
}

/// The commands of a document's console blocks, in order.
fn shown(text: &str) -> Vec<Shown<'_>> {
    let command = |step| if let Step::Run(shown) = step { Some(shown) } else { None };
    steps(text).into_iter().filter_map(command).collect()
}

/// The words of a command; what stands in single quotes is one.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![];
    for (part, text) in command.split('\'').enumerate() {
        match part % 2 {
            0 => {
                assert!(
                    !text.contains(['|', '>', '"', '\\', '*']),
                    "`{command}` needs a shell, and this test has none"
                );
                words.extend(text.split_whitespace().map(str::to_owned));
            }
            _ => words.push(text.to_owned()),
        }
    }
    words
}

/// The arguments of a command that this test can run.
fn arguments(command: &str) -> Option<Vec<String>> {
    let rest = command.strip_prefix("playproof ").or_else(|| command.strip_prefix("cargo run --release -- "))?;
    Some(words(rest))
}

/// What a command prints (its result, then what it said beside it) and its exit code.
fn run(folder: &Path, arguments: &[String]) -> (String, Option<i32>) {
    let output = Command::cargo_bin("playproof")
        .expect("the binary of this build")
        .current_dir(folder)
        .env_clear()
        .args(arguments)
        .output()
        .expect("the binary runs");
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8(text).expect("output is UTF-8"), output.status.code())
}

/// `cp ../playproof/FROM... TO`, as a reader beside this repository would.
fn copy(folder: &Path, words: &[String]) {
    let (to, from) = words.split_last().expect("`cp FROM TO`");
    for from in from {
        let from = from.strip_prefix("../playproof/").expect("a file of this repository");
        let name = Path::new(from).file_name().expect("a name");
        let to = if to == "." { folder.join(name) } else { folder.join(to) };
        fs::copy(path_of(from), to).unwrap_or_else(|error| panic!("{from}: {error}"));
    }
}

/// Each part of `lines` takes the place of the part of the file that has the same heading; a `+` line that of the `-`
/// line before it.
fn edit(file: &Path, lines: &[&str]) {
    let mut text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let marked = |mark| lines.iter().filter_map(move |line| line.strip_prefix(mark)).map(str::trim);
    if lines.len() == marked('-').count() + marked('+').count() {
        assert_eq!(marked('-').count(), marked('+').count(), "{}: a new line for each", file.display());
        for (old, new) in marked('-').zip(marked('+')) {
            assert_eq!(text.lines().filter(|line| line.trim() == old).count(), 1, "{}: {old}", file.display());
            text = text.replacen(old, new, 1);
        }
        return fs::write(file, text).expect("it can be written");
    }
    let parts = |lines: &mut dyn Iterator<Item = &str>| -> Vec<(String, String)> {
        let mut parts: Vec<(String, String)> = vec![(String::new(), String::new())];
        for line in lines {
            if line.starts_with('#') {
                parts.push((line.to_owned(), String::new()));
            }
            let (_, part) = parts.last_mut().expect("never empty");
            *part += &format!("{line}\n");
        }
        parts
    };
    let written = parts(&mut lines.iter().copied());
    let mut kept = parts(&mut text.lines());
    for (heading, part) in written.into_iter().skip(1) {
        let place = kept.iter_mut().find(|(known, _)| *known == heading);
        place.unwrap_or_else(|| panic!("{} has no `{heading}`", file.display())).1 =
            part.trim_end().to_owned() + "\n\n";
    }
    let text: String = kept.into_iter().map(|(_, part)| part).collect();
    fs::write(file, text.trim_end().to_owned() + "\n").expect("it can be written");
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
    let here = tempfile::tempdir().expect("a folder");
    let folder_of = |name: Option<&str>| match name {
        None => path_of(""),
        Some(name) => {
            let folder = here.path().join(name);
            fs::create_dir_all(&folder).expect("a folder");
            folder
        }
    };
    let mut problems = Vec::new();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut fresh: Vec<(usize, usize, Vec<String>)> = Vec::new();
    for step in steps(text) {
        let shown = match step {
            Step::Run(shown) => shown,
            Step::Edit(folder, file, lines) => {
                edit(&folder_of(Some(folder)).join(file), &lines);
                continue;
            }
        };
        let folder = folder_of(shown.folder);
        let Some(arguments) = arguments(shown.command) else {
            assert!(shown.output.iter().all(|line| line.is_empty()), "line {}: nobody checks this output", shown.line);
            if let Some(rest) = shown.command.strip_prefix("cp ").filter(|_| shown.folder.is_some()) {
                copy(&folder, &words(rest));
            }
            continue;
        };
        let (printed, code) = run(&folder, &arguments);
        let printed: Vec<&str> = printed.lines().collect();
        if code != Some(shown.exit) || !agrees(&shown.output, &printed) {
            let (line, command, exit) = (shown.line, shown.command, shown.exit);
            problems
                .push(format!("line {line}: `{command}` must exit {exit}, exited {code:?}\n{}", printed.join("\n")));
            let printed = printed.iter().map(|line| line.trim_end().to_owned()).collect();
            fresh.push((shown.line, shown.output.len(), printed));
        }
    }
    for (line, length, printed) in fresh.into_iter().rev() {
        lines.splice(line..line + length, printed);
    }
    (problems, lines.join("\n") + "\n")
}

fn path_of(document: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(document)
}

#[test]
fn the_documents_show_what_the_commands_print() {
    for document in documents() {
        let text = fs::read_to_string(path_of(&document)).expect("the document");
        let (problems, fresh) = check(&text);
        if !problems.is_empty() && env::var_os("UPDATE_DOCUMENTS").is_some() {
            fs::write(path_of(&document), fresh).expect("the document can be written");
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
fn every_line_of_the_trace_that_is_shown_is_one() {
    let text = fs::read_to_string(path_of("docs/reading-traces.md")).expect("the page");
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
        Shown { line: 3, folder: None, command: "playproof x", exit: 1, output: vec!["one", "", "two"] },
        Shown { line: 7, folder: None, command: "cargo test", exit: 1, output: vec![] },
    ];
    assert_eq!(shown(text), expected);
}

#[test]
fn a_block_may_run_in_a_folder_of_its_own_and_edit_its_files() {
    let text = "```console in=x\n$ cp ../playproof/deny.toml .\n$ playproof help 'a b'\n```\n```md in=x edits=a.md\n# B\nc\n```\n";
    let expected = [
        Step::Run(Shown {
            line: 2,
            folder: Some("x"),
            command: "cp ../playproof/deny.toml .",
            exit: 0,
            output: vec![],
        }),
        Step::Run(Shown { line: 3, folder: Some("x"), command: "playproof help 'a b'", exit: 0, output: vec![] }),
        Step::Edit("x", "a.md", vec!["# B", "c"]),
    ];
    assert_eq!(steps(text), expected);
    assert_eq!(arguments("playproof help 'a b' c").expect("arguments"), ["help", "a b", "c"]);
    let folder = tempfile::tempdir().expect("a folder");
    copy(folder.path(), &words("../playproof/deny.toml x.toml"));
    assert!(folder.path().join("x.toml").exists());
    let file = folder.path().join("a.md");
    fs::write(&file, "# A\none\n# B\ntwo\n# C\nthree\n").expect("written");
    edit(&file, &["# B", "", "other", ""]);
    assert_eq!(fs::read_to_string(&file).expect("read"), "# A\none\n# B\n\nother\n\n# C\nthree\n");
    edit(&file, &["-three", "+four"]);
    assert_eq!(fs::read_to_string(file).expect("read"), "# A\none\n# B\n\nother\n\n# C\nfour\n");
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
