//! Whether a drafted mapping reads a recording as its author would: its tools are tools, and it sees the failures.

use crate::failure::{Assessment, ToolResult, assess};
use crate::imported::Imported;
use crate::json;

/// What is wrong with a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DraftDoubt {
    /// Its tool is the method of a protocol message.
    ProtocolMessage(String),
    /// It finds no failure, and so many of so many results look like one.
    NoFailures {
        /// Results that look like failures.
        looking: u64,
        /// Results whose text is known.
        of: u64,
    },
}

/// One result in so many looks like a failure, and none is one: then the draft misses the failures.
const SHARE: u64 = 5;

/// What is wrong with the draft that read `imported`.
pub fn doubt(imported: &Imported) -> Option<DraftDoubt> {
    let lines = imported.lines.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
    let mut tools = lines.filter_map(|line| Some(json::object(json::parse(line).ok()?)?.text("tool")?.into_owned()));
    if let Some(method) = tools.find(|tool| is_protocol(tool)) {
        return Some(DraftDoubt::ProtocolMessage(method));
    }
    let (mut looking, mut of) = (imported.loss.suspected, imported.loss.suspected);
    for text in imported.origins.ok_texts() {
        let seen = assess(&ToolResult { body: Some(text), ..ToolResult::default() });
        looking += u64::from(seen != Assessment::Ok);
        of += 1;
    }
    (imported.loss.failures == 0 && looking > 0 && looking * SHARE >= of)
        .then_some(DraftDoubt::NoFailures { looking, of })
}

/// Whether a name is the method of a message of MCP.
fn is_protocol(tool: &str) -> bool {
    const METHODS: [&str; 7] = [
        "tools/call",
        "tools/list",
        "resources/read",
        "resources/list",
        "prompts/get",
        "prompts/list",
        "completion/complete",
    ];
    METHODS.contains(&tool) || tool.starts_with("notifications/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::imported::LossReport;
    use crate::origin::Origins;

    /// A draft that read calls of `tool`, of which `failures` failed and the others have `oks`.
    fn read(tool: &str, oks: &[&str], failures: u64) -> Imported {
        let mut origins = Origins::default();
        oks.iter().for_each(|text| origins.push_ok(text));
        let lines = format!("{{\"tool\":\"{tool}\"}}\n{{\"call_id\":\"1\"}}\n").into_bytes();
        Imported { lines, origins, loss: LossReport { failures, ..LossReport::default() } }
    }

    #[test]
    fn a_message_of_a_protocol_is_no_tool() {
        let of = |tool| doubt(&read(tool, &[], 0));
        assert_eq!(of("tools/call"), Some(DraftDoubt::ProtocolMessage("tools/call".to_owned())));
        assert_eq!(
            of("notifications/progress"),
            Some(DraftDoubt::ProtocolMessage("notifications/progress".to_owned()))
        );
        assert_eq!((of("tools/hammer"), of("ping")), (None, None));
    }

    #[test]
    fn a_fifth_of_results_that_look_like_failures_is_a_doubt_if_none_failed() {
        let (four, five) = (["Error: a", "ok", "ok", "ok", "ok"], ["Error: a", "ok", "ok", "ok", "ok", "ok"]);
        assert_eq!(doubt(&read("pay", &four, 0)), Some(DraftDoubt::NoFailures { looking: 1, of: 5 }));
        assert_eq!((doubt(&read("pay", &five, 0)), doubt(&read("pay", &four, 1))), (None, None));
    }
}
