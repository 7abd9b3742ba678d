//! Tells that a call was held back or cut off: it waits for an approval, its program ended before its time, or words at its
//! start or end refuse it. Knows nothing of errors that a call reports in words of its own.

use std::sync::LazyLock;

use super::patterns::{self, LazyPattern, LazySet};
use super::tool_name::is_reader;

/// Whole short messages of this kind. Each names what was called or what ran: an order may wait for an approval too.
pub(super) const HELD: [&str; 6] = [
    // who runs the agent has not allowed the call
    r"(?i)^(this|the|your) ([\w-]+ ){0,3}(command|tool|tool call|tool use|function|function call|script|action|operation)\b[^\n]{0,300}\brequires? (an? )?((user|your|human|manual|explicit|prior) )*(approval|confirmation|permission|authorization|consent)\b",
    r"(?i)^[^\n]{1,300}\brequest(ed|s|ing)? (your )?(permissions?|approval|access)\b[^\n]{0,300}\b(you|user|it) (haven't|hasn't|have not|has not|did not|didn't) (been )?(grant|approv|allow|confirm)",
    r"(?i)^(permissions?|access) (to|for) \S[^\n]{0,200} (has|have|was|were)( been)? auto(matically)?[- ](denied|rejected|refused)\b",
    r"(?i)^(the )?(permission|access|approval) request( was| has been)? (denied|rejected|refused|declined)\b|^not (executed|performed|applied|run)\s*[:;—–]\s*[^\s\d]",
    r"(?i)^(unexpected|extra|unsupported) (argument|parameter|field|option)(s|\(s\))?\s*:\s*[^\s\d]",
    // the last words refuse, or blame the tool itself
    r"(?i)^[^\n]{1,160}[;–—] ?refusing( to [^\n]{1,80})?[.!]?$|^([\w.-]+ ){0,3}internal( server)? error[.!]?$",
];

/// A place that the tool may not enter.
pub(super) const OUTSIDE_WORKSPACE: &str = r"(?i)^(path not in workspace\b|(the )?(working )?(path|directory|file|folder|url)( ['\x22`]?[^\s'\x22`]+['\x22`]?)? (is|was|resolves|lies) (not (in|within|inside|under)|outside)( of)? (any |one |the |of |your )*([\w-]+ ){0,2}(workspace|allowed|permitted|registered|sandbox)\b[^\n,;]*$)";

/// What ran is gone, and with it the call.
const CUT_OFF: &str = r"(?i)^([\w'/.-]+ ){0,4}(process|server|agent|subagent|sub-agent|program|worker|sandbox|kernel|interpreter|shell|subprocess|browser|command|script)( \S+)? (was |has )?(been )?(terminated|stopped|aborted|crashed|exited|ended|died|quit|killed) (early|unexpectedly|prematurely|abnormally|(because of|due to|with|by) (an? )?([\w-]+ ){0,2}(error|exception|failure|crash|signal))\b";

static HELD_SET: LazySet = LazyLock::new(|| patterns::set(HELD.into_iter().chain([OUTSIDE_WORKSPACE])));
static CUT_OFF_PATTERN: LazyPattern = LazyLock::new(|| patterns::one(CUT_OFF));

/// Whether the message of a tool says that its call was held back or cut off. A tool that reads may tell of another program.
pub(super) fn is_held(text: &str, tool: Option<&str>) -> bool {
    let is_cut_off = || !tool.is_some_and(is_reader) && patterns::matches(&CUT_OFF_PATTERN, text);
    patterns::any_matches(&HELD_SET, text) || is_cut_off()
}
