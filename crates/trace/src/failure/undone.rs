//! Plain sentences that say that what the call asked for was not done: an edit that found no place, a handle of nothing, a
//! limit that was reached, a value that cannot be read. Some are ordinary answers of a tool that reads: the tool's name decides.

use std::sync::LazyLock;

use super::excerpt::SHORT;
use super::patterns::{self, LazyPattern, LazySet};
use super::tool_name::{asks, has_word, is_reader, is_shell, is_writer, words};
use super::{prose, refused_values};

/// The longest report on an edit, in bytes: it may repeat what it looked for.
const LONGEST_REPORT: usize = 20_000;

/// Reports on an edit that was not applied. A tool that reads may tell of such things.
pub(super) const EDITS: [&str; 5] = [
    r"(?i)^expected (exactly |at least |at most |only )?(\d+|one|a single) [^\n]{0,80}?(,|;| but| yet| and)+ (only |it |we )*(found|got|received|saw|had|matched|there (is|are|was|were))\b",
    r"(?i)^(the |your )?((search|old|original|target|anchor|replacement|expected|given|provided|requested|exact) ){1,3}(content|text|string|block|snippet|pattern|hunk|context|lines?|code|match|value)s?( to [a-z]+)? (was |were |is |are )?(not found|not present|not unique|does(n't| not) (exist|match|appear|occur)|did(n't| not) (match|appear|occur)|could not be (found|matched|located|applied))\b",
    r"(?i)^found (\d+|multiple|several|two|more than one) (matches|occurrences|instances|candidates|places)\b[^\n]{0,120}?(\bbut|\bexpected|\bmust|\bambiguous|\bnot unique|\bprovide more|\bfor safety)\b|^no changes (were |have been )?(made|to apply)\b[^\n]{0,200}\b(identical|not (found|match))|^(edit at index \d+: )?string [^\n]{1,200} appears \d+ times in the file\b|^edits?\[\d+\] and edits?\[\d+\] overlap\b",
    r"(?is)^.{0,900}?\b(changes?|edits?|patch|modifications?|replacement) (has|have|was|were) not (been )?(applied|saved|made|written)\b",
    // what stands in the way, and what cannot be done for it
    r"(?i)^[^\n]{1,120}\b(is|are|was|were|has|have) (not|no|already|never) [^\n]{1,60}?(,|;| so| and| —)+ (so |and |thus |therefore )?(it |they |this |that )?(cannot|can't|could not|couldn't) be [a-z]+\b",
];

/// A handle that names nothing that runs or is open.
const HANDLE: &str = r"(?i)^(no|there is no) ((such|active|running|open|matching|live|existing) )*((search|shell|browser|terminal|background) )?(session|process|job|task|shell|terminal|thread|tab|worker|container|transaction|connection)( (was |is )?(found|exists|running|active|open))? (for|with|by|under) (the |this |given )*(pid|id|handle|ref|identifier|process id|session id|\S*\d)\b";

/// Nothing of what the call named was found: an ordinary answer, unless the call was to change it.
const NOTHING_FOUND: &str = r"(?i)^no [\w '\x22-]{1,80}?\b((was |were |is |are )?(found|available|running|active) (with|for|matching|named|called|by|having|under|in|at|that)|exists? (with|for|named|called|by|under|in|at)|matched|matching) \S[^\n]{0,160}$";

/// What the call named is not there, with its name: an ordinary answer of a tool that looks for it.
const ABSENT: &str = r"(?i)^(the |this |source |target |requested )?(account|agent|board|booking|card|cart|channel|cluster|contact|coupon|customer|event|group|instance|invoice|item|job|member|message|node|note|object|order|payment|plan|pod|product|project|record|reservation|sheet|skill|subscription|task|team|template|ticket|user|volume)( id| number| named| called| with (id|name|number))?[: ]+(['\x22`#]?[\w./@:-]{1,120}['\x22`]? (was |is |does |could )?(not found|doesn't exist|not exist|not be found)[.!]?$|not found: \S+$)";

