//! What agent programs and frameworks tell a model of a call that failed, in words of their own.

use std::sync::LazyLock;

use super::patterns::{self, LazySet};

/// Beginnings, by who says so.
pub(super) const STARTS: [&str; 12] = [
    // Claude Code and Codex
    r"^MCP tool \x22[^\x22\n]+\x22 response \(\d+ tokens\) exceeds|^File content \(\d+ tokens\) exceeds",
    r"^approval policy is \w+; reject command",
    // Cline and Roo
    r"^Command executed in terminal\b[^\n]{0,300}Command execution was not successful",
    // opencode
    r"^[A-Z]\w+: FileSystem\.\w+ \(|^The \S+ tool was called with invalid arguments\b",
    // Gemini CLI and Qwen Code
    r"(?i)^(params|parameters|arguments|args|input)(/[\w/]+)? must (be|have|match|not)\b|^error\(s\) (in|during|while) \w",
    r"^[\w ]{1,30} requires permission to use \S+, but that permission was (declined|denied)\b|^Unauthorized tool call: ",
    // mini-swe-agent and Aider
    r"^Please always provide EXACTLY ONE action\b|^<exception>\S",
    r"^UnifiedDiff[A-Z]\w+: |^# \d+ SEARCH/REPLACE blocks? failed to match",
    // LangChain and CrewAI
    r"(?i)^could not find \[[^\]\n]{1,200}\]\.? similar:|^[^\n]{1,400} is not a valid tool, try (another|one of)\b",
    r"^I encountered an error( while trying to use the tool\b|: )",
    // Semantic Kernel, AutoGen and CAMEL
    r"(?i)^the tool call arguments (are|were) (invalid|malformed)\b|^received unexpected arguments?(\(s\))?: ",
    r"(?i)^executed the (code|command) below:\n[^>]{1,400}> executed results:\s*\((stderr: |'', )",
];

/// The last lines by which programs tell a model that its call failed.
const LAST_LINES: [&str; 4] = [
    "\n\nFix the errors and try again.",
    "\nCommand aborted",
    "\n^^^ Expected `=======`",
    "\n^^^ Expected `>>>>>>> REPLACE` or `=======`",
];

/// The line by which opencode tells that it ended a command behind its output.
const TERMINATED: &str = "<shell_metadata>\nshell tool terminated command after exceeding timeout";

static START_SET: LazySet = LazyLock::new(|| patterns::set(STARTS));

/// Whether a text begins with what a program tells of a failure.
pub(super) fn says(start: &str) -> bool {
    patterns::any_matches(&START_SET, start)
}

/// Whether a text ends with what a program tells of a failure.
pub(super) fn ends(text: &str) -> bool {
    let text = text.trim_end();
    LAST_LINES.iter().any(|line| text.ends_with(line)) || text.contains(TERMINATED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_tells_of_a_failure_is_one() {
        for text in [
            "File content (10798 tokens) exceeds the limit",
            "approval policy is Never; reject command — no",
            "Command executed in terminal  within '/a'. Command execution was not successful, look at it.",
            "The read tool was called with invalid arguments: x",
            "params/depth must be >= 1",
            "Qwen Code requires permission to use \"a\", but that permission was declined.",
            "Please always provide EXACTLY ONE action in triple backticks, found 0 actions.",
            "# 1 SEARCH/REPLACE block failed to match!\n\n## Why",
            "Could not find [Ada]. Similar: ['Ada B', 'Ada C']",
            "I encountered an error: Action 'a' does not exist",
            "Received unexpected argument(s): ['a']",
            "Executed the code below:\n```python\nprint(1/0)\n```\n> Executed Results:\n(stderr: Traceback",
        ] {
            assert!(says(text), "{text}");
        }
        for text in ["hi\n\nFix the errors and try again.", "a\n\nCommand aborted\n"] {
            assert!(ends(text), "{text}");
        }
    }

    #[test]
    fn texts_that_share_some_of_the_words_are_none() {
        for text in
            ["The read tool was called", "params/depth is 1", "Executed the code below:\n1\n> Executed Results:\n1"]
        {
            assert!(!says(text) && !ends(text), "{text}");
        }
    }
}
