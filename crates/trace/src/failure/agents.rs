//! What agent programs and frameworks tell a model of a call that failed, in words of their own.

use std::sync::LazyLock;

use super::excerpt::{EXAMINED, cut, end_of};
use super::patterns::{self, LazySet};
use super::tool_name::is_reader;

/// The most lines of a text of a tool that reads.
const MOST_LINES: usize = 6;

/// Beginnings, by who says so.
pub(super) const STARTS: [&str; 16] = [
    // Claude Code and Codex
    r"^Ripgrep search timed out after \d+ seconds|^MCP tool \x22[^\x22\n]+\x22 response \(\d+ tokens\) exceeds|^File content \(\d+ tokens\) exceeds",
    r"^approval policy is \w+; reject command|^`(?s:.{1,500}?)` rejected: \S",
    // Cline and Roo
    r"^Command executed in terminal\b[^\n]{0,300}Command execution was not successful",
    r"^Skipping tool \[[^\n]{1,300}\] due to user rejecting a previous tool\b",
    // opencode
    r"^[A-Z]\w+: FileSystem\.\w+ \(|^The \S+ tool was called with invalid arguments\b",
    // Gemini CLI and Qwen Code
    r"(?i)^(params|parameters|arguments|args|input)(/[\w/]+)? must (be|have|match|not)\b|^error\(s\) (in|during|while) \w",
    r"^\[Operation Cancelled\] |^[\w ]{1,30} requires permission to use \S+, but that permission was (declined|denied)\b|^Unauthorized tool call: ",
    // mini-swe-agent and Aider
    r"^Please always provide EXACTLY ONE action\b|^<exception>An error occurred",
    r"^UnifiedDiff[A-Z]\w+: |^# \d+ SEARCH/REPLACE blocks? failed to match",
    // LangChain and CrewAI
    r"(?i)^could not find \[[^\]\n]{1,200}\]\.? similar:|^[^\n]{1,400} is not a valid tool, try (another|one of)\b",
    r"^(I|It seems we) encountered an (unexpected )?error( while trying to use the tool\b|: )|^I tried reusing the same input, I must stop using this action input\b",
    // smolagents
    r"^Failed\. Please try another strategy\.",
    // programs that hand an MCP tool on
    r"^executing action: calling MCP tool [^\n]{1,200}: tool returned an error$",
    // Strands and the server of Sentry, whose heading was in bold
    r"^Execution Summary:\nTotal commands: \d+\nSuccessful: 0\nFailed: [1-9]|^(\w+ ){1,2}Error\*\*\n",
    // Semantic Kernel, AutoGen and CAMEL
    r"(?i)^the tool call arguments (are|were) (invalid|malformed)\b|^received unexpected arguments?(\(s\))?: ",
    r"(?i)^executed the (code|command) below:\n(?s:.{1,400}?)\n> executed results:\s*\((stderr: |'', )",
];

/// The last lines by which programs tell a model that its call failed.
const LAST_LINES: [&str; 4] = [
    "\n\nFix the errors and try again.",
    "\nCommand aborted",
    "\n^^^ Expected `=======`",
    "\n^^^ Expected `>>>>>>> REPLACE` or `=======`",
];

/// The lines by which opencode tells that a command was ended, behind its output.
const ENDED: [&str; 3] = [
    "<shell_metadata>\nshell tool terminated command after exceeding timeout",
    "<bash_metadata>\nbash tool terminated command after exceeding timeout",
    "_metadata>\nUser aborted the command",
];

static START_SET: LazySet = LazyLock::new(|| patterns::set(STARTS));

/// Whether a text begins with what a program tells of a failure.
pub(super) fn says(text: &str, tool: Option<&str>) -> bool {
    let is_of_framework =
        || ["I encountered an error", "It seems we encountered an"].iter().any(|head| text.starts_with(head));
    (is_told(text, tool) || is_of_framework()) && patterns::any_matches(&START_SET, cut(text, EXAMINED))
}

/// Whether a text can be the program's own: not what a tool reads, unless it is short.
fn is_told(text: &str, tool: Option<&str>) -> bool {
    !tool.is_some_and(is_reader) || text.lines().count() <= MOST_LINES
}

/// Whether a text ends with what a program tells of a failure.
pub(super) fn ends(text: &str, tool: Option<&str>) -> bool {
    let text = text.trim_end();
    let last = end_of(text, EXAMINED);
    is_told(text, tool)
        && (LAST_LINES.iter().any(|line| text.ends_with(line)) || ENDED.iter().any(|line| last.contains(line)))
}

#[cfg(test)]
mod tests {
    use std::ops::Add;

    use super::*;

    #[test]
    fn what_a_program_tells_of_a_failure_is_one() {
        for text in [
            "Ripgrep search timed out after 20 seconds. The search may have matched files but did not complete in time.",
            "It seems we encountered an unexpected error while trying to use the tool. This was the error: a",
            "File content (10798 tokens) exceeds the limit",
            "approval policy is Never; reject command — no",
            "`cmd /c \"dir\n/a\"` rejected: blocked by policy",
            "[Operation Cancelled] Reason: User cancelled the operation.",
            "Failed. Please try another strategy. \nException:\n Code execution failed at line 'x'",
            "Command executed in terminal  within '/a'. Command execution was not successful, look at it.",
            "The read tool was called with invalid arguments: x",
            "params/depth must be >= 1",
            "Qwen Code requires permission to use \"a\", but that permission was declined.",
            "Please always provide EXACTLY ONE action in triple backticks, found 0 actions.",
            "# 1 SEARCH/REPLACE block failed to match!\n\n## Why",
            "Could not find [Ada]. Similar: ['Ada B', 'Ada C']",
            "Skipping tool [edit for 'a'] due to user rejecting a previous tool.",
            "executing action: calling MCP tool \"a\" on server \"b\": tool returned an error",
            "I encountered an error: Action 'a' does not exist",
            "Execution Summary:\nTotal commands: 1\nSuccessful: 0\nFailed: 1\nCommand: x",
            "MCP tool \"a\" response (35000 tokens) exceeds the limit",
            "NotFound: FileSystem.access (/a)",
            "Error(s) in prompt URLs:\n- a",
            "Unauthorized tool call: 'a' is not available to this agent.",
            "UnifiedDiffNoMatch: hunk failed to apply!",
            "<exception>An error occurred while executing the command: a</exception>",
            "The tool call arguments are malformed.",
            "# 2 SEARCH/REPLACE blocks failed to match!",
            "Received unexpected argument(s): ['a']",
            "Executed the code below:\n```python\nprint(1/0)\n```\n> Executed Results:\n(stderr: Traceback",
        ] {
            assert!(says(text, Some("edit")), "{text}");
        }
        for text in [
            "(no output)\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>",
            "a\n\n^^^ Expected `=======`",
            "hi\n\nFix the errors and try again.",
            "a\n\nCommand aborted\n",
        ] {
            assert!(ends(text, Some("bash")) && !ends(&"a\n".repeat(9).add(text), Some("read_file")), "{text}");
        }
    }

    #[test]
    fn texts_that_share_some_of_the_words_are_none() {
        for text in [
            "The read tool was called",
            "params/depth is 1",
            "`a` was rejected: read `b`",
            "Failed. Please see `b`",
            "Executed the code below:\n1\n> Executed Results:\n1",
        ] {
            assert!(!says(text, Some("edit")) && !ends(text, Some("edit")), "{text}");
        }
    }
}
