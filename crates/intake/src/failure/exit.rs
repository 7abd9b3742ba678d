//! How a tool prints the exit code of a command beside its output. Knows no other words of failures.

use std::sync::LazyLock;

use super::alternatives::Alternatives;
use super::excerpt::{EXAMINED, cut, end_of};
use super::pattern_search::PatternSearch;
use super::patterns::{self, LazyPattern};
use super::tool_name::{is_reader, is_shell};

/// The error code of a failure that nothing but the exit code of a program tells: what the program did before stays done.
pub(super) const NONZERO_EXIT: &str = "nonzero_exit";

/// A text that begins with an exit code other than 0.
pub(super) static AT_START: LazyLock<Alternatives> = LazyLock::new(|| {
    let all = [
        (
            r"^(error: )?((the )?(process|command|script|program|shell|task) )?(exited|exit|finished|completed|failed|terminated|returned)( with)?( non-zero)?( exit| return)? (code|status)[: ]+(\d*[1-9]\d*|-\d+)\b",
            "CODE|STATUS",
        ),
        (r"^\[?exit[ _-]?code:? [1-9]\d*\b", "CODE"),
        (r"^exited [1-9]\d*( in [\d.]+ ?m?s)?[.:]?\s*(\n|$)", "EXITED"),
        (r"^<exited with exit code [1-9]\d*>", "EXIT CODE"),
        (r"^the script ran[^\n]{0,80}\bposix exit code( was)?: [1-9]\d*\b", "EXIT CODE"),
        (r"^exit [1-9]\d*\s*(\n|$)", "EXIT"),
        (r"^command '.{1,200}' returned non-zero", "NON-ZERO"),
        (r"^command [`'][^\n]{1,300}[`'] failed with (return |exit )?code -?\d*[1-9]\d*\b", "CODE"),
    ];
    Alternatives::between("(?i)", &all, "")
});

/// How a command ended, as the text around its output says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    Ok,
    /// `sure`: the line of the exit code is the tool's own for sure.
    Failed {
        sure: bool,
    },
}

/// Whether a text says, at its start or behind an output, that a program ended with another exit code than 0.
pub(super) fn says_nonzero(text: &str, tool: Option<&str>) -> bool {
    AT_START.is_match(cut(text, EXAMINED)) || matches!(Exit::of(text, tool), Some(Exit::Failed { .. }))
}

impl Exit {
    /// What the exit code in the frame or behind the output of a command says.
    pub(super) fn of(text: &str, tool: Option<&str>) -> Option<Exit> {
        let text = text.trim();
        let framed = framed(text).or_else(|| marked(text, tool)).map(|code| (code, true));
        let (code, sure) = framed.or_else(|| last_line(text, tool))?;
        Some(match code {
            0 => Exit::Ok,
            _ => Exit::Failed { sure },
        })
    }
}

/// The exit code in the frame that some programs put around the output of a command; -1 for a signal.
pub(super) fn framed(text: &str) -> Option<i64> {
    static FRAME: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?im)^(?:[\[(]?(?:the )?(?:command|process) (?:finished|completed|exited|failed) with (?:exit )?code (-?\d+)|(?:process )?exit(?:ed)?(?: with)?(?: exit)? code:? (-?\d+))[\]).]*\s*$",
        )
    });
    let tagged = text.strip_prefix("<returncode>").and_then(|rest| rest.split_once("</returncode>"));
    if let Some((code, _)) = tagged {
        return code.trim().parse().ok();
    }
    let framed = ["Command: ", "Chunk ID: ", "Wall time: ", "Output: "].iter().any(|head| text.starts_with(head));
    let head = framed.then(|| cut(text, EXAMINED));
    let tail = end_of(text, 200);
    let last = tail.lines().next_back().filter(|line| line.starts_with(['[', '(']) || framed);
    let is_killed =
        head.is_some_and(|head| head.lines().any(|line| line.strip_prefix("Signal: ").is_some_and(is_signal)));
    if is_killed {
        return Some(-1);
    }
    head.into_iter()
        .chain(last)
        .chain(framed.then_some(tail))
        .find_map(|part| FRAME.find(Some(part).filter(|part| may_name_a_code(part))?)?.group()?.parse().ok())
}

