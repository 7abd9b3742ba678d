//! Drafts a tool facts file for the tools of a trace, for people to confirm. Reads no facts. Guesses only whether a tool
//! reads; everything else gets its safe value.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::json;
use crate::tool_hints::{HintsByTool, ToolHints};
use playproof_engine::glob;
use playproof_engine::playbook::seems_to_read;
use playproof_formats::diagnostic::counted;
use playproof_formats::playbook::tools::Answer;
use playproof_formats::text::escape_unprintable;
use playproof_formats::yaml::{GUESSED, MAX_KEY, scalar};

/// How often a trace calls a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolCount<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// Part of the name is redacted, so a row with it would match no tool.
    pub is_redacted: bool,
    /// Its calls.
    pub calls: u64,
    /// Its calls with a failed attempt.
    pub failed: u64,
    /// What tool lists in the recording say of it.
    pub hints: ToolHints,
    /// The names of the arguments of its calls, where these are kept.
    pub args: Option<&'a BTreeSet<String>>,
}

/// The tools in the lists of a recording, called or not.
pub fn listed(hints: &HintsByTool) -> impl Iterator<Item = ToolCount<'_>> {
    hints.iter().map(|(tool, &hints)| ToolCount { tool, is_redacted: false, calls: 0, failed: 0, hints, args: None })
}

/// The text of a `format: tools/1` file for the tools of `source`, sorted by name. Adds up the counts of one tool.
pub fn render<'a>(source: &str, counts: impl IntoIterator<Item = ToolCount<'a>>) -> String {
    let mut tools: BTreeMap<&str, (u64, u64, ToolHints, BTreeSet<&str>)> = BTreeMap::new();
    let mut redacted = 0;
    for count in counts {
        if count.is_redacted {
            redacted += 1;
            continue;
        }
        let (calls, failed, hints, args) = tools.entry(count.tool).or_default();
        *hints = count.hints;
        args.extend(count.args.into_iter().flatten().map(String::as_str));
        *calls = calls.saturating_add(count.calls);
        *failed = failed.saturating_add(count.failed);
    }
    let mut text = header(source); // writing to a String cannot fail
    // A trace may hold names that no file can declare.
    let nameless = tools.keys().filter(|tool| !is_name(tool)).count();
    tools.retain(|tool, _| is_name(tool));
    if nameless > 0 {
        let names = counted(nameless as u64, "name is", "names are");
        let _ = writeln!(text, "  # {names} left out: blank, or longer than a row can hold");
    }
    if redacted > 0 {
        let tools = counted(redacted, "tool is", "tools are");
        let _ = writeln!(text, "  # {tools} left out: `redaction` takes out of the name; write such a row by hand");
    }
    let rows: Vec<_> = tools.iter().map(|(tool, counts)| (row(tool, counts.2, &counts.3), counts)).collect();
    let width = rows.iter().map(|(row, _)| row.chars().count()).max().unwrap_or_default().min(60);
    for (row, (calls, failed, hints, _)) in rows {
        let calls = counted(*calls, "call", "calls");
        let destructive = if hints.destructive == Some(true) { "; `destructiveHint`" } else { "" };
        let _ = writeln!(text, "  {row:width$} {GUESSED} ({calls}, {failed} failed{destructive})");
    }
    if tools.is_empty() {
        text.push_str("  {}\n");
    }
    text
}

fn header(source: &str) -> String {
    let source = escape_unprintable(source);
    format!(
        "# What is known of the tools of these calls:\n\
         #   {source}\n\
         # Each access is a guess, by name or by a tool list's hints: confirm it, then remove the mark.\n\
         # Until then its row has no effect: the tool counts as a write that is not idempotent.\n\
         #   access: read       it only reads; it may be sent again at any time\n\
         #   idempotent: true   doing it twice is doing it once; it may be sent again without a key\n\
         #   repeatable: true   each call is a new intent, even with the same arguments\n\
         #   timeout_ms: 5000   how long an attempt may take\n\
         #   same_if: [order]   the arguments that make a request; all others do not count\n\
         # Every row must have `access`; other missing fields keep the playbook's value.\n\
         format: tools/1\n\
         tools:\n"
    )
}

/// What is guessed of a tool, by the hints of a tool list or else by its name.
pub fn guess(tool: &str, hints: ToolHints) -> Answer {
    match (hints.read_only.unwrap_or_else(|| seems_to_read(tool)), hints.idempotent) {
        (true, _) => Answer::Reads,
        (false, Some(true)) => Answer::WritesOnce,
        (false, Some(false) | None) => Answer::Writes,
    }
}

/// A row of a tool facts file, with a mark if it is a guess.
pub fn written(tool: &str, answer: Answer, is_guess: bool) -> String {
    let mark = if is_guess { format!(" {GUESSED}") } else { String::new() };
    format!("{}: {}{mark}", key(tool), answer.facts())
}

