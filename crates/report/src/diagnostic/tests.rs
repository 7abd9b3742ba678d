//! What drawn diagnostics underline, and that hostile sources cannot draw anything else.

use std::sync::Arc;

use super::draw::{render, tally};
use playproof_formats::diagnostic::{Diagnostic, Report, Source};

fn drawn(source: Arc<Source>, diagnostic: Diagnostic) -> String {
    render(&Report::one(source, diagnostic), 80, false)
}

#[test]
fn the_place_is_underlined_and_named() {
    let source = Source::whole("p.yaml", "a: 1\nretry: {bse_ms: 100}\nc: 2\n");
    let page = drawn(source, Diagnostic::error("unknown_key", "unknown key `bse_ms`").at(13..19, "here").help("h"));
    assert_eq!(
        page,
        "  × unknown key `bse_ms`\n   ╭─[p.yaml:2:9]\n 1 │ a: 1\n 2 │ retry: {bse_ms: 100}\n   ·         ───┬──\n   \
         ·            ╰── here\n 3 │ c: 2\n   ╰────\n  help: h\n"
    );
}

#[test]
fn a_window_keeps_its_true_line_and_column() {
    let (name, text) = ("t.jsonl".into(), "{\"a\":tru}".into());
    let source = Source { name, text, first_line: 481_001, first_column: 900, begins_before: true, goes_on: true };
    let page = drawn(Arc::new(source), Diagnostic::error("json", "expected a value").at(5..8, ""));
    assert!(page.contains("[t.jsonl:481001:906]"), "{page}");
    assert!(page.contains("481001 │ …{\"a\":tru}…\n        ·       ───\n"), "{page}");
}

#[test]
fn a_very_long_line_is_shown_as_a_window_round_the_place() {
    let text = format!("{}X{}", "a".repeat(100_000), "b".repeat(100_000));
    let page = drawn(Source::whole("t", text), Diagnostic::error("x", "m").at(100_000..100_001, "here"));
    assert!(page.contains("[t:1:100001]"), "{page}");
    assert!(page.lines().all(|line| crate::text::width(line) <= 80), "{page}");
    assert!(page.contains("…aaa") && page.contains("bbb…"), "{page}");
}

#[test]
fn a_line_of_control_characters_fits_too() {
    let text = format!("{}X{}", "\u{1b}".repeat(1_000), "\u{0}".repeat(1_000));
    let page = drawn(Source::whole("t", text), Diagnostic::error("x", "m").at(1_000..1_001, "here"));
    assert!(page.lines().all(|line| crate::text::width(line) <= 80), "{page}");
    assert!(page.contains("[t:1:1001]"), "{page}");
}

#[test]
fn two_places_on_a_long_line_are_both_shown_where_they_fit() {
    let text = format!("{}: {{cap: 50, base: 100}}{}", "k".repeat(200), " ".repeat(100));
    let at = text.find("cap").unwrap();
    let both = Diagnostic::error("x", "m").at(at..at + 7, "smaller").at(at + 9..at + 18, "than this");
    let page = drawn(Source::whole("t", text), both);
    assert!(page.contains("smaller") && page.contains("than this"), "{page}");
}

#[test]
fn control_characters_of_a_source_are_drawn_not_obeyed() {
    let page =
        drawn(Source::whole("t\u{7}", "\u{1b}[2J: bad\r\n"), Diagnostic::error("x", "m\u{1b}c").at(6..9, "l\u{9b}"));
    assert!(!page.contains(|c: char| c.is_control() && c != '\n'), "{page:?}");
    assert!(page.contains("1 │ \\u{1b}[2J: bad\n   ·            ─┬─"), "{page}");
}

#[test]
fn the_end_of_a_source_and_an_empty_source_can_be_underlined() {
    for (text, at) in [("", 0..0), ("a: [", 4..4), ("a\n", 2..2), ("é", 1..9)] {
        let page = drawn(Source::whole("t", text), Diagnostic::error("x", "it ends too early").at(at, "here"));
        assert!(page.contains("╰── here"), "{text:?}\n{page}");
    }
}

#[test]
fn several_places_are_drawn_at_once() {
    let page = drawn(
        Source::whole("t", "a: 1\nb: 2\na: 3\n"),
        Diagnostic::error("duplicate_key", "`a` twice").at(10..11, "again").at(0..1, "first"),
    );
    assert!(page.contains("[t:3:1]"), "{page}");
    assert!(page.contains("first") && page.contains("again"), "{page}");
}

#[test]
fn a_diagnostic_without_a_place_names_its_source() {
    let page = drawn(Source::whole("t.jsonl", ""), Diagnostic::error("empty", "it is empty"));
    assert_eq!(page, "  × t.jsonl: it is empty\n");
}

#[test]
fn errors_and_warnings_are_counted() {
    let report = Report {
        source: Source::whole("t", ""),
        diagnostics: vec![Diagnostic::error("a", "a"), Diagnostic::error("b", "b"), Diagnostic::warning("c", "c")],
    };
    assert_eq!(tally([&report]), "2 errors, 1 warning");
}

#[test]
fn places_that_are_drawn_apart_have_a_head_each() {
    let source = Source::whole("p.yaml", format!("first: 1\n{}  last: 2\n", "-\n".repeat(20)));
    let at = source.text.find("last").unwrap();
    let page = drawn(source, Diagnostic::error("x", "m").at(0..5, "here").at(at..at + 4, "there"));
    assert!(page.contains("[p.yaml:1:1]") && page.contains("[p.yaml:22:3]"), "{page}");
}
