//! The binary as a user meets it: in a folder of its own, with a cleaned environment.

mod audit;
mod bad_input;
mod confirm;
mod demo;
mod dispatchers;
mod envelopes;
mod explain;
mod explain_intent;
mod explain_shared;
mod facts;
mod find;
mod graph;
mod impact;
mod input_paths;
mod kept;
mod late_failures;
mod lint;
mod mapped;
mod mistakes;
mod outputs;
mod pages;
mod parts;
mod places;
mod recordings;
mod repeated;
mod same_bytes;
mod schema;
mod step_actions;
mod steps;
mod suggested;
mod verify;
mod writing;

use std::ops::Deref;
use std::path::PathBuf;

use crate::place::Ran as Run;

/// A refund that was retried by the harness, a search that failed, and a denial that was sent again.
pub const TRACE: &str = r#"{"type":"tool_call","run_id":"r1","call_id":"c1","tool":"payments.issue_refund","at_ms":0,"args":{"order":"o_91","amount":4200}}
{"type":"tool_result","run_id":"r1","call_id":"c1","attempt":1,"at_ms":5000,"status":"error","error":{"kind":"timeout","message":"no answer within 5000 ms"}}
{"type":"tool_result","run_id":"r1","call_id":"c1","attempt":2,"started_ms":5200,"at_ms":5900,"status":"ok"}
{"type":"tool_call","run_id":"r1","call_id":"c2","tool":"search.web","at_ms":6000,"args":{"q":"refund policy"}}
{"type":"tool_result","run_id":"r1","call_id":"c2","at_ms":6100,"status":"error","error":{"kind":"5xx","status":503,"message":"unavailable"}}
{"type":"tool_call","run_id":"r2","call_id":"c1","tool":"crm.close","at_ms":6000,"args":{"id":7},"idempotency_key":"k7"}
{"type":"tool_result","run_id":"r2","call_id":"c1","attempt":1,"at_ms":6100,"status":"error","error":{"kind":"403_forbidden","message":"not allowed"}}
{"type":"tool_result","run_id":"r2","call_id":"c1","attempt":2,"at_ms":6200,"status":"error","error":{"kind":"403_forbidden","message":"not allowed"}}
"#;

/// A folder for one test.
struct Place(crate::place::Place);

impl Deref for Place {
    type Target = crate::place::Place;

    fn deref(&self) -> &crate::place::Place {
        &self.0
    }
}

impl Place {
    fn new() -> Place {
        Place(crate::place::Place::new())
    }

    /// A place with the trace of this file.
    fn with_trace() -> Place {
        let place = Place::new();
        place.write("trace.jsonl", TRACE);
        place
    }

    fn path(&self) -> PathBuf {
        self.0.path("")
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        self.write_bytes(name, content.as_ref());
    }

    /// Copies a fixture of the repository here.
    fn copy_fixture(&self, name: &str) {
        self.copy(&format!("fixtures/{name}"), name);
    }
}