/// Whether a row can declare a tool of this name.
pub fn is_name(tool: &str) -> bool {
    let is_read = !glob::is_glob(tool) || glob::Glob::new(&glob::escape(tool)).is_ok();
    is_read && !tool.trim().is_empty() && key(tool).chars().count() <= MAX_KEY
}

fn row(tool: &str, hints: ToolHints, args: &BTreeSet<&str>) -> String {
    let answer = guess(tool, hints);
    let named = if answer == Answer::Writes { same_if(args) } else { None };
    let row = written(tool, answer, false);
    match (named, row.strip_suffix(" }")) {
        (Some(named), Some(row)) => format!("{row}, same_if: [{named}] }}"),
        _ => row,
    }
}

/// Arguments that say nothing of what a call wants, by their names.
const NO_PART_OF_REQUEST: [&str; 7] =
    ["reason", "note", "request_id", "requestId", "timestamp", "idempotency_key", "idempotencyKey"];

/// The most arguments that are guessed to make a request.
const MOST_NAMED: usize = 20;

/// The arguments that are guessed to make a request, if calls have others, too.
fn same_if(args: &BTreeSet<&str>) -> Option<String> {
    let named: Vec<_> = args.iter().filter(|name| !NO_PART_OF_REQUEST.contains(name)).collect();
    let is_guess = !named.is_empty() && named.len() < args.len() && named.len() <= MOST_NAMED;
    is_guess.then(|| named.iter().map(|name| scalar(name).into_owned()).collect::<Vec<_>>().join(", "))
}

/// The names of the arguments of a call, if they are an object.
pub fn argument_names(args: &str) -> Vec<String> {
    let fields = json::parse(args).ok().and_then(json::object);
    fields.iter().flat_map(|fields| fields.iter().map(|(name, _)| name.to_owned())).collect()
}

/// The tool's name as a YAML key that is no glob.
fn key(tool: &str) -> String {
    scalar(&glob::escape(tool)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_sorted_counted_and_marked() {
        let count = |tool, calls, failed| ToolCount {
            tool,
            is_redacted: false,
            calls,
            failed,
            hints: ToolHints::default(),
            args: None,
        };
        let text = render("a.json", [count("pay", 2, 1), count("get_x", 1, 0), count("pay", 1, 0)]);
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("  ")).collect();
        assert_eq!(
            rows,
            [
                "  get_x: { access: read } # guessed: confirm (1 call, 0 failed)",
                "  pay: { access: write }  # guessed: confirm (3 calls, 1 failed)",
            ]
        );
        assert!(text.contains("\nformat: tools/1\n"));
        assert!(text.lines().all(|line| line.len() <= 100), "{text}");
        assert!(render("a\n", []).ends_with("tools:\n  {}\n"));
        let hidden = render("a", [ToolCount { is_redacted: true, ..count("[redacted]", 1, 0) }]);
        assert!(hidden.contains("# 1 tool is left out: `redaction`") && hidden.ends_with("\n  {}\n"), "{hidden}");
        let unusual = render(
            "a",
            [count("\u{1b}[31m", 1, 0), count(" ", 1, 0), count(&"x".repeat(MAX_KEY + 1), 1, 0), count("pay", 1, 0)],
        );
        let left_out = "tools:\n  # 2 names are left out: blank, or longer than a row can hold\n  \"\\U0000001b";
        assert!(unusual.contains(left_out), "{unusual}");
    }

    #[test]
    fn a_hint_is_a_guess_that_wins_over_the_name() {
        let hinted =
            |tool, hints| render("a", [ToolCount { tool, is_redacted: false, calls: 1, failed: 0, hints, args: None }]);
        let writes = ToolHints {
            read_only: Some(false),
            idempotent: Some(true),
            destructive: Some(true),
            ..ToolHints::default()
        };
        let text = hinted("get_lock", writes);
        let row = "  get_lock: { access: write, idempotent: true } # guessed: confirm (1 call, 0 failed; `destructiveHint`)\n";
        assert!(text.ends_with(row), "{text}");
        let reads = ToolHints { read_only: Some(true), idempotent: Some(false), ..ToolHints::default() };
        assert!(hinted("pay", reads).contains("  pay: { access: read } # guessed"));
    }

    #[test]
    fn an_unusual_name_is_a_quoted_key_and_no_glob() {
        assert_eq!(key("a.b/c-d_1"), "a.b/c-d_1");
        assert_eq!(key("no"), "'no'");
        assert_eq!(key("a: \"b\"\n"), "\"a: \\\"b\\\"\\n\"");
        let glob = glob::Glob::new(&glob::escape("a[*]")).expect("a glob");
        assert!(glob.is_match("a[*]") && !glob.is_match("a[b]"));
    }
}
