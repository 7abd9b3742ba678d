//! Tells what a program quotes (lines that a search found, a log, a mention of a traceback, a piece of prose) from the message
//! of a failure. Knows no words of failures.

use std::sync::LazyLock;

use super::patterns::{self, LazyPattern};
use super::tool_name::{has_word, is_reader, is_shell, is_writer};

/// Lines that are looked at.
const LINES: usize = 60;

const TRACEBACK: &str = "Traceback (most recent call last)";

/// A line with a level and a time at its start, in either order: `ERROR 2026-01-01 x`, `2026-01-01 10:00:00 [main] ERROR x`.
static LOG_LINE: LazyPattern = LazyLock::new(|| {
    const LEVEL: &str = "(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR)?|CRIT(?:ICAL)?|FATAL|SEVERE)";
    const TIME: &str =
        r"(?:\d{4}[-/]\d\d[-/]\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?|\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d)";
    patterns::one(&format!(
        r#"^(?:[\[(]?{LEVEL}[\])]?:? *[\[(]?{TIME}|[\[(]?{TIME}[^\n]{{0,60}}?[ \[(|]{LEVEL}\b|(?:time|ts)=\S+ (?:\w+=\S+ )?level=|[DIWEF]\d{{4}} \d\d:\d\d:\d\d)"#
    ))
});

/// Whether a text is the output of a program that quotes a file, a log or the lines that a search found.
pub(super) fn is_quoted(text: &str, tool: Option<&str>) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let (first, second) = (lines.next().unwrap_or_default(), lines.next());
    let quotes = tool.is_some_and(|tool| is_reader(tool) || is_shell(tool));
    is_found_line(first, second)
        || names_line_of_file(first)
        || is_bare_traceback(text)
        || first.starts_with("[(") // the rows of a table, as Python prints them
        || is_overcome(text)
        || (is_log_line(first) && !tool.is_some_and(is_writer))
        || (quotes && is_piece_of_prose(first, second))
        || is_line_of_a_log(first, tool)
}

/// Whether a tool gives logs, and a text begins as one of their lines.
fn is_line_of_a_log(text: &str, tool: Option<&str>) -> bool {
    const SHOWS: [&str; 5] = ["alerts", "console", "diagnostics", "logs", "notices"];
    const GIVES: [&str; 8] = ["browser", "docker", "get", "kubectl", "list", "lsp", "show", "tail"];
    static LINE: LazyPattern = LazyLock::new(|| {
        patterns::one(r"^(\[[a-z]+\] |panic: |CRITICAL |ERROR |WARNING |NOTICE: |[\w./-]+\(\d+,\d+\): error )")
    });
    let gives = |tool: &str| has_word(tool, &SHOWS) && has_word(tool, &GIVES) && !is_writer(tool);
    tool.is_some_and(gives) && patterns::matches(&LINE, text)
}

/// Whether a text tells of several errors, of another try, and of something else at its end: they were overcome.
fn is_overcome(text: &str) -> bool {
    let retries = |line: &str| ["retry", "trying again"].iter().any(|word| line.to_ascii_lowercase().contains(word));
    let tells = |line: &&str| line.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("error:"));
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let last = lines.next_back();
    text.lines().any(retries) && lines.filter(tells).count() > 1 && last.is_some_and(|last| !tells(&last))
}

/// Whether a line begins with a level and a time, as the lines of a log do.
pub(super) fn is_log_line(line: &str) -> bool {
    patterns::matches(&LOG_LINE, line)
}

/// Whether a line is one that a search found, behind its number: `12:text`, or `12-text` beside it. A status (`404: no such
/// page`), a time (`10:30 is taken`) and a number of things (`12-month plans`) are none, if they are alone.
fn is_found_line(line: &str, next: Option<&str>) -> bool {
    let number = |line: &str| {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let rest = line.get(digits..).unwrap_or_default();
        ((1..=6).contains(&digits) && rest.starts_with([':', '-'])).then(|| rest.to_owned())
    };
    let is_date = |line: &str| line.get(4..8).is_some_and(|part| part.starts_with('-') && part.ends_with('-'));
    let Some(rest) = number(line).filter(|_| !is_date(line)) else { return false };
    let is_status = line.starts_with(['4', '5']) && line.get(3..4) == Some(":");
    let text = rest.strip_prefix(':').filter(|_| !is_status).unwrap_or_default();
    let is_glued = text.starts_with(|c: char| !c.is_whitespace() && !c.is_ascii_digit());
    let is_indented = text.starts_with("  ") || text.starts_with('\t');
    is_glued || is_indented || next.is_some_and(|next| number(next).is_some() && !is_date(next))
}

