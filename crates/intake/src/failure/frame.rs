//! What some programs put around every result, whether it failed or not. Knows no words of failures.

/// What a program adds behind a result, for the model alone.
const REMINDER: &str = "\n\n<system-reminder>";

/// What a shell without a terminal says before any output.
const NO_TERMINAL: &str = "bash: no job control in this shell";

/// The times that some programs write above every result, one a line.
const TIMES: [&str; 2] = ["Created At: ", "Completed At: "];

/// What agents that think aloud write before every result.
const OBSERVATION: [&str; 2] = ["Observation:", "OBSERVATION:"];

/// A text without the header (`[read_file for 'a.txt'] Result:`, `Observation:`) or the element (`<output>`) that some programs put around
/// every result, without a reminder behind it and without what a shell says first.
pub(super) fn inside(text: &str) -> &str {
    let text = text.split_once(REMINDER).map_or(text, |(text, _)| text).trim();
    let text = text
        .split_once(NO_TERMINAL)
        .filter(|(head, _)| head.lines().count() <= 1)
        .map_or(text, |(_, rest)| rest.trim_start());
    let text =
        TIMES.iter().fold(text, |text, head| match text.strip_prefix(head).and_then(|rest| rest.split_once('\n')) {
            Some((_, rest)) => rest.trim_start(),
            None => text,
        });
    let text = OBSERVATION.iter().find_map(|head| text.strip_prefix(head)).map_or(text, str::trim_start);
    if let Some((header, rest)) = text.split_once('\n').filter(|(header, _)| header.starts_with('[')) {
        return if header.trim_end().ends_with("] Result:") { rest.trim() } else { text };
    }
    let element = text.strip_prefix('<').and_then(|rest| rest.split_once('>'));
    let inner = element.and_then(|(name, rest)| {
        let is_frame = ["context", "output", "response", "result"].iter().any(|end| name.ends_with(end));
        rest.strip_suffix('>')?.strip_suffix(name)?.strip_suffix("</").filter(|_| is_frame)
    });
    inner.map_or(text, str::trim)
}