/// What was looked for by its id, which has a digit, is not there.
const LOOKED_FOR: &str = r"(?i)^(?:the |this |requested |specified )?([a-z][a-z-]+)(?: id| number| with (?:id|number))?[: ]+['\x22`#]?[\w./@-]*\d[\w./@-]*['\x22`]? (?:was |is |does |could )?(?:not found|not exist|doesn't exist|not be found)(?:[.!]?$|[.;,] (?:available|check|did|please|try|use|verify)\b)|^no ([a-z-]*[^s\W])(?: \w+)? (?:was |is )?(?:found |exists )?(?:with|for|matching|under) (?:the |this )?(?:\w+ )?(?:id|number)[: ]+\S*\d\S*$";

/// A limit of the caller or the tool is used up.
const LIMIT: &str = r"(?i)^((the|your|this) )?(tool|function|account|user|agent|api key|key|workspace|organi[sz]ation|project|plan|session|subscription|team|client|app|you)\b[^\n]{0,80}? (has |have )?(already )?(reached|exceeded|hit|used up) (its|the|their|your) ([\w-]+ ){0,4}(limit|quota|allowance)\b";

/// A place behind the end of a file or a list.
const OUTSIDE: &str = r"(?i)^(the )?(start |end )?(offset|line|page|position|index|row|column|cell)( number)? \(?-?\d+\)? (is |was |lies )?((beyond|past|behind|after) (the )?(end|last|length|total|maximum|number)|out of range for (the|this) (file|list))\b";

/// A value that cannot be read as what it should be.
const UNREADABLE: &str = r"(?i)^(invalid|malformed|unsupported|unknown|unrecogni[sz]ed|unexpected|illegal|bad) [a-z][\w() -]{1,60}: ?['\x22`][^\n]{0,200}$";

/// What interpreters say without the name of their exception: Python, JavaScript, SQLite.
pub(super) const INTERPRETERS: [&str; 8] = [
    r#"^(near "[^"\n]{1,80}": syntax error|no such (table|column|function): \S+|unrecognized token: "[^\n]{1,80})$"#,
    r"^(Expecting (value|property name|',' delimiter|':' delimiter)|Extra data|Unterminated string starting at|Invalid control character at|Invalid \\escape)\b[^\n]{0,60}: line \d+ column \d+ \(char \d+\)$",
    r"^((integer |float |complex )?(division|modulo|division or modulo) by zero|name '\w+' is not defined|\w+ is not defined|\w+(\.\w+)* is not a function)$",
    r"^('\w+' object (has no attribute '\w+'|is not (subscriptable|callable|iterable))|(list|string|tuple|index) (index )?out of range|unsupported operand type\(s\) for [^\n]{1,60})$",
    r"^(invalid literal for int\(\) with base \d+: |could not convert string to float: |unterminated string literal |unmatched '.'|Cannot read propert(y|ies) of (undefined|null)\b)[^\n]{0,120}$",
    r"^('[\w-]+' codec can't (de|en)code |bad operand type for |badly formed hexadecimal UUID string$|invalid syntax \(|\[<class 'decimal\.\w+'>\]$|mismatched tag: line \d|not well-formed \(|(File is |zip: )?not a (valid )?zip file$)[^\n]{0,120}",
    r"^\w+\(\) (got an unexpected keyword argument|missing \d+ required|takes (from )?\d+ )[^\n]{0,160}$",
    r"^('[^'\n]{1,80}' does not appear to be an? [^\n]{1,60}|(missing|unbalanced) [()\[\]]+(, | parenthesis)[^\n]{0,40}(position \d+)?|[Oo]nly base64 data is allowed|Incorrect padding|Non-(base(16|32|64)|hexadecimal)[^\n]{0,60} found[^\n]{0,40})$",
];

static LOOKED_FOR_PATTERN: LazyPattern = LazyLock::new(|| patterns::one(LOOKED_FOR));
static EDIT_SET: LazySet = LazyLock::new(|| patterns::set(EDITS));
static INTERPRETER_SET: LazySet = LazyLock::new(|| patterns::set(INTERPRETERS));
static HANDLE_PATTERN: LazyPattern = LazyLock::new(|| patterns::one(HANDLE));
static ABSENT_PATTERN: LazyPattern = LazyLock::new(|| patterns::one(ABSENT));
static NOTHING_PATTERN: LazyPattern = LazyLock::new(|| patterns::one(NOTHING_FOUND));
static LIMIT_PATTERN: LazyPattern = LazyLock::new(|| patterns::one(LIMIT));
static OUTSIDE_PATTERN: LazyPattern = LazyLock::new(|| patterns::one(OUTSIDE));
static UNREADABLE_PATTERN: LazyPattern = LazyLock::new(|| patterns::one(UNREADABLE));

