//! The binary as a user meets it: in a folder of its own, with a cleaned environment.

mod bad_input;
mod explain;
mod explain_intent;
mod feedback;
mod impact;
mod mine;
mod pages;
mod places;
mod same_bytes;
mod suggested;

use std::path::Path;

use assert_cmd::Command;
use tempfile::TempDir;

/// A refund that was retried by the harness, a search that failed, and a denial that was sent again.
const TRACE: &str = r#"{"type":"tool_call","run_id":"r1","call_id":"c1","tool":"payments.issue_refund","at_ms":0,"args":{"order":"o_91","amount":4200}}
{"type":"tool_result","run_id":"r1","call_id":"c1","attempt":1,"at_ms":5000,"status":"error","error":{"kind":"timeout","message":"no answer within 5000 ms"}}
{"type":"tool_result","run_id":"r1","call_id":"c1","attempt":2,"started_ms":5200,"at_ms":5900,"status":"ok"}
{"type":"tool_call","run_id":"r1","call_id":"c2","tool":"search.web","at_ms":6000,"args":{"q":"refund policy"}}
{"type":"tool_result","run_id":"r1","call_id":"c2","at_ms":6100,"status":"error","error":{"kind":"5xx","status":503,"message":"unavailable"}}
{"type":"tool_call","run_id":"r2","call_id":"c1","tool":"crm.close","at_ms":6000,"args":{"id":7},"idempotency_key":"k7"}
{"type":"tool_result","run_id":"r2","call_id":"c1","attempt":1,"at_ms":6100,"status":"error","error":{"kind":"403_forbidden","message":"not allowed"}}
{"type":"tool_result","run_id":"r2","call_id":"c1","attempt":2,"at_ms":6200,"status":"error","error":{"kind":"403_forbidden","message":"not allowed"}}
"#;

/// What the binary did.
struct Run {
    code: i32,
    out: String,
    err: String,
}

/// A folder for one test.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(TempDir::new().expect("a temporary folder"))
    }

    /// A place with the trace of this file.
    fn with_trace() -> Place {
        let place = Place::new();
        place.write("trace.jsonl", TRACE);
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path().join(name), content).expect("a file");
    }

    /// Copies a fixture of the repository here.
    fn copy_fixture(&self, name: &str) {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name);
        std::fs::copy(&from, self.path().join(name)).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = assert_cmd::cargo::cargo_bin_cmd!("playproof");
        command.env_clear().current_dir(self.path()).args(args);
        command
    }

    fn run(&self, args: &[&str]) -> Run {
        self.run_with(args, "")
    }

    fn run_with(&self, args: &[&str], stdin: &str) -> Run {
        let output = self.command(args).write_stdin(stdin).output().expect("the binary runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Run { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }
}
