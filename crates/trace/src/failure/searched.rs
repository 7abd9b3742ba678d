//! Answers that begin like failures: what somebody looked for and is not there, a limit, and a count. Knows no failures.

use std::sync::LazyLock;

use super::patterns::{self, LazySet, any_matches};
use super::tool_name::{acts, is_writer};

/// Answers that are no failures: what one hopes not to find, or to find nothing better than; a limit that holds.
const GOOD: [&str; 4] = [
    r"(?i)^((i|we) )?(could not|couldn't|did not|didn't|(was |were )?unable to) find any (matching |relevant )?(hits|matches|results)\b[^\n]{0,160}$",
    r"(?i)^((i|we) )?(could not|couldn't|cannot|can't|did not|didn't|failed to|(was |were |am |are )?unable to) (find|see|detect|identify|spot) (any|an|a) ([\w-]+ ){0,2}(errors?|problems?|issues?|bugs?|mistakes?|faults?|defects?|conflicts?|discrepanc(y|ies)|vulnerabilit(y|ies)|duplicates?)( (in|on|with|for|of|at) [^\n:;.]{1,80})?\s*([.!;]|$)",
    r"(?i)^((i|we) )?(could not|couldn't|cannot|can't|did not|didn't|(was |were |am |are )?unable to) find (any|an|a) ((outstanding|overdue|unpaid)( [\w-]+){1,3}|(cheaper|better|faster|earlier)( [\w-]+){1,4})\s*([.!;,]|$)",
    r"(?i)^[\w -]{0,20}limits?\s*[:=]\s*\d[\d.,]*( [\w-]+){0,2}( per | an? | every |/)(s|sec|second|min|minute|h|hour|day|week|month)s?[.)]?\s*$",
];

/// Answers that may be failures: nothing that was looked for was found, or so many things are wrong.
const DOUBTFUL: [&str; 2] = [
    r"(?i)^((i|we) )?(could not|couldn't|cannot|can't|(was |were |am |are )?unable to) find any [^\n:;.]{1,100}[.!]?\s*$",
    r"(?i)^(invalid|missing|denied|rejected|failed) \w+s\s*[:=]\s*\d{1,4}\s*$",
];

static GOOD_SET: LazySet = LazyLock::new(|| patterns::set(GOOD));
static DOUBTFUL_SET: LazySet = LazyLock::new(|| patterns::set(DOUBTFUL));

/// Whether a text that begins like a failure is an answer.
pub(super) fn is_good(text: &str) -> bool {
    any_matches(&GOOD_SET, text)
}

/// Whether a text that begins like a failure may be an answer.
pub(super) fn is_doubtful(text: &str, tool: Option<&str>) -> bool {
    // A tool that changes something needed what it did not find.
    let changes = tool.is_some_and(|tool| is_writer(tool) || acts(tool));
    (!changes || !text.to_ascii_lowercase().contains("find any")) && any_matches(&DOUBTFUL_SET, text)
}