/// Whether a line names the file and the number of the line that it quotes: `src/a.rs:12: text`. A compiler says `error` next.
fn names_line_of_file(line: &str) -> bool {
    let Some((path, rest)) = line.split_once(':') else { return false };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let behind = rest.get(digits..).unwrap_or_default();
    let is_path =
        !path.contains(char::is_whitespace) && !rest.starts_with("//") && (path.contains('/') || is_file(path));
    let says_error = behind.trim_start_matches([':', ' ']).trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
    let words = says_error.trim_start();
    let is_report = ["error", "fatal"].iter().any(|word| words.to_ascii_lowercase().starts_with(word));
    digits > 0 && behind.starts_with([':', '-']) && is_path && !is_report
}

/// Whether a text has nothing of tracebacks but their first lines.
fn is_bare_traceback(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(LINES).peekable();
    lines.peek().is_some() && lines.all(|line| line.starts_with(TRACEBACK))
}

/// Whether the first line is cut out of prose: it closes code that was opened before, or is a long sentence without a capital,
/// with more behind it.
fn is_piece_of_prose(line: &str, next: Option<&str>) -> bool {
    let (before, after) = line.split_once('`').unwrap_or_default();
    let is_closed_first = before.ends_with(char::is_alphanumeric) && after.starts_with(' ');
    let closes_code = is_closed_first && line.matches('`').count() % 2 == 1;
    let is_sentence = line.starts_with(char::is_lowercase) && line.ends_with('.') && !line.contains(':');
    closes_code || (is_sentence && next.is_some() && line.split_whitespace().count() >= 10)
}

/// Endings of files, which are no functions.
pub(super) const FILES: [&str; 25] = [
    ".rs", ".py", ".js", ".ts", ".go", ".md", ".txt", ".log", ".json", ".yaml", ".yml", ".java", ".c", ".html", ".tsx",
    ".jsx", ".cpp", ".h", ".rb", ".php", ".sh", ".toml", ".css", ".sql", ".cs",
];

/// Whether a name is that of a file.
pub(super) fn is_file(name: &str) -> bool {
    FILES.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_a_search_found_are_quoted() {
        for text in [
            "1:ERROR 2026-01-01 connection refused",
            "60:- **Tell \"malformed id\" from \"session not found\".**",
            "404:the page was not found\n405:and more",
            "7-before\n8:Error: x",
            "3:\tError: raised",
            "src/a.rs:12:    Err(timed out)",
            "notes.md:4: connection refused",
            "notes.md-3-x\nnotes.md:4:Error: x\n",
        ] {
            let found = is_quoted(text, Some("do_it"));
            assert_eq!(found, !text.starts_with("notes.md-3"), "{text}");
        }
        for text in [
            "404: Not Found",
            "10:30 is not available",
            "12-month plans are not available",
            "2026-02-30 is invalid",
            "src/a.rs:12:5: error: x",
            "a.py:3: fatal error: x",
            "example.com:443: connection refused",
            "http://a.b/c:12: connection refused",
            "5 rows: not found",
        ] {
            assert!(!is_quoted(text, Some("do_it")), "{text}");
        }
    }

    #[test]
    fn a_log_is_quoted_unless_a_tool_that_writes_gives_it() {
        for text in [
            "ERROR 2026-01-01 connection refused\nException in thread main",
            "[ERROR] 2026-01-01T10:00:00 boom",
            "2026-01-01 10:00:00,123 [main] ERROR a.b - request timed out",
            "10:00:00 WARN connection refused",
            "time=2026-01-01T10:00:00Z level=error msg=\"timed out\"",
            "E0101 10:00:00.1 1 a.go:3] connection refused",
        ] {
            assert!(is_quoted(text, Some("read_file")) && is_quoted(text, Some("bash")), "{text}");
            assert!(!is_quoted(text, Some("write_file")), "{text}");
        }
        for text in
            ["ERROR: 2026 is no valid year", "2026-01-01 is invalid", "Error 500: gone", "ERROR the file is gone"]
        {
            assert!(!is_quoted(text, Some("read_file")), "{text}");
        }
    }

    #[test]
    fn only_the_first_lines_of_tracebacks_are_a_mention() {
        let first = "Traceback (most recent call last):";
        assert!(is_quoted(&format!("{first}\n{first}\n"), Some("do_it")));
        for text in [format!("{first}\nKeyError: 'a'"), format!("{first}\n  File \"a.py\", line 3, in f")] {
            assert!(!is_quoted(&text, Some("do_it")), "{text}");
        }
    }

    #[test]
    fn a_piece_of_prose_is_quoted_by_tools_that_print_files() {
        let pieces = [
            "Error: unusable` being thrown and returned through the `Promise",
            "Error: unusable` being thrown and returned through the `Promise` again._",
            "invalid inputs fall back to the slow parser so that error reports stay identical.\ninvalid_type',",
        ];
        assert!(is_quoted(pieces[1], Some("bash")) && is_quoted(pieces[2], Some("bash")));
        assert!(!is_quoted(pieces[0], Some("bash")) && !is_quoted(pieces[1], Some("pay")));
        for text in ["invalid option 'x'.\nusage: a", "Error: `a` is missing", "invalid input"] {
            assert!(!is_quoted(text, Some("bash")), "{text}");
        }
    }
}
