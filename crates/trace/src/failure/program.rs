//! How programs report a failure elsewhere than at the start: behind the name of who speaks, in the last line of a command,
//! or in a line of complaint. Knows no words of failures but those.

use std::sync::LazyLock;

use super::excerpt::{SHORT, end_of};
use super::patterns::{self, LazyPattern};
use super::quoted::{FILES, is_file, is_log_line};
use super::tool_name::{is_command_line, is_reader, is_shell};

/// The words of a message behind its speaker: a function (`page.goto: ...`), an interface (`GraphQL: ...`) or a status
/// (`[HTTP 400] ...`, `550 ...`).
pub(super) fn spoken(text: &str) -> Option<&str> {
    static SPEAKER: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"^(?:[a-z]\w*(?:\.[a-z]\w*)+(?:\(\))?: |[a-z]+_\w+: |[A-Z]+[a-z]+[A-Z]\w*: |\[HTTP [45]\d\d\]:? |[45]\d\d )",
        )
    });
    let text = text.trim();
    let is_short = text.len() <= SHORT && text.lines().count() <= 4;
    let speaker = SPEAKER.as_ref().filter(|_| is_short)?.find(text)?;
    text.get(speaker.end()..).filter(|_| !is_file(speaker.as_str().trim_end_matches(": ")))
}

/// Words before a colon that are no programs.
const REMARKS: [&str; 22] = [
    "note", "notice", "hint", "help", "info", "status", "todo", "version", "warning", "total", "count", "fix", "feat",
    "docs", "chore", "refactor", "perf", "style", "test", "build", "ci", "revert",
];

/// Whether a text is the complaint of a program, which only a well-known program proves: `curl: (6) Could not resolve`.
/// From any other name, such words are a failure or a note.
pub(super) fn complains(text: &str) -> Option<bool> {
    static COMPLAINT: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"^([a-z][a-z0-9_./+-]{0,30}):\s+(?i:(can't|cannot|could not|unable to|unrecognized|invalid option|illegal|unknown option|missing|no such|error|fatal|failed|connect to)\b|'[^'\n]{1,120}': no such|\*\*\*|\(\d+\))",
        )
    });
    const PROGRAMS: [&str; 44] = [
        "apt", "aws", "awk", "bash", "cargo", "cat", "cc", "chmod", "chown", "cp", "curl", "docker", "find", "gcc",
        "gh", "git", "go", "grep", "gzip", "java", "jq", "kubectl", "ld", "ln", "ls", "make", "mkdir", "mv", "mysql",
        "node", "npm", "pip", "psql", "python", "python3", "rm", "rsync", "scp", "sed", "sh", "ssh", "tar", "unzip",
        "wget",
    ];
    let is_one_line = text.lines().filter(|line| !line.trim().is_empty()).count() <= 1;
    let complaint = COMPLAINT.as_ref()?.captures(text)?;
    let speaker = complaint.get(1)?.as_str();
    let is_other = is_file(speaker) || REMARKS.contains(&speaker);
    let is_program = PROGRAMS.contains(&speaker.rsplit('/').next().unwrap_or(speaker));
    (is_program || (is_one_line && !is_other)).then_some(is_program)
}

/// Whether the whole output of a command is a complaint of a program: `gzip: stdin: not in gzip format`.
pub(super) fn says_a_program(text: &str, tool: Option<&str>) -> bool {
    let text = text.trim();
    let speaker = text.split(':').next().unwrap_or_default();
    tool.is_some_and(is_shell)
        && text.lines().count() <= 4
        && !REMARKS.iter().chain(&FILES).any(|head| speaker.to_ascii_lowercase().ends_with(head))
        && text.len() <= SHORT
        && !text.is_empty()
        && (text.lines().filter(|line| !line.trim().is_empty()).all(is_complaint))
}

