//! Answers that begin like failures: what somebody looked for and is not there, a limit, and a count. Knows no failures.

use std::sync::LazyLock;

use super::patterns::{self, LazyPattern, LazySet, any_matches};
use super::tool_name::{acts, is_writer, words};

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

/// Whether a text is the verdict of a tool that pings, checks or validates: `Invalid VAT number` of `validate_vat`. It names
/// what the name of the tool says that it looks at.
pub(super) fn is_verdict(text: &str, tool: Option<&str>) -> bool {
    static VERDICT: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?i)^(?:(?:expired|invalid|malformed) (?:[\w-]+ ){0,2}[\w-]+|(?:the |this )?(?:[\w-]+ ){1,3}is (?:expired|invalid|malformed|not valid)|(?:the )?[\w.-]+(?: \S+)? (?:is )?(?:down|offline|unreachable|not reachable)|out of stock|not in stock|sold out)[.!]?$",
        )
    });
    /// What a call itself may have wrong.
    const OF_CALLS: [&str; 10] = [
        "api",
        "argument",
        "arguments",
        "credentials",
        "input",
        "parameter",
        "parameters",
        "path",
        "request",
        "service",
    ];
    let Some(tool) = tool.filter(|tool| !is_writer(tool) && !acts(tool) && text.len() <= 80) else { return false };
    let named = words(tool);
    let first = named.iter().find(|word| !word.is_empty());
    let judges = first.is_some_and(|word| ["check", "is", "ping", "probe", "validate", "verify"].contains(&&**word));
    let said = text.to_ascii_lowercase();
    let mut said = said.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.len() > 2);
    let is_own =
        |word: &str| named.iter().any(|own| own == word) || word == "host" && named.iter().any(|own| own == "ping");
    // A value that a check needs may be wrong; of what validates, that is the answer.
    let is_of_value = ["invalid", "malformed", "expired"].iter().any(|word| text.to_ascii_lowercase().contains(word));
    let validates = first.is_some_and(|word| ["validate", "verify"].contains(&&**word));
    judges
        && (validates || !is_of_value)
        && patterns::matches(&VERDICT, text.trim())
        && !said.clone().any(|word| OF_CALLS.contains(&word))
        && said.any(is_own)
}

/// Whether a text that begins like a failure may be an answer.
pub(super) fn is_doubtful(text: &str, tool: Option<&str>) -> bool {
    // A tool that changes something needed what it did not find.
    let changes = tool.is_some_and(|tool| is_writer(tool) || acts(tool));
    (!changes || !text.to_ascii_lowercase().contains("find any")) && any_matches(&DOUBTFUL_SET, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_of_a_tool_that_checks_is_its_answer() {
        for (tool, text) in [
            ("validate_iban", "Invalid IBAN"),
            ("verify_coupon", "Expired coupon code"),
            ("check_coupon", "This coupon is not valid."),
            ("ping", "Host unreachable"),
            ("check_gate", "Gate 7 is offline"),
            ("check_stock", "Out of stock"),
        ] {
            assert!(is_verdict(text, Some(tool)), "{tool}: {text}");
        }
        for (tool, text) in [
            ("validate_iban", "Invalid request"),
            ("validate_iban", "Invalid IBAN: the service did not answer"),
            ("validate_iban", "Host unreachable"),
            ("check_api", "Invalid API key"),
            ("verify_and_charge_card", "Invalid card number"),
            ("pay", "Invalid card number"),
            ("buy_stock", "Out of stock"),
            ("check_coupon", "Error, the coupon is invalid"),
        ] {
            assert!(!is_verdict(text, Some(tool)), "{tool}: {text}");
        }
    }
}
