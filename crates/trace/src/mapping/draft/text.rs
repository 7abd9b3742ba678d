//! A drafted mapping as the text of its file. Guesses nothing.

use std::fmt::Write;

use super::guess::{Guess, Line};
use playproof_formats::text::escape_unprintable;
use playproof_formats::yaml::{GUESSED, scalar};

const HEAD: &str = "\
# A draft: what each field is was guessed from its name and from what stands there. Look at each line that says
# `guessed`, correct it, and take the mark away. `playproof import --map THIS LOG` says what the mapping makes of a log,
# and `playproof schema mapping` has all that a mapping can say.
#
# A value such as `error.code` is a path into a row; `calls[0].name` and 'attributes[\"http.status\"]' work too. Where the
# log has it, add: `key` (the idempotency key) to `call`; `attempt`, `code`, `retry_after_s` to `result`.
";

/// The text.
pub(super) fn render(guess: &Guess) -> String {
    let mut text = HEAD.to_owned();
    if let Some(path) = guess.from_zero.as_deref().map(escape_unprintable) {
        line(
            &mut text,
            format_args!("#\n# `{path}` counts from 0, and attempts count from 1: it is left out, each row is a call."),
        );
    }
    line(&mut text, format_args!("format: mapping/1"));
    let mut top = Vec::new();
    if let Some(records) = &guess.records {
        top.push(("records: ".to_owned() + &scalar(records), Some("the rows".to_owned())));
    }
    if let Some(unit) = guess.time {
        top.push((format!("time: {unit}"), Some("what a number is that stands for a time".to_owned())));
    }
    marked(&mut text, &top);
    line(&mut text, format_args!("\n# Which rows are calls, and where their parts stand.\ncall:"));
    parts(&mut text, &guess.call);
    line(&mut text, format_args!("\n# Which rows are results: every attempt has one."));
    line(&mut text, format_args!("result:{}", if guess.result.is_empty() { " {}" } else { "" }));
    parts(&mut text, &guess.result);
    line(&mut text, format_args!("\n# A result is a failure if one of these holds.\nfailed:"));
    let failed = guess.failed.iter().map(|(condition, rows)| (format!("  - {condition}"), rows_seen(*rows)));
    marked(&mut text, &failed.collect::<Vec<_>>());
    if !guess.kinds.is_empty() {
        line(
            &mut text,
            format_args!("\n# The first that holds names the error kind, which the rules of a playbook ask for."),
        );
        line(&mut text, format_args!("kinds:"));
        for (kind, condition) in &guess.kinds {
            line(&mut text, format_args!("  {kind}: {condition}"));
        }
    }
    text
}

fn rows_seen(rows: usize) -> Option<String> {
    Some(format!("in {rows} {}", if rows == 1 { "row" } else { "rows" }))
}

fn parts(text: &mut String, parts: &[Line]) {
    let lines = parts.iter().map(|part| (format!("  {}: {}", part.key, part.value), part.rows.and_then(rows_seen)));
    marked(text, &lines.collect::<Vec<_>>());
}

/// Lines with their marks under each other.
fn marked(text: &mut String, lines: &[(String, Option<String>)]) {
    let width = lines.iter().map(|(line, _)| line.chars().count()).max().unwrap_or_default().min(60);
    for (said, mark) in lines {
        let mark = mark.as_ref().map_or_else(String::new, |mark| format!(" ({mark})"));
        line(text, format_args!("{said:width$}   {GUESSED}{mark}"));
    }
}

fn line(text: &mut String, what: std::fmt::Arguments<'_>) {
    let _ = writeln!(text, "{what}"); // writing to a String cannot fail
}

/// Texts as a YAML list, or the one text itself.
pub(super) fn flow(texts: &[&str]) -> String {
    match texts {
        [one] => scalar(one).into_owned(),
        many => format!("[{}]", many.iter().map(|text| scalar(text)).collect::<Vec<_>>().join(", ")),
    }
}
