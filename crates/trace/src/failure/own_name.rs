//! What a tool says in its own name: `query_all requires confirmation`, `read: /a: no such file`. Knows no words of other
//! speakers.

use std::sync::LazyLock;

use super::deeds::tells_a_deed_later;
use super::excerpt::SHORT;
use super::kinds::plain;
use super::patterns::{self, LazyPattern};
use super::tool_name::is_command_line;

/// What a tool says that it needs or does not do.
const REFUSES: &str = r"(?i)^( \w+[:=][`'\x22]?\w+[`'\x22]?)? ((was |is |has been )?(aborted|blocked|denied|refused|rejected)( (by|because|due)\b| *[:(.]|$)|requires? |needs |expects |expected |only (accepts?|allows|handles|reads|runs|supports|takes|works) |(must|should) (be|have|not) |(cannot|can't|could not|couldn't|must not|refuses to) |(does not|doesn't|did not|didn't) (?P<verb>\w+)|is (currently |temporarily )?(disabled|not|only|restricted|unavailable)\b|has been disabled\b|was called without\b|(failed|timed out|refused)( *[:.]|$| to | with | because | after ))";

static REFUSES_PATTERN: LazyPattern = LazyLock::new(|| patterns::one(REFUSES));

/// Whether a short message says in the name of the tool what it needs, or that it did not do what it was asked for.
pub(super) fn refuses(text: &str, tool: Option<&str>) -> bool {
    let is_short = text.len() <= SHORT && text.lines().count() <= 4 && !tool.is_some_and(is_command_line);
    // `This tool requires ...`, `Invalid ask_all call: ...`
    let after_this = || {
        let rest = text.strip_prefix("This ").or_else(|| text.strip_prefix("The "))?;
        ["tool", "function", "command"].iter().find_map(|word| rest.strip_prefix(word)).filter(|_| is_short)
    };
    let is_invalid = || {
        let rest = ["Invalid ", "Malformed "].iter().find_map(|word| text.strip_prefix(word))?;
        after_name(rest, tool)
            .filter(|rest| [" call", " arguments", " input", " request"].iter().any(|word| rest.starts_with(word)))
    };
    // `The source for ask_all is unavailable.`
    let is_away = || {
        let words = ["unavailable", "not available", "disabled", "not enabled", "offline"];
        // The subject, with which the text begins, names the tool.
        let names = |subject: &str| {
            let is_subject = !subject.contains([';', ',', ':', '.', '\n']);
            let begins = tool.is_some_and(|tool| subject.starts_with(tool)) || subject.starts_with("The ");
            is_subject && begins && tool.is_some_and(|tool| tool.contains(['_', '-']) && subject.contains(tool))
        };
        let is_away = |(is, word): (&str, &str)| {
            text.split_once(&format!(" {is} {word}")).is_some_and(|(subject, _)| names(subject))
        };
        is_short && words.iter().any(|word| is_away(("is", word)) || is_away(("are", word)))
    };
    let rest = after_name(text, tool).or_else(after_this);
    let says = rest.is_some_and(is_refusal) || is_invalid().is_some() || is_away();
    says && !tells_a_deed_later(text, tool)
}

/// Whether what follows the name of a tool refuses. What it leaves out of an answer refuses nothing.
fn is_refusal(rest: &str) -> bool {
    const ANSWERS: [&str; 7] = ["contain", "count", "cover", "include", "list", "return", "show"];
    let refusal = REFUSES_PATTERN.as_ref().and_then(|refuses| refuses.captures(rest));
    refusal.is_some_and(|found| !found.name("verb").is_some_and(|verb| ANSWERS.contains(&verb.as_str())))
}

/// The words of a short message behind the name of the tool and a colon.
pub(super) fn said<'t>(text: &'t str, tool: Option<&str>) -> Option<&'t str> {
    // A label in other letters may be of what was given: `Echo: Error: x` of `echo`.
    let is_as_called = tool.is_some_and(|tool| text.starts_with(tool)) || text.split(':').next()?.contains('_');
    after_name(text, tool)?.strip_prefix(": ").filter(|_| is_as_called).map(str::trim_start)
}

/// What follows the name of the tool at the start of a short message. Without the first words of the name, what is left must
/// be no plain word.
fn after_name<'t>(text: &'t str, tool: Option<&str>) -> Option<&'t str> {
    let tool = tool.filter(|tool| !is_command_line(tool))?;
    if text.len() > SHORT || text.lines().count() > 4 {
        return None;
    }
    let text = text.strip_prefix(['`', '\'', '"']).unwrap_or(text);
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "_-./".contains(c)))?;
    let (name, rest) = text.split_at_checked(end)?;
    let (own, called) = (plain(name), plain(tool));
    let is_own = own == called || name.contains(['_', '-']) && own.len() > 4 && called.ends_with(&own);
    is_own.then(|| rest.strip_prefix(['`', '\'', '"']).unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_tool_says_of_itself_refuses_the_call() {
        for (tool, text) in [
            ("wipe_all", "wipe_all requires explicit confirmation. Set \"confirmed\": true."),
            ("ask_rows", "ask_rows only accepts questions about rows"),
            ("mobile_get_notes", "get_notes requires a .txt file, got: \"(none)\""),
            ("mcp__shop__sell", "`sell` failed: closed"),
            ("close_gate", "close_gate does not work at night"),
            ("close_gate", "close_gate blocked by policy: night"),
            ("close_gate", "This tool requires a smith."),
            ("close_gate", "Invalid close_gate call: gates must have one item"),
            ("close_gate", "The smith of close_gate is unavailable."),
            ("close_gate", "close_gate mode:\"soft\" requires `hinge`"),
        ] {
            assert_eq!(refuses(text, Some(tool)), tool != "mcp__shop__sell", "{tool}: {text}");
        }
        for (tool, text) in [
            ("wipe_all", "wipe_all removed 3 rows"),
            ("wipe_all", "wipe_all: 3 rows removed"),
            ("wipe_all", "wiping requires confirmation"),
            ("read", "reading requires light"),
            ("wipe_all", "other_tool requires confirmation"),
            ("bash", "bash requires a terminal"),
            ("bash", "This tool requires a smith."),
            ("close_gate", "This tool is for smiths."),
            ("close_gate", "close_gate blocked the road"),
            ("deploy_app", "deploy_app needs 3 minutes; started"),
            ("send_all", "send_all expects a delay of 3 minutes; queued"),
            ("open_account", "open_account requires approval: request 7 created"),
            ("start_export", "This tool only supports CSV; exported as CSV."),
            ("deploy_app", "deploy_app only runs on weekdays. Scheduled for Monday."),
            ("sync_all", "Synced 3 sources; two services of sync_all are offline"),
            ("get_user", "get_user does not return deleted users: Ada, Bob"),
            ("block_user", "block_user denied by policy: no, user blocked"),
        ] {
            assert!(!refuses(text, Some(tool)), "{tool}: {text}");
        }
        assert_eq!(said("read: /a: no such file", Some("read")), Some("/a: no such file"));
        assert_eq!(said("read: /a: no such file", Some("list")), None);
        assert_eq!(said("Echo: Error: not really", Some("echo")), None);
    }
}
