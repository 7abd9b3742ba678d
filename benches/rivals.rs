//! Other programs that read the same lines: what a user would write instead.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Command;

use crate::timing::{self, Timing, best};

/// Another program.
pub struct Rival {
    /// What tables call it.
    pub name: &'static str,
    program: &'static str,
    /// Its arguments before the file.
    args: &'static [&'static str],
    /// Whether it reads traces of our own format alone.
    own_format: bool,
}

/// All of them.
pub const ALL: [Rival; 3] = [
    Rival {
        name: "a plain dispatcher on Node",
        program: "node",
        args: &[concat!(env!("CARGO_MANIFEST_DIR"), "/benches/dispatcher.mjs")],
        own_format: true,
    },
    Rival {
        name: "a loop of `json.loads` in Python",
        program: "python3",
        args: &["-c", "import json, sys\nfor line in open(sys.argv[1], encoding='utf-8'):\n    json.loads(line)"],
        own_format: false,
    },
    Rival { name: "`jq -c .`", program: "jq", args: &["-c", "."], own_format: false },
];

impl Rival {
    /// Whether it reads this file.
    pub fn takes(&self, path: &Path) -> bool {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let is_foreign = crate::foreign::Foreign::ALL.iter().any(|format| name.contains(format.name()));
        !(self.own_format && is_foreign)
    }

    /// What it takes; none if it is not installed.
    pub fn time(&self, path: &Path, runs: usize) -> Option<Timing> {
        let once = || timing::child(Command::new(self.program).args(self.args).arg(path));
        let all: Vec<Timing> = (0..runs).map_while(|_| once()).collect();
        (!all.is_empty()).then(|| best(all.into_iter()))
    }
}

/// Reads every line as a `serde_json::Value`, and counts their members.
pub fn values(path: &Path) -> u64 {
    let lines = BufReader::new(File::open(path).expect("the recording")).lines();
    let value = |line: std::io::Result<String>| serde_json::from_str(&line.expect("text")).expect("JSON");
    lines.map(value).map(|value: serde_json::Value| value.as_object().map_or(0, |all| all.len() as u64)).sum()
}
