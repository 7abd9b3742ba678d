//! What a text that begins like a failure is: a message, or a list, a log, a document. Knows no words of failures.

use super::quoted::is_log_line;
use super::tool_name::is_reader;
use super::{laid_out, prose};

/// Lines above which a text of a tool that reads is content, whatever it begins with.
const READ_LINES: usize = 12;

/// What a text that begins like a failure is.
pub(super) enum Content {
    /// The message of a failure.
    Message,
    /// It may be the content of a document or a search result.
    Unclear,
    /// A log, a list or a document.
    Document,
}

impl Content {
    /// What `text` is, as a result of `tool`.
    pub(super) fn of(text: &str, tool: Option<&str>) -> Content {
        let lines = || text.lines().filter(|line| !line.trim().is_empty()).take(60);
        let count = lines().count();
        if count <= 2 {
            return Content::Message;
        }
        let later = || lines().skip(1);
        let share = |hits: usize| hits * 3 >= count;
        let levels = later().filter(|line| has_level(line)).count();
        let ticks = later().filter(|line| line.trim_start().starts_with(['✅', '✓', '✔'])).count();
        let urls = later().take(8).filter(|line| is_link_line(line)).count();
        if (levels > 1 && share(levels)) || ticks > 0 {
            return Content::Document;
        }
        let reads = tool.is_some_and(is_reader);
        if reads && (prose::is_reference(text) || is_headed_list(text)) {
            return Content::Document;
        }
        match (urls > 0, reads) {
            (true, true) => Content::Document,
            (true, false) => Content::Unclear,
            (false, true) if count > READ_LINES && !has_stack(text) => Content::Unclear,
            (false, _) => Content::Message,
        }
    }
}

fn has_stack(text: &str) -> bool {
    let mut lines = text.lines().take(60).map(str::trim_start);
    lines.any(|line| line.starts_with("at ") || line.starts_with("File \"") || line.starts_with("Traceback"))
}

/// A line such as `INFO: started`, `[WARN] x` or `2026-11-23 10:00:00 ERROR x`.
fn has_level(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches('[');
    let level = ["INFO", "WARN", "DEBUG", "ERROR", "TRACE", "NOTICE", "CRITICAL", "FATAL", "LOG"];
    let dated = line.get(..10).is_some_and(|date| {
        date.bytes()
            .enumerate()
            .all(|(n, byte)| if n == 4 || n == 7 { matches!(byte, b'-' | b'/') } else { byte.is_ascii_digit() })
    });
    dated || is_log_line(line) || level.iter().any(|level| line.starts_with(level))
}

/// Whether a text is a headline over a list: a message ends with a colon before its list.
fn is_headed_list(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_headline = lines.next().is_some_and(|line| !line.ends_with(':'));
    let is_item = |line: &&str| line.starts_with(['-', '*', '•']) && line.contains(' ');
    let items = lines.take(8).filter(|line| is_item(line) && !laid_out::is_advice(line));
    is_headline && items.count() >= 2
}

/// A line that begins a search result: a link, or its label.
fn is_link_line(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches(['-', '*', '>', ' ', '<', '(']);
    let labels = ["http://", "https://", "URL:", "Url:", "url:", "Link:", "link:", "Source:", "[http", "**URL"];
    labels.iter().any(|label| line.starts_with(label))
}
