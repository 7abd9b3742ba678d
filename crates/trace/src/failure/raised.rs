//! Whether an exception of the tool's own code is all that tells of a failure. Names no kinds.

use std::sync::LazyLock;

use super::excerpt::{EXAMINED, cut};
use super::patterns::{self, LazyPattern};
use super::undone;

/// The error code of a failure of which only an exception tells: the tool may have acted before it was raised.
pub(super) const TOOL_RAISED: &str = "tool_raised";

/// Whether `message` begins with the name of an exception, an error number of the system, or the words with which
/// frameworks for tools report one; or is what an interpreter says without a name, such as the key that was missing.
pub(super) fn is_raised(message: &str) -> bool {
    static RAISED: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?x)^(?:[Ee]rror:\s*)?(?:
                (?i:error\s(?:executing|calling|invoking|running)\s(?:the\s)?tool\b)
              | (?i:(?:an\s)?(?:unexpected\s)?error\soccurred\s(?:while|when)\s(?:running|executing|calling|invoking)\b)
              | (?i:(?:tool|function|execution)\s(?:execution\s|call\s)?failed\b)
              | (?i:failed\sto\s(?:invoke|execute|call|run)\s(?:the\s)?(?:tool|function)\b)
              | (?i:execution\serror\s(?:in|of|while)\b)
              | (?i:mcp\serror\s-32603\b)
              | Traceback\s\(most\srecent\scall\slast\)
              | (?:[A-Za-z_]\w*(?:\.|::))*(?:[A-Z]\w*(?:Error|Exception|Expired)|Exception)(?:\s*(?:[:(]|$)|\s-\s)
              | E(?:BADF|BUSY|EXIST|INVAL|ISDIR|LOOP|MFILE|NOSPC|NOTDIR|NOTEMPTY|ROFS|SRCH|XDEV):\s
              | \[Errno\s-?\d+\]\s
              | (?i:the\stool\s(?:execution\s)?failed\swith\s(?:the\sfollowing\serror|an?\s\w*(?:error|exception)):)
              | '[^'\n]{1,60}'$
              # how tools word an exception that they caught: what they did, a colon, and the words of the exception
              | (?i:(?:failed|unable)\sto\s[a-z]+\b[^:\n]{0,120}:\s+\S)
              | (?i:(?:could\snot|couldn't)\s[a-z]+\b[^:\n]{0,120}:\s+\S)
              | (?i:error\s(?:while\s|when\s|during\s)?[a-z]+(?:ing|ion)\b[^:\n]{0,120}:\s+\S)
              | (?i:[\w-]+(?:\s[\w-]+){0,3}\s(?:failed|raised):\s+\S)
            )",
        )
    });
    let text = cut(message.trim(), EXAMINED).trim_start_matches(['❌', '✗', '✘', '💥', '⚠', '\u{fe0f}', ' ']);
    patterns::matches(&RAISED, text) || undone::is_nameless(text)
}

/// The message of an exception that is printed in front of its traceback: `ConflictError('taken')Traceback ...`.
pub(super) fn message_before_traceback(text: &str) -> Option<&str> {
    let (printed, _) = text.split_once(")Traceback (most recent call last)")?;
    let (name, quoted) = printed.split_once('(')?;
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
    let mark = quoted.chars().next().filter(|mark| is_name && matches!(mark, '\'' | '"'))?;
    let message = quoted.strip_prefix(mark)?.strip_suffix(mark)?;
    (!message.contains([mark, '\\'])).then_some(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_of_a_tool_is_known_by_how_it_is_reported() {
        for raised in [
            "Error executing tool git_show: Ref 'deadbeef' did not resolve to an object",
            "An error occurred while running the tool. Please try again.",
            "Tool execution failed. Error details are redacted.",
            "Failed to invoke Tool `look_up` with parameters {}. Error: 'B-9'",
            "Function failed.",
            "MCP error -32603: the file has no page 7",
            "ZeroDivisionError('division by zero')\n Please fix your mistakes.",
            "Error: sqlite3.IntegrityError: NOT NULL constraint failed: users.email",
            "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'x'",
            "EISDIR: illegal operation on a directory, read",
            "[Errno 21] Is a directory: 'src'",
            "ValueError: nights must be at least 1",
            "An error occurred when calling tool `book`:\nKeyError: 'x'\nTraceback: ...",
            "The tool execution failed with the following error:\n<error>\n</error>",
            "'B-999'",
            "KeyError - 'B-999'",
            "list index out of range",
            "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
            "Failed to generate PDF: the renderer is gone",
            "❌ Error exporting the report: out of memory",
            "Could not load the page: net::ERR_ABORTED",
            "run_script failed: boom",
        ] {
            assert!(is_raised(raised), "{raised}");
        }
        for refusal in [
            "order o_91 not found",
            "Error: the refund failed",
            "An Exception to the rule: members pay half",
            "ERROR: permission denied for table users",
            "the tool execution failed",
            "failed to run the report",
            "could not send the mail",
            "Error exporting the report",
            "MCP error -32602: no such tool",
            "Exceptional circumstances: closed",
            "'express' is no shipping method",
        ] {
            assert!(!is_raised(refusal), "{refusal}");
        }
    }
}
