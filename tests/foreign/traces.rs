//! Real recordings, where `PLAYPROOF_TRACES` names a folder of them: the import counts what an independent script counts.

use std::path::PathBuf;
use std::process::Command;

use super::{assembled, imported, path, read_back};

/// The result files of tau-bench and tau2-bench; none where no folder is named.
pub fn recordings() -> Vec<PathBuf> {
    let Some(traces) = std::env::var_os("PLAYPROOF_TRACES") else { return Vec::new() };
    let folders = ["tau-bench", "tau2-bench"].map(|name| path("").join(&traces).join(name));
    let files = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    let mut files: Vec<PathBuf> = files.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    files
}

#[test]
fn an_import_counts_what_an_independent_script_counts() {
    let files = recordings();
    let script = path("tests/count_traces.py");
    let counted = Command::new("python3").arg(script).args(&files).output();
    let Some(counted) = counted.ok().filter(|output| output.status.success() && !files.is_empty()) else {
        println!("skipped: PLAYPROOF_TRACES names no recordings, or there is no python3 to count them");
        return;
    };
    let found: Vec<String> = files
        .iter()
        .map(|file| {
            let imported = imported(file);
            let (calls, results, failures) = read_back(&imported.lines);
            let loss = &imported.loss;
            assert_eq!((loss.calls, loss.results, loss.failures), (calls, results, failures));
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            format!("{name} {} {calls} {results} {failures}", loss.runs)
        })
        .collect();
    let expected = String::from_utf8(counted.stdout).expect("text");
    assert_eq!(found, expected.lines().collect::<Vec<_>>());
}

#[test]
fn every_tool_of_the_recordings_is_in_the_shipped_facts() {
    let facts = std::fs::read_to_string(path("tools/tau.yaml")).expect("the shipped facts");
    let files = recordings();
    if files.is_empty() {
        println!("skipped: PLAYPROOF_TRACES names no recordings");
    }
    for file in files {
        for line in String::from_utf8(imported(&file).lines).expect("text").lines() {
            let line: serde_json::Value = serde_json::from_str(line).expect("a line");
            if let Some(tool) = line["tool"].as_str() {
                assert!(facts.contains(&format!("\n  {tool}: ")), "{tool} is not declared");
            }
        }
    }
}

/// In these files every call has exactly one result, and the results of a message stand in the order of its calls.
#[test]
fn every_result_of_the_recordings_finds_its_own_call() {
    for file in recordings() {
        let lines = imported(&file).lines;
        let source = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("a line")["source"].clone();
        let sources: Vec<_> = std::str::from_utf8(&lines).expect("text").lines().map(source).collect();
        let place = |line: u64| sources[usize::try_from(line).expect("a small file") - 1].as_str().unwrap_or_default();
        let (calls, ledger) = assembled(&lines);
        assert_eq!((ledger.orphans, ledger.unanswered, ledger.duplicates), (0, 0, 0), "{}", file.display());
        for call in calls {
            let asked = place(call.place.line);
            let (message, nth) = asked.rsplit_once("].tool_calls[").expect("the place of a call");
            let (run, message) = message.rsplit_once('[').expect("the place of a message");
            let number = |text: &str| text.trim_end_matches(']').parse::<usize>().expect("a number");
            let expected = format!("{run}[{}]", number(message) + number(nth) + 1);
            let [answer] = call.answers.as_slice() else { panic!("{asked} has {} answers", call.answers.len()) };
            assert_eq!(place(answer.place.line), expected, "the answer to {asked}");
        }
    }
}
