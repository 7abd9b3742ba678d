//! What the name of a tool says that it does: it asks, reads, gives texts of others, looks, acts, writes, runs programs. Reads
//! no result.

/// Of which tools words are a failure.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tools {
    /// Any tool but a command line.
    Every,
    /// Any tool but a command line, one that gives texts of others, and one that searches them or checks how things are.
    Any,
    /// A tool whose name does not begin with a word that asks.
    Unasked,
    /// A tool whose name begins with a word that asks.
    Asking,
    /// A tool that neither looks whether something is there nor gives lists.
    Given,
    /// A tool that does something: what others say of a state is their answer.
    Doing,
    /// A tool whose name says that it changes something.
    Changing,
    /// A tool that makes, sends or pays something: one that records how something is may name that state.
    Making,
}

/// Whether a tool's name says that it reads documents or searches.
pub(super) fn is_reader(tool: &str) -> bool {
    const WORDS: [&str; 23] = [
        "console", "read", "cat", "view", "open", "grep", "search", "find", "fetch", "browse", "browser", "log",
        "logs", "docs", "doc", "scrape", "crawl", "query", "lookup", "get", "show", "tail", "head",
    ];
    !acts(tool) && has_word(tool, &WORDS)
}

/// Whether a tool's name says that it acts on what others only show: a page, a console.
pub(super) fn acts(tool: &str) -> bool {
    const WORDS: [&str; 13] = [
        "click", "confirm", "connect", "drag", "fill", "goto", "join", "launch", "navigate", "press", "scroll",
        "toggle", "trigger",
    ];
    const FIRST: [&str; 7] = ["act", "drop", "key", "mark", "place", "play", "type"];
    let words: Vec<&str> = pieces(tool).collect();
    !asks(tool) && (words.iter().any(|word| is_one_of(&WORDS, word)) || begins_with(&words, &FIRST))
}

/// Whether a tool's name says that it records how something is, or refuses it.
pub(super) fn records(tool: &str) -> bool {
    const WORDS: [&str; 21] = [
        "blacklist",
        "block",
        "blocklist",
        "cancel",
        "decision",
        "decline",
        "deny",
        "label",
        "log",
        "mark",
        "note",
        "record",
        "refuse",
        "reject",
        "report",
        "respond",
        "response",
        "rsvp",
        "set",
        "status",
        "update",
    ];
    has_word(tool, &WORDS)
}

/// Whether a tool's name says that it runs commands, whose output may be anything.
pub(super) fn is_shell(tool: &str) -> bool {
    const WORDS: [&str; 9] = ["shell", "bash", "sh", "exec", "execute", "command", "cmd", "terminal", "run"];
    has_word(tool, &WORDS)
}

/// Whether a tool's name says that it is a command line, which hands on whatever programs print.
pub(super) fn is_command_line(tool: &str) -> bool {
    const WORDS: [&str; 7] = ["bash", "cmd", "powershell", "sh", "shell", "terminal", "zsh"];
    const RUNS: [&str; 4] = ["exec", "execute", "run", "start"];
    let words: Vec<&str> = pieces(tool).collect();
    let has = |list: &[&str]| words.iter().any(|word| is_one_of(list, word));
    has(&WORDS) || has(&["command"]) && has(&RUNS)
}

/// Whether a tool's name says that it runs commands or code: what ran before a refusal stays done.
pub(super) fn runs_programs(tool: &str) -> bool {
    const WORDS: [&str; 8] = ["code", "exec", "execute", "interpreter", "notebook", "python", "repl", "script"];
    is_command_line(tool) || has_word(tool, &WORDS)
}

/// First words that ask, whatever the name goes on with: `get_payment_update`.
const ASKS: [&str; 12] =
    ["check", "count", "fetch", "get", "is", "list", "lookup", "preview", "query", "read", "show", "view"];
/// First words that ask, unless the name goes on with what it does then: `find_and_replace`.
const FINDS: [&str; 8] = ["exists", "find", "has", "search", "status", "track", "validate", "verify"];

/// Whether a tool's name says that it asks how something is, and changes nothing.
pub(super) fn asks(tool: &str) -> bool {
    let words: Vec<&str> = pieces(tool).collect();
    let tells = || words.last().is_some_and(|word| is_one_of(&["exists", "status"], word));
    begins_with(&words, &ASKS) || (begins_with(&words, &FINDS) || tells()) && !writes(&words)
}

fn begins_with(words: &[&str], list: &[&str]) -> bool {
    words.iter().find(|word| !word.is_empty()).is_some_and(|word| is_one_of(list, word))
}

/// Whether a tool's name says that it changes, sends or ends something, and not that it tells of that.
pub(super) fn is_writer(tool: &str) -> bool {
    let words: Vec<&str> = pieces(tool).collect();
    writes(&words) && !begins_with(&words, &ASKS)
}