/// Whether a line is the complaint of a program, which may be named by its path.
pub(super) fn is_complaint(line: &str) -> bool {
    static COMPLAINT: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?i)^((\.{0,2}|~)/[\w./+-]{0,200}/)?[a-z][a-z0-9_.+-]{1,20}: [^\n]*(\bnot (found|in|a|an|allowed|permitted|valid|supported|installed|recognized|running|open|defined|authorized)\b|\b(no such|no module|cannot|can't|could not|unable|invalid|failed|error|denied|required|unknown|missing|refused|illegal|expired|unexpected|unterminated|unmatched|not known|not something|timed out|(does not|doesn't) exist|too (many|few|long)|bad (argument|file|interpreter|number|option|substitution))\b|: [45]\d\d [a-z])",
        )
    });
    patterns::matches(&COMPLAINT, line)
}

/// The longest error record of PowerShell, in bytes.
const RECORD_BYTES: usize = 1_000;

/// The longest output whose last line tells that a call failed, in lines; and the longest of a shell whose last line no document
/// ends with.
const OUTPUT_LINES: usize = 15;
const SHELL_LINES: usize = 200;

/// Whether the output of a command ends with the line by which it reports its failure.
pub(super) fn ends_in_error(text: &str, tool: Option<&str>) -> bool {
    static ENDING: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"^(?:(?:[\w.+-]{1,20}: )?(?:error|fatal): \S|(?:unknown|unrecognized|invalid) (?:option|argument|command|flag)\b|(?:[\w./-]+: )(?:line \d+: )?(?:[^\s:]+: )?command not found$|(?:zsh|\(eval\)):\d+: command not found: \S|[\w./-]+: \d+: \S+: not found$|E: (?:Could not|Failed|Package|Sub-process|The|Unable) |Failed to (?:build|compile|install) \S|[\w./-]+: can't open file '[^'\n]+': \[Errno|Automatic merge failed|make(?:\[\d+\])?: \*\*\* |npm (?:ERR!|error) |(?:ERROR|hg: parse error|(?:remote: )?abort): \S|[\w./+-]{1,40}: (?:can't|cannot) \w[^\n]*: (?:No such file or directory|Permission denied|Is a directory)$|curl: \(\d+\) \S|(?:[\w.+-]{1,20}: )?[Tt]ry ['‘`][\w ./-]+ (?:--help|-h)['’`](?: or ['‘`][\w ./-]+['’`])? for more (?:details|information)\.?$)",
        )
    });
    static ENDING_OF_SHELL: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"^((?:[\w./-]+: )?(?:line \d+: )?\S+: command not found$|(?:[\w./-]+: )?line \d+:\s+\d+ (?:Killed|Segmentation fault|Aborted)\b|make(?:\[\d+\])?: \*\*\* |npm (?:ERR!|error) |curl: \(\d+\) \S|\s?ELIFECYCLE\s+Command failed\b|\S+\(\d+,\d+\): error TS\d+: )",
        )
    });
    if tool.is_some_and(is_reader) {
        return false;
    }
    let text = before_prompt(text);
    let is_hint = |line: &str| {
        ["hint:", "Hint:"].iter().any(|head| line.starts_with(head)) || line.starts_with('(') && line.ends_with(')')
    };
    let lines = || text.lines().filter(|line| !line.trim().is_empty() && !is_hint(line));
    let count = lines().take(SHELL_LINES + 1).count();
    let last = lines().next_back().filter(|_| (2..=SHELL_LINES).contains(&count));
    // Any other tool may print a list or a document that ends so.
    let is_error_of_program = |last: &str| last.starts_with("Error: ") && tool.is_some_and(is_shell);
    // A line of a log, and a row of a table of counts.
    let is_level = |line: &str| ["DEBUG", "INFO", "WARN", "WARNING"].iter().any(|level| line.starts_with(level));
    let is_row = |last: &str| last.split_once(": ").is_some_and(|(_, said)| said.trim().parse::<f64>().is_ok());
    let is_listed = |last: &str| last.starts_with("ERROR") && (is_row(last) || lines().any(is_level));
    let is_of_shell = tool.is_some_and(is_shell);
    last.filter(|last| !is_listed(last)).is_some_and(|last| {
        let is_short = count <= OUTPUT_LINES;
        is_short && (is_error_of_program(last) || patterns::matches(&ENDING, last))
            || is_of_shell && patterns::matches(&ENDING_OF_SHELL, last)
    }) || ends_in_traceback(text) && !(tool.is_some_and(is_command_line) && is_of_a_log(text))
        || has_error_section(text)
        || tool.is_some_and(is_shell) && ends_in_error_record(text)
        || ends_in_node_trace(text) && !text.lines().any(is_log_line)
}

