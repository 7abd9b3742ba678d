//! Whether a text is a list, a log or a document, whatever it begins with. Knows no words of failures.

use super::tool_name::ToolClass;

/// Lines above which a text of a tool that looks is content.
const LINES: usize = 12;

/// Whether `text`, as a result of a tool of this class, is no message.
pub(super) fn is_document(text: &str, class: impl FnOnce() -> Option<ToolClass>) -> bool {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty()).take(60);
    let count = lines().count();
    if count <= 2 {
        return false;
    }
    let levels = lines().skip(1).filter(|line| has_level(line)).count();
    let has_ticks = lines().skip(1).any(|line| line.starts_with(['✅', '✓', '✔']));
    let has_links = lines().skip(1).take(8).any(is_link);
    let has_stack = || lines().any(|line| ["at ", "File \"", "Traceback"].iter().any(|head| line.starts_with(head)));
    levels > 1 && levels * 3 >= count
        || has_ticks
        || (has_links || count > LINES && !has_stack()) && class() == Some(ToolClass::Looking)
}

/// A line such as `INFO: started`, `[WARN] x` or `2026-11-23 10:00:00 ERROR x`.
fn has_level(line: &str) -> bool {
    const LEVELS: [&str; 9] = ["INFO", "WARN", "DEBUG", "ERROR", "TRACE", "NOTICE", "CRITICAL", "FATAL", "LOG"];
    let line = line.trim_start_matches('[');
    let is_date = |(n, byte): (usize, u8)| match n {
        4 | 7 => matches!(byte, b'-' | b'/'),
        _ => byte.is_ascii_digit(),
    };
    line.get(..10).is_some_and(|date| date.bytes().enumerate().all(is_date))
        || LEVELS.iter().any(|level| line.starts_with(level))
}

/// A line that begins a search result: a link, or its label.
fn is_link(line: &str) -> bool {
    const LABELS: [&str; 7] = ["http://", "https://", "url:", "link:", "source:", "[http", "**url"];
    let line =
        line.trim_start_matches(['-', '*', '>', ' ', '<', '(']).get(..8).unwrap_or_default().to_ascii_lowercase();
    LABELS.iter().any(|label| line.starts_with(label))
}
