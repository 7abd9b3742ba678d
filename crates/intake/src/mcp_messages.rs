//! MCP messages of calls that arrive one by one, read as the format `mcp-jsonrpc` reads them in a file; but on a connection
//! the flag of the protocol alone says what failed. Keeps nothing of successes.

use crate::builtin;
use crate::import::FormatOptions;
use crate::line_importer::LineImporter;
use crate::mapping::Applier;
use crate::reader_state::ReaderState;
use crate::redact::RedactionRules;
use crate::tool_hints::{self, HintsByTool};
use playproof_engine::time::Instant;

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
}

/// Reads the messages of a connection.
#[derive(Debug)]
pub struct McpMessages {
    applier: Applier,
    state: ReaderState,
    redaction: RedactionRules,
    number: usize,
}

impl McpMessages {
    /// A connection without messages; its lines are redacted. None: the program lacks the format.
    pub fn new(redaction: &RedactionRules) -> Option<McpMessages> {
        let options = FormatOptions { skip_invalid: true, ..FormatOptions::default() };
        let mapping = builtin::find("mcp-jsonrpc")?.applied(options)?.by_flags_outside("result.structuredContent");
        let (applier, state) = (Applier::new(&mapping, "-", redaction), ReaderState::default());
        Some(McpMessages { applier, state, redaction: redaction.clone(), number: 0 })
    }

    /// The trace lines that follow from a message of a run; a message that is none gives none.
    pub fn read(&mut self, way: Way, run: &str, at: Instant, message: &str) -> String {
        let way = match way {
            Way::ToServer => "to_server",
            Way::ToClient => "to_client",
        };
        let at = at.since(Instant::ZERO);
        let run = serde_json::Value::from(run);
        let row = format!("{{\"ts\":{at},\"session\":{run},\"direction\":\"{way}\",\"message\":{message}}}");
        self.number += 1;
        let _ = self.applier.line(&mut self.state, self.number, row.as_bytes()); // what is no message is nobody's call
        let lines = self.applier.lines().take_imported().lines;
        let lines = if lines.is_empty() { lines } else { self.redaction.lines_of_row(lines, self.number) };
        String::from_utf8_lossy(&lines).into_owned()
    }

    /// Learns what a list of tools says of them.
    pub fn learn_hints(&mut self, message: &str) {
        tool_hints::gather(message, &mut self.applier.loss().hints);
    }

    /// What the server's lists of tools say of them.
    pub fn hints(&self) -> &HintsByTool {
        &self.applier.loss_so_far().hints
    }
}
