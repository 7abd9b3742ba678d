//! Plain words by which a tool refuses the values of a call. Those that a tool may also say half-way, of what it works with,
//! count only as the whole message.

use std::sync::LazyLock;

use super::patterns::{self, LazyPattern, LazySet};

/// Beginnings that speak of the request.
pub(super) const OF_REQUEST: [&str; 6] = [
    r"(?i)^missing ([\w.'`-]{1,40} )?(arguments?|parameters?|fields?|input)\b",
    r"(?i)^error validating (the )?(tool|arguments|input|parameters)\b|^([\w-]+ ){0,3}(input|arguments?|parameters?) (json )?validation error",
    r"(?i)^tool arguments do(es)? not (satisfy|match)\b|^invalid \S{1,60} arguments: |^unsupported ([\w-]+ ){0,3}(type|value|format|option)s?: ",
    r"(?i)^invalid (['\x22`]\w+['\x22`] parameter|([a-z]+ ){0,3}(url|uri|regular expression|regex|path|index|range|level|name|format|e-?mail|address|date|time|timezone|number|positions?|offset|type|syntax|option|value|pattern|selector|query|expression|id|identifier|currency|amount|quantity))\b *([:.,(]|$|['\x22`])",
    // an edit whose place is not clear, or that would change nothing
    r"(?i)^no changes to (apply|make)\b|^(failed to edit[,.] )?(expected \d+ occurrences? but found|found (multiple|several|\d+) (matches|occurrences))\b|^no replacement was performed\. multiple occurrences|^string ['\x22`][^\n]{1,80}['\x22`] appears \d+ times|^(block \d+: )?old_str is not unique",
    r"(?i)^(the )?path\b.{0,160}? is (not )?(a|an absolute) (directory|file|path)\b",
];

/// Whole messages about a value.
pub(super) const OF_VALUE: [&str; 4] = [
    r"(?i)^\w+ required for \w+$",
    r"(?i)^(the )?[\w.`'\x22-]{1,40}( \w+){0,2} (cannot|can't|must not|may not|should not) be (empty|null|blank|negative|zero|greater|less|larger|smaller|before|longer|shorter|in the (past|future))\b",
    r"(?i)^[\w.`'\x22-]{1,40}( \w+){0,2} must (be (a|an|at|one|between|greater|less|positive|non-|numeric|unique|in|within|either|>=?|<=?|\d)|start with|end with|contain)",
    r"(?i)^(line )?(offset|line|page|position)( \S+){0,2} ((is|was|lies) (out of (range|bounds)|beyond|past the)|exceeds)\b|^[\w'\x22`-]{1,40}( \w+){0,2} is too (long|short|large|big)\b",
];

/// What the call needs was not given.
const NOT_GIVEN: &str = r"(?i)^no (api[ _-]?key|arguments?|code|command|content|data|file|id|input|message|name|parameters?|path|pattern|prompt|query|text|url|value)( [\w-]{1,30})? (was |were )?(provided|specified|given|supplied)\b";

static NOT_GIVEN_PATTERN: LazyPattern = LazyLock::new(|| patterns::one(NOT_GIVEN));
static REQUEST_SET: LazySet = LazyLock::new(|| patterns::set(OF_REQUEST));
static VALUE_SET: LazySet = LazyLock::new(|| patterns::set(OF_VALUE));

/// Whether a line, of which no exception was taken off, refuses a value of the request. `is_clause`: it is one clause.
pub(super) fn refuses(line: &str, is_clause: bool) -> bool {
    let matches = |set| patterns::any_matches(set, line);
    matches(&REQUEST_SET) || is_clause && (matches(&VALUE_SET) || after_not_given(line).is_some())
}

/// What follows the words that a value was not given; none: the text does not begin with them.
pub(super) fn after_not_given(text: &str) -> Option<&str> {
    text.get(NOT_GIVEN_PATTERN.as_ref()?.find(text)?.end()..)
}
