//! The decision record of a proposal: its required parts, which of them are still unwritten, and the goldens that it
//! says will change. Checks that parts have text, not what it says.

use playproof_formats::diagnostic::{Diagnostic, Source};
use playproof_formats::golden::Class;
use playproof_formats::text::is_blank;

/// The beginning of a placeholder line.
pub const PLACEHOLDER: &str = "<!-- write this:";

/// The parts that a decision record has, in their order.
pub const PARTS: [&str; 4] = ["Pattern", "Example", "Why the existing verdicts do not cover it", "Consequences"];

/// The part that names the goldens that change, one a line, as [`golden_line`] writes it.
pub const GOLDENS: &str = "Changed goldens";

/// The part that says why a guard may be weaker.
pub const GUARDS: &str = "Weaker guards";

/// The part that says why a property may be lost.
pub const LOST: &str = "Lost properties";

/// A golden that a record says will change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expected {
    /// `PLAYBOOK/FIXTURE`.
    pub id: String,
    /// The worst expected class.
    pub class: Class,
}

/// The line of a golden that changes, and the worst that may change in it.
pub fn golden_line(id: &str, class: Class) -> String {
    format!("- `{id}`: {}", class.as_str())
}

/// The goldens that the record says will change.
pub(super) fn expected(source: &Source) -> Vec<Expected> {
    let parts = parts(&source.text);
    let lines = parts.iter().filter(|(title, _)| title.1.eq_ignore_ascii_case(GOLDENS)).flat_map(|(_, lines)| lines);
    lines.filter_map(|(_, line)| expected_in(line)).collect()
}

fn expected_in(line: &str) -> Option<Expected> {
    let (id, word) = line.trim().strip_prefix("- `")?.split_once("`:")?;
    let word = word.split_whitespace().next()?.trim_end_matches([',', ';', '.']);
    let class = Class::ALL.into_iter().find(|class| class.as_str() == word)?;
    Some(Expected { id: id.to_owned(), class })
}

/// Whether the record has something to say in a part.
pub(super) fn explains(source: &Source, part: &str) -> bool {
    let parts = parts(&source.text);
    parts.iter().any(|((_, title), body)| title.eq_ignore_ascii_case(part) && says_something(body))
}

fn says_something(body: &[AdrLine<'_>]) -> bool {
    body.iter().any(|(_, line)| !is_blank(line) && !line.trim_start().starts_with("<!--"))
}

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
        if let Some((at, line)) = placeholder {
            let said = Diagnostic::error("adr_part_unwritten", format!("`{wanted}` is not written yet"));
            found.push(
                said.at(*at..at + line.trim_end().len(), "replace this line").help("two sentences are often enough"),
            );
        } else if !says_something(body) {
            let said = Diagnostic::error("adr_part_empty", format!("`{wanted}` is empty"));
            found.push(said.at(at..at + 3 + wanted.len(), "nothing below this").help("two sentences are often enough"));
        }
    }
    found.extend(unreadable(&parts));
    found
}

/// The lines among the changed goldens that name none.
fn unreadable(parts: &[(AdrHeading<'_>, Vec<AdrLine<'_>>)]) -> Vec<Diagnostic> {
    let lines = parts.iter().filter(|(title, _)| title.1.eq_ignore_ascii_case(GOLDENS)).flat_map(|(_, lines)| lines);
    let odd = lines.filter(|(_, line)| line.trim_start().starts_with("- ") && expected_in(line).is_none());
    let words: Vec<&str> = Class::ALL.iter().map(|class| class.as_str()).collect();
    let said = |(at, line): &AdrLine<'_>| {
        Diagnostic::error("adr_golden_unreadable", "this line names no golden")
            .at(*at..at + line.trim_end().len(), "expected: - `PLAYBOOK/FIXTURE`: CLASS")
            .help(format!("a class is one of {}", words.join(", ")))
    };
    odd.map(said).collect()
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
    fn the_goldens_that_change_are_listed_one_a_line_and_an_odd_line_is_told() {
        let listed = format!("{FULL}\n## Changed goldens\n\nThese:\n\n{}\n", golden_line("ours/a", Class::ALL[0]));
        let expected = expected(&Source::whole("adr.md", &*listed));
        assert_eq!(expected, [Expected { id: "ours/a".to_owned(), class: Class::ALL[0] }]);
        assert_eq!(ids(&listed), []);
        assert_eq!(ids(&format!("{listed}- `ours/b`: worse\n")), [("adr_golden_unreadable", Some(20))]);
    }

    #[test]
    fn a_weaker_guard_is_explained_by_words() {
        let explained = |text: &str| explains(&Source::whole("adr.md", text), GUARDS);
        assert!(!explained(FULL) && !explained(&format!("{FULL}\n## Weaker guards\n\n<!-- write this: why -->\n")));
        assert!(explained(&format!("{FULL}\n## Weaker guards\nThe upstream honours keys.\n")));
    }

    #[test]
    fn a_number_stands_before_the_title() {
        assert!(numbered(FULL, 12).starts_with("# 0012: A verdict\n\n## Pattern"));
    }
}