/// A screen of a terminal without the prompt that waits at its end.
fn before_prompt(text: &str) -> &str {
    static PROMPT: LazyPattern = LazyLock::new(|| patterns::one(r"^[\w.-]+@[\w.-]+:[^\s]*[#$]$"));
    let text = text.trim_end();
    match text.rsplit_once('\n') {
        Some((before, last)) if patterns::matches(&PROMPT, last) => before.trim_end(),
        _ => text,
    }
}

/// Whether the output of PowerShell ends with an error record: the place and the category of an error below its words.
fn ends_in_error_record(text: &str) -> bool {
    static RECORD: LazyPattern = LazyLock::new(|| {
        patterns::one(r"(?m)^\s*\+ (CategoryInfo|FullyQualifiedErrorId)\s*: |^At line:\d+ char:\d+|^Line \|\s*$")
    });
    patterns::matches(&RECORD, end_of(text, RECORD_BYTES))
}

/// Whether the output of a program ends with the stack of an error, as Node prints it, and with the fields of the error.
fn ends_in_node_trace(text: &str) -> bool {
    let is_field =
        |line: &&str| line.starts_with("  ") && line.contains(": ") || *line == "}" || line.starts_with("Node.js v");
    let mut lines = text.lines().rev().filter(|line| !line.trim().is_empty()).skip_while(is_field);
    let is_frame = |line: &str| line.trim_start().starts_with("at ") && line.contains(['(', ':']);
    let head = lines.next().filter(|line| is_frame(line)).and_then(|_| lines.find(|line| !is_frame(line)));
    head.is_some_and(|head| head.split(": ").next().is_some_and(|name| name.ends_with("Error")))
}

/// Whether the output of code ends with the exception that ended it, below its traceback or the mark of its place; or has the
/// traceback of a notebook, which is its end.
fn ends_in_traceback(text: &str) -> bool {
    static OF_NOTEBOOK: LazyPattern =
        LazyLock::new(|| patterns::one(r"(?m)^-{60,}\r?\n[A-Za-z_]\w*\s+Traceback \(most recent call last\)"));
    static EXCEPTION: LazyPattern =
        LazyLock::new(|| patterns::one(r"^([A-Za-z_]\w*\.)*\w*(Error|Exception|Interrupt|Exit)\b(:|$)"));
    let is_fence = |line: &&str| line.is_empty() || line.chars().all(|c| c == '`');
    let mut lines = text.lines().rev().map(str::trim).skip_while(is_fence);
    let last = lines.next().unwrap_or_default();
    let mut is_marked = || lines.next().is_some_and(|mark| !mark.is_empty() && mark.chars().all(|c| "^~ ".contains(c)));
    let has_traceback = text.contains("Traceback (most recent call last)");
    has_traceback && patterns::matches(&OF_NOTEBOOK, text)
        || patterns::matches(&EXCEPTION, last) && (has_traceback || is_marked())
}

/// Whether a traceback stands among the lines of a log.
fn is_of_a_log(text: &str) -> bool {
    let has_frames = text.lines().any(|line| line.starts_with("  File \""));
    !has_frames || text.lines().any(is_log_line)
}

/// Whether a tool that runs code puts the error below a heading of its own, behind what it ran.
fn has_error_section(text: &str) -> bool {
    static SECTION: LazyPattern = LazyLock::new(|| {
        patterns::one(r"(?i)\A[^\n]{1,120}\n+-{2,} ?(error|exception)( \([^)\n]{1,60}\))? ?-{2,}(?m:$)")
    });
    patterns::matches(&SECTION, text)
}
