//! The content of a drafted mapping, and the text of its file. Guesses nothing.

use std::fmt::Write;

use playproof_formats::yaml::{GUESSED, scalar};

const HEAD: &str = "\
# A draft: the role of each field is guessed from its name and its values. Check each line that says `guessed`, correct
# it, and remove the mark. `playproof formats try --map THIS LOG` shows the result on a log, and `playproof schema mapping`
# describes all fields of a mapping.
#
# A value such as `error.code` is a path into a row; `calls[0].name` and 'attributes[\"http.status\"]' work too. If the
# log has them, add: `key` (the idempotency key) to `call`; `attempt`, `code`, `retry_after_s` to `result`.
";

/// A line of the draft: its key, its path or condition, and the number of rows that support it.
#[derive(Clone, Debug)]
pub(super) struct DraftLine {
    pub(super) key: &'static str,
    pub(super) value: String,
    pub(super) rows: Option<usize>,
}

/// The content of a drafted mapping.
#[derive(Clone, Debug, Default)]
pub(super) struct DraftContent {
    pub(super) records: Option<String>,
    pub(super) time: Option<&'static str>,
    pub(super) call: Vec<DraftLine>,
    pub(super) result: Vec<DraftLine>,
    pub(super) failed: Vec<(String, usize)>,
}

impl DraftContent {
    pub(super) fn guesses(&self) -> usize {
        self.call.len() + self.result.len() + self.failed.len()
    }

    pub(super) fn of_rows(self) -> Vec<String> {
        let lines = self.call.into_iter().chain(self.result).map(|line| line.value);
        let conditions = self.failed.into_iter().map(|(condition, _)| condition);
        lines.chain(conditions).chain(self.records).collect()
    }
}

/// Renders the mapping file.
pub(super) fn render(content: &DraftContent) -> String {
    let mut text = HEAD.to_owned();
    line(&mut text, format_args!("format: mapping/1"));
    let mut top = Vec::new();
    if let Some(records) = &content.records {
        top.push(("records: ".to_owned() + &scalar(records), Some("the rows".to_owned())));
    }
    if let Some(unit) = content.time {
        top.push((format!("time: {unit}"), Some("the unit of times that are numbers".to_owned())));
    }
    marked(&mut text, &top);
    line(&mut text, format_args!("\n# Which rows are calls, and the paths of their parts.\ncall:"));
    parts(&mut text, &content.call);
    line(&mut text, format_args!("\n# Which rows are results. Every attempt has a result."));
    line(&mut text, format_args!("result:{}", if content.result.is_empty() { " {}" } else { "" }));
    parts(&mut text, &content.result);
    line(&mut text, format_args!("\n# A result is a failure if one of these conditions holds.\nfailed:"));
    let failed = content.failed.iter().map(|(condition, rows)| (format!("  - {condition}"), rows_seen(*rows)));
    marked(&mut text, &failed.collect::<Vec<_>>());
    text
}

fn rows_seen(rows: usize) -> Option<String> {
    Some(format!("in {rows} {}", if rows == 1 { "row" } else { "rows" }))
}

fn parts(text: &mut String, parts: &[DraftLine]) {
    let lines = parts.iter().map(|part| (format!("  {}: {}", part.key, part.value), part.rows.and_then(rows_seen)));
    marked(text, &lines.collect::<Vec<_>>());
}

/// Writes lines with aligned marks.
fn marked(text: &mut String, lines: &[(String, Option<String>)]) {
    let width = lines.iter().map(|(line, _)| line.chars().count()).max().unwrap_or_default().min(60);
    for (content, mark) in lines {
        let mark = mark.as_ref().map_or_else(String::new, |mark| format!(" ({mark})"));
        line(text, format_args!("{content:width$}   {GUESSED}{mark}"));
    }
}

fn line(text: &mut String, what: std::fmt::Arguments<'_>) {
    let _ = writeln!(text, "{what}"); // writing to a String cannot fail
}

/// Texts as a YAML list; a single text as a scalar.
pub(super) fn flow<T: AsRef<str>>(texts: &[T]) -> String {
    match texts {
        [one] => scalar(one.as_ref()).into_owned(),
        many => format!("[{}]", many.iter().map(|text| scalar(text.as_ref())).collect::<Vec<_>>().join(", ")),
    }
}