/// Whether a text is what an interpreter says without the name of its exception.
pub(super) fn is_nameless(text: &str) -> bool {
    patterns::any_matches(&INTERPRETER_SET, text)
}

/// Whether a line says that the one thing that the tool looks for, as its name tells, is not there: `Order 7 not found` of
/// `track_order`. Whether something exists, is free or is listed is a question with two answers, and who checks, verifies or
/// searches may want to hear that it is not there.
pub(super) fn is_lookup(text: &str, tool: Option<&str>) -> bool {
    const ANSWERS: [&str; 17] = [
        "any",
        "availability",
        "available",
        "check",
        "count",
        "doc",
        "docs",
        "exist",
        "exists",
        "find",
        "has",
        "is",
        "list",
        "log",
        "search",
        "validate",
        "verify",
    ];
    let text = text.trim();
    if text.len() > 160 || text.contains('\n') || !text.contains("not") && !text.starts_with(['N', 'n']) {
        return false;
    }
    let Some(tool) = tool.filter(|tool| !has_word(tool, &ANSWERS) && !is_shell(tool)) else { return false };
    let Some(found) = LOOKED_FOR_PATTERN.as_ref().and_then(|looked_for| looked_for.captures(text)) else {
        return false;
    };
    let noun = found.get(1).or_else(|| found.get(2)).map(|noun| noun.as_str().to_ascii_lowercase());
    noun.is_some_and(|noun| words(tool).iter().any(|word| *word == noun || word.strip_suffix('s') == Some(&noun)))
}