/// Whether a value names the signal that ended a command.
fn is_signal(value: &str) -> bool {
    let value = value.trim();
    value.starts_with("SIG") || value.parse::<u32>().is_ok_and(|number| number > 0)
}

/// Whether a text may name an exit code as the patterns below do.
fn may_name_a_code(text: &str) -> bool {
    static SEARCH: LazyLock<PatternSearch> = LazyLock::new(|| PatternSearch::of_words(&["CODE", "STATUS"]));
    SEARCH.finds(text)
}

/// The exit code that a tool marks with a sign, on a line of its own behind the output of a command: `⚠️ Exit code: 2`,
/// `--- exit_code: 2 ---`.
fn marked(text: &str, tool: Option<&str>) -> Option<i64> {
    static MARKED: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?im)^(?:⚠\x{fe0f}?|❌|✗|✘|⛔) ?(?:process |command )?(?:exit|exited with|return)(?: exit)?[ _](?:code|status):? (-?\d+)\s*$|^[=-]{2,} ?(?:exit|return)[ _](?:code|status):? (-?\d+) ?[=-]{2,}(?:\s*\n-{2,}[^\n]*)*\s*\z",
        )
    });
    let end = Some(end_of(text, 400)).filter(|end| may_name_a_code(end) && !tool.is_some_and(is_reader))?;
    MARKED.find_all(end).last()?.group()?.parse().ok()
}

/// The exit code that is the last line behind an output, and whether that line is the tool's own for sure: a program may
/// print such a line too, but no sentence of the tool and no empty line before it.
fn last_line(text: &str, tool: Option<&str>) -> Option<(i64, bool)> {
    static LAST: LazyPattern = LazyLock::new(|| {
        patterns::one(
            r"(?i)^(?:((?:the )?(?:command|process|script|program|shell|task) (?:finished|completed|exited|failed|terminated) with (?:exit |return )?(?:code|status):? |\((?:exit|return) (?:code|status):? ?)|\[?(?:exit|return|exit with|exited with)(?: exit)?[ _](?:code|status):? ?)(-?\d+)[)\].]*$",
        )
    });
    let (before, last) = end_of(text, 400)
        .rsplit_once('\n')
        .filter(|(_, last)| may_name_a_code(last) && !tool.is_some_and(is_reader))?;
    let found = LAST.find(last.trim())?;
    let is_own = found.get(1).is_some() || before.ends_with("\n") || tool.is_some_and(is_shell);
    Some((found.get(2)?.parse().ok()?, is_own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_code_behind_an_output_counts() {
        let failed = |sure| Some(Exit::Failed { sure });
        let bash = Some("bash");
        for (text, exit) in [
            ("(no output)\n\nCommand exited with code 3", failed(true)),
            ("(no output)\n\nCommand exited with code 1", failed(true)),
            ("/usr/bin/python3: No module named a\n\nCommand exited with code 1", failed(true)),
            ("a\nb\nExit code: 2", failed(true)),
            ("a\n(exit code 2)", failed(true)),
            ("--- stderr ---\nboom\n\n--- exit_code: 1 ---\n--- duration_ms: 3 ---", failed(true)),
            ("a\n=== exit code: 0 ===", Some(Exit::Ok)),
            ("Error: printed\n(exit code 0)", Some(Exit::Ok)),
            ("Exit code: 2\nThat is the end of the chapter", None),
            ("The value is the exit code 2", None),
            ("a\nexit codes: 2", None),
        ] {
            assert_eq!(Exit::of(text, bash), exit, "{text}");
        }
        assert_eq!(Exit::of("a\nExit code: 2", Some("do_it")), failed(false), "a program may print it");
        assert_eq!(Exit::of("a\n\nExit code: 2", Some("do_it")), failed(true));
        assert_eq!(Exit::of("a\n\nCommand exited with code 2", Some("read_file")), None, "a file may end with it");
    }
}