fn writes(words: &[&str]) -> bool {
    const WORDS: [&str; 46] = [
        "add",
        "append",
        "apply",
        "assign",
        "book",
        "cancel",
        "charge",
        "close",
        "commit",
        "copy",
        "create",
        "delete",
        "deploy",
        "disable",
        "edit",
        "enable",
        "insert",
        "install",
        "kill",
        "merge",
        "modify",
        "move",
        "overwrite",
        "patch",
        "pay",
        "post",
        "publish",
        "push",
        "put",
        "refund",
        "remove",
        "rename",
        "replace",
        "restart",
        "save",
        "send",
        "set",
        "stop",
        "submit",
        "terminate",
        "transfer",
        "uninstall",
        "update",
        "upload",
        "upsert",
        "write",
    ];
    words.iter().any(|word| is_one_of(&WORDS, word))
}

fn is_one_of(list: &[&str], word: &str) -> bool {
    list.iter().any(|own| own.eq_ignore_ascii_case(word))
}

/// Whether one of `list` is a word of a tool's name.
pub(super) fn has_word(tool: &str, list: &[&str]) -> bool {
    pieces(tool).any(|piece| is_one_of(list, piece))
}

/// The words of a tool's name in small letters.
pub(super) fn words(tool: &str) -> Vec<String> {
    pieces(tool).map(str::to_ascii_lowercase).collect()
}

/// The words of a tool's name as they are written: a capital begins one.
fn pieces(tool: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric();
    let mut rest = tool;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c| !is_part(c));
        let end = rest.char_indices().skip(1).find(|(_, c)| !is_part(*c) || c.is_ascii_uppercase());
        let (piece, others) = rest.split_at(end.map_or(rest.len(), |(at, _)| at));
        rest = others;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Words of tools that give texts of others, or of their own making.
const GIVES_TEXT: [&str; 42] = [
    "ask",
    "article",
    "cat",
    "read",
    "rule",
    "template",
    "terms",
    "view",
    "chat",
    "comment",
    "describe",
    "diff",
    "doc",
    "docs",
    "explain",
    "faq",
    "grep",
    "help",
    "history",
    "kb",
    "knowledge",
    "log",
    "logs",
    "mail",
    "memory",
    "note",
    "notes",
    "policies",
    "policy",
    "rules",
    "schema",
    "summarize",
    "summary",
    "text",
    "transcript",
    "transcribe",
    "translate",
    "wiki",
    "wikipedia",
    "label",
    "audit",
    "todo",
];

/// Words of tools that look whether something is there, or how it is.
const LOOKS: [&str; 15] = [
    "check", "count", "exist", "exists", "find", "has", "is", "list", "lookup", "search", "status", "test", "validate",
    "verify", "watch",
];

/// Whether a tool's name says that it gives texts of others, or of its own making.
pub(super) fn gives_text(tool: &str) -> bool {
    has_word(tool, &GIVES_TEXT)
}

/// Whether a tool's name says that it looks whether something is there, or how it is.
pub(super) fn looks(tool: &str) -> bool {
    // A tool that makes a test, or sends a list, does something.
    const DOES: [&str; 12] = [
        "build", "convert", "create", "download", "export", "generate", "import", "load", "render", "run", "start",
        "upload",
    ];
    let does = words(tool).into_iter().find(|word| !word.is_empty()).is_some_and(|word| DOES.contains(&&*word));
    !does && has_word(tool, &LOOKS)
}

/// Whether a tool's name says that it reports on other things, also on their failures.
pub(super) fn reports(tool: &str) -> bool {
    const WORDS: [&str; 14] = [
        "audit", "check", "diagnose", "doctor", "health", "history", "lint", "report", "review", "stats", "status",
        "test", "tests", "validate",
    ];
    has_word(tool, &WORDS)
}

/// Whether a tool's name says that it finds out something, which it tells in a sentence.
pub(super) fn finds_out(tool: &str) -> bool {
    const WORDS: [&str; 10] =
        ["analyze", "calculate", "classify", "compare", "compute", "estimate", "evaluate", "plan", "predict", "think"];
    has_word(tool, &WORDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_asks_or_writes_by_the_words_of_its_name() {
        for (tool, is_asking, is_writing) in [
            ("get_payment_update", true, false),
            ("get_terms_and_conditions", true, false),
            ("order_status", true, false),
            ("set_status", false, true),
            ("verifyRefundUpdate", false, true),
            ("find_and_replace", false, true),
            ("search_replace", false, true),
            ("status_update", false, true),
            ("search_orders", true, false),
            ("delete_user", false, true),
            ("frobnicate", false, false),
        ] {
            assert_eq!((asks(tool), is_writer(tool)), (is_asking, is_writing), "{tool}");
        }
    }
}
