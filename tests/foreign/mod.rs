//! Foreign sources as a user has them: small samples of every format, the worked example of a mapping, and, on
//! machines that have them, real recordings against an independent count.

mod example;
mod samples;
mod suspected;
mod tools;
mod traces;

pub use traces::recordings;

use std::path::{Path, PathBuf};

use playproof_engine::call::RecordedCall;
use playproof_intake::assemble::{AssembleOptions, InputLedger};
use playproof_intake::builtin::{FormatOptions, detect};
use playproof_intake::imported::Imported;
use playproof_intake::input::TraceInput;
use playproof_intake::redact::RedactionRules;

/// A file of the repository.
fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The import of a file whose format is detected.
pub fn imported(path: &Path) -> Imported {
    let bytes = std::fs::read(path).expect("a readable file");
    let head = bytes.get(..bytes.len().min(64 << 10)).expect("a beginning");
    let names = |bytes: &[u8]| detect(bytes).iter().map(|format| format.name).collect::<Vec<_>>();
    assert_eq!(names(head), names(&bytes), "the beginning tells the format of {}", path.display());
    let format = detect(&bytes).into_iter().next().expect("a known format");
    let read = format.read(&bytes, &path.display().to_string(), FormatOptions::default(), &RedactionRules::default());
    read.unwrap_or_else(|report| panic!("{report}"))
}

/// What our own reader makes of the lines: the calls with their answers, and the account of every line.
fn assembled(lines: &[u8]) -> (Vec<RecordedCall>, InputLedger) {
    let mut calls = Vec::new();
    let (input, options) = (TraceInput::own("imported", lines), AssembleOptions::default());
    let read = input.each_call(0, options, &RedactionRules::default(), &|_| true, |closed| {
        calls.push(closed.raw().clone());
    });
    let ledger = read.unwrap_or_else(|error| panic!("{error:?}"));
    assert!(ledger.balances(), "{ledger:?}");
    (calls, ledger)
}

/// Calls, results and failures as our own reader counts them.
fn read_back(lines: &[u8]) -> (u64, u64, u64) {
    let (calls, ledger) = assembled(lines);
    let orphans = ledger.orphans + ledger.duplicates + ledger.surplus;
    let failed = calls.iter().flat_map(|call| &call.answers).filter(|answer| answer.reply.is_failure()).count();
    (ledger.calls, ledger.attached + orphans, failed as u64)
}
