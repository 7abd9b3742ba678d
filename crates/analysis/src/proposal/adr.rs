//! The decision record of a proposal: its required parts, and which of them are still unwritten. Checks that parts have
//! text, not what it says.

use playproof_formats::diagnostic::{Diagnostic, Source};
use playproof_formats::text::is_blank;

/// The beginning of a placeholder line.
pub const PLACEHOLDER: &str = "<!-- write this:";

/// The parts that a decision record has, in their order.
pub const PARTS: [&str; 4] = ["Pattern", "Example", "Why the existing verdicts do not cover it", "Consequences"];

/// The missing and unwritten parts, in order.
pub fn incomplete(source: &Source) -> Vec<Diagnostic> {
    let parts = parts(&source.text);
    let mut found = Vec::new();
    for wanted in PARTS {
        let Some((heading, body)) = parts.iter().find(|(title, _)| title.1.eq_ignore_ascii_case(wanted)) else {
            let said = format!("the decision record has no part `{wanted}`");
            found.push(Diagnostic::error("adr_part_missing", said).help(format!("write `## {wanted}` and its text")));
            continue;
        };
        let at = heading.0;
        let placeholder = body.iter().find(|(_, line)| line.trim_start().starts_with(PLACEHOLDER));
        let says = |(_, line): &&(usize, &str)| !is_blank(line) && !line.trim_start().starts_with("<!--");
        if let Some((at, line)) = placeholder {
            let said = Diagnostic::error("adr_part_unwritten", format!("`{wanted}` is not written yet"));
            found.push(
                said.at(*at..at + line.trim_end().len(), "replace this line").help("two sentences are often enough"),
            );
        } else if !body.iter().any(|line| says(&line)) {
            let said = Diagnostic::error("adr_part_empty", format!("`{wanted}` is empty"));
            found.push(said.at(at..at + 3 + wanted.len(), "nothing below this").help("two sentences are often enough"));
        }
    }
    found
}

type AdrHeading<'a> = (usize, &'a str);
type AdrLine<'a> = (usize, &'a str);

/// Each `## ` heading with the lines below it, and their offsets.
fn parts(text: &str) -> Vec<(AdrHeading<'_>, Vec<AdrLine<'_>>)> {
    let mut parts: Vec<(AdrHeading<'_>, Vec<AdrLine<'_>>)> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        match (line.strip_prefix("## "), parts.last_mut()) {
            (Some(title), _) => parts.push(((at, title.trim()), Vec::new())),
            (None, Some((_, body))) => body.push((at, line)),
            (None, None) => {}
        }
        at += line.len();
    }
    parts
}

/// The decision record with its number before its title.
pub fn numbered(text: &str, number: u32) -> String {
    match text.strip_prefix("# ") {
        Some(rest) => format!("# {number:04}: {rest}"),
        None => format!("# {number:04}\n\n{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: &str = "# A verdict\n\n## Pattern\nx\n\n## Example\ny\n\n\
        ## Why the existing verdicts do not cover it\nz\n\n## Consequences\nw\n";

    fn ids(text: &str) -> Vec<(&'static str, Option<usize>)> {
        let source = Source::whole("adr.md", text);
        let line = |d: &Diagnostic| d.labels.first().map(|label| source.place(label.span.start).0);
        incomplete(&source).iter().map(|d| (d.id, line(d))).collect()
    }

    #[test]
    fn a_record_whose_parts_all_say_something_is_complete() {
        assert_eq!(ids(FULL), []);
        assert_eq!(ids(&FULL.replace('\n', "\r\n")), []);
    }

    #[test]
    fn an_empty_a_missing_and_an_unwritten_part_are_each_told_with_their_line() {
        assert_eq!(ids(&FULL.replace("\ny\n", "\n<!-- nothing -->\n")), [("adr_part_empty", Some(6))]);
        assert_eq!(ids(&FULL.replace("## Consequences\nw\n", "")), [("adr_part_missing", None)]);
        assert_eq!(ids(&FULL.replace("\nz\n", "\n<!-- write this: why -->\n")), [("adr_part_unwritten", Some(10))]);
    }

    #[test]
    fn a_number_stands_before_the_title() {
        assert!(numbered(FULL, 12).starts_with("# 0012: A verdict\n\n## Pattern"));
    }
}
