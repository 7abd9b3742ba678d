//! Sentences that say that nothing was done, or that there is nothing to do it with.

use std::sync::LazyLock;

use super::patterns::{self, LazyPattern};
use super::tool_name::words;

/// Whether a message ends with the words that nothing was done, behind the reason: `That day is full. Nothing was booked.`
pub(super) fn ends_with_nothing_done(text: &str) -> bool {
    static NOTHING: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?i)\S[.;,:!–—-] (so )?(nothing|nobody|no one|no (booking|changes?|charge|messages?|money|orders?|payment|rows?)) (has been|have been|was|were) (added|assigned|booked|changed|charged|created|deleted|done|made|moved|saved|sent|stored|updated|written)[.!]?$",
        )
    });
    const FINE: [&str; 6] = ["already", "current", "empty", "is open", "same", "up to date"];
    patterns::matches(&NOTHING, text) && !FINE.iter().any(|word| text.to_lowercase().contains(word))
}

/// Whether a clause says that there is nothing in what was given to do what the name of the tool says with:
/// `Nothing to wash in "!"`.
pub(super) fn has_nothing_to_do(clause: &str, tool: Option<&str>) -> bool {
    static NOTHING: LazyPattern = LazyLock::new(|| patterns::one(r"(?i)^nothing to (\w+) in [`'\x22]"));
    let Some(tool) = tool else { return false };
    let verb = NOTHING.as_ref().and_then(|nothing| nothing.captures(clause)?.get(1)).map(|verb| verb.as_str());
    verb.is_some_and(|verb| words(tool).contains(&verb.to_ascii_lowercase()))
}