/// Whether a text says that the call was not done; `true`: it says so for sure.
pub(super) fn says(text: &str, tool: Option<&str>) -> Option<bool> {
    let text = text.trim();
    let writes = tool.is_some_and(is_writer);
    let prints = !writes && tool.is_some_and(|tool| is_reader(tool) || is_shell(tool));
    if !prints && text.len() <= LONGEST_REPORT && patterns::any_matches(&EDIT_SET, text) {
        return Some(writes);
    }
    let is_line = text.len() <= SHORT && !text.contains('\n');
    if !is_line || prose::is_long(text) || prose::is_knowledge(text, tool) {
        return None;
    }
    let is_shell = !writes && tool.is_some_and(is_shell);
    if is_nameless(text) {
        return Some(true);
    }
    if !is_shell && (patterns::matches(&LIMIT_PATTERN, text) || patterns::matches(&OUTSIDE_PATTERN, text)) {
        return Some(true);
    }
    if patterns::matches(&UNREADABLE_PATTERN, text) {
        return Some(writes || !tool.is_some_and(is_reader));
    }
    let lacks_a_value = || refused_values::after_not_given(text).is_some_and(|rest| ["", ".", "!"].contains(&rest));
    if !prints && !tool.is_some_and(asks) && (patterns::matches(&ABSENT_PATTERN, text) || lacks_a_value()) {
        return Some(true);
    }
    if is_lookup(text, tool) {
        return Some(true);
    }
    if !is_shell && patterns::matches(&HANDLE_PATTERN, text) {
        return Some(writes);
    }
    (writes && patterns::matches(&NOTHING_PATTERN, text)).then_some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(tool: &str, texts: &[&str]) -> Vec<Option<bool>> {
        texts.iter().map(|text| says(text, Some(tool))).collect()
    }

    #[test]
    fn an_edit_that_found_no_place_was_not_applied() {
        let texts = [
            "Expected 3 occurrences but found 1 in a.txt. Set expected_replacements to 1.",
            "Expected exactly one match, found 4",
            "Search content not found in a.txt. The closest match was \"x\".\n\nA log was saved",
            "Found 2 matches of the string to replace, but replace_all is false.\nString: a\nb\nc\nd",
            "Shell s_1 is not running, so cannot be killed (status: killed)",
            "The order was already shipped and cannot be changed",
        ];
        assert_eq!(said("edit_file", &texts), [Some(true); 6]);
        assert_eq!(said("do_it", &texts), [Some(false); 6]);
        assert_eq!(said("read_file", &texts), [None; 6], "a file may tell of it");
        assert_eq!(said("bash", &texts), [None; 6]);
        let others = [
            "Expected delivery: 3 days",
            "Expected 3 guests for dinner",
            "Found 12 matches for 'a'",
            "The search text field is now blue",
            "The order is not urgent, so take your time",
        ];
        assert_eq!(said("edit_file", &others), [None; 5]);
    }

    #[test]
    fn nothing_found_is_an_answer_unless_the_call_was_to_change_it() {
        let handles =
            ["No active session found for PID 17", "No process with id 3", "There is no open tab with handle t_1"];
        assert_eq!(said("force_terminate", &handles), [Some(true); 3]);
        assert_eq!(said("read_process_output", &handles), [Some(false); 3]);
        let answers = ["No results found for shoes", "No user found with that mail", "No files matched *.rs"];
        assert_eq!(said("delete_user", &answers), [Some(false); 3]);
        for tool in ["search", "get_user", "list_files", "bash", "do_it"] {
            assert_eq!(said(tool, &answers), [None; 3], "{tool}");
        }
        let others = ["No orders found", "No problem: the user was deleted", "Not much happened"];
        assert_eq!(said("delete_user", &others), [None; 3], "an answer that names nothing");
    }

    #[test]
    fn the_one_thing_that_a_tool_looks_for_is_not_there() {
        for (tool, text) in [
            ("track_order", "Order 7 not found"),
            ("lookup_flights", "Flight XY123 not found. Check the number."),
            ("lookup_user", "User 42 does not exist"),
            ("get_customer_by_id", "No customer with id 77"),
        ] {
            assert_eq!(says(text, Some(tool)), Some(true), "{tool}: {text}");
        }
        for (tool, text) in [
            ("search_docs", "Section 7 not found"),
            ("check_order", "Order 7 not found"),
            ("search_flights", "Flight XY123 not found. Check the number."),
            ("search_customer_by_id", "No customer with id 77"),
            ("check_username", "Username ada99 not found"),
            ("check_if_user_deleted", "User 42 not found"),
            ("check_blacklist_user", "User 42 not found"),
            ("check_process", "Process 123 not found"),
            ("check_email_breach", "Email ada9@a.b not found"),
            ("check_domain", "Domain a9.b not found"),
            ("verify_user", "User 42 not found"),
            ("check_user_exists", "User 42 does not exist"),
            ("find_duplicates", "Duplicate not found"),
            ("check_word", "Word 7 not found in text"),
            ("list_orders", "No order with id 7"),
            ("find_order", "Order 7 not found"),
            ("validate_coupon", "Coupon SAVE9 not found"),
            ("search_orders", "No orders for id 7"),
            ("check_shelf", "Order 7 not found"),
        ] {
            assert!(!is_lookup(text, Some(tool)), "{tool}: {text}");
        }
    }

    #[test]
    fn limits_places_and_values_are_refused_in_one_line() {
        for text in [
            "Tool 'count' has reached its usage limit of 2 times and cannot be used anymore.",
            "You have exceeded your daily request quota",
            "Offset 500 is beyond end of file (5 lines total)",
            "Line 12 is past the end of the file",
        ] {
            assert_eq!(says(text, Some("read_file")), Some(true), "{text}");
        }
        for text in ["Invalid isoformat string: 'tomorrow'", "unknown url type: 'nope'"] {
            assert_eq!((says(text, Some("plan")), says(text, Some("http_get"))), (Some(true), Some(false)), "{text}");
        }
        for text in [
            "near \"selec\": syntax error",
            "Expecting value: line 1 column 1 (char 0)",
            "division by zero",
            "name 'x' is not defined",
            "'int' object is not subscriptable",
        ] {
            assert_eq!(says(text, Some("calc")), Some(true), "{text}");
        }
        for text in [
            "The glacier has reached its limit",
            "The tool has reached its users",
            "Offset 500 is the end of the file",
            "Line 12 is beyond doubt the best line",
            "Invalid logins: 12",
            "invalid user names: none",
            "Division by zero is not defined for numbers. It is for wheels.",
            "value is not defined here",
        ] {
            assert_eq!(says(text, Some("do_it")), None, "{text}");
        }
    }
}
