//! Foreign sources as a user has them: small samples of every format, the worked example of a mapping, and, on
//! machines that have them, real recordings against an independent count.

mod example;
mod samples;
mod traces;

use std::path::{Path, PathBuf};

use playproof::trace::import::{Imported, detect, import};
use playproof::trace::wire::{Line, parse_line};

/// A file of the repository.
fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The import of a file whose format is detected.
fn imported(path: &Path) -> Imported {
    let bytes = std::fs::read(path).expect("a readable file");
    let head = bytes.get(..bytes.len().min(64 << 10)).expect("a beginning");
    assert_eq!(detect(head), detect(&bytes), "the beginning tells the format of {}", path.display());
    let format = detect(&bytes).expect("a known format");
    import(format, &bytes, &path.display().to_string()).unwrap_or_else(|report| panic!("{report}"))
}

/// Calls, results and failures as our own reader understands the lines.
fn read_back(lines: &[u8]) -> (u64, u64, u64) {
    let (mut calls, mut results, mut failures) = (0, 0, 0);
    for line in std::str::from_utf8(lines).expect("text").lines() {
        match parse_line(line).expect("a line of a trace").line {
            Line::Call(_) => calls += 1,
            Line::Answer(answer) => {
                results += 1;
                failures += u64::from(answer.answer.reply != playproof::trace::model::Reply::Ok);
            }
            Line::RunEnd(run) => assert!(run.is_some(), "a run has a name"),
            other => panic!("an import does not write {other:?}"),
        }
    }
    (calls, results, failures)
}
