//! What is underlined in bad files: every key of valid documents misspelt, and with two values that are wrong nearly
//! everywhere, and the bad files of the corpus. One line a message: the places as LINE:COLUMN-LENGTH, the id, the text.

use std::fmt::Write as _;
use std::path::Path;

use playproof_analysis::kept;
use playproof_formats::diagnostic::{Diagnostic, Report, Source};
use playproof_formats::golden::{GoldenFile, Lock};
use playproof_formats::{fixture, history, playbook};
use playproof_intake::mapping;
use regex::Regex;

use crate::nets::keep;
use crate::wrong_values::{File, documents};

/// At most this many messages of one file are kept.
const MESSAGES_MAX: usize = 6;

type Read = fn(&str) -> Result<(), Report>;

const READERS: [(&str, Read); 7] = [
    ("playbook", |text| playbook::parse(Source::whole("it", text)).map(drop)),
    ("tools", |text| playbook::tools::parse(Source::whole("it", text)).map(drop)),
    ("fixture", |text| fixture::parse(Source::whole("it", text)).map(drop)),
    ("mapping", |text| mapping::parse(Source::whole("it", text)).map(drop)),
    ("kept", |text| kept::parse(Source::whole("it", text)).map(drop)),
    ("record", |text| history::parse(Source::whole("it", text)).map(drop)),
    ("lock", |text| Lock::parse(Source::whole("it", text)).map(drop)),
];

/// Valid files, each with its reader.
const VALID: [(&str, &str); 11] = [
    ("playbook", "tests/corpus/playbook/breakers-and-budgets.yaml"),
    ("playbook", "playbooks/coffee.yaml"),
    ("playbook", "playbooks/steps.yaml"),
    ("playbook", "playbooks/study/typed-verdicts-literal.yaml"),
    ("fixture", "fixtures/a-step-is-tried-again-only-where-no-write-would-be-done-twice.yaml"),
    ("fixture", "fixtures/a-reversal-takes-the-effect-back.yaml"),
    ("mapping", "docs/examples/my-log.mapping.yaml"),
    ("mapping", "docs/examples/step-log.mapping.yaml"),
    ("kept", "tests/corpus/project/kept.yaml"),
    ("record", "tests/corpus/project/record.yaml"),
    ("lock", "tests/corpus/project/lock.yaml"),
];

fn reader(name: &str) -> Read {
    READERS.iter().find(|(reader, _)| *reader == name).expect("a reader").1
}

