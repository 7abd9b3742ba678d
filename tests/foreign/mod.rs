//! Foreign sources as a user has them: small samples of every format, the worked example of a mapping, and, on
//! machines that have them, real recordings against an independent count.

mod example;
mod samples;
mod tools;
mod traces;

use std::path::{Path, PathBuf};

use playproof_engine::call::{RecordedCall, Reply};
use playproof_trace::assemble::{AssembleOptions, Assembler, InputLedger};
use playproof_trace::import::{Imported, detect, import};
use playproof_trace::pieces::Chunks;
use playproof_trace::read::digest;
use playproof_trace::redact::RedactionRules;

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

/// What our own reader makes of the lines: the calls with their answers, and the account of every line.
fn assembled(lines: &[u8]) -> (Vec<RecordedCall>, InputLedger) {
    let mut closed = Vec::new();
    let mut assembler = Assembler::new(0, "imported", AssembleOptions::default(), &|_| true);
    let mut chunks = Chunks::new(lines);
    while let Some(piece) = chunks.next(Vec::new()).expect("bytes in memory") {
        let digest = digest(&piece, &RedactionRules::default());
        assembler.take(digest, &mut closed).unwrap_or_else(|report| panic!("{report}"));
    }
    let (ledger, _) = assembler.finish(&mut closed);
    assert!(ledger.balances(), "{ledger:?}");
    (closed.iter().map(|closed| closed.raw().clone()).collect(), ledger)
}

/// Calls, results and failures as our own reader counts them.
fn read_back(lines: &[u8]) -> (u64, u64, u64) {
    let (calls, ledger) = assembled(lines);
    let orphans = ledger.orphans + ledger.duplicates + ledger.surplus;
    let failed = calls.iter().flat_map(|call| &call.answers).filter(|answer| answer.reply != Reply::Ok).count();
    (ledger.calls, ledger.attached + orphans, failed as u64)
}
