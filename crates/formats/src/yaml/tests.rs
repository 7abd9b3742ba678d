//! What strict reading refuses, underlines and suggests.

use std::sync::Arc;

use super::{Cursor, MAX_BYTES, parse};
use crate::diagnostic::{Diagnostic, Report, Source};

fn failed<T: std::fmt::Debug>(text: &str, lower: impl FnOnce(Cursor<'_>) -> Option<T>) -> Vec<(Diagnostic, String)> {
    let report: Report = parse(Source::whole("t", text), lower).expect_err("a report");
    let underlined = |diagnostic: &Diagnostic| {
        diagnostic.labels.iter().map(|label| &text[label.span.clone()]).collect::<Vec<_>>().join("|")
    };
    report.diagnostics.iter().map(|diagnostic| (diagnostic.clone(), underlined(diagnostic))).collect()
}

/// The id, what is underlined and the help of the only diagnostic.
fn only<T: std::fmt::Debug>(text: &str, lower: impl FnOnce(Cursor<'_>) -> Option<T>) -> (&'static str, String, String) {
    let mut all = failed(text, lower);
    assert_eq!(all.len(), 1, "{all:#?}");
    let (diagnostic, underlined) = all.remove(0);
    (diagnostic.id, underlined, diagnostic.help.unwrap_or_default())
}

fn json(root: Cursor<'_>) -> Option<String> {
    root.json().map(|value| value.to_string())
}

#[test]
fn a_duplicate_key_is_refused_with_both_places() {
    let (id, underlined, _) = only("a: 1\nb: 2\na: 3\n", json);
    assert_eq!((id, &*underlined), ("duplicate_key", "a|a"));
}

#[test]
fn several_errors_are_reported_at_once_in_the_order_of_their_places() {
    let all = failed("x: -1\nb: [1]\na: 2\na: 3\n", |root| {
        let record = root.record("a thing", &["a", "b", "x"])?;
        record.optional("b")?.string();
        record.optional("x")?.whole(0..=9);
        Some(())
    });
    let ids: Vec<_> = all.iter().map(|(diagnostic, underlined)| (diagnostic.id, underlined.as_str())).collect();
    assert_eq!(ids, [("wrong_type", "-1"), ("wrong_type", "[1]"), ("duplicate_key", "a|a")]);
}

#[test]
fn for_an_unknown_key_a_near_one_is_suggested_and_not_reported_as_missing() {
    let (id, underlined, help) =
        only("verdit: x\n", |root| root.record("a rule", &["rule", "verdict"])?.required("verdict").map(Cursor::span));
    assert_eq!((id, &*underlined, &*help), ("unknown_key", "verdit", "did you mean `verdict`?"));
}

#[test]
fn a_missing_key_is_reported_at_its_map() {
    let (id, underlined, _) = only("- { b: 1 }\n", |root| {
        root.list()?.next()?.record("a thing", &["a", "b"])?.required("a").map(Cursor::span)
    });
    assert_eq!((id, &*underlined), ("missing_key", "{ b: 1 }"));
}

#[test]
fn a_wrong_unit_has_a_fix_hint() {
    let timeout = |root: Cursor<'_>| root.record("a tool", &["timeout_ms"])?.required("timeout_ms").map(Cursor::span);
    for text in ["timeout: 5s\n", "timeout_s: 5\n", "timeout: 5 seconds\n", "timeout: 5000\n"] {
        let (id, _, help) = only(text, timeout);
        assert_eq!((id, &*help), ("unknown_key", "write `timeout_ms: 5000`, in milliseconds"), "{text}");
    }
    let backoff = |root: Cursor<'_>| root.record("a retry", &["backoff_ms"])?.required("backoff_ms").map(Cursor::span);
    assert_eq!(only("backoff: [200, 1s]\n", backoff).2, "write `backoff_ms: [200, 1000]`, in milliseconds");
}

#[test]
fn negative_fractional_huge_and_quoted_numbers_are_refused_by_what_they_are() {
    let small = |root: Cursor<'_>| root.whole(1..=100);
    let message = |text: &str| failed(text, small)[0].0.message.clone();
    assert_eq!(message("-5"), "expected a whole number from 1 to 100, found the number `-5`");
    assert_eq!(message("2.5"), "expected a whole number from 1 to 100, found the number `2.5`");
    assert_eq!(message(&"9".repeat(5_000)), "expected a whole number from 1 to 100, found a number of 5000 digits");
    assert_eq!(only("\"7\"", small).2, "write `7` without quotes");
}

#[test]
fn a_number_is_a_text_only_in_quotes() {
    let (_, underlined, help) =
        only("name: 1.10\n", |root| root.record("a", &["name"])?.required("name")?.name().map(|_| ()));
    assert_eq!((&*underlined, &*help), ("1.10", "write it in quotes: `\"1.10\"`"));
    assert_eq!(parse(Source::whole("t", "'1.10'"), |root| root.string().map(str::to_owned)), Ok("1.10".to_owned()));
}

#[test]
fn a_name_holds_no_blanks_and_no_control_characters() {
    for text in ["a b", "\"\\e[31m\"", "''", "a/b"] {
        assert_eq!(only(text, |root| root.name().map(|_| ())).0, "bad_name", "{text}");
    }
}

fn truth(root: Cursor<'_>) -> Option<bool> {
    root.bool()
}

#[test]
fn yes_and_no_are_not_booleans_and_have_a_fix_hint() {
    assert_eq!(only("yes", truth).2, "write `true`");
    assert_eq!(only("off", truth).2, "write `false`");
}

#[test]
fn a_word_must_be_one_of_the_table() {
    let (id, _, help) = only("reed", |root| root.word(&[("read", 1), ("write", 2)]));
    assert_eq!((id, &*help), ("wrong_type", "did you mean `read`?"));
}

#[test]
fn aliases_and_merge_keys_are_resolved() {
    let text = "base: &b { x: 1, y: 2 }\nmore: { <<: *b, y: 3 }\nagain: *b\n";
    let json = parse(Source::whole("t", text), json);
    assert_eq!(json.as_deref(), Ok(r#"{"again":{"x":1,"y":2},"base":{"x":1,"y":2},"more":{"x":1,"y":3}}"#));
}

#[test]
fn a_key_that_begins_with_a_star_is_to_be_put_in_quotes_wherever_it_stands() {
    for text in ["*.x: 1\n", "a: 1\n*.x: 2\n"] {
        let (id, _, help) = only(text, truth);
        assert_eq!((id, &*help), ("yaml_syntax", "put a text that begins with `*` in quotes: `\"*.x\"`"), "{text}");
    }
}

#[test]
fn an_alias_bomb_hits_the_limit_of_values() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..12 {
        let last = format!("*a{}, ", n - 1).repeat(9);
        text.push_str(&format!("a{n}: &a{n} [{last}]\n"));
    }
    assert_eq!(only(&text, json).0, "too_many_values");
}

#[test]
fn aliases_count_toward_the_depth() {
    let mut text = "a0: &a0 [x]\n".to_owned();
    for n in 1..100 {
        text.push_str(&format!("a{n}: &a{n} [*a{}]\n", n - 1));
    }
    assert_eq!(only(&text, json).0, "too_deep");
}

#[test]
fn an_alias_inside_its_own_value_is_refused() {
    assert_eq!(only("a: &a [*a]\n", json).0, "endless_alias");
    assert_eq!(only("a: *a\n", json).0, "yaml_syntax");
}

#[test]
fn deep_nesting_and_huge_files_are_errors_not_crashes() {
    assert_eq!(only(&"[".repeat(100_000), json).0, "too_deep");
    assert_eq!(only(&"- ".repeat(100_000), json).0, "too_deep");
    assert_eq!(only(&"{a: ".repeat(100_000), json).0, "too_deep");
    let huge = "x".repeat(MAX_BYTES + 1);
    assert_eq!(only(&huge, json).0, "too_large");
    assert_eq!(only(&"- 1\n".repeat(300_000), json).0, "too_many_values");
}

#[test]
fn one_file_is_one_document_and_is_not_empty() {
    assert_eq!(only("a: 1\n---\nb: 2\n", json).0, "several_documents");
    for text in ["", "\n\n", "# only a comment\n", "\u{feff}"] {
        assert_eq!(only(text, json).0, "empty_file", "{text:?}");
    }
}

#[test]
fn invalid_yaml_is_reported_at_its_place() {
    for text in ["a: [1, 2\n", "a: \"x\n", "a: 1\n\tb: 2\n", "a: b: c\n", "}", "a: 1\n b: 2\n", "? [a]\n: 1\n", "!!x 1"]
    {
        let all = failed(text, json);
        assert_eq!(all.len(), 1, "{text:?} {all:?}");
        assert_eq!(all[0].0.labels.len(), 1, "{text:?}");
        assert!(!all[0].0.message.is_empty(), "{text:?}");
    }
    assert_eq!(only("a: 1\n\tb: 2\n", json).2, "indent with spaces");
}

#[test]
fn a_byte_order_mark_and_crlf_change_nothing() {
    let source = Source::whole("t", "\u{feff}a: é\r\nb: [1,\r\n 2]\r\n");
    let text = Arc::clone(&source);
    let value = parse(source, |root| {
        let record = root.record("a thing", &["a", "b"])?;
        assert_eq!(&text.text[record.optional("a")?.span()], "é");
        assert_eq!(&text.text[record.optional("b")?.span()], "[1,\r\n 2]");
        json(root)
    });
    assert_eq!(value.as_deref(), Ok(r#"{"a":"é","b":[1,2]}"#));
}

#[test]
fn a_label_is_cut_to_its_first_line() {
    let (_, underlined, _) =
        only("a:\n  b: 1\n  c: 2\n", |root| root.record("a", &["a"])?.required("a")?.string().map(|_| ()));
    assert_eq!(underlined, "b: 1");
}

#[test]
fn values_that_fit_json_are_kept_and_others_refused() {
    let text = "{ b: [1.5, -3, null, true, 18446744073709551615], a: \"1\" }";
    let json_text = parse(Source::whole("t", text), json);
    assert_eq!(json_text.as_deref(), Ok(r#"{"a":"1","b":[1.5,-3,null,true,18446744073709551615]}"#));
    for text in [".nan", "18446744073709551616", &"1".repeat(5_000)] {
        assert_eq!(only(text, json).0, "odd_number", "{text}");
    }
}

#[test]
fn a_report_has_a_limited_number_of_errors() {
    let text: String = (0..200).map(|n| format!("k{n}: 1\n")).collect();
    let all = failed(&text, |root| root.record("a thing", &["name"]).map(|_| ()));
    assert_eq!(all.len(), 51);
    assert_eq!(all[50].0.message, "150 more errors are not shown");
}

#[test]
fn a_tag_is_refused_in_what_people_write_and_passed_over_in_a_recording() {
    let text = "body: !!binary |\n  aGk=\nitems: !ruby/array:A [!x 1]\n";
    assert_eq!(only(text, json).0, "tag");
    let node = super::recording(&Source::whole("f.yaml", text)).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(node.entry("body").map(|body| body.value.describe()).as_deref(), Some("`aGk=\\n`"));
    assert!(super::recording(&Source::whole("f.yaml", "a: 1\na: 2\n")).is_err());
}

#[cfg(debug_assertions)]
#[test]
fn the_steps_of_errors_grow_with_the_file() {
    let record = |text: String| {
        let all = failed(&text, |root| root.record("a map", &["first", "second"]).map(drop));
        assert!(all.last().is_some_and(|(said, _)| said.id == "more_errors"), "{}", all.len());
    };
    let keys = |n: usize| (0..n).map(|key| format!("u{key}: 1\n")).collect::<String>();
    assert!(crate::steps::are_linear(100, keys, record), "unknown keys");
    let dangling = |text: String| {
        failed(&text, |root| {
            let names: Vec<_> = root.entries("names")?.map(|(key, _)| key).collect();
            names.iter().for_each(|name| root.dangling(name, "name", names.iter().map(|name| name.text)));
            None::<()>
        });
    };
    assert!(crate::steps::are_linear(100, keys, dangling), "names that are not declared");
}