fn text_of(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What one text makes of its reader, in lines.
fn described(text: &str, read: Read) -> String {
    let report = match read(text) {
        Ok(()) => return "  accepted\n".to_owned(),
        Err(report) => report,
    };
    let mut lines = String::new();
    for diagnostic in report.diagnostics.iter().take(MESSAGES_MAX) {
        let _ = writeln!(lines, "  {}", one_line(diagnostic, &report.source)); // writing to a String cannot fail
    }
    if report.diagnostics.len() > MESSAGES_MAX {
        let _ = writeln!(lines, "  and {} more", report.diagnostics.len() - MESSAGES_MAX);
    }
    lines
}

fn one_line(diagnostic: &Diagnostic, source: &Source) -> String {
    let place = |span: &std::ops::Range<usize>| {
        let (line, column) = source.place(span.start);
        format!("{line}:{column}-{}", source.text.get(span.clone()).map_or(0, |text| text.chars().count()))
    };
    let places: Vec<String> = diagnostic.labels.iter().map(|label| place(&label.span)).collect();
    let help = diagnostic.help.as_deref().map(|help| format!(" ({help})")).unwrap_or_default();
    format!("{} {}: {}{help}", places.join(" "), diagnostic.id, diagnostic.message).escape_debug().to_string()
}

/// Every key of a text misspelt, and with other values, where `is_tried` says so of its line.
fn changed(text: &str, is_tried: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let key = Regex::new(r#"(?m)(?<before>^ *(?:- )?|[{,] *)"?(?<key>[a-z_]+)(?<colon>"?: ?)(?<value>[^,{}\[\]\n]*)"#)
        .expect("a pattern");
    let mut all = Vec::new();
    for found in key.captures_iter(text) {
        let (name, value) = (found.name("key").expect("a key"), found.name("value").expect("a value"));
        let line = text[..name.start()].matches('\n').count();
        if !is_tried(text.lines().nth(line).unwrap_or_default()) {
            continue;
        }
        let mut change = |how: &str, range: std::ops::Range<usize>, new: &str| {
            let mut text = text.to_owned();
            text.replace_range(range, new);
            all.push((format!("{} {} {how}", line + 1, name.as_str()), text));
        };
        change("misspelt", name.end()..name.end(), "x");
        if !value.as_str().trim().is_empty() {
            change("[odd]", value.range(), "[odd]");
            change("-1", value.range(), "-1");
        }
    }
    all
}

fn all_changed(title: &str, text: &str, read: Read, is_tried: impl Fn(&str) -> bool) -> String {
    let mut kept = format!("# {title}\n");
    for (how, text) in changed(text, is_tried) {
        kept.push_str(&format!("{how}\n{}", described(&text, read)));
    }
    kept
}

#[test]
fn what_is_wrong_in_a_valid_file_is_underlined_where_it_was() {
    for (name, path) in VALID {
        let text = text_of(path);
        reader(name)(&text).unwrap_or_else(|report| panic!("{path}: {report}"));
        let stem = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".yaml");
        keep(&format!("underlined-in-{name}-{stem}"), &all_changed(path, &text, reader(name), |_| true));
    }
}

#[test]
fn what_is_wrong_in_an_example_of_every_key_is_underlined_where_it_was() {
    let (mut kept, mut seen) = (String::new(), Vec::new());
    for (file, document, below) in documents() {
        let name = match file {
            File::Playbook => "playbook",
            File::Tools => "tools",
            File::Fixture => "fixture",
        };
        let text = serde_json::to_string_pretty(&document).expect("a document");
        // Of each further example only the lines that no earlier one has.
        kept.push_str(&all_changed(&format!("{name} {below}"), &text, reader(name), |line| {
            !seen.contains(&format!("{name} {}", line.trim()))
        }));
        seen.extend(text.lines().map(|line| format!("{name} {}", line.trim())));
    }
    keep("underlined-in-examples", &kept);
}

#[test]
fn the_bad_files_of_the_corpus_are_underlined_where_they_were() {
    let mut kept = String::new();
    let goldens: Read = |text| GoldenFile::parse(&Source::whole("it", text)).map(drop);
    for (folder, read) in [
        ("playbook", reader("playbook")),
        ("tools", reader("tools")),
        ("fixture", reader("fixture")),
        ("yaml", reader("playbook")),
        ("project", goldens),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(folder);
        let entries = std::fs::read_dir(&path).expect("a folder of the corpus");
        let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
        files.sort();
        for file in files {
            let Ok(text) = std::fs::read_to_string(&file) else { continue };
            let name = file.file_name().expect("a file").to_string_lossy().into_owned();
            kept.push_str(&format!("{folder}/{name}\n{}", described(&text, read)));
        }
    }
    keep("underlined-in-the-corpus", &kept);
}

#[test]
fn another_place_or_another_word_changes_what_is_kept() {
    let read = reader("tools");
    let text = "format: tools/1\ntools:\n  pay: { access: write }\n";
    assert_eq!(described(text, read), "  accepted\n");
    let (bad, moved) = (text.replace("write", "wrote"), text.replace("write", "wrote").replace("  pay", "   pay"));
    assert!(described(&bad, read).starts_with("  3:18-5 "), "{}", described(&bad, read));
    assert_ne!(described(&bad, read), described(&moved, read));
}
